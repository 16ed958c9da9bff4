//! The pure core: whether money may be reserved, and what settling it does to an account.

use bylaw_contract::MicroUsd;

use crate::budget::{BudgetKey, Claim};

/// What stands on one account. For every grant, `settled + reserved <= limit` held at that instant and holds ever after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// What was booked within reservations.
    pub settled: MicroUsd,
    /// What is reserved and not yet settled.
    pub reserved: MicroUsd,
    /// What providers billed beyond their reservations. It counts like spending, so it blocks further calls.
    pub debt: MicroUsd,
}

impl Account {
    /// Everything on the account, open reservations included.
    fn held(self) -> i128 {
        i128::from(self.settled.0) + i128::from(self.debt.0) + i128::from(self.reserved.0)
    }

    /// What is left of `limit`; never negative.
    #[must_use]
    pub fn left(self, limit: MicroUsd) -> MicroUsd {
        MicroUsd(i64::try_from((i128::from(limit.0) - self.held()).max(0)).unwrap_or(i64::MAX))
    }

    /// What would be left if every open reservation came back unspent.
    fn left_without_open(self, limit: MicroUsd) -> MicroUsd {
        Self { reserved: MicroUsd::ZERO, ..self }.left(limit)
    }

    pub(crate) fn reserve(&mut self, amount: MicroUsd) {
        // `decide` granted no more than what is left of an i64.
        self.reserved = MicroUsd(self.reserved.0.saturating_add(amount.0));
    }

    pub(crate) fn release(&mut self, amount: MicroUsd) {
        self.reserved = MicroUsd(self.reserved.0.saturating_sub(amount.0).max(0));
    }

    /// Books `now` where `before` stood until now: nothing for a first settlement, the corrected row for a correction.
    pub(crate) fn book(&mut self, before: Posting, now: Posting) {
        // Saturation is safe here: an account that is full to the brim of an i64 blocks everything.
        let moved =
            |from: MicroUsd, less: i64, more: i64| MicroUsd(from.0.saturating_add(more).saturating_sub(less).max(0));
        self.settled = moved(self.settled, before.within(), now.within());
        self.debt = moved(self.debt, before.beyond(), now.beyond());
    }
}

/// What a row does to an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Posting {
    /// What was held for it.
    pub(crate) covered: MicroUsd,
    /// What is booked.
    pub(crate) amount: MicroUsd,
}

impl Posting {
    pub(crate) fn within(self) -> i64 {
        self.amount.min(self.covered).0
    }

    pub(crate) fn beyond(self) -> i64 {
        self.amount.0.saturating_sub(self.covered.0).max(0)
    }
}

/// How much a call may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    worst: MicroUsd,
    least: MicroUsd,
}

impl Demand {
    /// At worst `worst`; a grant of less is acceptable down to `least`, because the caller lowers `max_tokens` to fit.
    /// Amounts below zero count as zero, and `least` is at most `worst`.
    #[must_use]
    pub fn new(worst: MicroUsd, least: MicroUsd) -> Self {
        let worst = worst.max(MicroUsd::ZERO);
        Self { worst, least: least.clamp(MicroUsd::ZERO, worst) }
    }

    /// Exactly `amount`, or nothing.
    #[must_use]
    pub fn exactly(amount: MicroUsd) -> Self {
        Self::new(amount, amount)
    }

    /// The worst case.
    #[must_use]
    pub const fn worst(self) -> MicroUsd {
        self.worst
    }

    /// The least that is acceptable.
    #[must_use]
    pub const fn least(self) -> MicroUsd {
        self.least
    }
}

/// The budget that a call did not fit in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the budget {budget} of {limit} has {left} left, and the call needs {needed}")]
pub struct Shortfall {
    /// Scope and period.
    pub budget: BudgetKey,
    /// Its limit.
    pub limit: MicroUsd,
    /// What is left of it, open reservations deducted.
    pub left: MicroUsd,
    /// The least that the call needed.
    pub needed: MicroUsd,
}

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may cost this much: the worst case, or less but never below the least that was acceptable.
    Granted(MicroUsd),
    /// It does not fit now, but would if open reservations came back unspent.
    Wait(Shortfall),
    /// It does not fit, and waiting will not change that within the period.
    Refused(Shortfall),
}

/// Decides over all accounts at once. A claim without a limit is bounded by the largest sum an account can hold.
#[must_use]
pub fn decide<'a>(accounts: impl IntoIterator<Item = (&'a Claim, Account)>, demand: Demand) -> Verdict {
    if demand.worst == MicroUsd::ZERO {
        // What is free cannot overspend, not even an account that is in debt.
        return Verdict::Granted(MicroUsd::ZERO);
    }
    let mut granted = demand.worst;
    let mut waiting = None::<Shortfall>;
    for (claim, account) in accounts {
        let limit = claim.limit.unwrap_or(MicroUsd(i64::MAX));
        let left = account.left(limit);
        granted = granted.min(left);
        if left >= demand.least && left > MicroUsd::ZERO {
            continue;
        }
        let shortfall = Shortfall { budget: claim.budget.clone(), limit, left, needed: demand.least };
        if account.left_without_open(limit) < demand.least.max(MicroUsd(1)) {
            return Verdict::Refused(shortfall);
        }
        if waiting.as_ref().is_none_or(|tightest| left < tightest.left) {
            waiting = Some(shortfall);
        }
    }
    waiting.map_or(Verdict::Granted(granted), Verdict::Wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{budget::Scope, period::PeriodKey};

    fn account(settled: i64, reserved: i64, debt: i64) -> Account {
        Account { settled: MicroUsd(settled), reserved: MicroUsd(reserved), debt: MicroUsd(debt) }
    }

    fn claim(limit: Option<i64>) -> Claim {
        Claim { budget: BudgetKey { scope: Scope::Service, period: PeriodKey::Once }, limit: limit.map(MicroUsd) }
    }

    /// The verdict in one word, and the amount granted or left.
    fn verdict(limits: &[(Option<i64>, Account)], worst: i64, least: i64) -> (&'static str, i64) {
        let claims: Vec<_> = limits.iter().map(|(limit, account)| (claim(*limit), *account)).collect();
        let pairs = claims.iter().map(|(claim, account)| (claim, *account));
        match decide(pairs, Demand::new(MicroUsd(worst), MicroUsd(least))) {
            Verdict::Granted(amount) => ("granted", amount.0),
            Verdict::Wait(shortfall) => ("wait", shortfall.left.0),
            Verdict::Refused(shortfall) => ("refused", shortfall.left.0),
        }
    }

    #[test]
    fn a_call_is_granted_lowered_kept_waiting_or_refused() {
        let check = |settled, reserved, debt, worst, least, expected| {
            let got = verdict(&[(Some(100), account(settled, reserved, debt))], worst, least);
            assert_eq!(got, expected, "settled {settled} reserved {reserved} debt {debt}: {worst} down to {least}");
        };
        check(0, 0, 0, 100, 100, ("granted", 100));
        check(0, 0, 0, 101, 101, ("refused", 100));
        check(60, 0, 0, 50, 10, ("granted", 40));
        check(60, 0, 0, 50, 41, ("refused", 40));
        check(60, 30, 0, 50, 10, ("granted", 10));
        check(60, 31, 0, 50, 10, ("wait", 9));
        check(91, 9, 0, 50, 10, ("refused", 0));
        check(60, 0, 31, 50, 10, ("refused", 9));
        check(60, 0, 900, 50, 10, ("refused", 0));
        check(100, 0, 0, 0, 0, ("granted", 0));
        check(100, 0, 50, 0, 0, ("granted", 0));
        // Paid calls that declare any grant acceptable still need something.
        check(100, 0, 0, 5, 0, ("refused", 0));
        check(0, 100, 0, 5, 0, ("wait", 0));
    }

    #[test]
    fn every_scope_must_agree_and_the_tightest_bounds_the_grant() {
        let roomy = (Some(1_000), account(0, 0, 0));
        let tight = (Some(100), account(70, 0, 0));
        let busy = (Some(100), account(0, 95, 0));
        let spent = (Some(100), account(100, 0, 0));
        let unlimited = (None, account(i64::MAX / 2, 0, 0));
        assert_eq!(verdict(&[roomy, unlimited, tight], 50, 10), ("granted", 30));
        assert_eq!(verdict(&[roomy, busy], 50, 10), ("wait", 5));
        assert_eq!(verdict(&[busy, spent], 50, 10), ("refused", 0));
        assert_eq!(verdict(&[spent, busy], 50, 10), ("refused", 0));
    }

    #[test]
    fn sums_beyond_an_i64_are_refused_not_wrapped() {
        let full = (None, account(i64::MAX - 5, 0, 0));
        assert_eq!(verdict(&[full], 6, 6), ("refused", 5));
        let beyond = (None, account(i64::MAX, i64::MAX, i64::MAX));
        assert_eq!(verdict(&[beyond], 1, 1), ("refused", 0));
    }

    #[test]
    fn an_overrun_is_booked_in_full_as_debt_and_a_correction_takes_it_back() {
        let mut account = account(10, 40, 0);
        account.release(MicroUsd(40));
        let posting = |covered, amount| Posting { covered: MicroUsd(covered), amount: MicroUsd(amount) };
        account.book(Posting::default(), posting(40, 55));
        assert_eq!(account, self::account(50, 0, 15));
        account.book(posting(40, 55), posting(40, 12));
        assert_eq!(account, self::account(22, 0, 0));
    }
}
