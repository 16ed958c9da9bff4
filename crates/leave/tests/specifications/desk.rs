//! At the desk: who sees what, which steps there are, and that a write is done once.

use std::time::Duration;

use bylaw_contract::{Language, Timestamp};
use bylaw_leave::{
    desk::{Cancel, Create, DeskError, LeaveView, Patch, Reply, Search, SetStatus, Update},
    domain::{
        history::Happening,
        refusal::Refusal,
        rules::{Answer, Confirmation, Question},
        status::Status,
        store::LeaveStore,
    },
};

use crate::company::{NOW, Office, principal};

impl Office {
    pub(crate) async fn create(&self, who: &str, kind: &str, start: &str, end: &str) -> Result<LeaveView, Refusal> {
        let create = Create {
            kind: kind.to_owned(),
            start: start.to_owned(),
            end: end.to_owned(),
            title: "家庭旅遊".to_owned(),
            ..Create::default()
        };
        self.desk.create(&principal(who), &create).await.map_err(refusal)
    }

    pub(crate) async fn look(&self, who: &str, id: &str) -> Result<LeaveView, Refusal> {
        self.desk.get(&principal(who), id).await.map_err(refusal)
    }

    /// Looks it up and sets its status.
    pub(crate) async fn step(&self, who: &str, id: &str, status: &str) -> Result<Reply, Refusal> {
        self.look(who, id).await?;
        self.set(who, id, status, &Confirmation::NotAsked).await
    }

    pub(crate) async fn set(&self, who: &str, id: &str, status: &str, with: &Confirmation) -> Result<Reply, Refusal> {
        let set = SetStatus { leave_id: id.to_owned(), status: status.to_owned(), ..SetStatus::default() };
        self.desk.set_status(&principal(who), &set, with).await.map_err(refusal)
    }

    pub(crate) async fn cancel(&self, who: &str, id: &str, with: &Confirmation) -> Result<Reply, Refusal> {
        let cancel = Cancel { leave_id: id.to_owned(), reason: "plans changed".to_owned(), ..Cancel::default() };
        self.desk.cancel(&principal(who), &cancel, with).await.map_err(refusal)
    }

    pub(crate) fn answer(&self, question: &Question, answer: Answer) -> Confirmation {
        Confirmation::Answered {
            binding: question.binding.clone(),
            ticket: self.ticket(),
            expires: Timestamp(NOW.0 + 3_600_000),
            answer,
        }
    }

    /// An approved leave of ann's.
    pub(crate) async fn approved(&self) -> String {
        let id = self.create("ann", "annual", "2026-03-16", "2026-03-17").await.unwrap().leave_id.to_string();
        self.step("ann", &id, "submitted").await.unwrap();
        self.step("dan", &id, "consented").await.unwrap();
        self.step("boss", &id, "approved").await.unwrap();
        id
    }

    pub(crate) async fn status(&self, id: &str) -> Status {
        self.store.leave(&id.parse().unwrap()).await.unwrap().unwrap().status
    }
}

pub(crate) fn refusal(error: DeskError) -> Refusal {
    match error {
        DeskError::Refused(refusal) => refusal,
        DeskError::Store(error) => panic!("{error:?}"),
    }
}

pub(crate) fn question(reply: Reply) -> Question {
    match reply {
        Reply::Ask(question) => question,
        Reply::Done(view) => panic!("nobody was asked: {view:?}"),
    }
}

#[tokio::test]
async fn a_leave_goes_from_draft_to_taken_one_step_at_a_time() {
    let office = Office::open().await;
    let id = office.approved().await;
    assert_eq!(office.step("ann", &id, "taken").await.unwrap_err().code(), "not_over");
    office.clock.forward(Duration::from_secs(16 * 86_400));
    office.step("ann", &id, "taken").await.unwrap();
    assert_eq!(office.status(&id).await, Status::Taken);
    let history = office.store.history(&id.parse().unwrap()).await.unwrap();
    let happened: Vec<_> = history.iter().map(|entry| (entry.what, entry.version, entry.detail.as_str())).collect();
    assert_eq!(
        happened,
        [
            (Happening::Created, 1, "draft"),
            (Happening::Moved, 2, "submitted"),
            (Happening::Moved, 3, "consented"),
            (Happening::Moved, 4, "approved"),
            (Happening::Refused, 0, "not_over"),
            (Happening::Moved, 5, "taken"),
        ]
    );
    assert!(history.iter().all(|entry| entry.client == "tests" && entry.actor.is_some()));
}

#[tokio::test]
async fn a_correct_id_from_elsewhere_is_not_enough() {
    let office = Office::open().await;
    let id = office.create("ann", "annual", "2026-03-16", "2026-03-17").await.unwrap().leave_id.to_string();
    let submit = || office.set("ann", &id, "submitted", &Confirmation::NotAsked);
    assert_eq!(submit().await.unwrap_err().code(), "not_shown");
    // Shown to another is not shown to her.
    office.desk.search(&principal("dan"), &Search::default()).await.unwrap();
    assert_eq!(submit().await.unwrap_err().code(), "not_shown");
    let search = Search { keyword: "家庭旅遊".to_owned(), ..Search::default() };
    let found = office.desk.search(&principal("ann"), &search).await.unwrap();
    assert_eq!(found.leaves[0].leave_id.as_str(), id);
    office.clock.forward(Duration::from_secs(30 * 60 + 1));
    assert_eq!(submit().await.unwrap_err().code(), "shown_long_ago");
    office.look("ann", &id.to_lowercase()).await.unwrap();
    submit().await.unwrap();
    // Her own step made another version of it.
    let withdraw = office.set("ann", &id, "withdrawn", &Confirmation::NotAsked).await;
    assert_eq!(withdraw.unwrap_err().code(), "changed_since");
}

#[tokio::test]
async fn what_one_may_not_see_is_not_there() {
    let office = Office::open().await;
    let id = office.create("ann", "annual", "2026-03-16", "2026-03-17").await.unwrap().leave_id.to_string();
    for (who, asked) in
        [("eve", id.as_str()), ("boss", &id), ("dan", &id), ("ann", "LV-ffffff"), ("ann", "7f3a91"), ("ann", "")]
    {
        assert_eq!(office.look(who, asked).await.unwrap_err().code(), "unknown_leave", "{who} {asked}");
        let set = office.set(who, asked, "submitted", &Confirmation::NotAsked).await;
        assert_eq!(set.unwrap_err().code(), "unknown_leave", "{who} {asked}");
    }
    office.step("ann", &id, "submitted").await.unwrap();
    for (who, sees) in [("boss", true), ("dan", true), ("eve", false)] {
        assert_eq!(office.look(who, &id).await.is_ok(), sees, "{who}");
        let found = office.desk.search(&principal(who), &Search::default()).await.unwrap();
        assert_eq!((found.leaves.len(), found.total), (usize::from(sees), usize::from(sees)), "{who}");
    }
    let pending = office.desk.pending(&principal("boss")).await.unwrap();
    assert_eq!(pending.leaves.len(), 1);
    assert!(matches!(office.desk.pending(&principal("dan")).await, Err(DeskError::Refused(Refusal::ManagersOnly))));
}

#[tokio::test]
async fn an_illegal_move_names_the_legal_ones_and_who_may_make_them() {
    let office = Office::open().await;
    let id = office.create("ann", "annual", "2026-03-16", "2026-03-17").await.unwrap().leave_id.to_string();
    let illegal = office.step("ann", &id, "approved").await.unwrap_err();
    let sentence = illegal.sentence(Language::TraditionalChinese);
    assert!(sentence.contains("submitted（送審，由申請人name of ann ann）"), "{sentence}");
    assert_eq!(office.step("ann", &id, "draft").await.unwrap_err().code(), "illegal_move");
    assert_eq!(office.step("ann", &id, "done").await.unwrap_err().code(), "unknown_status");
    office.step("ann", &id, "審核中").await.unwrap();
    for (who, status, code) in [
        ("ann", "approved", "not_yours"),
        ("ann", "consented", "not_yours"),
        ("ann", "rejected", "not_yours"),
        ("dan", "approved", "not_yours"),
        ("dan", "withdrawn", "not_yours"),
        ("boss", "approved", "consent_first"),
        ("boss", "consented", "not_yours"),
        ("boss", "taken", "illegal_move"),
        ("boss", "cancelled", "illegal_move"),
    ] {
        assert_eq!(office.step(who, &id, status).await.unwrap_err().code(), code, "{who} {status}");
    }
    office.step("dan", &id, "consented").await.unwrap();
    assert_eq!(office.step("dan", &id, "consented").await.unwrap_err().code(), "consent_given");
}

#[tokio::test]
async fn a_write_that_is_sent_again_is_done_once() {
    let office = Office::open().await;
    let create = |title: &str| Create {
        kind: "特休".to_owned(),
        start: "2026-03-16".to_owned(),
        end: "2026-03-17".to_owned(),
        title: title.to_owned(),
        once: Some("key-1".to_owned()),
        ..Create::default()
    };
    let ann = principal("ann");
    let first = office.desk.create(&ann, &create("trip")).await.unwrap();
    let again = office.desk.create(&ann, &create("trip")).await.unwrap();
    assert_eq!(first, again);
    let other = office.desk.create(&ann, &create("another trip")).await.map_err(refusal);
    assert_eq!(other.unwrap_err().code(), "key_used_otherwise");
    // Keys are each principal's own.
    let dans = office.desk.create(&principal("dan"), &create("trip")).await.unwrap();
    assert_ne!(dans.leave_id, first.leave_id);
    let bad = Create { once: Some("white space".to_owned()), ..create("trip") };
    assert_eq!(office.desk.create(&ann, &bad).await.map_err(refusal).unwrap_err().code(), "bad_argument");

    // A reply that was lost: the status has moved on, and sending it again still says what was done.
    let id = first.leave_id.to_string();
    office.look("ann", &id).await.unwrap();
    let set = SetStatus {
        leave_id: id.clone(),
        status: "submitted".to_owned(),
        version: Some(1),
        once: Some("key-2".to_owned()),
    };
    for _ in 0..2 {
        let Reply::Done(view) = office.desk.set_status(&ann, &set, &Confirmation::NotAsked).await.unwrap() else {
            panic!("asked")
        };
        assert_eq!((view.status, view.version), (Status::Submitted, 2));
    }
    office.look("ann", &id).await.unwrap();
    let stale = SetStatus { status: "withdrawn".to_owned(), once: None, ..set };
    let stale = office.desk.set_status(&ann, &stale, &Confirmation::NotAsked).await.map_err(refusal);
    assert_eq!(stale.unwrap_err().code(), "changed_since");
}

#[tokio::test]
async fn a_cancellation_whose_reply_was_lost_is_retried_without_asking_again() {
    let office = Office::open().await;
    let id = office.approved().await;
    office.look("ann", &id).await.unwrap();
    let cancel = Cancel { leave_id: id, reason: "plans".to_owned(), version: None, once: Some("key".to_owned()) };
    let ann = principal("ann");
    let asked = question(office.desk.cancel(&ann, &cancel, &Confirmation::NotAsked).await.unwrap());
    let yes = office.answer(&asked, Answer::Accepted);
    let first = office.desk.cancel(&ann, &cancel, &yes).await.unwrap();
    assert_eq!(office.desk.cancel(&ann, &cancel, &yes).await.unwrap(), first);
    assert_eq!(office.desk.cancel(&ann, &cancel, &Confirmation::NotAsked).await.unwrap(), first);
}

#[tokio::test]
async fn eight_who_ask_for_the_same_days_at_once_get_them_once() {
    let office = std::sync::Arc::new(Office::open().await);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let office = office.clone();
            tokio::spawn(async move { office.create("ann", "annual", "2026-03-16", "2026-03-17").await })
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => made += 1,
            Err(refusal) => assert!(matches!(refusal.code(), "overlaps" | "busy"), "{refusal:?}"),
        }
    }
    assert_eq!(made, 1);
}

#[tokio::test]
async fn texts_have_a_length_and_nothing_is_written_of_those_that_are_longer() {
    let office = Office::open().await;
    let ann = principal("ann");
    let create = |title: &str, reason: &str| Create {
        kind: "annual".to_owned(),
        start: "2026-03-16".to_owned(),
        end: "2026-03-17".to_owned(),
        title: title.to_owned(),
        reason: reason.to_owned(),
        ..Create::default()
    };
    for (title, reason) in [
        ("", ""),
        ("   ", ""),
        ("a\u{0}b", ""),
        ("trip", "a\u{1b}[31m"),
        (&"長".repeat(61), ""),
        // Ten kilobytes of emoji.
        ("trip", &"🏖".repeat(2_560)),
    ] {
        let refused = office.desk.create(&ann, &create(title, reason)).await.map_err(refusal).unwrap_err();
        assert_eq!(refused.code(), "bad_text", "{title:?}");
        assert!(refused.sentence(Language::English).len() < 200);
    }
    assert!(office.store.book(&ann.employee).await.unwrap().unwrap().leaves.is_empty());
    let kept = office.desk.create(&ann, &create(&"旅".repeat(60), &"🏖".repeat(500))).await.unwrap();
    assert_eq!(office.look("ann", kept.leave_id.as_str()).await.unwrap().reason.chars().count(), 500);
}

#[tokio::test]
async fn a_draft_is_edited_in_part_and_checked_as_a_whole() {
    let office = Office::open().await;
    let ann = principal("ann");
    let id = office.create("ann", "annual", "2026-03-16", "2026-03-17").await.unwrap().leave_id.to_string();
    office.look("ann", &id).await.unwrap();
    let update = |patch: Patch| Update { leave_id: id.clone(), patch, ..Update::default() };
    let longer = Patch { end: Some("2026-03-18".to_owned()), ..Patch::default() };
    let view = office.desk.update(&ann, &update(longer)).await.unwrap();
    assert_eq!((view.minutes, view.version, view.title.as_str()), (3 * 480, 2, "家庭旅遊"));
    // Whole days are shown as days.
    assert_eq!((view.start.to_string(), view.end.to_string()), ("2026-03-16".to_owned(), "2026-03-18".to_owned()));
    office.look("ann", &id).await.unwrap();
    for (patch, code) in [
        (Patch { end: Some("2026-03-15".to_owned()), ..Patch::default() }, "reversed"),
        (Patch { kind: Some("喪假".to_owned()), ..Patch::default() }, "event_needed"),
        (Patch { deputy: Some("ann".to_owned()), ..Patch::default() }, "deputy_is_applicant"),
        (Patch { deputy: Some("nobody".to_owned()), ..Patch::default() }, "unknown_employee"),
        (Patch { start: Some("2026-02-27".to_owned()), ..Patch::default() }, "begun"),
    ] {
        assert_eq!(office.desk.update(&ann, &update(patch)).await.map_err(refusal).unwrap_err().code(), code);
    }
    let half = Patch { start: Some("2026-03-16T13:00".to_owned()), ..Patch::default() };
    let view = office.desk.update(&ann, &update(half)).await.unwrap();
    assert_eq!(
        (view.start.to_string(), view.end.to_string(), view.minutes),
        ("2026-03-16T13:00".to_owned(), "2026-03-18T24:00".to_owned(), 300 + 960)
    );
    office.look("ann", &id).await.unwrap();
    let by_name = Patch { deputy: Some("name of eve".to_owned()), ..Patch::default() };
    let view = office.desk.update(&ann, &update(by_name)).await.unwrap();
    assert_eq!(view.deputy_name.as_deref(), Some("name of eve"));
}

#[tokio::test]
async fn what_was_shown_survives_a_restart_and_so_does_a_no() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("leave.db");
    let open = || async {
        let store = std::sync::Arc::new(bylaw_leave::store::SqliteLeaves::open(&file).await.unwrap());
        let clock = std::sync::Arc::new(crate::company::TestClock::at(NOW));
        let policy = std::sync::Arc::new(crate::company::policy());
        let random = std::sync::Arc::new(crate::company::Counting::default());
        let desk = bylaw_leave::desk::Desk::new(store.clone(), policy.clone(), clock, random);
        (store, desk, policy)
    };
    let (store, desk, policy) = open().await;
    let today = crate::company::day("2026-03-02");
    let company = bylaw_leave::seed::company(&policy.calendar, today).unwrap();
    assert!(store.found(&company, NOW).await.unwrap());
    assert!(!store.found(&company, NOW).await.unwrap(), "a store is founded once");
    let first = principal("E001");
    desk.search(&first, &Search { keyword: "家庭旅遊".to_owned(), ..Search::default() }).await.unwrap();
    desk.get(&first, "LV-2c40d8").await.unwrap();
    let cancel = Cancel { leave_id: "LV-2c40d8".to_owned(), reason: "x".to_owned(), ..Cancel::default() };
    let asked = question(desk.cancel(&first, &cancel, &Confirmation::NotAsked).await.unwrap());
    let no = Confirmation::Answered {
        binding: asked.binding,
        ticket: "t".to_owned(),
        expires: Timestamp(NOW.0 + 1),
        answer: Answer::Declined,
    };
    assert_eq!(desk.cancel(&first, &cancel, &no).await.map_err(refusal).unwrap_err().code(), "declined");
    let seal = store.seal(&[7; 32]).await.unwrap();
    store.close().await;

    let (store, desk, _) = open().await;
    assert_eq!(store.seal(&[8; 32]).await.unwrap(), seal);
    let set = SetStatus { leave_id: "LV-7f3a91".to_owned(), status: "submitted".to_owned(), ..SetStatus::default() };
    let Reply::Done(view) = desk.set_status(&first, &set, &Confirmation::NotAsked).await.unwrap() else { panic!() };
    assert_eq!(view.status, Status::Submitted);
    let again = desk.cancel(&first, &cancel, &Confirmation::NotAsked).await.map_err(refusal);
    assert_eq!(again.unwrap_err().code(), "said_no");
    store.close().await;
}

#[tokio::test]
async fn the_demonstration_company_obeys_its_own_rules() {
    let sample = bylaw_leave::domain::calendar::WorkCalendar::parse(bylaw_leave::domain::calendar::SAMPLE).unwrap();
    for today in ["2026-03-02", "2026-02-14", "2026-12-24", "2027-10-09", "2031-01-01"] {
        let today = crate::company::day(today);
        let company = bylaw_leave::seed::company(&sample, today).unwrap();
        assert_eq!(company, bylaw_leave::seed::company(&sample, today).unwrap());
        assert_eq!(company.employees.len(), 12);
        for status in Status::ALL {
            assert!(company.leaves.iter().any(|leave| leave.status == *status), "{status}");
        }
        let trip = company.leaves.iter().find(|leave| leave.id.as_str() == "LV-7f3a91").unwrap();
        assert_eq!((trip.title.as_str(), trip.status, trip.minutes()), ("家庭旅遊", Status::Draft, 3 * 480));
        let policy = bylaw_leave::domain::decide::Policy::over(sample.clone()).unwrap();
        for person in &company.employees {
            let own = |leave: &&bylaw_leave::domain::leave::Leave| leave.applicant == person.id;
            let leaves: Vec<_> = company.leaves.iter().filter(own).cloned().collect();
            let grants: Vec<_> =
                company.grants.iter().filter(|(id, _)| *id == person.id).map(|(_, grant)| *grant).collect();
            let account = bylaw_leave::domain::quota::Account {
                catalogue: &policy.catalogue,
                day_minutes: 480,
                employee: person,
                grants: &grants,
                leaves: &leaves,
            };
            for leave in &leaves {
                assert_eq!(account.shortfall(leave), None, "{} on {today}", leave.id);
                assert!(leaves.iter().all(|other| other.id == leave.id || !other.span.overlaps(leave.span)));
            }
        }
    }
}
