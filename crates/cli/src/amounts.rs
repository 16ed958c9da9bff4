//! Amounts of money as people write and read them.

use bylaw_contract::MicroUsd;
use bylaw_gate::{Budget, Currency, InvalidAmount, Period, parse_decimal};

/// An amount in the currency.
pub(crate) fn parse(text: &str, currency: &Currency) -> Result<MicroUsd, InvalidAmount> {
    Ok(currency.cap(parse_decimal(text)?))
}

/// Budgets such as `50/day`, at most one for each period. Says which is wrong and what to write.
pub(crate) fn budgets<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    currency: &Currency,
) -> Result<Vec<Budget>, String> {
    let mut budgets = Vec::<Budget>::new();
    for text in texts {
        let budget = budget(text, currency)?;
        if budgets.iter().any(|other| other.period == budget.period) {
            return Err(format!("{text:?}: there is one for this period already; keep one of the two"));
        }
        budgets.push(budget);
    }
    Ok(budgets)
}

fn budget(text: &str, currency: &Currency) -> Result<Budget, String> {
    let form = || format!("{text:?}: write an amount in {currency}, a slash and day, month or once, such as 50/day");
    let (amount, period) = text.split_once('/').ok_or_else(form)?;
    let period = match period {
        "day" => Period::Day,
        "month" => Period::Month,
        "once" => Period::Once,
        _ => return Err(form()),
    };
    let limit = parse(amount, currency).map_err(|error| format!("{text:?}: {error}"))?;
    Ok(Budget { limit, period })
}

/// Budgets in the currency: `5/day, 100/month`, or that there are none.
pub(crate) fn show_budgets(budgets: &[Budget], currency: &Currency) -> String {
    if budgets.is_empty() {
        return "no limit".to_owned();
    }
    let shown = budgets.iter().map(|budget| format!("{} {currency}/{}", limit(budget.limit, currency), period(budget)));
    shown.collect::<Vec<_>>().join(", ")
}

/// The period of a budget as it is written.
pub(crate) const fn period(budget: &Budget) -> &'static str {
    match budget.period {
        Period::Once => "once",
        Period::Day => "day",
        Period::Month => "month",
    }
}

/// A limit in the currency, as it was written. A limit is kept in whole micro-dollars, so what is shown is rounded up to
/// the next decimal place that these can tell apart.
pub(crate) fn limit(amount: MicroUsd, currency: &Currency) -> String {
    let one = currency.show(MicroUsd(1));
    let mut place = 1_i64;
    while place < one {
        place *= 10;
    }
    let shown = currency.show(amount);
    let text =
        decimal(shown.div_euclid(place).saturating_add(i64::from(shown.rem_euclid(place) != 0)).saturating_mul(place));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Millionths as a decimal number with six decimals.
pub(crate) fn decimal(millionths: i64) -> String {
    let sign = if millionths < 0 { "-" } else { "" };
    let magnitude = millionths.unsigned_abs();
    format!("{sign}{}.{:06}", magnitude / 1_000_000, magnitude % 1_000_000)
}

/// An amount in dollars and in the currency.
pub(crate) fn both(amount: MicroUsd, currency: &Currency) -> String {
    match currency.code() {
        "USD" => amount.to_string(),
        code => format!("{amount} ({} {code})", decimal(currency.show(amount))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_reads_as_it_was_written_whatever_the_rate() {
        for (rate, text) in [
            (32_000_000, "5"),
            (30_000_000, "5"),
            (31_700_000, "0.25"),
            (920_000, "10"),
            (1_000_000, "0.000001"),
            (151_300_000, "1000"),
            (25_400_000_000, "20000"),
        ] {
            let currency = Currency::new("XYZ", rate).unwrap();
            assert_eq!(limit(parse(text, &currency).unwrap(), &currency), text, "{rate}");
        }
    }
}
