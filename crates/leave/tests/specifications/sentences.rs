//! Every refusal says what to do next, in the reader's language.

use bylaw_contract::Language;
use bylaw_leave::domain::{
    catalogue::Unit,
    effect::{Effect, Tool},
    ids::{LeaveId, OnceKey},
    refusal::{LegalMove, Refusal, shortened},
    status::{Party, Status, Step},
    time::InvalidTime,
};

use crate::company::{day, id};

fn every() -> Vec<Refusal> {
    let leave = LeaveId::new("LV-7f3a91").unwrap();
    let text = || "text".to_owned();
    let by = vec![(Party::Manager, text())];
    let moment = day("2026-03-02").begin();
    let leave = || leave.clone();
    vec![
        Refusal::UnknownLeave { asked: text() },
        Refusal::UnknownType { asked: text(), known: vec![text()] },
        Refusal::UnknownEmployee { asked: text() },
        Refusal::UnknownStatus { asked: text() },
        Refusal::BadTime { written: text(), why: InvalidTime::Form },
        Refusal::BadTime { written: text(), why: InvalidTime::NoSuchDay },
        Refusal::BadTime { written: text(), why: InvalidTime::NoSuchTime },
        Refusal::Reversed { start: text(), end: text() },
        Refusal::TooLong { days: 600, most: 366 },
        Refusal::NothingToTake { from: moment.day, to: moment.day },
        Refusal::BeyondCalendar { from: moment.day, to: moment.day },
        Refusal::WrongUnit { kind: text(), unit: Unit::HalfDay, day: moment.day, hours: text() },
        Refusal::BadText { field: "title", chars: 0, most: 60 },
        Refusal::BadText { field: "reason", chars: 600, most: 500 },
        Refusal::BadArgument { field: "idempotency_key", rule: "is a key" },
        Refusal::EventNeeded { kind: text(), cases: vec![text()] },
        Refusal::EventUnwanted { kind: text() },
        Refusal::BeforeHired { hired: moment.day },
        Refusal::Overlaps { with: leave(), title: text(), status: Status::Draft },
        Refusal::NotEnough { kind: text(), missing: text(), left: text() },
        Refusal::Begun { kind: text(), start: moment },
        Refusal::NotOver { end: moment },
        Refusal::NotShown { id: leave() },
        Refusal::ShownLongAgo { id: leave() },
        Refusal::ChangedSince { id: leave() },
        Refusal::IllegalMove {
            id: leave(),
            from: Status::Draft,
            wanted: text(),
            legal: vec![LegalMove { step: Step::Submit, by: by.clone() }],
        },
        Refusal::IllegalMove { id: leave(), from: Status::Taken, wanted: text(), legal: vec![] },
        Refusal::NotYours { step: Step::Approve, by },
        Refusal::ConsentFirst { deputy: text() },
        Refusal::ConsentGiven { id: leave() },
        Refusal::DeputyNeeded { kind: text() },
        Refusal::DeputyIsApplicant,
        Refusal::NotADraft { id: leave(), status: Status::Approved },
        Refusal::OtherTool { tool: Tool::CancelApprovedLeave },
        Refusal::ManagersOnly,
        Refusal::CannotAsk { id: leave() },
        Refusal::NotAnswered { id: leave() },
        Refusal::Dismissed { id: leave() },
        Refusal::Declined { id: leave(), effect: Effect::Revoke },
        Refusal::SaidNo { id: leave(), effect: Effect::Revoke, by: id("ann") },
        Refusal::AnswersAnother { id: leave() },
        Refusal::AnswerExpired { id: leave() },
        Refusal::AnswerUsed { id: leave() },
        Refusal::KeyUsedOtherwise { key: OnceKey::new("k").unwrap() },
        Refusal::Busy,
    ]
}

#[test]
fn every_refusal_says_what_to_do_next_in_either_language() {
    for refusal in every() {
        let zh = refusal.sentence(Language::TraditionalChinese);
        let en = refusal.sentence(Language::English);
        let leads_on = ["請", "可行", "告知", "reopen"].iter().any(|word| zh.contains(word));
        assert!(leads_on && zh.ends_with('。'), "{refusal:?}: {zh}");
        let sentences = en.matches(['.', ':', ';']).count();
        assert!(sentences >= 1 && en.ends_with('.') && en.len() > 30, "{refusal:?}: {en}");
        assert!(zh.chars().count() < 300 && en.chars().count() < 400, "{refusal:?}");
    }
}

#[test]
fn codes_are_unique_words() {
    let codes: std::collections::BTreeSet<_> = every().iter().map(Refusal::code).collect();
    assert_eq!(codes.len(), 41);
    assert!(codes.iter().all(|code| code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
}

#[test]
fn what_a_caller_wrote_is_shortened_before_it_is_repeated() {
    assert_eq!(shortened("LV-1\n\u{7}"), "LV-1");
    assert_eq!(shortened(&"🙂".repeat(10_000)).chars().count(), 41);
}
