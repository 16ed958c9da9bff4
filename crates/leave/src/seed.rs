//! A demonstration company: twelve people in two departments, with a leave in each status. Nobody in it exists.

use crate::domain::{
    calendar::WorkCalendar,
    ids::{EmployeeId, InvalidId, LeaveId, TypeId},
    leave::{Employee, Event, Grant, Leave},
    status::Status,
    store::Company,
    time::{Day, Edge, Span},
};

/// The employee that a demonstration stands for unless told otherwise.
pub const FIRST: &str = "E001";
/// Their manager.
pub const FIRST_MANAGER: &str = "E005";

/// Id, name, department, first day at work, manager, deputy. Managers come first.
type Row = (&'static str, &'static str, &'static str, (i16, i8, i8), Option<&'static str>, Option<&'static str>);

const IT: &str = "資訊部";
const SALES: &str = "業務部";

const PEOPLE: &[Row] = &[
    ("E012", "周明達", SALES, (2010, 4, 1), None, Some("E005")),
    ("E005", "王國棟", IT, (2014, 8, 4), Some("E012"), Some("E003")),
    ("E011", "鄭雅文", SALES, (2013, 2, 18), Some("E012"), Some("E008")),
    ("E001", "林怡君", IT, (2019, 3, 18), Some("E005"), Some("E002")),
    ("E002", "陳柏宇", IT, (2021, 7, 1), Some("E005"), Some("E001")),
    ("E003", "張淑芬", IT, (2016, 10, 3), Some("E005"), Some("E004")),
    ("E004", "黃志豪", IT, (2024, 2, 29), Some("E005"), Some("E003")),
    ("E006", "吳佩珊", IT, (2025, 9, 1), Some("E005"), Some("E002")),
    ("E007", "劉冠廷", SALES, (2018, 5, 14), Some("E011"), Some("E008")),
    ("E008", "蔡欣怡", SALES, (2022, 1, 10), Some("E011"), Some("E007")),
    ("E009", "許家銘", SALES, (2023, 6, 15), Some("E011"), Some("E010")),
    ("E010", "謝宛如", SALES, (2020, 11, 2), Some("E011"), Some("E009")),
];

/// From a working day this many days from today (later or earlier), over so many working days.
struct When {
    in_days: i64,
    working_days: u32,
}

/// Id, owner, type, title, when, status, version.
type LeaveRow = (&'static str, &'static str, &'static str, &'static str, When, Status, u32);

const fn when(in_days: i64, working_days: u32) -> When {
    When { in_days, working_days }
}

const LEAVES: &[LeaveRow] = &[
    ("LV-7f3a91", "E001", "annual", "家庭旅遊", when(21, 3), Status::Draft, 1),
    ("LV-2c40d8", "E001", "annual", "回鄉探親", when(42, 1), Status::Approved, 4),
    ("LV-91be07", "E001", "sick", "感冒就診", when(-14, 1), Status::Taken, 4),
    ("LV-5a13e6", "E002", "annual", "畢業旅行", when(28, 2), Status::Submitted, 2),
    ("LV-c07d2f", "E003", "personal", "搬家", when(18, 1), Status::Submitted, 3),
    ("LV-e84b19", "E004", "annual", "登山", when(25, 2), Status::Rejected, 3),
    ("LV-0d96ac", "E006", "personal", "看房子", when(16, 1), Status::Withdrawn, 3),
    ("LV-b3f570", "E007", "annual", "出國旅遊", when(30, 4), Status::Cancelled, 5),
    ("LV-48c6e1", "E008", "marriage", "婚禮籌備", when(35, 5), Status::Approved, 4),
    ("LV-6be204", "E009", "compensatory", "加班補休", when(15, 1), Status::Submitted, 2),
    ("LV-f1927a", "E010", "family_care", "孩子打疫苗", when(-20, 1), Status::Taken, 4),
    ("LV-d35c08", "E005", "annual", "健檢與休息", when(32, 1), Status::Submitted, 3),
];

/// The company as it is on this day: its people do not change, their leaves lie around today.
///
/// # Errors
/// Never; a test holds it.
pub fn company(calendar: &WorkCalendar, today: Day) -> Result<Company, InvalidId> {
    let optional = |id: Option<&str>| id.map(EmployeeId::new).transpose();
    let mut employees = Vec::with_capacity(PEOPLE.len());
    for (id, name, department, (year, month, day), manager, deputy) in PEOPLE {
        employees.push(Employee {
            id: EmployeeId::new(*id)?,
            name: (*name).to_owned(),
            department: (*department).to_owned(),
            hired: Day::new(*year, *month, *day).unwrap_or(today),
            manager: optional(*manager)?,
            deputy: optional(*deputy)?,
        });
    }
    let overtime = Grant { minutes: 12 * 60, earned: today.plus(-30), expires: today.plus(150) };
    let grants =
        vec![(EmployeeId::new("E009")?, overtime), (EmployeeId::new(FIRST)?, Grant { minutes: 240, ..overtime })];
    let mut leaves = Vec::with_capacity(LEAVES.len());
    for (id, owner, kind, title, when, status, version) in LEAVES {
        let owner = EmployeeId::new(*owner)?;
        let deputy = employees.iter().find(|person| person.id == owner).and_then(|person| person.deputy.clone());
        let span = span(calendar, today, when);
        let is_over = matches!(status, Status::Approved | Status::Taken | Status::Cancelled);
        leaves.push(Leave {
            id: LeaveId::new(*id)?,
            version: *version,
            applicant: owner,
            kind: TypeId::new(*kind)?,
            title: (*title).to_owned(),
            reason: String::new(),
            span,
            days: calendar.working(span),
            status: *status,
            deputy,
            has_consent: is_over || (*status == Status::Submitted && *version > 2),
            event: (*kind == "marriage").then(|| Event { on: span.end().day.plus(-1), case: "marriage".to_owned() }),
        });
    }
    Ok(Company { employees, grants, leaves })
}

/// Whole days, from the first working day on.
fn span(calendar: &WorkCalendar, today: Day, when: &When) -> Span {
    let is_working = |day: Day| calendar.hours(day).minutes() > 0;
    let direction = if when.in_days < 0 { -1 } else { 1 };
    let mut start = today.plus(when.in_days);
    // A week has working days, and no holidays are longer than these.
    for _ in 0..30 {
        if is_working(start) {
            break;
        }
        start = start.plus(direction);
    }
    let (mut end, mut days) = (start, 1);
    while days < when.working_days && start.days_until(end) < 30 {
        end = end.plus(1);
        days += u32::from(is_working(end));
    }
    let edges = (Edge::Day(start), Edge::Day(end));
    // The end is never before the start, and at most 30 days after.
    Span::new(edges.0, edges.1).unwrap_or_else(|_impossible| unreachable!("a span of at most 30 days"))
}
