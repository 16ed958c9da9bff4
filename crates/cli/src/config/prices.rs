//! `[prices]`: what models cost, in US dollars per million tokens.

use std::collections::BTreeMap;

use bylaw_contract::MicroUsd;
use bylaw_gate::{ModelPrice, PriceTable, Prices, parse_decimal};

use super::raw::{Price, Quoted};

/// The prices, and what is odd about them.
pub(super) fn resolve(raw: &BTreeMap<String, Price>) -> Result<(PriceTable, Vec<String>), String> {
    let (mut table, mut warnings) = (PriceTable::default(), Vec::new());
    for (model, price) in raw {
        let key = format!("prices.{model:?}");
        let odd = table.set(model, model_price(&key, price)?).map_err(|error| format!("{key}: {error}"))?;
        warnings.extend(odd.into_iter().map(|warning| format!("{key}: {warning}")));
    }
    Ok((table, warnings))
}

fn model_price(key: &str, raw: &Price) -> Result<ModelPrice, String> {
    let Price { input, cached_input, output, free } = raw;
    if *free {
        return match (input, cached_input, output) {
            (None, None, None) => Ok(ModelPrice::Free),
            _ => Err(format!("{key}: free = true, and a price; keep one of the two")),
        };
    }
    let price = |field: &str, text: &Quoted| {
        let amount = parse_decimal(&text.0).map_err(|error| format!("{key}.{field}: {:?}: {error}", text.0));
        amount.map(MicroUsd)
    };
    let Some(input) = input else {
        return Err(format!("{key}.input: missing; write what a million tokens cost in US dollars, or free = true"));
    };
    Ok(ModelPrice::Paid(Prices {
        input: price("input", input)?,
        cached_input: cached_input.as_ref().map(|text| price("cached_input", text)).transpose()?,
        output: output.as_ref().map(|text| price("output", text)).transpose()?,
    }))
}
