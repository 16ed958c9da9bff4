//! What an attempt costs once it has ended.

use bylaw_contract::{MicroUsd, TokenUsage};

use crate::{
    price::{ModelPrice, Quote, product, round_up},
    row::{Note, RowKind},
};

/// A provider that reports more than this many times the bound reports nonsense: an honest overrun (a template we did not
/// know of, reasoning beyond `max_tokens`) is far smaller, and is booked in full as debt.
const IMPLAUSIBLE_FACTOR: u64 = 16;

/// What a bound is taken for at least when usage is judged, so that a tiny prompt does not make a template look absurd.
const IMPLAUSIBLE_FLOOR: u64 = 1_024;

/// Whether anyone was still there when an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Listener {
    /// Someone was waiting for the answer.
    Waiting,
    /// The caller had left.
    Gone,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The provider said what it used.
    Reported(TokenUsage),
    /// The request left, and the provider never said what it used.
    Received {
        /// Bytes of text received.
        text_bytes: u64,
        /// Whether anyone was still listening.
        listener: Listener,
    },
    /// Nothing was sent.
    NotSent,
}

/// Why a usage report cannot be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ImpossibleUsage {
    /// More cached tokens than tokens.
    #[error("more cached input than input")]
    CachedAboveInput,
    /// More reasoning than output.
    #[error("more reasoning than output")]
    ReasoningAboveOutput,
    /// A prompt was sent and none was read.
    #[error("a prompt was sent, and no input is reported")]
    NoInput,
    /// Far beyond the bounds of the request.
    #[error("far more tokens than the request allowed")]
    Implausible,
    /// Output of a model that has no price for it.
    #[error("output of a model without an output price")]
    UnpricedOutput,
    /// More than can be counted.
    #[error("more than can be counted")]
    Overflow,
}

/// What is to be booked for an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    pub(crate) kind: RowKind,
    pub(crate) tokens: TokenUsage,
    pub(crate) amount: MicroUsd,
    pub(crate) note: Option<Note>,
}

/// What closes a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// A row is booked.
    Settle(Charge),
    /// Nothing was sent: the money comes back and no row is written.
    Release,
}

impl Charge {
    /// What kind of row it becomes.
    #[must_use]
    pub const fn kind(&self) -> RowKind {
        self.kind
    }

    /// What is charged.
    #[must_use]
    pub const fn amount(&self) -> MicroUsd {
        self.amount
    }

    /// The tokens that are charged.
    #[must_use]
    pub const fn tokens(&self) -> TokenUsage {
        self.tokens
    }

    /// Nobody knows: the whole reservation.
    #[must_use]
    pub fn unknown(reserved: MicroUsd) -> Self {
        Self { kind: RowKind::Unknown, tokens: TokenUsage::default(), amount: reserved, note: None }
    }

    pub(crate) fn not_sent() -> Self {
        let (tokens, amount) = (TokenUsage::default(), MicroUsd::ZERO);
        Self { kind: RowKind::Unknown, tokens, amount, note: Some(Note::NotSent) }
    }
}

impl Quote {
    /// What a reservation of `reserved` is closed with.
    ///
    /// Reported usage is charged as it is, also beyond the reservation. Without a report, what was received is charged:
    /// the prompt at its bound and one token for each byte of text (no tokenizer makes more), so that received ≤ booked ≤
    /// reserved. A report that cannot be true is charged at the whole reservation: never nothing.
    #[must_use]
    pub fn close(&self, reserved: MicroUsd, ending: Ending) -> Closing {
        let charge = match ending {
            Ending::NotSent => return Closing::Release,
            Ending::Reported(usage) => match self.cost(usage) {
                Ok(amount) => Charge { kind: RowKind::Spent, tokens: usage, amount, note: None },
                Err(why) => {
                    tracing::error!(?usage, %why, "a provider reported impossible usage");
                    Charge { note: Some(Note::ImpossibleUsage), ..Charge::unknown(reserved) }
                }
            },
            Ending::Received { text_bytes, listener } => {
                let output_tokens = text_bytes.min(u64::from(self.max_tokens()));
                let tokens = TokenUsage { input_tokens: self.prompt_bound(), output_tokens, ..TokenUsage::default() };
                let kind = match listener {
                    Listener::Waiting => RowKind::Estimated,
                    Listener::Gone => RowKind::Abandoned,
                };
                let written = u32::try_from(output_tokens).unwrap_or(u32::MAX);
                let bound = crate::price::worst_case(self.price(), self.prompt_bound(), written);
                Charge { kind, tokens, amount: bound.map_or(reserved, |bound| bound.min(reserved)), note: None }
            }
        };
        Closing::Settle(charge)
    }

    /// What reported usage costs. Cached and reasoning tokens are parts of input and output and are counted once.
    ///
    /// # Errors
    /// If the usage cannot be true.
    pub fn cost(&self, usage: TokenUsage) -> Result<MicroUsd, ImpossibleUsage> {
        let fresh =
            usage.input_tokens.checked_sub(usage.cached_input_tokens).ok_or(ImpossibleUsage::CachedAboveInput)?;
        if usage.reasoning_tokens > usage.output_tokens {
            return Err(ImpossibleUsage::ReasoningAboveOutput);
        }
        let read = usage.input_tokens.checked_add(usage.embedding_tokens).ok_or(ImpossibleUsage::Overflow)?;
        if read == 0 && self.prompt_bound() > 0 {
            return Err(ImpossibleUsage::NoInput);
        }
        let plausible =
            |tokens: u64, bound: u64| tokens <= bound.max(IMPLAUSIBLE_FLOOR).saturating_mul(IMPLAUSIBLE_FACTOR);
        if !plausible(read, self.prompt_bound()) || !plausible(usage.output_tokens, u64::from(self.max_tokens())) {
            return Err(ImpossibleUsage::Implausible);
        }
        let ModelPrice::Paid(prices) = self.price() else {
            return Ok(MicroUsd::ZERO);
        };
        let written = match prices.output {
            Some(output) => product(usage.output_tokens, output),
            None if usage.output_tokens == 0 => 0,
            None => return Err(ImpossibleUsage::UnpricedOutput),
        };
        let cached = product(usage.cached_input_tokens, prices.cached_input.unwrap_or(prices.input));
        let read = product(fresh, prices.input) + product(usage.embedding_tokens, prices.input);
        round_up(read + cached + written).ok_or(ImpossibleUsage::Overflow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::Prices;

    fn quote() -> Quote {
        let prices = Prices {
            input: MicroUsd(2_000_000),
            cached_input: Some(MicroUsd(1_000_000)),
            output: Some(MicroUsd(10_000_000)),
        };
        Quote::new(ModelPrice::Paid(prices), 1_000, 500, 256).unwrap()
    }

    fn usage(input: u64, cached: u64, output: u64, reasoning: u64) -> TokenUsage {
        TokenUsage {
            input_tokens: input,
            cached_input_tokens: cached,
            output_tokens: output,
            reasoning_tokens: reasoning,
            embedding_tokens: 0,
        }
    }

    #[test]
    fn cached_and_reasoning_tokens_are_counted_once() {
        assert_eq!(quote().cost(usage(100, 0, 10, 0)), Ok(MicroUsd(300)));
        assert_eq!(quote().cost(usage(100, 40, 10, 10)), Ok(MicroUsd(260)));
        assert_eq!(quote().cost(usage(100, 100, 0, 0)), Ok(MicroUsd(100)));
    }

    #[test]
    fn impossible_usage_is_charged_at_the_whole_reservation_never_at_nothing() {
        for (usage, why) in [
            (usage(10, 11, 1, 0), ImpossibleUsage::CachedAboveInput),
            (usage(10, 0, 1, 2), ImpossibleUsage::ReasoningAboveOutput),
            (usage(0, 0, 0, 0), ImpossibleUsage::NoInput),
            (usage(0, 0, 9, 0), ImpossibleUsage::NoInput),
            (usage(1_000_000, 0, 1, 0), ImpossibleUsage::Implausible),
            (usage(10, 0, 1_000_000, 0), ImpossibleUsage::Implausible),
            (usage(u64::MAX, u64::MAX, u64::MAX, u64::MAX), ImpossibleUsage::Implausible),
            (TokenUsage { embedding_tokens: 1, ..usage(u64::MAX, 0, 0, 0) }, ImpossibleUsage::Overflow),
        ] {
            assert_eq!(quote().cost(usage), Err(why), "{usage:?}");
            let closing = quote().close(MicroUsd(7_000), Ending::Reported(usage));
            let Closing::Settle(charge) = closing else { panic!("{closing:?}") };
            assert_eq!((charge.kind, charge.amount.0), (RowKind::Unknown, 7_000), "{usage:?}");
            assert_eq!(charge.note, Some(Note::ImpossibleUsage));
        }
    }

    #[test]
    fn an_overrun_is_charged_in_full() {
        let closing = quote().close(quote().worst(), Ending::Reported(usage(1_500, 0, 600, 200)));
        let Closing::Settle(charge) = closing else { panic!("{closing:?}") };
        assert_eq!((charge.kind, charge.amount), (RowKind::Spent, MicroUsd(9_000)));
        assert!(charge.amount > quote().worst());
    }

    #[test]
    fn without_a_report_what_was_received_is_charged_within_the_reservation() {
        let check = |text_bytes, listener, kind, amount| {
            let closing = quote().close(quote().worst(), Ending::Received { text_bytes, listener });
            let Closing::Settle(charge) = closing else { panic!("{closing:?}") };
            assert_eq!((charge.kind, charge.amount), (kind, MicroUsd(amount)), "{text_bytes} bytes");
        };
        check(0, Listener::Gone, RowKind::Abandoned, 2_000);
        check(12, Listener::Gone, RowKind::Abandoned, 2_120);
        check(12, Listener::Waiting, RowKind::Estimated, 2_120);
        check(u64::MAX, Listener::Waiting, RowKind::Estimated, 7_000);
        assert_eq!(quote().close(MicroUsd(7_000), Ending::NotSent), Closing::Release);
    }

    #[test]
    fn free_models_cost_nothing_and_are_still_checked() {
        let free = Quote::new(ModelPrice::Free, 1_000, 500, 256).unwrap();
        assert_eq!(free.cost(usage(100, 0, 10, 0)), Ok(MicroUsd::ZERO));
        assert_eq!(free.cost(usage(1, 2, 0, 0)), Err(ImpossibleUsage::CachedAboveInput));
    }
}
