//! How much leave there is: granted in lots or by windows, used day by day, the earliest to expire first.

mod lots;

pub use self::lots::{Lot, allot, days_of_tier, months_of_service, seniority_lots};
use super::{
    calendar::DayPart,
    catalogue::{Catalogue, LeaveType, Quota},
    ids::TypeId,
    leave::{Employee, Event, Grant, Leave},
    status::Status,
    time::Day,
};

/// What a quota is reckoned from.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    /// Every leave type.
    pub catalogue: &'a Catalogue,
    /// Minutes of one day.
    pub day_minutes: u32,
    /// Whose it is.
    pub employee: &'a Employee,
    /// Overtime on record.
    pub grants: &'a [Grant],
    /// The employee's leaves; those that are not counted are skipped.
    pub leaves: &'a [Leave],
}

/// Too little leave is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// In the quota of this type, which may be one that the leave counts into.
    pub kind: TypeId,
    /// Minutes that are missing.
    pub missing: u32,
    /// Minutes that are left for it.
    pub left: u32,
}

/// One line of a statement: a window or a lot, and how much of it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From this day.
    pub from: Day,
    /// To this day.
    pub until: Day,
    /// Whether it is carried over from the leave year before.
    pub is_carried: bool,
    /// The event, for a quota per event.
    pub event: Option<Event>,
    /// Minutes there are.
    pub granted: u32,
    /// Minutes of leaves that are approved or taken.
    pub used: u32,
    /// Minutes of leaves that wait for a decision.
    pub pending: u32,
}

impl Line {
    /// Minutes that can still be asked for.
    #[must_use]
    pub const fn left(&self) -> u32 {
        self.granted.saturating_sub(self.used).saturating_sub(self.pending)
    }
}

/// A window of days, both included.
type Window = (Day, Day);

fn year_of(day: Day) -> Window {
    (Day::new(day.year(), 1, 1).unwrap_or(day), Day::new(day.year(), 12, 31).unwrap_or(day))
}

fn month_of(day: Day) -> Window {
    let begin = day.plus(1 - i64::from(day.day_of_month()));
    (begin, begin.after_months(1).plus(-1))
}

impl<'a> Account<'a> {
    /// What is missing for `candidate`, if anything is, beside all that is counted already (except the candidate itself).
    #[must_use]
    pub fn shortfall(&self, candidate: &Leave) -> Option<Shortfall> {
        let kind = self.catalogue.get(&candidate.kind)?;
        let own = self.shortfall_in(kind, candidate, &candidate.days);
        own.or_else(|| {
            let into = self.catalogue.get(&kind.counts_into.as_ref()?.kind)?;
            self.shortfall_in(into, candidate, &candidate.days)
        })
    }

    fn shortfall_in(&self, kind: &LeaveType, candidate: &Leave, days: &[DayPart]) -> Option<Shortfall> {
        let others = |used: &Leave| used.id != candidate.id && used.is_counted();
        let short = |missing: u32, left: u32| (missing > 0).then(|| Shortfall { kind: kind.id.clone(), missing, left });
        match &kind.quota {
            Quota::AsNeeded {} => None,
            Quota::Seniority { .. } | Quota::Earned {} => {
                let lots = self.lots(kind, days.iter().map(|part| part.day).max()?);
                let before = self.days(&kind.id, &others);
                let with: Vec<DayPart> = before.iter().chain(days).copied().collect();
                // What was over before does not speak against the candidate.
                let missing = allot(&lots, &with).1.saturating_sub(allot(&lots, &before).1);
                short(missing, candidate.minutes().saturating_sub(missing))
            }
            Quota::PerYear { days: quota } => self.over_windows(kind, *quota, year_of, candidate, &others, short),
            Quota::PerMonth { days: quota } => self.over_windows(kind, *quota, month_of, candidate, &others, short),
            Quota::PerEvent { cases } => {
                let event = candidate.event.as_ref()?;
                let quota = cases.iter().find(|case| case.id == event.case)?.days * self.day_minutes;
                let same = |used: &&Leave| others(used) && used.kind == kind.id && used.event.as_ref() == Some(event);
                let used: u32 = self.leaves.iter().filter(same).map(Leave::minutes).sum();
                let left = quota.saturating_sub(used);
                short(candidate.minutes().saturating_sub(left), left)
            }
        }
    }

    fn over_windows(
        &self,
        kind: &LeaveType,
        quota_days: u32,
        window_of: fn(Day) -> Window,
        candidate: &Leave,
        others: &dyn Fn(&Leave) -> bool,
        short: impl Fn(u32, u32) -> Option<Shortfall>,
    ) -> Option<Shortfall> {
        let quota = quota_days * self.day_minutes;
        let mut windows: Vec<Window> = candidate.days.iter().map(|part| window_of(part.day)).collect();
        windows.dedup();
        windows.into_iter().find_map(|window| {
            let before = self.used_in(kind, window, others, None);
            let with = self.used_in(kind, window, others, Some(candidate));
            short(with.saturating_sub(quota.max(before)), quota.saturating_sub(before))
        })
    }

    /// Minutes of a type in a window, with those of types that count into it, and of one more leave.
    fn used_in(
        &self,
        kind: &LeaveType,
        (from, to): Window,
        counted: &dyn Fn(&Leave) -> bool,
        more: Option<&Leave>,
    ) -> u32 {
        let of = |id: &TypeId| -> u32 {
            let leaves = self.leaves.iter().filter(|leave| counted(leave)).chain(more);
            let days = leaves.filter(|leave| leave.kind == *id).flat_map(|leave| &leave.days);
            days.filter(|part| (from..=to).contains(&part.day)).map(|part| part.minutes).sum()
        };
        let others = self.catalogue.types().iter().filter_map(|other| {
            let into = other.counts_into.as_ref().filter(|into| into.kind == kind.id)?;
            Some(of(&other.id).saturating_sub(into.beyond_days * self.day_minutes))
        });
        of(&kind.id) + others.sum::<u32>()
    }

    fn days(&self, kind: &TypeId, counted: &dyn Fn(&Leave) -> bool) -> Vec<DayPart> {
        let leaves = self.leaves.iter().filter(|leave| leave.kind == *kind && counted(leave));
        leaves.flat_map(|leave| &leave.days).copied().collect()
    }

    /// The lots of a type that begin on or before `horizon`.
    #[must_use]
    pub fn lots(&self, kind: &LeaveType, horizon: Day) -> Vec<Lot> {
        match &kind.quota {
            quota @ Quota::Seniority { .. } => seniority_lots(quota, self.employee.hired, self.day_minutes, horizon),
            Quota::Earned {} => {
                let lot = |grant: &Grant| Lot {
                    from: grant.earned,
                    ends: grant.expires,
                    until: grant.expires,
                    minutes: grant.minutes,
                };
                self.grants.iter().map(lot).collect()
            }
            Quota::PerYear { .. } | Quota::PerMonth { .. } | Quota::PerEvent { .. } | Quota::AsNeeded {} => Vec::new(),
        }
    }

    /// What there is of a type on a day, and how much of it is used. Empty for what is given as needed, and for a quota per
    /// event without events.
    #[must_use]
    pub fn statement(&self, kind: &'a LeaveType, on: Day) -> Vec<Line> {
        let used = |leave: &Leave| matches!(leave.status, Status::Approved | Status::Taken);
        match &kind.quota {
            Quota::AsNeeded {} => Vec::new(),
            Quota::Seniority { .. } | Quota::Earned {} => {
                let lots = self.lots(kind, on);
                let (after_used, _) = allot(&lots, &self.days(&kind.id, &used));
                let (after_all, _) = allot(&lots, &self.days(&kind.id, &Leave::is_counted));
                let line = |(index, lot): (usize, &Lot)| Line {
                    from: lot.from,
                    until: lot.until,
                    is_carried: lot.ends < on,
                    event: None,
                    granted: lot.minutes,
                    used: lot.minutes - after_used[index],
                    pending: after_used[index].saturating_sub(after_all[index]),
                };
                let valid = lots.iter().enumerate().filter(|(_, lot)| (lot.from..=lot.until).contains(&on));
                valid.map(line).collect()
            }
            Quota::PerYear { days } => vec![self.window_line(kind, year_of(on), *days, &used)],
            Quota::PerMonth { days } => vec![self.window_line(kind, month_of(on), *days, &used)],
            Quota::PerEvent { cases } => {
                let mut events: Vec<&Event> = Vec::new();
                let of_kind = self.leaves.iter().filter(|leave| leave.kind == kind.id && leave.is_counted());
                for event in of_kind.filter_map(|leave| leave.event.as_ref()) {
                    if !events.contains(&event) {
                        events.push(event);
                    }
                }
                let sum = |event: &Event, counted: &dyn Fn(&Leave) -> bool| -> u32 {
                    let same =
                        |leave: &&Leave| leave.kind == kind.id && leave.event.as_ref() == Some(event) && counted(leave);
                    self.leaves.iter().filter(same).map(Leave::minutes).sum()
                };
                let line = |event: &Event| {
                    let days = cases.iter().find(|case| case.id == event.case)?.days;
                    let (used, all) = (sum(event, &used), sum(event, &Leave::is_counted));
                    Some(Line {
                        from: event.on,
                        until: event.on,
                        is_carried: false,
                        event: Some(event.clone()),
                        granted: days * self.day_minutes,
                        used,
                        pending: all - used,
                    })
                };
                events.into_iter().filter_map(line).collect()
            }
        }
    }

    fn window_line(&self, kind: &LeaveType, window: Window, days: u32, used: &dyn Fn(&Leave) -> bool) -> Line {
        let (used, all) =
            (self.used_in(kind, window, used, None), self.used_in(kind, window, &Leave::is_counted, None));
        Line {
            from: window.0,
            until: window.1,
            is_carried: false,
            event: None,
            granted: days * self.day_minutes,
            used,
            pending: all.saturating_sub(used),
        }
    }
}
