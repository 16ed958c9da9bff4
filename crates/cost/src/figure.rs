//! Decimal numbers, exact as they are written.

use std::{
    fmt,
    ops::{Add, Div, Mul, Neg, Sub},
    str::FromStr,
};

use rust_decimal::{Decimal, RoundingStrategy, prelude::ToPrimitive};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Beyond this a figure is "more than anyone has": arithmetic stops there, and [`Figure::is_beyond_reach`] says so.
const REACH: Decimal = Decimal::from_parts(0xDEA0_0000, 0x35C9_ADC5, 0x36, false, 0);

/// A decimal number: an amount of money, tokens, a rate, a volume.
///
/// Twenty-eight digits, no binary fractions: what is written as `0.1` is a tenth. Arithmetic never panics and never wraps: it
/// stops at a bound far beyond every price and volume, and a report that would show such a figure is refused.
///
/// In JSON it is a number. What is read from one is the shortest decimal that the number stands for, which is what was
/// typed; text such as `"0.1"` is read too.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, utoipa::ToSchema)]
#[schema(value_type = f64)]
pub struct Figure(Decimal);

impl Figure {
    /// Nothing.
    pub const ZERO: Self = Self(Decimal::ZERO);
    /// One.
    pub const ONE: Self = Self(Decimal::ONE);

    /// `mantissa` with its last `decimals` digits behind the point: `Figure::new(25, 2)` is a quarter.
    #[must_use]
    pub const fn new(mantissa: i64, decimals: u32) -> Self {
        Self(Decimal::from_parts(
            (mantissa.unsigned_abs() & 0xFFFF_FFFF) as u32,
            (mantissa.unsigned_abs() >> 32) as u32,
            0,
            mantissa < 0,
            decimals,
        ))
    }

    /// Rounded to `decimals` places, halves away from zero, without trailing zeros.
    #[must_use]
    pub fn rounded(self, decimals: u32) -> Self {
        Self(self.0.round_dp_with_strategy(decimals, RoundingStrategy::MidpointAwayFromZero).normalize())
    }

    /// The next whole number that is not less. A rest of less than a millionth of a millionth is rounding, and counts for
    /// nothing: what fits exactly fits.
    #[must_use]
    pub fn whole_above(self) -> Self {
        Self(self.0.round_dp(12).ceil())
    }

    /// The next whole number that is not more, with the same tolerance.
    #[must_use]
    pub fn whole_below(self) -> Self {
        Self(self.0.round_dp(12).floor())
    }

    /// Whether arithmetic has stopped at its bound, or a figure is so large that it means nothing.
    #[must_use]
    pub fn is_beyond_reach(self) -> bool {
        self.0.abs() > Decimal::from(1_000_000_000_000_000_000_i64)
    }

    /// Digits behind the point.
    #[must_use]
    pub fn decimals(self) -> u32 {
        self.0.normalize().scale()
    }

    /// As a whole number, if it is one that fits.
    #[must_use]
    pub fn to_u64(self) -> Option<u64> {
        self.0.is_integer().then(|| self.0.to_u64()).flatten()
    }

    /// As a float, for logarithms.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.0.to_f64().unwrap_or(f64::MAX)
    }

    /// With exactly `decimals` places and commas between thousands: `4,761.00`.
    #[must_use]
    pub fn grouped(self, decimals: u32) -> String {
        let text = format!("{:.*}", decimals as usize, self.rounded(decimals).0.abs());
        let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
        let mut grouped = String::new();
        if self.rounded(decimals) < Self::ZERO {
            grouped.push('-');
        }
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index) % 3 == 0 {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        if let Some(rest) = rest {
            grouped.push('.');
            grouped.push_str(rest);
        }
        grouped
    }

    fn bounded(result: Option<Decimal>, negative: bool) -> Self {
        let bound = if negative { -REACH } else { REACH };
        Self(result.unwrap_or(bound).clamp(-REACH, REACH))
    }

    fn is_negative(self) -> bool {
        self < Self::ZERO
    }
}

impl Add for Figure {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::bounded(self.0.checked_add(other.0), self.is_negative())
    }
}

impl Sub for Figure {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::bounded(self.0.checked_sub(other.0), self.is_negative())
    }
}

impl Mul for Figure {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::bounded(self.0.checked_mul(other.0), self.is_negative() != other.is_negative())
    }
}

/// Dividing by zero stops at the bound, as dividing by next to nothing does.
impl Div for Figure {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self::bounded(self.0.checked_div(other.0), self.is_negative() != other.is_negative())
    }
}

impl Neg for Figure {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl std::iter::Sum for Figure {
    fn sum<I: Iterator<Item = Self>>(figures: I) -> Self {
        figures.fold(Self::ZERO, |sum, figure| sum + figure)
    }
}

impl From<u64> for Figure {
    fn from(whole: u64) -> Self {
        Self(whole.into())
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.normalize().fmt(f)
    }
}

impl fmt::Debug for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no number, or one with too many digits to be exact.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a decimal number such as 0.25")]
pub struct InvalidFigure(String);

impl FromStr for Figure {
    type Err = InvalidFigure;

    fn from_str(text: &str) -> Result<Self, InvalidFigure> {
        let invalid = || InvalidFigure(text.chars().take(40).collect());
        let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+'));
        let parsed = if plain { Decimal::from_str_exact(text) } else { Decimal::from_scientific(text) };
        let parsed = parsed.map_err(|_| invalid())?;
        if parsed.abs() > REACH { Err(invalid()) } else { Ok(Self(parsed)) }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = self.0.normalize();
        match (shown.scale(), shown.to_i64()) {
            (0, Some(whole)) => serializer.serialize_i64(whole),
            // The shortest text of the float nearest to a decimal of fifteen digits is that decimal.
            _ => serializer.serialize_f64(shown.to_string().parse().map_err(serde::ser::Error::custom)?),
        }
    }
}

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Figure;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_i64<E: de::Error>(self, whole: i64) -> Result<Figure, E> {
                Ok(Figure(whole.into()))
            }

            fn visit_u64<E: de::Error>(self, whole: u64) -> Result<Figure, E> {
                Ok(Figure(whole.into()))
            }

            fn visit_f64<E: de::Error>(self, float: f64) -> Result<Figure, E> {
                format!("{float:e}").parse().map_err(E::custom)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Figure, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(text: &str) -> Figure {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_written_is_what_is_kept_and_written_again() {
        for (json, shown) in [
            ("0.1", "0.1"),
            ("4500", "4500"),
            ("1e-7", "0.0000001"),
            ("\"2.50\"", "2.5"),
            ("-3", "-3"),
            ("2e3", "2000"),
        ] {
            let read: Figure = serde_json::from_str(json).unwrap();
            assert_eq!(read.to_string(), shown, "{json}");
            let again: Figure = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
            assert_eq!(again, read, "{json}");
        }
        for json in ["1e300", "\"NaN\"", "\"1,000\"", "\"\"", "true", "null"] {
            assert!(serde_json::from_str::<Figure>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        for (text, decimals, expected) in [
            ("4761", 2, "4,761.00"),
            ("-1234567.891", 1, "-1,234,567.9"),
            ("999", 0, "999"),
            ("0.0045", 4, "0.0045"),
            ("-0.001", 2, "0.00"),
        ] {
            assert_eq!(figure(text).grouped(decimals), expected, "{text}");
        }
    }

    #[test]
    fn arithmetic_stops_at_its_bound_and_says_so() {
        let large = Figure::from(u64::MAX);
        let product = large * large;
        assert!(product.is_beyond_reach());
        assert!((Figure::ONE / Figure::ZERO).is_beyond_reach());
        assert!((-large * large + product - product).is_beyond_reach());
        assert!(!figure("999999999999999999").is_beyond_reach());
    }

    #[test]
    fn what_fits_exactly_fits() {
        let third = Figure::ONE / Figure::from(3);
        assert_eq!((third * Figure::from(3)).whole_above(), Figure::ONE);
        assert_eq!((Figure::ONE + third).whole_above(), Figure::from(2));
    }
}
