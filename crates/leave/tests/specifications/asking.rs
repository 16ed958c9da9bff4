//! At the desk: the person is asked, and a no is final.

use bylaw_contract::Language;
use bylaw_leave::{
    desk::{Cancel, Patch, Update},
    domain::{
        history::Happening,
        refusal::Refusal,
        rules::{Answer, Confirmation},
        status::Status,
        store::LeaveStore,
    },
};

use crate::{
    company::{NOW, Office, principal},
    desk::{question, refusal},
};

#[tokio::test]
async fn a_person_is_asked_with_the_facts_before_an_approved_leave_is_cancelled() {
    let office = Office::open().await;
    let id = office.approved().await;
    office.look("ann", &id).await.unwrap();
    let asked = question(office.cancel("ann", &id, &Confirmation::NotAsked).await.unwrap());
    for fact in
        ["name of ann", "家庭旅遊", &id, "2026-03-16", "2026-03-17", "2 days", "name of dan", "plans changed", "lost"]
    {
        assert!(asked.message.contains(fact), "{fact}: {}", asked.message);
    }
    assert_eq!(office.status(&id).await, Status::Approved);
    for (with, code) in [
        (Confirmation::CannotAsk, "cannot_ask"),
        (Confirmation::TimedOut, "not_answered"),
        (office.answer(&asked, Answer::Dismissed), "dismissed"),
    ] {
        assert_eq!(office.cancel("ann", &id, &with).await.unwrap_err().code(), code);
        assert_eq!(office.status(&id).await, Status::Approved);
    }
    // Neither of these was a no.
    office.cancel("ann", &id, &office.answer(&asked, Answer::Accepted)).await.unwrap();
    assert_eq!(office.status(&id).await, Status::Cancelled);
}

#[tokio::test]
async fn an_answer_counts_for_its_question_once_and_in_time() {
    let office = Office::open().await;
    let id = office.approved().await;
    office.look("ann", &id).await.unwrap();
    office.look("boss", &id).await.unwrap();
    let asked = question(office.cancel("ann", &id, &Confirmation::NotAsked).await.unwrap());
    let yes = office.answer(&asked, Answer::Accepted);
    // Not for another principal, reason, tool or version.
    assert_eq!(office.cancel("boss", &id, &yes).await.unwrap_err().code(), "answers_another");
    let other = Cancel { leave_id: id.clone(), reason: "another reason".to_owned(), ..Cancel::default() };
    let other = office.desk.cancel(&principal("ann"), &other, &yes).await.map_err(refusal);
    assert_eq!(other.unwrap_err().code(), "answers_another");
    // Not for another leave.
    let next = office.create("ann", "annual", "2026-04-13", "2026-04-13").await.unwrap().leave_id.to_string();
    for (who, status) in [("ann", "submitted"), ("dan", "consented"), ("boss", "approved")] {
        office.step(who, &next, status).await.unwrap();
    }
    office.look("ann", &next).await.unwrap();
    assert_eq!(office.cancel("ann", &next, &yes).await.unwrap_err().code(), "answers_another");
    // Not twice: the same ticket, whatever it is for.
    office.cancel("ann", &id, &yes).await.unwrap();
    let again = question(office.cancel("ann", &next, &Confirmation::NotAsked).await.unwrap());
    let Confirmation::Answered { ticket, expires, answer, .. } = yes else { panic!("an answer") };
    let replayed = Confirmation::Answered { binding: again.binding.clone(), ticket, expires, answer };
    assert_eq!(office.cancel("ann", &next, &replayed).await.unwrap_err().code(), "answer_used");
    // Not after its time.
    let late = Confirmation::Answered {
        binding: again.binding.clone(),
        ticket: office.ticket(),
        expires: NOW,
        answer: Answer::Accepted,
    };
    assert_eq!(office.cancel("ann", &next, &late).await.unwrap_err().code(), "answer_expired");
    assert_eq!(office.status(&next).await, Status::Approved);
}

#[tokio::test]
async fn a_no_closes_every_way_until_the_person_reopens_it_at_the_machine() {
    let office = Office::open().await;
    let id = office.approved().await;
    office.look("ann", &id).await.unwrap();
    let asked = question(office.cancel("ann", &id, &Confirmation::NotAsked).await.unwrap());
    let no = office.answer(&asked, Answer::Declined);
    assert_eq!(office.cancel("ann", &id, &no).await.unwrap_err().code(), "declined");
    let said_no = |result: Result<(), Refusal>| {
        let refusal = result.unwrap_err();
        assert_eq!(refusal.code(), "said_no");
        assert!(refusal.sentence(Language::English).contains("The person said no"));
    };
    let edit = Update {
        leave_id: id.clone(),
        patch: Patch { end: Some("2026-03-16".to_owned()), ..Patch::default() },
        ..Update::default()
    };
    office.look("ann", &id).await.unwrap();
    office.look("boss", &id).await.unwrap();
    // The same tool, with the same answer or a new one; another tool; editing; another leave in its place.
    said_no(office.cancel("ann", &id, &Confirmation::NotAsked).await.map(drop));
    said_no(office.cancel("ann", &id, &office.answer(&asked, Answer::Accepted)).await.map(drop));
    said_no(office.cancel("ann", &id, &no).await.map(drop));
    said_no(office.set("ann", &id, "cancelled", &Confirmation::NotAsked).await.map(drop));
    said_no(office.set("ann", &id, "withdrawn", &Confirmation::NotAsked).await.map(drop));
    said_no(office.set("boss", &id, "rejected", &Confirmation::NotAsked).await.map(drop));
    said_no(office.cancel("boss", &id, &Confirmation::NotAsked).await.map(drop));
    said_no(office.desk.update(&principal("ann"), &edit).await.map(drop).map_err(refusal));
    said_no(office.create("ann", "sick", "2026-03-16", "2026-03-16").await.map(drop));
    // A draft that is moved over it would replace it as well.
    let draft = office.create("ann", "annual", "2026-05-11", "2026-05-11").await.unwrap().leave_id.to_string();
    office.look("ann", &draft).await.unwrap();
    let over = Update {
        leave_id: draft,
        patch: Patch { start: Some("2026-03-17".to_owned()), ..Patch::default() },
        ..Update::default()
    };
    said_no(office.desk.update(&principal("ann"), &over).await.map(drop).map_err(refusal));
    assert_eq!(office.status(&id).await, Status::Approved);
    // What leads elsewhere is open: it can still be taken when it is over.
    assert_eq!(office.set("ann", &id, "taken", &Confirmation::NotAsked).await.unwrap_err().code(), "not_over");

    let reopened = office.desk.reopen(&id.parse().unwrap(), "plans changed after all").await.unwrap();
    assert_eq!(reopened.len(), 1);
    assert!(office.desk.reopen(&id.parse().unwrap(), "").await.unwrap().is_empty());
    let history = office.store.history(&id.parse().unwrap()).await.unwrap();
    assert_eq!(history.last().map(|entry| (entry.what, entry.actor.clone())), Some((Happening::Reopened, None)));
    let asked = question(office.cancel("ann", &id, &Confirmation::NotAsked).await.unwrap());
    office.cancel("ann", &id, &office.answer(&asked, Answer::Accepted)).await.unwrap();
    assert_eq!(office.status(&id).await, Status::Cancelled);
}

#[tokio::test]
async fn rejecting_asks_always_and_withdrawing_once_a_deputy_has_agreed() {
    let office = Office::open().await;
    let id = office.create("ann", "annual", "2026-03-16", "2026-03-17").await.unwrap().leave_id.to_string();
    office.step("ann", &id, "submitted").await.unwrap();
    question(office.step("boss", &id, "rejected").await.unwrap());
    office.step("dan", &id, "consented").await.unwrap();
    let asked = question(office.step("ann", &id, "withdrawn").await.unwrap());
    office.set("ann", &id, "withdrawn", &office.answer(&asked, Answer::Accepted)).await.unwrap();
    assert_eq!(office.status(&id).await, Status::Withdrawn);
    let id = office.create("ann", "annual", "2026-03-16", "2026-03-17").await.unwrap().leave_id.to_string();
    office.step("ann", &id, "submitted").await.unwrap();
    office.step("ann", &id, "withdrawn").await.unwrap();
    assert_eq!(office.status(&id).await, Status::Withdrawn);
}
