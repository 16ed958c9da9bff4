//! Behaviour of runs, events and questions.

use bylaw_agent::{Ended, NewRun, Owner, Purpose, Replied, RunQuery, RunRecord, RunWrite, Written};
use bylaw_contract::{
    Citation, MicroUsd, RunEvent, Stop, StopReason, TokenUsage,
    ask::Mode,
    loop_event::{ReplyAction, ReplyBy},
    runs::{RunKind, RunStatus},
};

use super::world::{
    Store, ask, at, begin, conversation, ended, event, given, id, key, new, process, question, run, step, steps, talk,
    told, write,
};

fn all() -> RunQuery {
    RunQuery { limit: 100, ..RunQuery::default() }
}

async fn numbers(store: &Store, query: &RunQuery) -> Vec<String> {
    store.runs(query).await.unwrap().iter().map(|record| record.run.message.clone()).collect()
}

fn named(number: u64) -> NewRun {
    NewRun { message: number.to_string(), ..new(number) }
}

pub(crate) async fn an_empty_store_has_nothing(store: Store) {
    assert_eq!(write(&store, Vec::new()).await, []);
    assert_eq!(store.run(&id(1)).await.unwrap(), None);
    assert_eq!(store.runs(&all()).await.unwrap(), []);
    assert_eq!(store.events(&id(1), 0, 10).await.unwrap(), []);
    assert_eq!(store.questions(&id(1)).await.unwrap(), []);
    assert_eq!(store.reply(&id(1), 1, &given(1)).await.unwrap(), Replied::NoSuchQuestion);
    assert_eq!(store.lost(at(9), 10).await.unwrap(), []);
    assert_eq!(store.conversation(&talk(1)).await.unwrap(), None);
    assert_eq!(store.prune(at(9), 10).await.unwrap(), 0);
}

pub(crate) async fn a_run_is_kept_as_it_began_and_as_it_ended(store: Store) {
    for new in [new(1), ask(2, Mode::Pipeline)] {
        let number = new.started_at.0.unsigned_abs();
        assert_eq!(write(&store, vec![begin(new.clone())]).await, [Written::Done]);
        let begun = RunRecord { run: new, process: process(1), waits: false, ended: None };
        assert_eq!(run(&store, number).await, begun);
        assert_eq!(begun.status(), RunStatus::Running);
    }
    let failed = RunEvent::Failed {
        stop: Stop { reason: StopReason::UpstreamTimeout, at_step: 0, message: "too late".to_owned() },
        code: "upstream_timeout".to_owned(),
        message: "too late".to_owned(),
    };
    write(&store, vec![event(1, ended(StopReason::Failed)), event(2, failed)]).await;
    let usage = TokenUsage { input_tokens: 7, output_tokens: 5, ..TokenUsage::default() };
    let end = Ended {
        at: at(2),
        reason: StopReason::Failed,
        code: Some("upstream_failed".to_owned()),
        usage: Some(usage),
        cost: None,
    };
    assert_eq!(run(&store, 1).await.ended, Some(end));
    let end = Ended {
        at: at(3),
        reason: StopReason::UpstreamTimeout,
        code: Some("upstream_timeout".to_owned()),
        usage: None,
        cost: None,
    };
    assert_eq!(run(&store, 2).await.ended, Some(end));
    assert_eq!(run(&store, 2).await.status(), RunStatus::Ended);
}

pub(crate) async fn a_run_ends_with_the_last_event_of_its_kind(store: Store) {
    let answer = serde_json::json!({
        "answer": "三日。", "outcome": "answered", "note": "", "answered_by": { "by": "extract" }, "sentences": [], "citations": [],
        "usage": { "input_tokens": 3, "output_tokens": 2, "cached": false, "model_calls": 1, "cost_micro_usd": 40,
          "estimated": false, "avoided_micro_usd": 0, "cost": "0", "currency": "TWD", "cost_twd": null, "avoided_twd": null },
        "timing": { "embed_ms": 0.0, "retrieve_ms": 0.25, "llm_ms": 0.0, "serialize_ms": 0.0, "total_ms": 0.5, "overhead_ms": 0.25 },
        "retriever": "lexical", "mode": "agent", "agent": null, "request_id": "r", "run_id": id(1), "asked_at": 1
    });
    let done = RunEvent::Done { answer: serde_json::from_value(answer).unwrap() };
    let citations = RunEvent::Citations { citations: Vec::<Citation>::new() };
    write(
        &store,
        vec![begin(ask(1, Mode::Agent)), event(1, citations.clone()), event(1, ended(StopReason::Completed))],
    )
    .await;
    assert_eq!(run(&store, 1).await.ended, None, "the answer is still to come");
    write(&store, vec![event(1, done.clone())]).await;
    let record = run(&store, 1).await;
    let end = record.ended.clone().unwrap();
    assert_eq!((end.reason, end.usage.unwrap().input_tokens, end.cost), (StopReason::Completed, 3, Some(MicroUsd(40))));
    assert_eq!((record.summary().mode, record.summary().cost_micro_usd), (Some(Mode::Agent), Some(MicroUsd(40))));
    let kept = store.events(&id(1), 0, 10).await.unwrap();
    assert_eq!(
        kept.into_iter().map(|kept| kept.event).collect::<Vec<_>>(),
        [citations, ended(StopReason::Completed), done]
    );
}

pub(crate) async fn events_come_back_in_their_order_page_by_page(store: Store) {
    let mut batch = vec![begin(new(1)), begin(new(2))];
    batch.extend((0..20).map(|number| event(1 + u64::from(number % 2), step(number))));
    write(&store, batch).await;
    write(&store, vec![event(1, step(20))]).await;
    assert_eq!(steps(&store, 1).await, (0..=10).map(|place| (u64::from(place) + 1, 2 * place)).collect::<Vec<_>>());
    let page = |after, limit| {
        let store = store.clone();
        async move {
            let page = store.events(&id(1), after, limit).await.unwrap();
            page.iter().map(|event| event.number).collect::<Vec<_>>()
        }
    };
    assert_eq!(page(0, 2).await, [1, 2]);
    assert_eq!(page(9, 5).await, [10, 11]);
    assert_eq!(page(11, 5).await, [0; 0]);
    assert_eq!(page(u64::MAX, 5).await, [0; 0]);
    assert_eq!(store.events(&id(1), 0, 1).await.unwrap()[0].at, at(2));
}

pub(crate) async fn numbers_have_no_gaps_whoever_writes_at_the_same_time(store: Store) {
    write(&store, vec![begin(new(1)), begin(new(2))]).await;
    let writers = (0..16_u32).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for turn in 0..4 {
                let batch = (1..=2).flat_map(|run| (0..2).map(move |_| event(run, step(writer * 4 + turn))));
                store.write(batch.collect()).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    for run in 1..=2 {
        let kept = steps(&store, run).await;
        assert_eq!(kept.iter().map(|(number, _)| *number).collect::<Vec<_>>(), (1..=128).collect::<Vec<_>>());
        assert!(kept.chunks(2).all(|pair| pair[0].1 == pair[1].1), "a batch is written in one piece");
    }
}

pub(crate) async fn what_cannot_be_written_is_left_out_and_the_rest_is_written(store: Store) {
    let batch = vec![
        begin(new(1)),
        begin(new(1)),
        event(9, step(0)),
        event(1, step(0)),
        event(1, ended(StopReason::Completed)),
        event(1, step(1)),
        RunWrite::GiveBack { run: id(1), at: at(1), conversation: None },
        begin(new(2)),
        event(2, step(0)),
    ];
    let expected = [
        Written::Done,
        Written::Exists,
        Written::NoSuchRun,
        Written::Event(1),
        Written::Event(2),
        Written::Over,
        Written::NotHeld,
        Written::Done,
        Written::Event(1),
    ];
    assert_eq!(write(&store, batch).await, expected);
    assert_eq!(write(&store, vec![event(1, step(1)), begin(new(2))]).await, [Written::Over, Written::Exists]);
    assert_eq!(store.events(&id(1), 0, 10).await.unwrap().len(), 2);
}

pub(crate) async fn a_run_waits_while_a_question_is_open(store: Store) {
    write(&store, vec![begin(new(1)), event(1, question(1)), event(1, question(2)), event(1, question(1))]).await;
    assert_eq!(run(&store, 1).await.status(), RunStatus::Waiting);
    assert_eq!(store.reply(&id(1), 3, &given(1)).await.unwrap(), Replied::NoSuchQuestion);
    assert_eq!(store.reply(&id(1), 1, &given(1)).await.unwrap(), Replied::Taken);
    assert_eq!(run(&store, 1).await.status(), RunStatus::Waiting);
    assert_eq!(store.reply(&id(1), 2, &given(2)).await.unwrap(), Replied::Taken);
    assert_eq!(run(&store, 1).await.status(), RunStatus::Running);
    let kept = store.questions(&id(1)).await.unwrap();
    let kept: Vec<_> = kept.into_iter().map(|kept| (kept.number, RunEvent::Loop(kept.question), kept.given)).collect();
    assert_eq!(kept, [(1, question(1), Some(given(1))), (2, question(2), Some(given(2)))]);

    write(&store, vec![event(1, question(3)), event(1, ended(StopReason::Time))]).await;
    assert_eq!(run(&store, 1).await.status(), RunStatus::Ended, "a run that is over waits for nobody");
    assert_eq!(store.reply(&id(1), 3, &given(1)).await.unwrap(), Replied::Over);
    assert_eq!(store.reply(&id(1), 1, &given(9)).await.unwrap(), Replied::AlreadyAnswered(given(1)));
}

pub(crate) async fn of_32_answers_at_once_the_first_wins(store: Store) {
    write(&store, vec![begin(new(1)), event(1, question(1))]).await;
    let answers: Vec<_> = (1..=32)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { (number, store.reply(&id(1), 1, &given(number)).await.unwrap()) })
        })
        .collect();
    let (mut taken, mut told) = (Vec::new(), Vec::new());
    for answer in answers {
        match answer.await.unwrap() {
            (number, Replied::Taken) => taken.push(given(number)),
            (_, Replied::AlreadyAnswered(first)) => told.push(first),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((taken.len(), told.len()), (1, 31));
    assert!(told.iter().all(|first| *first == taken[0]));
    assert_eq!(store.questions(&id(1)).await.unwrap()[0].given, Some(taken.remove(0)));
}

pub(crate) async fn an_answer_that_the_run_tells_of_closes_its_question(store: Store) {
    write(&store, vec![begin(new(1)), event(1, question(1)), event(1, question(2)), event(1, question(3))]).await;
    store.reply(&id(1), 1, &given(7)).await.unwrap();
    write(
        &store,
        vec![
            event(1, told(1, ReplyAction::Accept, ReplyBy::Person)),
            event(1, told(2, ReplyAction::Decline, ReplyBy::Person)),
            event(1, told(3, ReplyAction::Cancel, ReplyBy::Policy)),
        ],
    )
    .await;
    assert_eq!(run(&store, 1).await.status(), RunStatus::Running);
    let kept = store.questions(&id(1)).await.unwrap();
    let kept: Vec<_> = kept.into_iter().map(|kept| kept.given.unwrap()).collect();
    assert_eq!(kept[0], given(7), "the first answer stays");
    let (no, nobody) = (&kept[1], &kept[2]);
    assert_eq!((no.reply.action, &no.by, no.at), (ReplyAction::Decline, &Some(key(1)), at(2)));
    assert_eq!((nobody.reply.action, &nobody.by), (ReplyAction::Cancel, &None));
    assert_eq!(store.reply(&id(1), 3, &given(1)).await.unwrap(), Replied::AlreadyAnswered(nobody.clone()));
}

pub(crate) async fn runs_are_filtered_by_everything_that_is_given(store: Store) {
    store.create_conversation(&conversation(1)).await.unwrap();
    let message = |number: u64, run: NewRun| begin(NewRun { message: number.to_string(), ..run });
    let batch = vec![
        message(1, new(1)),
        message(2, NewRun { owner: key(2), ..new(2) }),
        message(3, ask(3, Mode::Auto)),
        message(4, NewRun { conversation: Some(talk(1)), ..new(4) }),
        message(5, NewRun { purpose: Purpose::Agent("other".to_owned()), ..new(5) }),
        event(1, ended(StopReason::Completed)),
        event(5, question(1)),
    ];
    write(&store, batch).await;
    let check = async |query: RunQuery, expected: &[u64]| {
        let expected: Vec<_> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(numbers(&store, &query).await, expected, "{query:?}");
    };
    check(all(), &[5, 4, 3, 2, 1]).await;
    check(RunQuery { owner: Some(key(1)), ..all() }, &[5, 4, 1]).await;
    check(RunQuery { owner: Some(Owner::LocalDoor), ..all() }, &[3]).await;
    check(RunQuery { owner: Some(key(9)), ..all() }, &[]).await;
    check(RunQuery { status: Some(RunStatus::Ended), ..all() }, &[1]).await;
    check(RunQuery { status: Some(RunStatus::Waiting), ..all() }, &[5]).await;
    check(RunQuery { status: Some(RunStatus::Running), ..all() }, &[4, 3, 2]).await;
    check(RunQuery { kind: Some(RunKind::Ask), ..all() }, &[3]).await;
    check(RunQuery { agent: Some("other".to_owned()), ..all() }, &[5]).await;
    check(RunQuery { conversation: Some(talk(1)), ..all() }, &[4]).await;
    check(RunQuery { request_id: Some(new(2).request_id), ..all() }, &[2]).await;
    check(RunQuery { owner: Some(key(1)), status: Some(RunStatus::Running), ..all() }, &[4]).await;
}

pub(crate) async fn runs_come_newest_first_page_by_page(store: Store) {
    // Kept in another order than that of their ids and times.
    write(&store, [3, 1, 4, 2, 5].map(|number| begin(named(number))).to_vec()).await;
    let page = |before: Option<u64>| RunQuery { before: before.map(id), limit: 2, ..RunQuery::default() };
    assert_eq!(numbers(&store, &page(None)).await, ["5", "2"]);
    assert_eq!(numbers(&store, &page(Some(2))).await, ["4", "1"]);
    assert_eq!(numbers(&store, &page(Some(1))).await, ["3"]);
    assert_eq!(numbers(&store, &page(Some(3))).await, [""; 0]);
    assert_eq!(numbers(&store, &page(Some(99))).await, [""; 0], "nothing is before what is not there");
}

pub(crate) async fn a_run_whose_process_is_gone_is_lost(store: Store) {
    let of = |number, owner| RunWrite::Begin(Box::new(new(number)), process(owner));
    write(&store, vec![of(1, 1), of(2, 2), of(3, 3), of(4, 1), event(4, ended(StopReason::Completed))]).await;
    store.keep_process(&process(1), at(50)).await.unwrap();
    store.keep_process(&process(2), at(10)).await.unwrap();
    store.keep_process(&process(2), at(100)).await.unwrap();
    let lost = async |now| {
        let lost = store.lost(at(now), 10).await.unwrap();
        lost.into_iter().map(|record| record.run.id).collect::<Vec<_>>()
    };
    assert_eq!(lost(50).await, [id(3)]);
    assert_eq!(lost(51).await, [id(1), id(3)]);
    assert_eq!(lost(101).await, [id(1), id(2), id(3)]);
    assert_eq!(store.lost(at(101), 2).await.unwrap().len(), 2);
}
