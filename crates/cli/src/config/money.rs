//! `[money]` and `[budgets]`, and what one question may cost.

use bylaw_contract::MicroUsd;
use bylaw_gate::{Budget, Currency, InvalidCurrency, PriceTable, ServiceBudgets, Zone, parse_decimal};

use super::{
    prices,
    raw::{Quoted, Raw},
};
use crate::{amounts, terminal};

/// What money is, what things cost and what may be spent.
#[derive(Clone, Debug)]
pub(crate) struct MoneySettings {
    /// What amounts are given and shown in.
    pub(crate) currency: Currency,
    /// What models cost.
    pub(crate) prices: PriceTable,
    /// What may be spent, and where days begin.
    pub(crate) budgets: ServiceBudgets,
    /// What is odd, but no mistake for certain.
    pub(crate) warnings: Vec<String>,
}

impl MoneySettings {
    pub(super) fn resolve(raw: &Raw) -> Result<Self, String> {
        let currency = currency(raw)?;
        let (prices, mut warnings) = prices::resolve(&raw.prices)?;
        let model = &raw.model.name;
        if !model.is_empty() && !raw.prices.contains_key(model) {
            warnings.push(format!(
                "model.name: {model:?} has no price; write [prices] {model:?} = {{ input = \"…\", output = \"…\" }} in US \
                 dollars per million tokens, or {{ free = true }}"
            ));
        }
        let budgets = ServiceBudgets {
            request: max_cost(&raw.caps.max_cost.0, &currency)?,
            service: budgets("budgets.service", &raw.budgets.service, &currency)?,
            key: budgets("budgets.key", &raw.budgets.key, &currency)?,
            zone: Zone::named(&raw.money.time_zone).map_err(|error| format!("money.time_zone: {error}"))?,
        };
        Ok(Self { currency, prices, budgets, warnings })
    }

    /// Says what is odd.
    pub(crate) fn warn(&self) {
        self.warnings.iter().for_each(|warning| terminal::note(format!("warning: {warning}")));
    }
}

fn currency(raw: &Raw) -> Result<Currency, String> {
    let (code, rate) = (&raw.money.currency, &raw.money.rate.0);
    let millionths = parse_decimal(rate).map_err(|error| format!("money.rate: {rate:?}: {error}"))?;
    if code == "USD" && millionths != 1_000_000 {
        return Err(format!("money.rate: {rate:?}: one US dollar is worth \"1\" USD"));
    }
    Currency::new(code, millionths).map_err(|error| match error {
        InvalidCurrency::Code => format!("money.currency: {code:?}: {error}"),
        InvalidCurrency::Rate => format!("money.rate: {rate:?}: {error}"),
    })
}

fn max_cost(text: &str, currency: &Currency) -> Result<Option<MicroUsd>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let cost = amounts::parse(text, currency).map_err(|error| format!("caps.max_cost: {text:?}: {error}"))?;
    if cost == MicroUsd::ZERO {
        return Err(format!(
            "caps.max_cost: {text:?} is less than a millionth of a US dollar; so that nothing is spent at all, write \
             [budgets] service = [\"0/day\"]"
        ));
    }
    Ok(Some(cost))
}

fn budgets(key: &str, list: &[Quoted], currency: &Currency) -> Result<Vec<Budget>, String> {
    amounts::budgets(list.iter().map(|quoted| quoted.0.as_str()), currency)
        .map_err(|problem| format!("{key}: {problem}"))
}
