//! Employees, and the leaves they ask for.

use serde::{Deserialize, Serialize};

use super::{
    calendar::DayPart,
    ids::{EmployeeId, LeaveId, TypeId},
    status::Status,
    time::{Day, Span},
};

/// Most characters in a leave's title.
pub const MAX_TITLE_CHARS: usize = 60;
/// Most characters in a reason.
pub const MAX_REASON_CHARS: usize = 500;

/// Who works here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Employee {
    /// The id.
    pub id: EmployeeId,
    /// What people call them.
    pub name: String,
    /// Where they work.
    pub department: String,
    /// The first day at work.
    pub hired: Day,
    /// Who decides on their leaves; none for the head of the company.
    pub manager: Option<EmployeeId>,
    /// Who stands in for them unless a leave names someone else.
    pub deputy: Option<EmployeeId>,
}

/// What a leave per event is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Event {
    /// The day of the event: of the wedding, of the death, of the birth.
    pub on: Day,
    /// Which case of the type.
    pub case: String,
}

/// One leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leave {
    /// Its id.
    pub id: LeaveId,
    /// Grows by one with every change.
    pub version: u32,
    /// Whose it is.
    pub applicant: EmployeeId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: TypeId,
    /// What its owner calls it: 家庭旅遊.
    pub title: String,
    /// Why.
    pub reason: String,
    /// From when to when.
    pub span: Span,
    /// What it takes of the quota, day by day, as the calendar said when the leave was last edited.
    pub days: Vec<DayPart>,
    /// Where it stands.
    pub status: Status,
    /// Who stands in.
    pub deputy: Option<EmployeeId>,
    /// Whether that person has agreed.
    pub has_consent: bool,
    /// What it is about, for a leave per event.
    pub event: Option<Event>,
}

impl Leave {
    /// All minutes that it takes of the quota.
    #[must_use]
    pub fn minutes(&self) -> u32 {
        self.days.iter().map(|part| part.minutes).sum()
    }

    /// Whether it holds its days: they are counted as used, and no other leave of its owner may have them.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        match self.status {
            Status::Submitted | Status::Approved | Status::Taken => true,
            Status::Draft | Status::Rejected | Status::Withdrawn | Status::Cancelled => false,
        }
    }
}

/// Overtime that may be taken as leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Minutes of overtime.
    pub minutes: u32,
    /// When it was worked.
    pub earned: Day,
    /// The last day on which it may be taken.
    pub expires: Day,
}
