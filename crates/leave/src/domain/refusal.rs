//! Why something is not done, in a sentence that says what to do next.
//!
//! A refusal is read by a model as often as by a person. So it never only says no: it names the tool, the value or the
//! person that leads on.

use bylaw_contract::Language;

use super::{
    effect::{Effect, Tool},
    ids::{EmployeeId, LeaveId, OnceKey},
    status::{Party, Status, Step},
    time::{Day, InvalidTime, Moment},
};

/// A move that would be legal, and who may make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegalMove {
    /// The step.
    pub step: Step,
    /// By whom: part and name.
    pub by: Vec<(Party, String)>,
}

/// Why something is not done. Names and amounts in it are already in the reader's language where they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No such leave, or none that this principal may see.
    UnknownLeave {
        /// What was asked for, shortened.
        asked: String,
    },
    /// No such leave type.
    UnknownType {
        /// What was asked for, shortened.
        asked: String,
        /// The names of those there are.
        known: Vec<String>,
    },
    /// No such employee.
    UnknownEmployee {
        /// What was asked for, shortened.
        asked: String,
    },
    /// No such status.
    UnknownStatus {
        /// What was asked for, shortened.
        asked: String,
    },
    /// A date or time that is none.
    BadTime {
        /// What was written, shortened.
        written: String,
        /// What is wrong with it.
        why: InvalidTime,
    },
    /// The end is not after the beginning.
    Reversed {
        /// The beginning.
        start: String,
        /// The end.
        end: String,
    },
    /// More days than one leave may have.
    TooLong {
        /// Its days.
        days: i64,
        /// The most.
        most: i64,
    },
    /// Nobody works in that time.
    NothingToTake {
        /// The first day.
        from: Day,
        /// The last day.
        to: Day,
    },
    /// The working calendar does not reach that far.
    BeyondCalendar {
        /// Its first day.
        from: Day,
        /// Its last day.
        to: Day,
    },
    /// The time is not a multiple of the type's unit.
    WrongUnit {
        /// The type's name.
        kind: String,
        /// What it is taken in.
        unit: super::catalogue::Unit,
        /// The day on which it is not.
        day: Day,
        /// The working hours of that day, as blocks.
        hours: String,
    },
    /// A text is missing, too long or not plain.
    BadText {
        /// The argument.
        field: &'static str,
        /// Its characters.
        chars: usize,
        /// The most.
        most: usize,
    },
    /// An argument that is not of the form it must have.
    BadArgument {
        /// The argument.
        field: &'static str,
        /// What it must look like.
        rule: &'static str,
    },
    /// The type is per event, and the event is not given, or not one of its cases.
    EventNeeded {
        /// The type's name.
        kind: String,
        /// The ids and names of its cases.
        cases: Vec<String>,
    },
    /// The type knows no events.
    EventUnwanted {
        /// The type's name.
        kind: String,
    },
    /// Before the first day at work.
    BeforeHired {
        /// That day.
        hired: Day,
    },
    /// Another leave of the same person has those days.
    Overlaps {
        /// That leave.
        with: LeaveId,
        /// Its title.
        title: String,
        /// Where it stands.
        status: Status,
    },
    /// Too little is left.
    NotEnough {
        /// The type in whose quota it is missing.
        kind: String,
        /// How much is missing.
        missing: String,
        /// How much is left.
        left: String,
    },
    /// It began already, and the type must be asked for beforehand.
    Begun {
        /// The type's name.
        kind: String,
        /// When it began.
        start: Moment,
    },
    /// It is not over yet.
    NotOver {
        /// When it ends.
        end: Moment,
    },
    /// It was not shown to this principal.
    NotShown {
        /// The leave.
        id: LeaveId,
    },
    /// It was shown too long ago.
    ShownLongAgo {
        /// The leave.
        id: LeaveId,
    },
    /// It has changed since it was shown, or since the version that was given.
    ChangedSince {
        /// The leave.
        id: LeaveId,
    },
    /// There is no such step from where it stands.
    IllegalMove {
        /// The leave.
        id: LeaveId,
        /// Where it stands.
        from: Status,
        /// What was asked for.
        wanted: String,
        /// What would be legal.
        legal: Vec<LegalMove>,
    },
    /// The step is legal, and somebody else's.
    NotYours {
        /// The step.
        step: Step,
        /// Whose.
        by: Vec<(Party, String)>,
    },
    /// The deputy has not agreed yet.
    ConsentFirst {
        /// The deputy's name.
        deputy: String,
    },
    /// The deputy agreed already.
    ConsentGiven {
        /// The leave.
        id: LeaveId,
    },
    /// A leave of a day or more needs a deputy.
    DeputyNeeded {
        /// The type's name.
        kind: String,
    },
    /// Nobody stands in for themselves.
    DeputyIsApplicant,
    /// Only drafts are edited.
    NotADraft {
        /// The leave.
        id: LeaveId,
        /// Where it stands.
        status: Status,
    },
    /// Another tool does this.
    OtherTool {
        /// That tool.
        tool: Tool,
    },
    /// Only managers have something to approve.
    ManagersOnly,
    /// The client cannot ask a person.
    CannotAsk {
        /// The leave.
        id: LeaveId,
    },
    /// Nobody answered in time.
    NotAnswered {
        /// The leave.
        id: LeaveId,
    },
    /// The person put the question away.
    Dismissed {
        /// The leave.
        id: LeaveId,
    },
    /// The person has just said no.
    Declined {
        /// The leave.
        id: LeaveId,
        /// To what.
        effect: Effect,
    },
    /// A person said no before.
    SaidNo {
        /// The leave.
        id: LeaveId,
        /// To what.
        effect: Effect,
        /// Whose no.
        by: EmployeeId,
    },
    /// The answer was given to another question.
    AnswersAnother {
        /// The leave.
        id: LeaveId,
    },
    /// The answer came too late.
    AnswerExpired {
        /// The leave.
        id: LeaveId,
    },
    /// The answer was used before.
    AnswerUsed {
        /// The leave.
        id: LeaveId,
    },
    /// The idempotency key was used for something else.
    KeyUsedOtherwise {
        /// The key.
        key: OnceKey,
    },
    /// Others keep changing the same leaves.
    Busy,
}

impl Refusal {
    /// A stable word for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownLeave { .. } => "unknown_leave",
            Self::UnknownType { .. } => "unknown_type",
            Self::UnknownEmployee { .. } => "unknown_employee",
            Self::UnknownStatus { .. } => "unknown_status",
            Self::BadTime { .. } => "bad_time",
            Self::Reversed { .. } => "reversed",
            Self::TooLong { .. } => "too_long",
            Self::NothingToTake { .. } => "nothing_to_take",
            Self::BeyondCalendar { .. } => "beyond_calendar",
            Self::WrongUnit { .. } => "wrong_unit",
            Self::BadText { .. } => "bad_text",
            Self::BadArgument { .. } => "bad_argument",
            Self::EventNeeded { .. } => "event_needed",
            Self::EventUnwanted { .. } => "event_unwanted",
            Self::BeforeHired { .. } => "before_hired",
            Self::Overlaps { .. } => "overlaps",
            Self::NotEnough { .. } => "not_enough",
            Self::Begun { .. } => "begun",
            Self::NotOver { .. } => "not_over",
            Self::NotShown { .. } => "not_shown",
            Self::ShownLongAgo { .. } => "shown_long_ago",
            Self::ChangedSince { .. } => "changed_since",
            Self::IllegalMove { .. } => "illegal_move",
            Self::NotYours { .. } => "not_yours",
            Self::ConsentFirst { .. } => "consent_first",
            Self::ConsentGiven { .. } => "consent_given",
            Self::DeputyNeeded { .. } => "deputy_needed",
            Self::DeputyIsApplicant => "deputy_is_applicant",
            Self::NotADraft { .. } => "not_a_draft",
            Self::OtherTool { .. } => "other_tool",
            Self::ManagersOnly => "managers_only",
            Self::CannotAsk { .. } => "cannot_ask",
            Self::NotAnswered { .. } => "not_answered",
            Self::Dismissed { .. } => "dismissed",
            Self::Declined { .. } => "declined",
            Self::SaidNo { .. } => "said_no",
            Self::AnswersAnother { .. } => "answers_another",
            Self::AnswerExpired { .. } => "answer_expired",
            Self::AnswerUsed { .. } => "answer_used",
            Self::KeyUsedOtherwise { .. } => "key_used_otherwise",
            Self::Busy => "busy",
        }
    }

    /// The sentence in this language.
    #[must_use]
    pub fn sentence(&self, language: Language) -> String {
        if language.is_chinese() { super::sentences::zh(self) } else { super::sentences::en(self) }
    }
}

/// At most 40 characters of what a caller wrote, for a sentence about it.
#[must_use]
pub fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let mut short: String = text.chars().filter(|c| !c.is_control()).take(MOST).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}
