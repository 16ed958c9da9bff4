//! Whatever is written in whatever order, the books hold.

use std::collections::BTreeMap;

use bylaw_contract::{MicroUsd, OwnerId, ReservationId, Timestamp, TokenUsage};
use proptest::{collection::vec, prelude::*};

use super::world::{booked_on, labels, run};
use crate::{
    Account, Books, BudgetKey, Charge, Claim, Demand, Order, PeriodKey, RowKind, RowNumber, Scope, StoredRow, Verdict,
    Write, Written, Zone,
    row::{Evidence, evidence},
};

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Run, worst, least.
    Reserve(u64, i64, i64),
    /// Which reservation, what kind of row, how much of the reservation in percent.
    Settle(usize, RowKind, i64),
    Release(usize),
    Expire(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![Just(RowKind::Spent), Just(RowKind::Estimated), Just(RowKind::Abandoned)];
    prop_oneof![
        4 => (0_u64..3, 0_i64..60, 0_i64..60).prop_map(|(run, worst, least)| Step::Reserve(run, worst, least)),
        4 => (any::<usize>(), kind, 0_i64..150).prop_map(|(which, kind, percent)| Step::Settle(which, kind, percent)),
        1 => any::<usize>().prop_map(Step::Release),
        1 => any::<usize>().prop_map(Step::Expire),
    ]
}

fn claims(number: u64) -> Vec<Claim> {
    let claim = |scope, limit: Option<i64>| Claim {
        budget: BudgetKey { scope, period: PeriodKey::Once },
        limit: limit.map(MicroUsd),
    };
    vec![claim(Scope::Request(run(number)), Some(100)), claim(Scope::Service, Some(230))]
}

/// What is known apart from the books.
#[derive(Default)]
struct Observer {
    books: Books,
    accounts: BTreeMap<BudgetKey, Account>,
    /// Every grant there ever was, and what it holds while it is open.
    granted: Vec<(ReservationId, i64)>,
    open: BTreeMap<ReservationId, i64>,
    rows: Vec<StoredRow>,
    /// What should be booked for each, and how well that is known.
    truth: BTreeMap<ReservationId, (Evidence, i64)>,
}

impl Observer {
    fn write(&mut self, write: Write) -> Written {
        let written = self.books.apply(write);
        let changes = self.books.take_changes();
        self.accounts.extend(changes.accounts);
        self.rows.extend(changes.rows);
        written
    }

    fn take(&mut self, number: usize, step: Step) {
        let at = Timestamp(i64::try_from(number).unwrap());
        match step {
            Step::Reserve(run, worst, least) => {
                let id = ReservationId::new(format!("rsv_{number:024x}")).unwrap();
                let demand = Demand::new(MicroUsd(worst), MicroUsd(least));
                let order = Order {
                    reservation: id.clone(),
                    owner: OwnerId::new(format!("own_{}", "0".repeat(24))).unwrap(),
                    labels: labels(run),
                    claims: claims(run),
                    demand,
                    at,
                    day: Zone::UTC.day(at),
                };
                match self.write(Write::Reserve(order)) {
                    Written::Verdict(Verdict::Granted(amount)) => {
                        assert!(demand.least() <= amount && amount <= demand.worst());
                        self.granted.push((id.clone(), amount.0));
                        self.open.insert(id, amount.0);
                    }
                    Written::Verdict(Verdict::Wait(_)) => assert!(!self.open.is_empty(), "nobody to wait for"),
                    Written::Verdict(Verdict::Refused(_)) => {}
                    other => panic!("{other:?}"),
                }
            }
            Step::Settle(which, kind, percent) => {
                let Some((id, amount)) = self.pick(which) else { return };
                let charge = Charge {
                    kind,
                    tokens: TokenUsage::default(),
                    amount: MicroUsd(amount * percent / 100),
                    note: None,
                };
                self.settle(id, charge, at);
            }
            Step::Expire(which) => {
                let Some((id, amount)) = self.pick(which) else { return };
                if self.open.contains_key(&id) {
                    self.settle(id, Charge::unknown(MicroUsd(amount)), at);
                }
            }
            Step::Release(which) => {
                let Some((id, _)) = self.pick(which) else { return };
                // Only what was never sent is released: no row, or none but that of a lease that ran out.
                if self.truth.get(&id).is_some_and(|(known, _)| *known != Evidence::Nothing) {
                    return;
                }
                let was_open = self.open.remove(&id).is_some();
                let written = self.write(Write::Release { reservation: id.clone(), at });
                if was_open {
                    assert_eq!(written, Written::Nothing);
                    self.granted.retain(|(other, _)| *other != id);
                } else {
                    assert!(matches!(written, Written::Row(_)));
                    self.truth.insert(id, (Evidence::Truth, 0));
                }
            }
        }
    }

    fn pick(&self, which: usize) -> Option<(ReservationId, i64)> {
        (!self.granted.is_empty()).then(|| self.granted[which % self.granted.len()].clone())
    }

    fn settle(&mut self, id: ReservationId, charge: Charge, at: Timestamp) {
        self.open.remove(&id);
        let known = evidence(charge.kind, charge.note);
        let better = self.truth.get(&id).is_none_or(|(before, _)| known > *before);
        let written = self.write(Write::Settle { reservation: id.clone(), charge, at });
        assert_eq!(matches!(written, Written::Row(_)), better, "{written:?}");
        if better {
            self.truth.insert(id, (known, charge.amount.0));
        }
    }

    fn check(&self) {
        for (budget, account) in &self.accounts {
            let limit = match budget.scope {
                Scope::Request(_) => 100,
                Scope::Service | Scope::Key(_) => 230,
            };
            assert!(account.settled.0 + account.reserved.0 <= limit, "{budget}: {account:?} over {limit}");
            assert!(account.settled.0 >= 0 && account.reserved.0 >= 0 && account.debt.0 >= 0, "{account:?}");
        }
        let service = self.accounts.get(&claims(0)[1].budget).copied().unwrap_or_default();
        assert_eq!(service.reserved.0, self.open.values().sum::<i64>());
        assert_eq!(booked_on(service).0, self.truth.values().map(|(_, amount)| amount).sum::<i64>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn settled_and_reserved_never_exceed_a_limit(steps in vec(step(), 1..80)) {
        let mut observer = Observer::default();
        for (number, step) in steps.into_iter().enumerate() {
            observer.take(number, step);
            observer.check();
        }
        for (id, amount) in observer.open.clone() {
            observer.settle(id, Charge::unknown(MicroUsd(amount)), Timestamp(1_000));
        }
        observer.check();
        prop_assert!(observer.accounts.values().all(|account| account.reserved == MicroUsd::ZERO));
        let numbers: Vec<_> = observer.rows.iter().map(|row| row.number).collect();
        let expected: Vec<_> = (1..=u64::try_from(numbers.len()).unwrap()).map(RowNumber).collect();
        prop_assert_eq!(numbers, expected);
    }
}
