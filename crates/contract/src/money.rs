//! Money is a signed integer of millionths of a US dollar. No floating point comes near it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Micro-US-dollars: `MicroUsd(1_000_000)` is one dollar.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema,
)]
pub struct MicroUsd(pub i64);

impl MicroUsd {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// The sum, or `None` on overflow.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference, or `None` on overflow.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}

impl fmt::Display for MicroUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let magnitude = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:06} USD", magnitude / 1_000_000, magnitude % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_prints_every_millionth_and_never_overflows_silently() {
        assert_eq!(MicroUsd(1_250_000).to_string(), "1.250000 USD");
        assert_eq!(MicroUsd(-7).to_string(), "-0.000007 USD");
        assert_eq!(MicroUsd(i64::MAX).checked_add(MicroUsd(1)), None);
        assert_eq!(MicroUsd(i64::MIN).checked_sub(MicroUsd(1)), None);
    }
}
