//! Decisions: from what is on the books and what is asked for to the leave as it will be, or a refusal.

use bylaw_contract::{Language, Timestamp};

use super::{
    book::Book,
    calendar::{Hours, WorkCalendar},
    catalogue::{Case, Catalogue, Counting, InvalidCatalogue, LeaveType, Unit},
    effect::effect_of_replacing,
    ids::{EmployeeId, LeaveId},
    leave::{Event, Leave, MAX_REASON_CHARS, MAX_TITLE_CHARS},
    refusal::{Refusal, shortened},
    rules::{Terms, no_stays_no},
    status::{Party, Status, Step, moves_from},
    time::{Day, Edge, InvalidSpan, MAX_SPAN_DAYS, Span},
    words::amount,
};

/// What decisions rest on beside the books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The leave types.
    pub catalogue: Catalogue,
    /// The working calendar.
    pub calendar: WorkCalendar,
    /// How long things count.
    pub terms: Terms,
}

impl Policy {
    /// The bundled leave types, this calendar, and the usual terms.
    ///
    /// # Errors
    /// Never; a test holds that the bundled catalogue can be read.
    pub fn over(calendar: WorkCalendar) -> Result<Self, InvalidCatalogue> {
        Ok(Self { catalogue: Catalogue::bundled()?, calendar, terms: Terms::default() })
    }
}

/// What a leave is to be, as a caller wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Any name of a type.
    pub kind: String,
    /// First day, or moment.
    pub start: String,
    /// Last day, or moment.
    pub end: String,
    /// What its owner calls it.
    pub title: String,
    /// Why; may be empty.
    pub reason: String,
    /// Who stands in; the usual person unless given.
    pub deputy: Option<EmployeeId>,
    /// The day of the event.
    pub event_date: Option<String>,
    /// The case of the event.
    pub event_case: Option<String>,
}

impl Wanted {
    /// What a leave is, written as a caller would.
    #[must_use]
    pub fn from_leave(leave: &Leave) -> Self {
        Self {
            kind: leave.kind.to_string(),
            start: leave.span.start().to_string(),
            end: leave.span.end().to_string(),
            title: leave.title.clone(),
            reason: leave.reason.clone(),
            deputy: leave.deputy.clone(),
            event_date: leave.event.as_ref().map(|event| event.on.to_string()),
            event_case: leave.event.as_ref().map(|event| event.case.clone()),
        }
    }
}

/// Who asks, when, and in which language.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The person.
    pub who: &'a EmployeeId,
    /// The moment.
    pub now: Timestamp,
    /// The language of sentences.
    pub language: Language,
}

fn text(field: &'static str, value: &str, least: usize, most: usize) -> Result<String, Refusal> {
    let value = value.trim();
    let chars = value.chars().count();
    let is_plain = !value.chars().any(|c| c.is_control() && c != '\n');
    if (least..=most).contains(&chars) && is_plain {
        Ok(value.to_owned())
    } else {
        Err(Refusal::BadText { field, chars, most })
    }
}

/// An edge of a span as a caller wrote it.
fn edge(written: &str) -> Result<Edge, Refusal> {
    written.parse().map_err(|why| Refusal::BadTime { written: shortened(written), why })
}

/// A day as a caller wrote it.
///
/// # Errors
/// If it is none.
pub fn day(written: &str) -> Result<Day, Refusal> {
    written.parse().map_err(|why| Refusal::BadTime { written: shortened(written), why })
}

impl Policy {
    /// A type by any name of it.
    ///
    /// # Errors
    /// If there is none; the refusal lists them.
    pub fn kind(&self, asked: &str, language: Language) -> Result<&LeaveType, Refusal> {
        self.catalogue.named(asked).ok_or_else(|| Refusal::UnknownType {
            asked: shortened(asked),
            known: self.catalogue.types().iter().map(|kind| kind.name(language).to_owned()).collect(),
        })
    }

    /// The leave that is wanted, as a draft under this id. `before` is the draft that it replaces; the version goes on from
    /// there.
    ///
    /// # Errors
    /// If it cannot be: times, texts, unit, event, deputy, overlap, a person's no about what it would replace, or too little
    /// left.
    pub fn draft(
        &self,
        book: &Book,
        asking: Asking<'_>,
        id: LeaveId,
        wanted: &Wanted,
        before: Option<&Leave>,
    ) -> Result<Leave, Refusal> {
        let kind = self.kind(&wanted.kind, asking.language)?;
        let title = text("title", &wanted.title, 1, MAX_TITLE_CHARS)?;
        let reason = text("reason", &wanted.reason, 0, MAX_REASON_CHARS)?;
        let span = Span::new(edge(&wanted.start)?, edge(&wanted.end)?).map_err(|why| match why {
            InvalidSpan::Reversed => Refusal::Reversed { start: shortened(&wanted.start), end: shortened(&wanted.end) },
            InvalidSpan::TooLong { days } => Refusal::TooLong { days, most: MAX_SPAN_DAYS },
        })?;
        let days = self.count(kind, span, asking.language)?;
        let deputy = wanted.deputy.clone().or_else(|| book.applicant.deputy.clone());
        let leave = Leave {
            id,
            version: before.map_or(1, |before| before.version + 1),
            applicant: book.applicant.id.clone(),
            kind: kind.id.clone(),
            title,
            reason,
            span,
            days,
            status: Status::Draft,
            deputy,
            has_consent: false,
            event: event(kind, wanted, asking.language)?,
        };
        if leave.deputy.as_ref() == Some(&leave.applicant) {
            return Err(Refusal::DeputyIsApplicant);
        }
        self.check(book, asking, kind, &leave)?;
        Ok(leave)
    }

    /// The working time of a span in a type's unit.
    fn count(
        &self,
        kind: &LeaveType,
        span: Span,
        language: Language,
    ) -> Result<Vec<super::calendar::DayPart>, Refusal> {
        let (from, to) = (span.start().day, span.end().day);
        if !(self.calendar.knows(from) && self.calendar.knows(to)) {
            let (from, to) = self.calendar.covers();
            return Err(Refusal::BeyondCalendar { from, to });
        }
        let wrong = |day: Day| Refusal::WrongUnit {
            kind: kind.name(language).to_owned(),
            unit: kind.unit,
            day,
            hours: self.calendar.hours(day).to_string(),
        };
        let days = match kind.counting {
            Counting::Working => self.calendar.working(span),
            Counting::CalendarDays if span.start() != from.begin() => return Err(wrong(from)),
            Counting::CalendarDays if span.end() != to.end() => return Err(wrong(to)),
            Counting::CalendarDays => return Ok(self.calendar.calendar_days(span)),
        };
        if days.is_empty() {
            return Err(Refusal::NothingToTake { from, to });
        }
        let fits = |day: Day, minutes: u32| {
            let hours = self.calendar.hours(day);
            match kind.unit {
                Unit::Day => minutes == hours.minutes(),
                Unit::HalfDay => minutes == hours.minutes() || self.takes_whole_blocks(hours, span, day),
                // The last hour of a day that is not of whole hours is taken with the day.
                Unit::Hour => minutes.is_multiple_of(60) || minutes == hours.minutes(),
            }
        };
        match days.iter().find(|part| !fits(part.day, part.minutes)) {
            Some(part) => Err(wrong(part.day)),
            None => Ok(days),
        }
    }

    fn takes_whole_blocks(&self, hours: &Hours, span: Span, day: Day) -> bool {
        let from = if day == span.start().day { span.start().minute } else { 0 };
        let to = if day == span.end().day { span.end().minute } else { super::time::DAY_MINUTES };
        hours.is_whole_blocks(from, to)
    }

    /// What must hold when a leave is drafted, and still when it is put forward.
    fn check(&self, book: &Book, asking: Asking<'_>, kind: &LeaveType, leave: &Leave) -> Result<(), Refusal> {
        let language = asking.language;
        if leave.span.start().day < book.applicant.hired {
            return Err(Refusal::BeforeHired { hired: book.applicant.hired });
        }
        let holds_days = |other: &&Leave| {
            other.id != leave.id
                && (other.is_counted() || other.status == Status::Draft)
                && other.span.overlaps(leave.span)
        };
        let overlapping: Vec<&Leave> = book.leaves.iter().filter(holds_days).collect();
        // A no is the stronger word: that the days are taken invites to free them.
        for other in &overlapping {
            no_stays_no(&book.declines, &other.id, effect_of_replacing(other.status))?;
        }
        if let Some(other) = overlapping.first() {
            return Err(Refusal::Overlaps { with: other.id.clone(), title: other.title.clone(), status: other.status });
        }
        let now = Day::of(asking.now, self.calendar.offset_minutes());
        let (start, _) = self.calendar.worked(leave.span);
        if !kind.afterwards && start < now {
            return Err(Refusal::Begun { kind: kind.name(language).to_owned(), start });
        }
        if let Some(short) = book.account(self).shortfall(leave) {
            let of = self.catalogue.get(&short.kind).map_or(short.kind.as_str(), |kind| kind.name(language));
            let amount = |minutes| amount(minutes, self.calendar.day_minutes(), language);
            return Err(Refusal::NotEnough {
                kind: of.to_owned(),
                missing: amount(short.missing),
                left: amount(short.left),
            });
        }
        Ok(())
    }

    /// Whether a leave must have its deputy's consent.
    #[must_use]
    pub fn needs_deputy(&self, leave: &Leave) -> bool {
        let wants = self.catalogue.get(&leave.kind).is_some_and(|kind| kind.deputy);
        wants && leave.minutes() >= self.calendar.day_minutes()
    }

    /// The leave after one step.
    ///
    /// # Errors
    /// If there is no such step, it is somebody else's, or what it needs is missing.
    pub fn step(&self, book: &Book, asking: Asking<'_>, leave: &Leave, step: Step) -> Result<Leave, Refusal> {
        let Some(row) = moves_from(leave.status).find(|row| row.step == step) else {
            return Err(Refusal::IllegalMove {
                id: leave.id.clone(),
                from: leave.status,
                wanted: step.to_string(),
                legal: book.legal(leave),
            });
        };
        let parties = book.parties(leave, asking.who);
        if !row.by.iter().any(|party| parties.contains(party)) {
            return Err(Refusal::NotYours { step, by: book.all_named(row.by, leave) });
        }
        match step {
            Step::Submit => {
                let kind = self.kind(leave.kind.as_str(), asking.language)?;
                self.check(book, asking, kind, leave)?;
                if self.needs_deputy(leave) && leave.deputy.is_none() {
                    return Err(Refusal::DeputyNeeded { kind: kind.name(asking.language).to_owned() });
                }
            }
            Step::Consent if leave.has_consent => return Err(Refusal::ConsentGiven { id: leave.id.clone() }),
            Step::Approve if self.needs_deputy(leave) && !leave.has_consent => {
                let deputy = book.named(Party::Deputy, leave).map_or_else(String::new, |(_, name)| name);
                return Err(Refusal::ConsentFirst { deputy });
            }
            Step::Take => {
                let (_, end) = self.calendar.worked(leave.span);
                if Day::of(asking.now, self.calendar.offset_minutes()) < end {
                    return Err(Refusal::NotOver { end });
                }
            }
            Step::Consent | Step::Approve | Step::Reject | Step::Withdraw | Step::Cancel => {}
        }
        Ok(Leave {
            version: leave.version + 1,
            status: row.to,
            has_consent: leave.has_consent || step == Step::Consent,
            ..leave.clone()
        })
    }
}

fn event(kind: &LeaveType, wanted: &Wanted, language: Language) -> Result<Option<Event>, Refusal> {
    let cases = kind.cases();
    let given = (wanted.event_date.as_deref(), wanted.event_case.as_deref());
    if cases.is_empty() {
        let none = given.0.is_none() && given.1.is_none();
        return if none { Ok(None) } else { Err(Refusal::EventUnwanted { kind: kind.name(language).to_owned() }) };
    }
    let needed = || Refusal::EventNeeded {
        kind: kind.name(language).to_owned(),
        cases: cases
            .iter()
            .map(|case| format!("{} ({})", case.id, if language.is_chinese() { &case.name_zh } else { &case.name_en }))
            .collect(),
    };
    let on = day(given.0.ok_or_else(needed)?)?;
    let case = match (given.1, cases) {
        // Where there is one case there is nothing to choose.
        (None, [only]) => only,
        (None, _) => return Err(needed()),
        (Some(asked), _) => {
            let asked = asked.trim();
            let is = |case: &&Case| case.id == asked || case.name_zh == asked || case.name_en == asked;
            cases.iter().find(is).ok_or_else(needed)?
        }
    };
    Ok(Some(Event { on, case: case.id.clone() }))
}
