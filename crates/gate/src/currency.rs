//! Amounts as people write them: decimal text, in dollars or in the currency that is shown beside them.

use std::fmt;

use bylaw_contract::MicroUsd;

const MICRO: i128 = 1_000_000;

/// The largest amount that is taken for meant, in millionths of any currency: a thousand million.
pub const MAX_AMOUNT: i64 = 1_000_000_000 * 1_000_000;

/// Why a text is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAmount {
    /// Not a decimal number.
    #[error("not an amount; write digits with at most one point, such as 0.25")]
    NotDecimal,
    /// Below zero.
    #[error("an amount is not negative")]
    Negative,
    /// More than six decimals.
    #[error("an amount has at most six decimals")]
    OverPrecise,
    /// Beyond [`MAX_AMOUNT`].
    #[error("an amount is at most 1000000000")]
    Absurd,
}

/// Reads a decimal number as millionths, exactly. No exponent, no sign but a minus (which is refused by name), no spaces.
///
/// # Errors
/// If it is no amount.
pub fn parse_decimal(text: &str) -> Result<i64, InvalidAmount> {
    if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit())) {
        return Err(InvalidAmount::Negative);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Err(InvalidAmount::NotDecimal);
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 6 {
        return Err(InvalidAmount::OverPrecise);
    }
    let whole = whole.trim_start_matches('0');
    // Ten digits are more than the largest amount, and within an i64 also as millionths.
    if whole.len() > 10 {
        return Err(InvalidAmount::Absurd);
    }
    let number = |part: &str| part.bytes().fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    let amount = number(whole) * 1_000_000 + number(&format!("{fraction:0<6}"));
    if amount > MAX_AMOUNT { Err(InvalidAmount::Absurd) } else { Ok(amount) }
}

/// Why something is no currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCurrency {
    /// The code.
    #[error("a currency is three capital letters, such as TWD")]
    Code,
    /// The rate.
    #[error("a rate is how much of the currency one US dollar is worth, more than 0 and at most 1000000")]
    Rate,
}

/// A currency that amounts are shown and caps are given in, beside dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Currency {
    code: [u8; 3],
    /// Millionths of the currency for one dollar.
    rate: i64,
}

impl Currency {
    /// A currency with its code and what one dollar is worth in it, in millionths.
    ///
    /// # Errors
    /// If it is none.
    pub fn new(code: &str, rate: i64) -> Result<Self, InvalidCurrency> {
        let code = <[u8; 3]>::try_from(code.as_bytes()).map_err(|_length| InvalidCurrency::Code)?;
        if !code.iter().all(u8::is_ascii_uppercase) {
            return Err(InvalidCurrency::Code);
        }
        if !(1..=1_000_000 * 1_000_000).contains(&rate) {
            return Err(InvalidCurrency::Rate);
        }
        Ok(Self { code, rate })
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.code).expect("capital letters")
    }

    /// What a cap of `amount` millionths is in dollars: rounded down, so that what is spent stays within the cap as it was
    /// given.
    #[must_use]
    pub fn cap(&self, amount: i64) -> MicroUsd {
        let dollars = (i128::from(amount) * MICRO).div_euclid(i128::from(self.rate));
        MicroUsd(i64::try_from(dollars).unwrap_or(if amount < 0 { i64::MIN } else { i64::MAX }))
    }

    /// What an amount of dollars is in millionths of the currency: rounded up, so that nothing seems cheaper than it was.
    #[must_use]
    pub fn show(&self, amount: MicroUsd) -> i64 {
        let shown = -(-i128::from(amount.0) * i128::from(self.rate)).div_euclid(MICRO);
        i64::try_from(shown).unwrap_or(if amount < MicroUsd::ZERO { i64::MIN } else { i64::MAX })
    }

    /// What an amount of dollars is in the currency, as decimal text without needless zeros: `0.0048`.
    #[must_use]
    pub fn decimal(&self, amount: MicroUsd) -> String {
        let shown = self.show(amount);
        let (sign, shown) = (if shown < 0 { "-" } else { "" }, shown.unsigned_abs());
        let (whole, fraction) = (shown / 1_000_000, format!("{:06}", shown % 1_000_000));
        match fraction.trim_end_matches('0') {
            "" => format!("{sign}{whole}"),
            fraction => format!("{sign}{whole}.{fraction}"),
        }
    }

    /// The same with its unit: `0.0048 TWD`.
    #[must_use]
    pub fn text(&self, amount: MicroUsd) -> String {
        format!("{} {self}", self.decimal(amount))
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_amount_is_read_exactly_or_refused() {
        for (text, expected) in [
            ("0", Ok(0)),
            ("0.15", Ok(150_000)),
            ("3.1", Ok(3_100_000)),
            ("007.250000000", Ok(7_250_000)),
            ("0.000001", Ok(1)),
            ("1000000000", Ok(MAX_AMOUNT)),
            ("0.0000001", Err(InvalidAmount::OverPrecise)),
            ("1000000000.000001", Err(InvalidAmount::Absurd)),
            ("99999999999999999999999999", Err(InvalidAmount::Absurd)),
            ("-1", Err(InvalidAmount::Negative)),
            ("-0.5", Err(InvalidAmount::Negative)),
            ("", Err(InvalidAmount::NotDecimal)),
            (".5", Err(InvalidAmount::NotDecimal)),
            ("5.", Err(InvalidAmount::NotDecimal)),
            ("1e3", Err(InvalidAmount::NotDecimal)),
            ("+1", Err(InvalidAmount::NotDecimal)),
            ("--1", Err(InvalidAmount::NotDecimal)),
            ("1,5", Err(InvalidAmount::NotDecimal)),
            ("１", Err(InvalidAmount::NotDecimal)),
            ("NaN", Err(InvalidAmount::NotDecimal)),
        ] {
            assert_eq!(parse_decimal(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_currency_has_a_code_and_a_rate() {
        assert_eq!(Currency::new("TWD", 31_000_000).unwrap().to_string(), "TWD");
        for (code, rate, why) in [
            ("twd", 1, InvalidCurrency::Code),
            ("NT$", 1, InvalidCurrency::Code),
            ("TWDD", 1, InvalidCurrency::Code),
            ("TWD", 0, InvalidCurrency::Rate),
            ("TWD", -1, InvalidCurrency::Rate),
            ("TWD", i64::MAX, InvalidCurrency::Rate),
        ] {
            assert_eq!(Currency::new(code, rate), Err(why), "{code} {rate}");
        }
    }

    #[test]
    fn a_cap_is_rounded_down_and_a_cost_up() {
        let twd = Currency::new("TWD", 31_000_000).unwrap();
        assert_eq!(twd.cap(1_000_000), MicroUsd(32_258));
        assert_eq!(twd.show(MicroUsd(1)), 31);
        assert_eq!(twd.show(MicroUsd(-1)), -31);
        let odd = Currency::new("XXX", 1_500_000).unwrap();
        assert_eq!((odd.show(MicroUsd(1)), odd.show(MicroUsd(2))), (2, 3));
        assert_eq!(odd.show(MicroUsd(i64::MAX)), i64::MAX);
    }

    proptest! {
        #[test]
        fn what_is_spent_within_a_cap_is_shown_within_it(cap in 0..=MAX_AMOUNT, rate in 1_i64..=1_000_000_000_000) {
            let currency = Currency::new("TWD", rate).unwrap();
            prop_assert!(currency.show(currency.cap(cap)) <= cap);
        }
    }

    #[test]
    fn amounts_are_shown_without_needless_zeros() {
        let twd = Currency::new("TWD", 32 * 1_000_000).unwrap();
        let check = |amount: i64, expected: &str| assert_eq!(twd.text(MicroUsd(amount)), expected, "{amount}");
        check(0, "0 TWD");
        check(1, "0.000032 TWD");
        check(150, "0.0048 TWD");
        check(1_000_000, "32 TWD");
        check(-1_500_000, "-48 TWD");
    }
}
