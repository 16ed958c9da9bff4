//! Leaves, balances and types as they are shown. These cross the network: their field names are a promise.

use bylaw_contract::Language;
use serde::{Deserialize, Serialize};

use crate::domain::{
    book::Book,
    catalogue::{LeaveType, Pay, Quota, Unit},
    decide::Policy,
    ids::{EmployeeId, LeaveId, TypeId},
    leave::{Event, Leave},
    quota::Line,
    status::{Party, Status, Step},
    time::{Day, Edge},
    words::amount,
};

/// A step that can be taken, and who takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextStep {
    /// What to set the status to.
    pub status: Step,
    /// The parts that may.
    pub by: Vec<Party>,
}

/// A leave as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaveView {
    /// The id to use with other tools.
    pub leave_id: LeaveId,
    /// What its owner calls it.
    pub title: String,
    /// The type's id.
    #[serde(rename = "type")]
    pub kind: TypeId,
    /// The type's name.
    pub type_name: String,
    /// Where it stands.
    pub status: Status,
    /// The same in the reader's language.
    pub status_name: String,
    /// From: a day where the leave is of whole days, else a moment.
    pub start: Edge,
    /// To.
    pub end: Edge,
    /// How much working time it takes, in words.
    pub amount: String,
    /// The same in minutes.
    pub minutes: u32,
    /// Whose it is.
    pub applicant: EmployeeId,
    /// Their name.
    pub applicant_name: String,
    /// Who stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deputy: Option<EmployeeId>,
    /// Their name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deputy_name: Option<String>,
    /// Whether the deputy agreed.
    pub deputy_agreed: bool,
    /// Why; may be empty.
    pub reason: String,
    /// What it is about, for a leave per event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// Grows with every change.
    pub version: u32,
    /// What can be done next.
    pub next: Vec<NextStep>,
    /// What the reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A leave of a book, for this reader.
pub(super) fn leave(policy: &Policy, book: &Book, leave: &Leave, today: Day, language: Language) -> LeaveView {
    let kind = policy.catalogue.get(&leave.kind);
    let next = crate::domain::status::moves_from(leave.status)
        .filter(|row| row.step != Step::Consent || (!leave.has_consent && leave.deputy.is_some()))
        .map(|row| NextStep { status: row.step, by: row.by.to_vec() })
        .collect();
    LeaveView {
        leave_id: leave.id.clone(),
        title: leave.title.clone(),
        kind: leave.kind.clone(),
        type_name: kind.map_or(leave.kind.as_str(), |kind| kind.name(language)).to_owned(),
        status: leave.status,
        status_name: if language.is_chinese() { leave.status.zh() } else { leave.status.as_str() }.to_owned(),
        start: leave.span.edges().0,
        end: leave.span.edges().1,
        amount: amount(leave.minutes(), policy.calendar.day_minutes(), language),
        minutes: leave.minutes(),
        applicant: leave.applicant.clone(),
        applicant_name: book.name_of(&leave.applicant).to_owned(),
        deputy: leave.deputy.clone(),
        deputy_name: leave.deputy.as_ref().map(|deputy| book.name_of(deputy).to_owned()),
        deputy_agreed: leave.has_consent,
        reason: leave.reason.clone(),
        event: leave.event.clone(),
        version: leave.version,
        next,
        remarks: remarks(policy, leave, kind, today, language),
    }
}

fn remarks(policy: &Policy, leave: &Leave, kind: Option<&LeaveType>, today: Day, language: Language) -> Vec<String> {
    let mut remarks = Vec::new();
    let zh = language.is_chinese();
    let is_open = matches!(leave.status, Status::Draft | Status::Submitted);
    let (start, _) = policy.calendar.worked(leave.span);
    if let Some(kind) = kind.filter(|_| is_open) {
        let notice = policy.calendar.working_days_between(today, start.day.plus(-1));
        if notice < kind.notice_working_days && !kind.afterwards {
            remarks.push(if zh {
                format!(
                    "公司希望{}於 {} 個工作日前提出；距開始只剩 {notice} 個工作日。",
                    kind.name_zh, kind.notice_working_days
                )
            } else {
                format!(
                    "The company wishes for {} working days' notice of {}; {notice} are left.",
                    kind.notice_working_days, kind.name_en
                )
            });
        }
    }
    if policy.calendar.is_provisional() {
        remarks.push(if zh {
            format!("日數依範例日曆計算，僅供參考；正式日曆公布於 {}。", policy.calendar.official())
        } else {
            format!(
                "Counted by a provisional calendar; the official one is published at {}.",
                policy.calendar.official()
            )
        });
    }
    remarks
}

/// One line of a balance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BalanceLine {
    /// From this day.
    pub from: Day,
    /// To this day.
    pub until: Day,
    /// Whether it is carried over from the leave year before.
    pub carried_over: bool,
    /// The event, for a type per event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// How much there is, in words.
    pub granted: String,
    /// How much is used.
    pub used: String,
    /// How much waits for a decision.
    pub pending: String,
    /// How much is left.
    pub left: String,
    /// The same in minutes.
    pub left_minutes: u32,
}

/// What there is of one type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BalanceView {
    /// The type's id.
    #[serde(rename = "type")]
    pub kind: TypeId,
    /// Its name.
    pub type_name: String,
    /// Its windows and lots on that day; empty where the quota has none.
    pub lines: Vec<BalanceLine>,
    /// The rule in a sentence.
    pub rule: String,
}

pub(super) fn balance(kind: &LeaveType, lines: &[Line], day_minutes: u32, language: Language) -> BalanceView {
    let words = |minutes| amount(minutes, day_minutes, language);
    let line = |line: &Line| BalanceLine {
        from: line.from,
        until: line.until,
        carried_over: line.is_carried,
        event: line.event.clone(),
        granted: words(line.granted),
        used: words(line.used),
        pending: words(line.pending),
        left: words(line.left()),
        left_minutes: line.left(),
    };
    BalanceView {
        kind: kind.id.clone(),
        type_name: kind.name(language).to_owned(),
        lines: lines.iter().map(line).collect(),
        rule: if language.is_chinese() { &kind.summary_zh } else { &kind.summary_en }.clone(),
    }
}

/// A case of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseView {
    /// What to give as `event_case`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Days for each event.
    pub days: u32,
}

/// A leave type as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeView {
    /// Its id.
    #[serde(rename = "type")]
    pub kind: TypeId,
    /// Its name.
    pub name: String,
    /// What else people call it.
    pub aliases: Vec<String>,
    /// The least that is taken at once.
    pub unit: Unit,
    /// What is paid.
    pub pay: Pay,
    /// Days a year or a month, where the quota is one figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// The cases of its events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<CaseView>,
    /// Working days of notice that the company wishes for.
    pub notice_working_days: u32,
    /// Whether it may be asked for after it began.
    pub afterwards: bool,
    /// Whether a deputy must agree when it takes a day or more.
    pub deputy: bool,
    /// What has to be shown.
    pub evidence: String,
    /// The rule in a sentence.
    pub rule: String,
    /// The articles it comes from.
    pub articles: Vec<String>,
}

pub(super) fn kind(policy: &Policy, kind: &LeaveType, language: Language) -> TypeView {
    let zh = language.is_chinese();
    TypeView {
        kind: kind.id.clone(),
        name: kind.name(language).to_owned(),
        aliases: kind.aliases.clone(),
        unit: kind.unit,
        pay: kind.pay,
        days: match &kind.quota {
            Quota::PerYear { days } | Quota::PerMonth { days } => Some(*days),
            Quota::Seniority { .. } | Quota::PerEvent { .. } | Quota::AsNeeded {} | Quota::Earned {} => None,
        },
        cases: kind
            .cases()
            .iter()
            .map(|case| CaseView {
                id: case.id.clone(),
                name: if zh { &case.name_zh } else { &case.name_en }.clone(),
                days: case.days,
            })
            .collect(),
        notice_working_days: kind.notice_working_days,
        afterwards: kind.afterwards,
        deputy: kind.deputy,
        evidence: if zh { &kind.evidence_zh } else { &kind.evidence_en }.clone(),
        rule: if zh { &kind.summary_zh } else { &kind.summary_en }.clone(),
        articles: policy.catalogue.cite(kind, language),
    }
}
