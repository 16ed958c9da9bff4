//! How far one question may go: what was asked for, within what the service allows.

use std::time::Duration;

use bylaw_contract::{
    MicroUsd,
    ask::{AskRequest, FieldError},
};
use bylaw_gate::{Currency, parse_decimal};

/// The currency of `max_twd`.
const TWD: &str = "TWD";

/// The most that the service allows any question or run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceilings {
    /// Steps.
    pub max_steps: u32,
    /// Money; `None`: no ceiling but the budgets.
    pub max_cost: Option<MicroUsd>,
    /// Wall time.
    pub max_wall: Duration,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self { max_steps: 6, max_cost: None, max_wall: Duration::from_secs(120) }
    }
}

/// How far one question or run may go. In each respect the tighter of what was asked for and what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Most steps. A pipeline has none.
    pub max_steps: u32,
    /// Most money.
    pub max_cost: Option<MicroUsd>,
    /// Most wall time, from the arrival of the request.
    pub max_wall: Duration,
}

impl Caps {
    /// The caps of a request. Amounts are in `currency`.
    ///
    /// # Errors
    /// If a cap is no amount, not more than zero, too precise or absurd, or in a currency that the service does not use.
    pub fn of(request: &AskRequest, ceilings: &Ceilings, currency: &Currency) -> Result<Self, FieldError> {
        let max_cost = request.max_cost.as_deref().map(|text| amount("max_cost", text, currency)).transpose()?;
        let max_twd = match &request.max_twd {
            None => None,
            Some(_) if currency.code() != TWD => {
                let problem = format!("this service reckons in {currency}; give max_cost in {currency} instead");
                return Err(FieldError::new("max_twd", problem));
            }
            Some(number) => Some(amount("max_twd", &number.to_string(), currency)?),
        };
        let wall = request.max_wall_ms.as_ref().and_then(serde_json::Number::as_f64).map(milliseconds);
        Ok(Self {
            max_steps: request.max_steps.map_or(ceilings.max_steps, |steps| steps.min(ceilings.max_steps)),
            max_cost: [max_cost, max_twd, ceilings.max_cost].into_iter().flatten().min(),
            max_wall: wall.map_or(ceilings.max_wall, |wall| wall.min(ceilings.max_wall)),
        })
    }

    /// What is left of the wall time when `spent` has passed since the request arrived.
    #[must_use]
    pub fn time_left(&self, spent: Duration) -> Duration {
        self.max_wall.saturating_sub(spent)
    }
}

fn amount(field: &'static str, text: &str, currency: &Currency) -> Result<MicroUsd, FieldError> {
    let amount = parse_decimal(text).map_err(|error| FieldError::new(field, format!("{text:?}: {error}")))?;
    if amount == 0 {
        return Err(FieldError::new(field, "must be more than 0; mode \"extract\" costs nothing"));
    }
    Ok(currency.cap(amount))
}

/// The contract has checked that it is positive and at most ten minutes.
fn milliseconds(count: f64) -> Duration {
    Duration::try_from_secs_f64(count / 1_000.0).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps(json: &str, ceilings: &Ceilings, currency: &str) -> Result<Caps, String> {
        let request: AskRequest = serde_json::from_str(json).unwrap();
        request.check().map_err(|error| error.to_string())?;
        let rate = if currency == TWD { 32_000_000 } else { 900_000 };
        Caps::of(&request, ceilings, &Currency::new(currency, rate).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_tighter_of_request_and_ceiling_holds() {
        let ceilings = Ceilings { max_steps: 4, max_cost: Some(MicroUsd(31_250)), max_wall: Duration::from_secs(60) };
        let check = |json: &str, steps: u32, cost: i64, wall_ms: u64| {
            let json = format!(r#"{{"question":"a"{json}}}"#);
            let expected =
                Caps { max_steps: steps, max_cost: Some(MicroUsd(cost)), max_wall: Duration::from_millis(wall_ms) };
            assert_eq!(caps(&json, &ceilings, TWD), Ok(expected), "{json}");
        };
        check("", 4, 31_250, 60_000);
        check(r#","max_steps":2,"max_cost":"0.32","max_wall_ms":500"#, 2, 10_000, 500);
        check(r#","max_steps":9,"max_cost":"32","max_wall_ms":600000"#, 4, 31_250, 60_000);
        check(r#","max_twd":0.5"#, 4, 15_625, 60_000);
        check(r#","max_twd":1,"max_cost":"0.5""#, 4, 15_625, 60_000);
        check(r#","max_wall_ms":7.0"#, 4, 31_250, 7);
    }

    #[test]
    fn a_cap_that_makes_no_sense_is_refused_by_name() {
        let rows = [
            (r#""max_cost":"-1""#, "max_cost: \"-1\": an amount is not negative"),
            (r#""max_cost":"0""#, "max_cost: must be more than 0"),
            (r#""max_cost":"0.0000001""#, "at most six decimals"),
            (r#""max_cost":"1e3""#, "not an amount"),
            (r#""max_cost":"1000000001""#, "an amount is at most"),
            (r#""max_cost":"0.5 EUR""#, "not an amount"),
            (r#""max_twd":-1"#, "max_twd: must be more than 0"),
            (r#""max_twd":11"#, "max_twd: must be more than 0 and at most 10"),
            (r#""max_twd":0.0000001"#, "max_twd: "),
            (r#""max_wall_ms":0"#, "max_wall_ms: must be more than 0"),
            (r#""max_steps":0"#, "max_steps: 0 is outside 1 to 12"),
        ];
        for (field, expected) in rows {
            let problem = caps(&format!(r#"{{"question":"a",{field}}}"#), &Ceilings::default(), TWD).unwrap_err();
            assert!(problem.contains(expected), "{field}: {problem}");
        }
        let problem = caps(r#"{"question":"a","max_twd":1}"#, &Ceilings::default(), "EUR").unwrap_err();
        assert!(problem.contains("reckons in EUR"), "{problem}");
    }
}
