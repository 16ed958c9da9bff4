//! Prices, and the worst case of a call. Money is rounded once, upward, when an amount is made.

use std::collections::BTreeMap;

use bylaw_contract::MicroUsd;

use crate::account::Demand;

const MILLION: i128 = 1_000_000;

/// Above this a price is remarked upon: 1,000 USD per million tokens is some ten times the dearest model there is.
pub const REMARKABLE_PRICE: MicroUsd = MicroUsd(1_000 * 1_000_000);

/// Above this a price is refused: a misplaced point, not a price.
pub const ABSURD_PRICE: MicroUsd = MicroUsd(100_000 * 1_000_000);

/// The shortest answer worth paying for, in tokens; `max_tokens` is never lowered below it.
pub const MIN_ANSWER_TOKENS: u32 = 256;

/// What a model costs, each in micro-USD per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// A million tokens of prompt, or of text to embed.
    pub input: MicroUsd,
    /// A million tokens of prompt that the provider had in its own cache; `None`: no discount.
    pub cached_input: Option<MicroUsd>,
    /// A million tokens written; `None` for models that write nothing.
    pub output: Option<MicroUsd>,
}

/// The price of a model, known or declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelPrice {
    /// It costs this.
    Paid(Prices),
    /// The operator says that it costs nothing.
    Free,
}

/// Why something is not a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPrice {
    /// Below zero.
    #[error("a price is not negative")]
    Negative,
    /// Nothing.
    #[error("a price of zero is written as `free = true`, so that it cannot be an oversight")]
    Zero,
    /// Too much.
    #[error("a price above {} per million tokens is taken for a mistake; prices are per million tokens", ABSURD_PRICE)]
    Absurd,
}

/// What is odd about a price that is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriceWarning {
    /// A price above [`REMARKABLE_PRICE`].
    #[error("a price above {} per million tokens; is it really per million?", REMARKABLE_PRICE)]
    Remarkable,
    /// Cached input dearer than fresh input.
    #[error("cached input is dearer than input")]
    CachedAboveInput,
    /// Output cheaper than input.
    #[error("output is cheaper than input; are the two exchanged?")]
    OutputBelowInput,
}

impl Prices {
    /// Checks the prices, and says what is odd about them.
    ///
    /// # Errors
    /// If one of them is no price.
    pub fn check(&self) -> Result<Vec<PriceWarning>, InvalidPrice> {
        let given = [Some(self.input), self.cached_input, self.output];
        let mut warnings = Vec::new();
        for (place, price) in given.into_iter().enumerate().filter_map(|(place, price)| Some((place, price?))) {
            // Cached input may well be free.
            match price.0 {
                ..0 => return Err(InvalidPrice::Negative),
                0 if place != 1 => return Err(InvalidPrice::Zero),
                _ if price > ABSURD_PRICE => return Err(InvalidPrice::Absurd),
                _ if price > REMARKABLE_PRICE && warnings.is_empty() => warnings.push(PriceWarning::Remarkable),
                _ => {}
            }
        }
        if self.cached_input.is_some_and(|cached| cached > self.input) {
            warnings.push(PriceWarning::CachedAboveInput);
        }
        if self.output.is_some_and(|output| output < self.input) {
            warnings.push(PriceWarning::OutputBelowInput);
        }
        Ok(warnings)
    }

    /// What a prompt token costs at worst: a discount for cached input is never assumed, a surcharge is.
    fn dearest_input(&self) -> MicroUsd {
        self.input.max(self.cached_input.unwrap_or(self.input))
    }
}

/// What each model costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceTable(BTreeMap<String, ModelPrice>);

/// Why a call has no price.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPrice {
    /// The model is not in the table.
    #[error("the price of the model {model:?} is not known; configure it, or declare the model free")]
    Unknown {
        /// The model.
        model: String,
    },
    /// The model is asked to write, and what it writes has no price.
    #[error("the model has no price for what it writes; configure its output price")]
    NoOutputPrice,
    /// The worst case does not fit in an amount.
    #[error("the worst case of this call is beyond counting")]
    Overflow,
}

impl PriceTable {
    /// Sets the price of a model.
    ///
    /// # Errors
    /// If it is no price.
    pub fn set(&mut self, model: impl Into<String>, price: ModelPrice) -> Result<Vec<PriceWarning>, InvalidPrice> {
        let warnings = match &price {
            ModelPrice::Paid(prices) => prices.check()?,
            ModelPrice::Free => Vec::new(),
        };
        self.0.insert(model.into(), price);
        Ok(warnings)
    }

    /// The price of a model.
    ///
    /// # Errors
    /// If it is not known. An unknown price is a reason to refuse, never zero.
    pub fn price(&self, model: &str) -> Result<ModelPrice, NoPrice> {
        self.0.get(model).copied().ok_or_else(|| NoPrice::Unknown { model: model.to_owned() })
    }
}

/// One call, priced before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    price: ModelPrice,
    prompt_bound: u64,
    max_tokens: u32,
    least_tokens: u32,
    worst: MicroUsd,
    least: MicroUsd,
}

impl Quote {
    /// Prices a call whose prompt has at most `prompt_bound` tokens and which may write at most `max_tokens`.
    /// `max_tokens` may be lowered to `least_tokens`; give the same number twice to forbid lowering.
    ///
    /// # Errors
    /// If what the model writes has no price, or the worst case is beyond counting.
    pub fn new(price: ModelPrice, prompt_bound: u64, max_tokens: u32, least_tokens: u32) -> Result<Self, NoPrice> {
        let least_tokens = least_tokens.min(max_tokens);
        let worst = worst_case(price, prompt_bound, max_tokens)?;
        let least = worst_case(price, prompt_bound, least_tokens)?;
        Ok(Self { price, prompt_bound, max_tokens, least_tokens, worst, least })
    }

    /// What has to be reserved.
    #[must_use]
    pub fn demand(&self) -> Demand {
        Demand::new(self.worst, self.least)
    }

    /// The price that applies.
    #[must_use]
    pub const fn price(&self) -> ModelPrice {
        self.price
    }

    /// The most tokens the prompt has.
    #[must_use]
    pub const fn prompt_bound(&self) -> u64 {
        self.prompt_bound
    }

    /// The most tokens the model may write.
    #[must_use]
    pub const fn max_tokens(&self) -> u32 {
        self.max_tokens
    }

    /// The largest `max_tokens` whose worst case fits in `granted`; `None` if that is below the floor.
    #[must_use]
    pub fn lower_max_tokens(&self, granted: MicroUsd) -> Option<Self> {
        let ModelPrice::Paid(prices) = self.price else {
            return Some(*self);
        };
        if self.worst <= granted {
            return Some(*self);
        }
        let output = prices.output.filter(|price| price.0 > 0)?;
        // The amount is rounded up to a whole micro-dollar, so what fits is exactly what is within `granted` unrounded.
        let prompt = i128::from(self.prompt_bound) * i128::from(prices.dearest_input().0);
        let room = i128::from(granted.0) * MILLION - prompt;
        let tokens = u32::try_from(room / i128::from(output.0)).ok()?;
        if room < 0 || tokens < self.least_tokens {
            return None;
        }
        let max_tokens = tokens.min(self.max_tokens);
        let worst = worst_case(self.price, self.prompt_bound, max_tokens).ok()?;
        Some(Self { max_tokens, worst, ..*self })
    }

    /// The worst case, rounded up.
    #[must_use]
    pub const fn worst(&self) -> MicroUsd {
        self.worst
    }
}

/// The most that a call can cost, rounded up once.
///
/// # Errors
/// If what the model writes has no price, or the sum is beyond counting.
pub fn worst_case(price: ModelPrice, prompt_bound: u64, max_tokens: u32) -> Result<MicroUsd, NoPrice> {
    let ModelPrice::Paid(prices) = price else {
        return Ok(MicroUsd::ZERO);
    };
    let written = match (prices.output, max_tokens) {
        (Some(output), _) => product(u64::from(max_tokens), output),
        (None, 0) => 0,
        (None, _) => return Err(NoPrice::NoOutputPrice),
    };
    round_up(product(prompt_bound, prices.dearest_input()) + written).ok_or(NoPrice::Overflow)
}

/// Tokens times price; at most 2^64 · 2^63, which an i128 holds.
pub(crate) fn product(tokens: u64, price: MicroUsd) -> i128 {
    i128::from(tokens) * i128::from(price.0)
}

/// Millionths of micro-dollars to micro-dollars, upward.
pub(crate) fn round_up(amount: i128) -> Option<MicroUsd> {
    let whole = amount.div_euclid(MILLION) + i128::from(amount.rem_euclid(MILLION) != 0);
    i64::try_from(whole).ok().map(MicroUsd)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 0.15 USD in, 0.60 USD out, per million tokens.
    const SMALL: Prices =
        Prices { input: MicroUsd(150_000), cached_input: Some(MicroUsd(75_000)), output: Some(MicroUsd(600_000)) };

    #[test]
    fn the_worst_case_is_rounded_up_once() {
        let check = |prompt, max_tokens, expected| {
            assert_eq!(worst_case(ModelPrice::Paid(SMALL), prompt, max_tokens), Ok(MicroUsd(expected)), "{prompt}");
        };
        check(0, 0, 0);
        check(1, 0, 1);
        check(1_000, 500, 450);
        // 0.15 + 0.6 micro-dollars are one, not two.
        check(1, 1, 1);
        check(7, 1, 2);
        assert_eq!(worst_case(ModelPrice::Free, u64::MAX, u32::MAX), Ok(MicroUsd::ZERO));
        assert_eq!(worst_case(ModelPrice::Paid(SMALL), u64::MAX, 1), Ok(MicroUsd(2_767_011_611_056_432_743)));
        let dear = Prices { input: ABSURD_PRICE, cached_input: None, output: None };
        assert_eq!(worst_case(ModelPrice::Paid(dear), u64::MAX, 0), Err(NoPrice::Overflow));
        assert_eq!(worst_case(ModelPrice::Paid(dear), 1, 1), Err(NoPrice::NoOutputPrice));
    }

    #[test]
    fn cached_input_is_never_assumed_cheap_but_may_be_dear() {
        let surcharge = Prices { cached_input: Some(MicroUsd(300_000)), ..SMALL };
        assert_eq!(worst_case(ModelPrice::Paid(surcharge), 1_000_000, 0), Ok(MicroUsd(300_000)));
        assert_eq!(worst_case(ModelPrice::Paid(SMALL), 1_000_000, 0), Ok(MicroUsd(150_000)));
    }

    #[test]
    fn prices_that_look_wrong_are_remarked_upon_or_refused() {
        let check = |input: i64, cached: Option<i64>, output: Option<i64>, expected: Result<Vec<PriceWarning>, _>| {
            let prices =
                Prices { input: MicroUsd(input), cached_input: cached.map(MicroUsd), output: output.map(MicroUsd) };
            assert_eq!(prices.check(), expected, "{prices:?}");
        };
        check(150_000, Some(75_000), Some(600_000), Ok(vec![]));
        check(150_000, Some(0), None, Ok(vec![]));
        check(20_000, None, None, Ok(vec![]));
        check(-1, None, None, Err(InvalidPrice::Negative));
        check(1, None, Some(-1), Err(InvalidPrice::Negative));
        check(0, None, Some(1), Err(InvalidPrice::Zero));
        check(1, None, Some(0), Err(InvalidPrice::Zero));
        check(1, None, Some(i64::MAX), Err(InvalidPrice::Absurd));
        check(1, None, Some(REMARKABLE_PRICE.0 + 1), Ok(vec![PriceWarning::Remarkable]));
        check(5, Some(6), Some(4), Ok(vec![PriceWarning::CachedAboveInput, PriceWarning::OutputBelowInput]));
    }

    #[test]
    fn an_unknown_price_is_a_refusal_unless_declared_free() {
        let mut table = PriceTable::default();
        assert_eq!(table.set("local", ModelPrice::Free), Ok(vec![]));
        assert_eq!(table.price("local"), Ok(ModelPrice::Free));
        assert_eq!(table.price("other"), Err(NoPrice::Unknown { model: "other".to_owned() }));
    }

    #[test]
    fn lowering_stops_at_the_floor() {
        let quote = Quote::new(ModelPrice::Paid(SMALL), 1_000, 2_000, MIN_ANSWER_TOKENS).unwrap();
        let lowered = |granted| quote.lower_max_tokens(MicroUsd(granted)).map(|quote| quote.max_tokens());
        assert_eq!(quote.demand(), Demand::new(MicroUsd(1_350), MicroUsd(304)));
        assert_eq!(lowered(1_350), Some(2_000));
        assert_eq!(lowered(9_999), Some(2_000));
        assert_eq!(lowered(450), Some(500));
        assert_eq!(lowered(304), Some(256));
        assert_eq!(lowered(303), None);
        assert_eq!(lowered(0), None);
    }

    proptest! {
        #[test]
        fn whatever_is_granted_between_least_and_worst_can_be_kept(
            input in 1..ABSURD_PRICE.0, output in 1..ABSURD_PRICE.0,
            prompt in 0_u64..10_000_000, max_tokens in 0_u32..1_000_000, least_tokens in 0_u32..1_000_000,
            part in 0_i64..=1_000,
        ) {
            let price = ModelPrice::Paid(Prices {
                input: MicroUsd(input), cached_input: None, output: Some(MicroUsd(output)),
            });
            let Ok(quote) = Quote::new(price, prompt, max_tokens, least_tokens) else { return Ok(()) };
            let (least, worst) = (quote.demand().least().0, quote.demand().worst().0);
            let granted = i64::try_from(i128::from(least) + i128::from(worst - least) * i128::from(part) / 1_000).unwrap();
            let lowered = quote.lower_max_tokens(MicroUsd(granted)).expect("granted is at least the least");
            prop_assert!(lowered.max_tokens() >= least_tokens.min(max_tokens));
            prop_assert!(lowered.worst().0 <= granted);
            if lowered.max_tokens() < max_tokens {
                let more = worst_case(price, prompt, lowered.max_tokens() + 1).unwrap();
                prop_assert!(more.0 > granted, "one more token would have fitted");
            }
        }
    }
}
