//! Moments as people write and read them, in the time zone of the budgets.

use std::time::Duration;

use bylaw_contract::Timestamp;
use bylaw_gate::{Day, Zone};

/// The moment in its zone: `2026-03-01T08:00:00+08:00`.
pub(crate) fn show(at: Timestamp, zone: &Zone) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(moment) => moment.to_zoned_datetime(zone.time_zone().clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        Err(_) => format!("{at} ms"),
    }
}

/// When something ends: `90d` or `12h` from now, the beginning of a day, or a moment.
pub(crate) fn end(text: &str, now: Timestamp, zone: &Zone) -> Result<Timestamp, String> {
    let form =
        || format!("{text:?}: write 90d, 12h, a day such as 2027-01-31, or a moment such as 2027-01-31T18:00:00+08:00");
    if let Some((count, unit)) = text.split_at_checked(text.len().saturating_sub(1))
        && let Ok(count) = count.parse::<u32>()
    {
        let hours = match unit {
            "d" => 24,
            "h" => 1,
            _ => return Err(form()),
        };
        return Ok(now.plus(Duration::from_secs(u64::from(count) * hours * 3_600)));
    }
    if let Ok(day) = text.parse::<Day>() {
        let begin = zone.time_zone().to_timestamp(day.date().at(0, 0, 0, 0)).map_err(|_beyond_time| form())?;
        return Ok(Timestamp(begin.as_millisecond()));
    }
    text.parse::<jiff::Timestamp>().map(|at| Timestamp(at.as_millisecond())).map_err(|_no_moment| form())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_while_a_day_or_a_moment() {
        let zone = Zone::named("Asia/Taipei").unwrap();
        let now = Timestamp(1_772_323_200_000);
        for (text, expected) in [
            ("90d", Some("2026-05-30T08:00:00+08:00")),
            ("12h", Some("2026-03-01T20:00:00+08:00")),
            ("2027-01-31", Some("2027-01-31T00:00:00+08:00")),
            ("2027-01-31T18:00:00Z", Some("2027-02-01T02:00:00+08:00")),
            ("2027-02-30", None),
            ("2027-1-31", None),
            ("2027-01-31T18:00:00", None),
            ("90", None),
            ("90w", None),
            ("-1d", None),
            ("九天", None),
            ("", None),
        ] {
            let end = end(text, now, &zone).ok().map(|at| show(at, &zone));
            assert_eq!(end.as_deref(), expected, "{text}");
        }
    }
}
