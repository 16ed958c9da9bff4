//! Budgets: limit × scope × period.

use std::{collections::BTreeMap, fmt, str::FromStr};

use bylaw_contract::{KeyId, MicroUsd, RunId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    period::{Period, PeriodKey, Zone},
    principal::Principal,
};

/// A limit for each of its periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The most that may be spent in one period. Not negative; zero means that nothing may be.
    pub limit: MicroUsd,
    /// How long the limit lasts.
    pub period: Period,
}

/// Whose spending is counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One run: a question with all its model calls. A run and not the request id, since callers may choose that one.
    Request(RunId),
    /// Everything done with one key.
    Key(KeyId),
    /// Everyone.
    Service,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(run) => write!(f, "request:{run}"),
            Self::Key(key) => write!(f, "key:{key}"),
            Self::Service => f.write_str("service"),
        }
    }
}

/// One scope in one period: what an account is kept for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BudgetKey {
    /// Whose spending.
    pub scope: Scope,
    /// When.
    pub period: PeriodKey,
}

impl fmt::Display for BudgetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.scope, self.period)
    }
}

/// A text that is no budget key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a budget key")]
pub struct InvalidBudgetKey {
    /// The text.
    pub text: String,
}

impl FromStr for BudgetKey {
    type Err = InvalidBudgetKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (scope, period) = text.split_once('/')?;
            let scope = match scope.split_once(':') {
                None if scope == "service" => Scope::Service,
                Some(("request", run)) => Scope::Request(run.parse().ok()?),
                Some(("key", key)) => Scope::Key(key.parse().ok()?),
                Some(_) | None => return None,
            };
            Some(Self { scope, period: period.parse().ok()? })
        };
        parse().ok_or_else(|| InvalidBudgetKey { text: text.to_owned() })
    }
}

impl Serialize for BudgetKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BudgetKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// An account that a reservation draws on. Without a limit it only counts: usage is shown for every scope, and "no limit"
/// is said, not inferred from a missing row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Which account.
    pub budget: BudgetKey,
    /// Its limit.
    pub limit: Option<MicroUsd>,
}

/// The budgets of the service, and where its days begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceBudgets {
    /// The most that one request may spend, whatever it asks for.
    pub request: Option<MicroUsd>,
    /// What everyone together may spend.
    pub service: Vec<Budget>,
    /// What a key may spend that has no budgets of its own.
    pub key: Vec<Budget>,
    /// Where days and months begin.
    pub zone: Zone,
}

impl ServiceBudgets {
    /// Counts everything and limits nothing.
    pub const UNLIMITED: Self = Self { request: None, service: Vec::new(), key: Vec::new(), zone: Zone::UTC };

    /// The accounts that a call at `at` draws on. `max_cost` is what the caller asked for; the tighter limit wins.
    ///
    /// Every scope is counted per day even where nothing limits it.
    #[must_use]
    pub fn claims(&self, principal: &Principal, run: &RunId, max_cost: Option<MicroUsd>, at: Timestamp) -> Vec<Claim> {
        let mut limits = BTreeMap::<BudgetKey, Option<MicroUsd>>::new();
        let mut add = |scope: Scope, period: Period, limit: Option<MicroUsd>| {
            let key = BudgetKey { scope, period: self.zone.period(period, at) };
            let tightest = limits.entry(key).or_default();
            *tightest = match (*tightest, limit) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        };
        for limit in [self.request, max_cost] {
            // An account per run is kept only where a limit needs it.
            if limit.is_some() {
                add(Scope::Request(run.clone()), Period::Once, limit);
            }
        }
        if let Some(key) = principal.key_id() {
            add(Scope::Key(key.clone()), Period::Day, None);
            let own = principal.budgets();
            for budget in if own.is_empty() { &self.key } else { own } {
                add(Scope::Key(key.clone()), budget.period, Some(budget.limit));
            }
        }
        add(Scope::Service, Period::Day, None);
        for budget in &self.service {
            add(Scope::Service, budget.period, Some(budget.limit));
        }
        limits.into_iter().map(|(budget, limit)| Claim { budget, limit }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{KeyRecord, ReadableSources, Role};

    fn run() -> RunId {
        RunId::new(format!("run_{}", "7".repeat(24))).unwrap()
    }

    fn holder(budgets: Vec<Budget>) -> Principal {
        Principal::from(KeyRecord {
            id: KeyId::new(format!("key_{}", "1".repeat(24))).unwrap(),
            name: "someone".to_owned(),
            role: Role::Reader,
            sources: ReadableSources::All,
            budgets,
            created_at: Timestamp(0),
            expires_at: None,
            revoked_at: None,
        })
    }

    fn shown(claims: &[Claim]) -> Vec<String> {
        claims
            .iter()
            .map(|claim| {
                format!("{}={}", claim.budget, claim.limit.map_or("none".to_owned(), |limit| limit.0.to_string()))
            })
            .collect()
    }

    #[test]
    fn a_call_draws_on_request_key_and_service_and_the_tighter_limit_wins() {
        let day = |limit| Budget { limit: MicroUsd(limit), period: Period::Day };
        let month = |limit| Budget { limit: MicroUsd(limit), period: Period::Month };
        let budgets = ServiceBudgets {
            request: Some(MicroUsd(500)),
            service: vec![day(9_000), month(90_000)],
            key: vec![day(1_000)],
            zone: Zone::UTC,
        };
        let request = format!("request:run_{}/once", "7".repeat(24));
        let key = format!("key:key_{}", "1".repeat(24));
        let claims = budgets.claims(&holder(vec![day(70), day(60)]), &run(), Some(MicroUsd(50)), Timestamp(0));
        assert_eq!(
            shown(&claims),
            [
                format!("{request}=50"),
                format!("{key}/day:1970-01-01=60"),
                "service/day:1970-01-01=9000".to_owned(),
                "service/month:1970-01=90000".to_owned(),
            ]
        );
        let claims = budgets.claims(&holder(Vec::new()), &run(), Some(MicroUsd(5_000)), Timestamp(0));
        assert_eq!(shown(&claims)[..2], [format!("{request}=500"), format!("{key}/day:1970-01-01=1000")]);
    }

    #[test]
    fn without_limits_spending_is_still_counted() {
        let claims = ServiceBudgets::UNLIMITED.claims(&Principal::LocalDoor, &run(), None, Timestamp(0));
        assert_eq!(shown(&claims), ["service/day:1970-01-01=none"]);
    }

    #[test]
    fn a_budget_key_reads_back() {
        let run = run();
        for good in ["service/once".to_owned(), "service/day:2026-01-02".to_owned(), format!("request:{run}/once")] {
            assert_eq!(good.parse::<BudgetKey>().unwrap().to_string(), good);
        }
        for bad in ["", "service", "service/", "key:x/once", "nobody/once", "service:1/once", "service/once/once"] {
            assert!(bad.parse::<BudgetKey>().is_err(), "{bad}");
        }
    }
}
