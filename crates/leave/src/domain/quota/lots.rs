//! Leave that comes in lots: by years of service or by overtime, each to be used between two days.

use crate::domain::{
    calendar::DayPart,
    catalogue::{LeaveYear, Quota, Tier, month_and_day},
    time::Day,
};

/// Years of service that are reckoned with; nobody works longer.
const MOST_YEARS: u32 = 80;

/// Some leave that may be used between two days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lot {
    /// The first day on which it may be used.
    pub from: Day,
    /// The last day of the leave year that it belongs to.
    pub ends: Day,
    /// The last day on which it may be used; later than `ends` where it is carried over.
    pub until: Day,
    /// Minutes.
    pub minutes: u32,
}

/// Whole months of service on a day, counted from the day of hiring.
#[must_use]
pub fn months_of_service(hired: Day, on: Day) -> u32 {
    let rough =
        (i32::from(on.year()) - i32::from(hired.year())) * 12 + i32::from(on.month()) - i32::from(hired.month());
    let mut months = u32::try_from(rough.max(0)).unwrap_or(0);
    while months > 0 && hired.after_months(months) > on {
        months -= 1;
    }
    months
}

/// Days of annual leave for the year of service that begins after so many months; zero before the first tier.
#[must_use]
pub fn days_of_tier(tiers: &[Tier], grows_from_years: u32, most_days: u32, months: u32) -> u32 {
    let Some(tier) = tiers.iter().rfind(|tier| tier.months <= months) else { return 0 };
    let grown = (months / 12 + 1).saturating_sub(grows_from_years);
    (tier.days + grown).min(most_days.max(tier.days))
}

/// The lots of a quota by seniority that begin on or before `horizon`, in order.
#[must_use]
pub fn seniority_lots(quota: &Quota, hired: Day, day_minutes: u32, horizon: Day) -> Vec<Lot> {
    let Quota::Seniority { leave_year, carry_over_until, tiers, grows_from_years, most_days } = quota else {
        return Vec::new();
    };
    let carry = |ends: Day| match carry_over_until.as_deref().and_then(month_and_day) {
        Some((month, day)) => Day::new(ends.year() + 1, month, day).unwrap_or(ends),
        None => ends,
    };
    // Within the first year each tier begins a term of its own; from then on each year does.
    let first = tiers.iter().map(|tier| tier.months).filter(|months| *months < 12);
    let starts: Vec<u32> = first.chain((1..=MOST_YEARS).map(|years| 12 * years)).collect();
    let mut lots = Vec::new();
    for pair in starts.windows(2) {
        let (from, ends) = (hired.after_months(pair[0]), hired.after_months(pair[1]).plus(-1));
        if from > horizon {
            break;
        }
        let minutes = days_of_tier(tiers, *grows_from_years, *most_days, pair[0]) * day_minutes;
        match leave_year {
            LeaveYear::Anniversary => lots.push(Lot { from, ends, until: carry(ends), minutes }),
            LeaveYear::Calendar => lots.extend(by_calendar_year(from, ends, minutes).map(|mut lot| {
                lot.until = carry(lot.ends);
                lot
            })),
        }
    }
    lots.retain(|lot| lot.minutes > 0 && lot.from <= horizon);
    lots
}

/// One year of service cut at New Year, its minutes in proportion to the days. Rounding goes up and evens out at its end.
fn by_calendar_year(from: Day, ends: Day, minutes: u32) -> impl Iterator<Item = Lot> {
    let all = from.days_until(ends) + 1;
    let share = move |until: Day| {
        let days = u64::try_from(from.days_until(until) + 1).unwrap_or(0);
        let all = u64::try_from(all).unwrap_or(1).max(1);
        u32::try_from((u64::from(minutes) * days).div_ceil(all)).unwrap_or(u32::MAX)
    };
    (from.year()..=ends.year()).filter_map(move |year| {
        let begin = Day::new(year, 1, 1)?.max(from);
        let new_year_eve = Day::new(year, 12, 31)?;
        let end = new_year_eve.min(ends);
        let before = if begin == from { 0 } else { share(begin.plus(-1)) };
        Some(Lot { from: begin, ends: new_year_eve, until: new_year_eve, minutes: share(end) - before })
    })
}

/// Uses lots for days, each from the lot that expires first. Returns what is left in each lot, in the lots' order, and the
/// minutes for which there was none.
#[must_use]
pub fn allot(lots: &[Lot], days: &[DayPart]) -> (Vec<u32>, u32) {
    let mut left: Vec<u32> = lots.iter().map(|lot| lot.minutes).collect();
    let mut order: Vec<usize> = (0..lots.len()).collect();
    order.sort_by_key(|index| (lots[*index].until, lots[*index].from));
    let mut days = days.to_vec();
    days.sort_by_key(|part| part.day);
    let mut unmet = 0;
    for DayPart { day, minutes } in days {
        let mut need = minutes;
        for index in &order {
            if (lots[*index].from..=lots[*index].until).contains(&day) {
                let taken = need.min(left[*index]);
                left[*index] -= taken;
                need -= taken;
            }
        }
        unmet += need;
    }
    (left, unmet)
}
