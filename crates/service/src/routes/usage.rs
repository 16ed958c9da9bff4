//! `GET /usage`: what was spent.

use std::{collections::HashMap, sync::Arc};

use axum::{Extension, extract::State, response::Response};
use bylaw_contract::{
    ErrorCode, KeyId, MicroUsd, ReservationId,
    accounts::{Amount, UsageEntry, UsageResponse, UsageSums},
    ask::Mode,
};
use bylaw_gate::{Action, Currency, Day, LedgerError, LedgerStore, Principal, RowFilter, RowKind, UsageLine};
use serde::Deserialize;

use crate::{caller::Caller, error::Failure, parameters::Parameters, reply, request_id::Arrival, service::Service};

/// Open reservations that are read at once.
const PAGE: usize = 1_000;

/// The model of a row that says that the extract answered where a model could have been asked.
const EXTRACT: &str = "extract";

/// Parameters of `GET /usage`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// The first day.
    from: Option<String>,
    /// The last day.
    to: Option<String>,
    /// Whose.
    key: Option<String>,
    /// What lines are to be told apart by.
    by: Option<String>,
}

/// Says what was spent, by day, key, model or mode: one's own, and everyone's for an admin.
#[utoipa::path(
    get,
    path = "/usage",
    tag = "money",
    params(
        ("from" = Option<String>, Query, description = "The first day, as 2026-03-08; since the beginning without it"),
        ("to" = Option<String>, Query, description = "The last day; until now without it"),
        ("key" = Option<String>, Query, description = "Only this key's; one's own for whoever is no admin"),
        ("by" = Option<String>, Query, description = "What lines are told apart by: any of `day`, `key`, `model`, \
            `mode`, separated by commas; `day` without it"),
    ),
    responses((status = 200, description = "What was spent", body = UsageResponse))
)]
pub(crate) async fn usage(
    State(service): State<Arc<Service>>,
    Extension(arrival): Extension<Arrival>,
    Caller(caller): Caller,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<Response, Failure> {
    let (from, to) = (day("from", wanted.from.as_deref())?, day("to", wanted.to.as_deref())?);
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err(Failure::invalid("from: is after to"));
    }
    let by = By::read(wanted.by.as_deref().unwrap_or("day"))?;
    let key = whose(&caller, wanted.key.as_deref())?;
    let ledger = &*service.accounts.ledger;
    let filter = RowFilter { key: key.clone(), from, to, ..RowFilter::default() };
    let lines = ledger.usage(&filter).await?;
    let reserved = reserved(ledger, key.as_ref()).await?;

    let currency = &service.accounts.currency;
    let mut total = Sums::default();
    let mut groups = HashMap::<Group, Sums>::new();
    for line in &lines {
        total.add(line);
        groups.entry(by.group(line)).or_default().add(line);
    }
    let mut groups: Vec<(Group, Sums)> = groups.into_iter().collect();
    groups.sort_by(|(one, _), (other, _)| one.order().cmp(&other.order()));
    reply::ok(&UsageResponse {
        currency: currency.code().to_owned(),
        from: from.map(|day| day.to_string()),
        to: to.map(|day| day.to_string()),
        key,
        hit_rate: share(total.cache_hits, &[total.paid_calls]),
        extract_share: share(total.extract_answers, &[total.cache_hits, total.paid_calls]),
        total: total.shown(currency),
        reserved_now: amount(reserved, currency),
        lines: groups.into_iter().map(|(group, sums)| group.entry(sums.shown(currency))).collect(),
        request_id: arrival.request_id,
    })
}

fn day(field: &str, text: Option<&str>) -> Result<Option<Day>, Failure> {
    let read = |text: &str| {
        text.parse::<Day>().map_err(|_| Failure::invalid(format!("{field}: {text:?} is not a day such as 2026-03-08")))
    };
    text.map(read).transpose()
}

/// Whose usage is shown: whoever may not see everyone's sees their own.
fn whose(caller: &Principal, asked: Option<&str>) -> Result<Option<KeyId>, Failure> {
    let asked = asked
        .map(|text| KeyId::new(text).map_err(|error| Failure::invalid(format!("key: {}", error.rule))))
        .transpose()?;
    if caller.may(Action::EveryonesUsage) {
        return Ok(asked);
    }
    let own = caller.key_id().cloned();
    if asked.is_some() && asked != own {
        let role = Action::EveryonesUsage.least_role();
        return Err(Failure::new(
            ErrorCode::Forbidden,
            format!("this key may see its own usage only; everyone's needs the role {role}"),
        )
        .with_hint("leave the parameter key out"));
    }
    Ok(own)
}

/// What is reserved now. Open reservations are as many as calls are under way; accounts would be one for every day there
/// ever was.
pub(crate) async fn reserved(ledger: &dyn LedgerStore, key: Option<&KeyId>) -> Result<MicroUsd, LedgerError> {
    let mut sum = 0_i64;
    let mut after: Option<ReservationId> = None;
    loop {
        let page = ledger.open(after.as_ref(), PAGE).await?;
        let counted = page.iter().filter(|open| key.is_none() || open.labels.key.as_ref() == key);
        sum = counted.fold(sum, |sum, open| sum.saturating_add(open.amount.0));
        match page.last() {
            Some(last) if page.len() == PAGE => after = Some(last.id.clone()),
            Some(_) | None => return Ok(MicroUsd(sum)),
        }
    }
}

pub(crate) fn amount(micro_usd: MicroUsd, currency: &Currency) -> Amount {
    Amount { micro_usd, shown: currency.decimal(micro_usd) }
}

/// A share with four decimals; nothing of nothing is no share.
fn share(part: u64, rest: &[u64]) -> Option<f64> {
    let all = rest.iter().fold(part, |all, more| all.saturating_add(*more));
    let per_ten_thousand = (u128::from(part) * 10_000).checked_div(u128::from(all))?;
    u32::try_from(per_ten_thousand).ok().map(|share| f64::from(share) / 10_000.0)
}

/// What lines are told apart by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct By {
    day: bool,
    key: bool,
    model: bool,
    mode: bool,
}

impl By {
    fn read(text: &str) -> Result<Self, Failure> {
        let mut by = Self::default();
        for word in text.split(',') {
            match word.trim() {
                "day" => by.day = true,
                "key" => by.key = true,
                "model" => by.model = true,
                "mode" => by.mode = true,
                other => {
                    return Err(Failure::invalid(format!("by: {other:?} is none of day, key, model, mode")));
                }
            }
        }
        Ok(by)
    }

    fn group(self, line: &UsageLine) -> Group {
        Group {
            day: self.day.then_some(line.day),
            key: self.key.then(|| line.key.clone()),
            model: self.model.then(|| line.model.clone()),
            mode: self.mode.then_some(line.mode),
        }
    }
}

/// Lines that are shown as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Group {
    day: Option<Day>,
    key: Option<Option<KeyId>>,
    model: Option<String>,
    mode: Option<Option<Mode>>,
}

impl Group {
    /// Where it stands in the list.
    fn order(&self) -> (Option<Day>, Option<&KeyId>, Option<&str>, Option<u8>) {
        let mode = self.mode.flatten().map(|mode| match mode {
            Mode::Auto => 0,
            Mode::Extract => 1,
            Mode::Pipeline => 2,
            Mode::Agent => 3,
        });
        (self.day, self.key.as_ref().and_then(Option::as_ref), self.model.as_deref(), mode)
    }

    fn entry(self, sums: UsageSums) -> UsageEntry {
        let Self { day, key, model, mode } = self;
        UsageEntry { day: day.map(|day| day.to_string()), key, model, mode, sums }
    }
}

/// What lines add up to.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    spent: MicroUsd,
    estimated: MicroUsd,
    abandoned: MicroUsd,
    unknown: MicroUsd,
    avoided: MicroUsd,
    debt: MicroUsd,
    paid_calls: u64,
    cache_hits: u64,
    extract_answers: u64,
    input_tokens: u64,
    output_tokens: u64,
    embedding_tokens: u64,
}

impl Sums {
    fn add(&mut self, line: &UsageLine) {
        let (amount, rows) = match line.kind {
            RowKind::Spent => (&mut self.spent, &mut self.paid_calls),
            RowKind::Estimated => (&mut self.estimated, &mut self.paid_calls),
            RowKind::Abandoned => (&mut self.abandoned, &mut self.paid_calls),
            RowKind::Unknown => (&mut self.unknown, &mut self.paid_calls),
            RowKind::Avoided if line.model == EXTRACT => (&mut self.avoided, &mut self.extract_answers),
            RowKind::Avoided => (&mut self.avoided, &mut self.cache_hits),
        };
        let grow = |sum: &mut MicroUsd, by: MicroUsd| *sum = MicroUsd(sum.0.saturating_add(by.0));
        grow(amount, line.amount);
        *rows = rows.saturating_add(line.rows);
        grow(&mut self.debt, line.overrun);
        self.input_tokens = self.input_tokens.saturating_add(line.tokens.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(line.tokens.output_tokens);
        self.embedding_tokens = self.embedding_tokens.saturating_add(line.tokens.embedding_tokens);
    }

    fn shown(&self, currency: &Currency) -> UsageSums {
        let amount = |sum| amount(sum, currency);
        UsageSums {
            spent: amount(self.spent),
            estimated: amount(self.estimated),
            abandoned: amount(self.abandoned),
            unknown: amount(self.unknown),
            avoided: amount(self.avoided),
            debt: amount(self.debt),
            paid_calls: self.paid_calls,
            cache_hits: self.cache_hits,
            extract_answers: self.extract_answers,
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            embedding_tokens: self.embedding_tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_cut_to_four_decimals_and_nothing_of_nothing_is_none() {
        let rows = [
            (0, vec![], None),
            (0, vec![0, 0], None),
            (0, vec![1], Some(0.0)),
            (1, vec![], Some(1.0)),
            (1, vec![1, 1], Some(0.3333)),
            (u64::MAX, vec![1], Some(1.0)),
        ];
        for (part, rest, expected) in rows {
            assert_eq!(share(part, &rest), expected, "{part} {rest:?}");
        }
    }

    #[test]
    fn lines_are_told_apart_by_what_is_named() {
        let all = By { day: true, key: true, model: true, mode: true };
        assert_eq!(By::read("day,key, model,mode").unwrap(), all);
        assert_eq!(By::read("day,day").unwrap(), By { day: true, ..By::default() });
        for bad in ["", "day,", "week", "day;key"] {
            assert!(By::read(bad).is_err(), "{bad:?}");
        }
    }
}
