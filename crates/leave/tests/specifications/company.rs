//! A company for tests: four people, a calendar, a clock that stands still, and ids that count.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use bylaw_contract::{Clock, Language, Randomness, Timestamp};
use bylaw_leave::{
    desk::{Desk, Principal},
    domain::{
        book::Book,
        calendar::WorkCalendar,
        decide::{Asking, Policy, Wanted},
        ids::{EmployeeId, LeaveId},
        leave::{Employee, Grant, Leave},
        refusal::Refusal,
        status::Status,
        store::{Company, LeaveStore},
        time::Day,
    },
    store::SqliteLeaves,
};

/// 2026-03-02T10:00 (a Monday) on the company's clock.
pub(crate) const NOW: Timestamp = Timestamp(1_772_416_800_000);

pub(crate) fn calendar() -> WorkCalendar {
    WorkCalendar::parse(include_str!("calendar.toml")).unwrap()
}

pub(crate) fn policy() -> Policy {
    Policy::over(calendar()).unwrap()
}

pub(crate) fn day(text: &str) -> Day {
    text.parse().unwrap()
}

pub(crate) fn id(text: &str) -> EmployeeId {
    EmployeeId::new(text).unwrap()
}

fn person(name: &str, hired: &str, manager: Option<&str>, deputy: Option<&str>) -> Employee {
    Employee {
        id: id(name),
        name: format!("name of {name}"),
        department: "tests".to_owned(),
        hired: day(hired),
        manager: manager.map(id),
        deputy: deputy.map(id),
    }
}

/// `ann` works for `boss` with `dan` as her deputy; `eve` has nothing to do with them.
pub(crate) fn people() -> Vec<Employee> {
    vec![
        person("boss", "2010-01-04", None, None),
        person("ann", "2020-03-02", Some("boss"), Some("dan")),
        person("dan", "2019-05-06", Some("boss"), Some("ann")),
        person("eve", "2022-01-03", None, None),
    ]
}

/// A book of ann's, hired on that day, with these leaves.
pub(crate) fn book(hired: &str, leaves: Vec<Leave>) -> Book {
    let mut people = people();
    let mut applicant = people.remove(1);
    applicant.hired = day(hired);
    let grant = Grant { minutes: 600, earned: day("2026-01-10"), expires: day("2026-07-09") };
    Book { applicant, people, leaves, grants: vec![grant], declines: Vec::new(), revision: 0 }
}

/// What a leave is to be: a type, perhaps with `/case/date`, and from when to when.
pub(crate) fn wanted(kind: &str, start: &str, end: &str) -> Wanted {
    let mut parts = kind.split('/');
    Wanted {
        kind: parts.next().unwrap().to_owned(),
        start: start.to_owned(),
        end: end.to_owned(),
        title: "title".to_owned(),
        event_case: parts.next().map(str::to_owned),
        event_date: parts.next().map(str::to_owned),
        ..Wanted::default()
    }
}

/// The draft of that leave, or why not, long before anything begins.
pub(crate) fn draft(book: &Book, kind: &str, start: &str, end: &str) -> Result<Leave, Refusal> {
    let policy = policy();
    let who = id("ann");
    let long_ago = Timestamp(1_704_067_200_000);
    let asking = Asking { who: &who, now: long_ago, language: Language::English };
    let number = book.leaves.len();
    policy.draft(book, asking, LeaveId::new(format!("LV-{number:06x}")).unwrap(), &wanted(kind, start, end), None)
}

/// A book with these leaves submitted one after the other; each must fit.
pub(crate) fn book_with(hired: &str, leaves: &[(&str, &str, &str)]) -> Book {
    let mut book = book(hired, Vec::new());
    for (kind, start, end) in leaves {
        let leave = draft(&book, kind, start, end).unwrap_or_else(|refusal| panic!("{kind} {start}: {refusal:?}"));
        book.leaves.push(Leave { status: Status::Submitted, ..leave });
    }
    book
}

/// A clock that moves only when it is told to.
pub(crate) struct TestClock(AtomicI64, AtomicU64);

impl TestClock {
    pub(crate) fn at(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.0), AtomicU64::new(0))
    }

    pub(crate) fn forward(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }
}

impl TestClock {
    /// Some milliseconds by the watch, which sessions and keys go by.
    pub(crate) fn tick(&self, milliseconds: u64) {
        self.1.fetch_add(milliseconds, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.1.load(Ordering::Relaxed))
    }
}

/// Bytes that count: the ids of a test are the same each time.
#[derive(Default)]
pub(crate) struct Counting(AtomicU64);

impl Randomness for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        bytes.fill(0);
        let length = bytes.len();
        for (to, from) in bytes[length.saturating_sub(8)..].iter_mut().zip(&count[8 - length.min(8)..]) {
            *to = *from;
        }
    }
}

/// A desk over a database in memory, with the clock it goes by.
pub(crate) struct Office {
    pub(crate) desk: Desk,
    pub(crate) store: Arc<SqliteLeaves>,
    pub(crate) clock: Arc<TestClock>,
    tickets: Mutex<u32>,
}

impl Office {
    pub(crate) async fn open() -> Self {
        let store = Arc::new(SqliteLeaves::in_memory().await.unwrap());
        let grants = vec![(id("ann"), Grant { minutes: 600, earned: day("2026-01-10"), expires: day("2026-07-09") })];
        let company = Company { employees: people(), grants, leaves: Vec::new() };
        assert!(store.found(&company, NOW).await.unwrap());
        let clock = Arc::new(TestClock::at(NOW));
        let mut policy = policy();
        // Nobody is kept waiting in a test.
        policy.terms.answer_within = Duration::from_millis(100);
        let desk = Desk::new(store.clone(), Arc::new(policy), clock.clone(), Arc::new(Counting::default()));
        Self { desk, store, clock, tickets: Mutex::new(0) }
    }

    /// A ticket that nobody has used.
    pub(crate) fn ticket(&self) -> String {
        let mut tickets = self.tickets.lock().unwrap();
        *tickets += 1;
        format!("ticket-{tickets}")
    }
}

pub(crate) fn principal(name: &str) -> Principal {
    Principal { employee: id(name), client: "tests".to_owned(), language: Language::English }
}
