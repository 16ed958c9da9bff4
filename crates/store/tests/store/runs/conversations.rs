//! Behaviour of conversations and artifacts, and of forgetting.

use bylaw_agent::{
    Artifact, ArtifactPut, Conversation, ConversationQuery, ConversationRecord, Deleted, KeptArtifact, NewRun,
    RunQuery, Written,
};
use bylaw_contract::{StopReason, ask::Mode};
use bytes::Bytes;

use super::world::{
    Store, artifact_id, ask, at, begin, conversation, ended, event, give_back, id, key, new, said, step, talk, write,
};

fn within(number: u64, of: u64) -> NewRun {
    NewRun { conversation: Some(talk(of)), ..new(number) }
}

fn artifact(number: u64, size: usize) -> Artifact {
    Artifact { id: artifact_id(number), mime: "image/png".to_owned(), bytes: Bytes::from(vec![255; size]) }
}

pub(crate) async fn a_conversation_is_kept_with_what_was_said(store: Store) {
    assert!(store.create_conversation(&conversation(1)).await.unwrap());
    assert!(!store.create_conversation(&conversation(1)).await.unwrap());
    let kept = store.conversation(&talk(1)).await.unwrap();
    assert_eq!(kept, Some((conversation(1), Conversation::default())));

    write(&store, vec![begin(within(2, 1))]).await;
    let (record, _) = store.conversation(&talk(1)).await.unwrap().unwrap();
    assert_eq!(record, ConversationRecord { busy: Some(id(2)), updated_at: at(2), ..conversation(1) });
    assert_eq!(write(&store, vec![give_back(2, 5, Some(&said("假")))]).await, [Written::Done]);
    let after = ConversationRecord { updated_at: at(5), ..conversation(1) };
    assert_eq!(store.conversation(&talk(1)).await.unwrap(), Some((after, said("假"))));
}

pub(crate) async fn a_conversation_is_had_by_one_run_at_a_time(store: Store) {
    store.create_conversation(&conversation(1)).await.unwrap();
    let both = write(&store, vec![begin(within(1, 1)), begin(within(2, 1)), event(2, step(0))]).await;
    assert_eq!(both, [Written::Done, Written::Busy(id(1)), Written::NoSuchRun]);
    // Whoever does not have it changes nothing, and an end alone does not give it back: what was said is still to come.
    write(&store, vec![event(1, ended(StopReason::Completed))]).await;
    assert_eq!(write(&store, vec![begin(within(3, 1)), begin(new(4))]).await, [Written::Busy(id(1)), Written::Done]);
    assert_eq!(write(&store, vec![give_back(4, 9, Some(&said("no")))]).await, [Written::NotHeld]);
    assert_eq!(write(&store, vec![give_back(9, 9, Some(&said("no")))]).await, [Written::NoSuchRun]);
    assert_eq!(write(&store, vec![give_back(1, 9, Some(&said("yes")))]).await, [Written::Done]);
    assert_eq!(write(&store, vec![give_back(1, 9, Some(&said("no")))]).await, [Written::NotHeld]);
    // Without what was said, it stays as it was.
    let turn = vec![begin(within(3, 1)), give_back(3, 9, None), begin(within(5, 1)), give_back(5, 9, None)];
    assert_eq!(write(&store, turn).await, [Written::Done, Written::Done, Written::Done, Written::Done]);
    assert_eq!(store.conversation(&talk(1)).await.unwrap().unwrap().1, said("yes"));
}

pub(crate) async fn of_32_runs_that_begin_at_once_one_has_the_conversation(store: Store) {
    store.create_conversation(&conversation(1)).await.unwrap();
    let runs: Vec<_> = (1..=32)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { (number, write(&store, vec![begin(within(number, 1))]).await.remove(0)) })
        })
        .collect();
    let (mut had, mut refused) = (Vec::new(), Vec::new());
    for run in runs {
        match run.await.unwrap() {
            (number, Written::Done) => had.push(id(number)),
            (_, Written::Busy(run)) => refused.push(run),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((had.len(), refused.len()), (1, 31));
    assert!(refused.iter().all(|run| *run == had[0]));
}

pub(crate) async fn a_conversation_of_another_owner_does_not_exist(store: Store) {
    store.create_conversation(&conversation(1)).await.unwrap();
    let stranger = NewRun { owner: key(2), ..within(1, 1) };
    let local = NewRun { conversation: Some(talk(1)), ..ask(2, Mode::Agent) };
    let written = write(&store, vec![begin(stranger), begin(local), begin(within(3, 9))]).await;
    assert_eq!(written, [Written::NoSuchConversation, Written::NoSuchConversation, Written::NoSuchConversation]);
    assert_eq!(store.run(&id(1)).await.unwrap(), None);
}

pub(crate) async fn conversations_come_newest_first_page_by_page(store: Store) {
    for number in [2, 1, 3] {
        let owner = key(1 + number % 2);
        store.create_conversation(&ConversationRecord { owner, ..conversation(number) }).await.unwrap();
    }
    let check = async |query: ConversationQuery, expected: &[u64]| {
        let found = store.conversations(&query).await.unwrap();
        let found: Vec<_> = found.into_iter().map(|record| record.id).collect();
        assert_eq!(found, expected.iter().copied().map(talk).collect::<Vec<_>>(), "{query:?}");
    };
    let all = ConversationQuery { limit: 2, ..ConversationQuery::default() };
    check(all.clone(), &[3, 1]).await;
    check(ConversationQuery { before: Some(talk(1)), ..all.clone() }, &[2]).await;
    check(ConversationQuery { before: Some(talk(9)), ..all.clone() }, &[]).await;
    check(ConversationQuery { owner: Some(key(1)), ..all.clone() }, &[2]).await;
    check(ConversationQuery { owner: Some(key(9)), ..all }, &[]).await;
}

pub(crate) async fn a_deleted_conversation_is_gone_with_its_runs(store: Store) {
    for number in 1..=2 {
        store.create_conversation(&conversation(number)).await.unwrap();
    }
    write(&store, vec![begin(within(1, 1)), event(1, step(0)), begin(within(2, 2)), begin(new(3))]).await;
    store.put_artifact(&id(1), &artifact(1, 1), 9).await.unwrap();
    assert_eq!(store.delete_conversation(&talk(1)).await.unwrap(), Deleted::Busy(id(1)));
    write(&store, vec![event(1, ended(StopReason::Completed)), give_back(1, 9, None)]).await;
    assert_eq!(store.delete_conversation(&talk(1)).await.unwrap(), Deleted::Done);
    assert_eq!(store.delete_conversation(&talk(1)).await.unwrap(), Deleted::NoSuchConversation);
    assert_eq!(store.run(&id(1)).await.unwrap(), None);
    assert_eq!(store.events(&id(1), 0, 9).await.unwrap(), []);
    assert_eq!(store.artifact(&artifact_id(1)).await.unwrap(), None);
    let rest = store.runs(&RunQuery { limit: 9, ..RunQuery::default() }).await.unwrap();
    assert_eq!(rest.into_iter().map(|record| record.run.id).collect::<Vec<_>>(), [id(3), id(2)]);
    assert_eq!(write(&store, vec![event(1, step(1))]).await, [Written::NoSuchRun]);
}

pub(crate) async fn artifacts_belong_to_their_run_up_to_its_limit(store: Store) {
    write(&store, vec![begin(new(1)), begin(new(2))]).await;
    let put = async |run, number, size| store.put_artifact(&id(run), &artifact(number, size), 10).await.unwrap();
    assert_eq!(put(9, 1, 1).await, ArtifactPut::NoSuchRun);
    assert_eq!(put(1, 1, 11).await, ArtifactPut::Full);
    assert_eq!(put(1, 1, 6).await, ArtifactPut::Kept);
    assert_eq!(put(1, 2, 5).await, ArtifactPut::Full, "what one run has counts together");
    assert_eq!(put(1, 2, 4).await, ArtifactPut::Kept);
    assert_eq!(put(2, 3, 10).await, ArtifactPut::Kept, "and apart from others");
    let kept = store.artifact(&artifact_id(1)).await.unwrap();
    assert_eq!(kept, Some(KeptArtifact { run: id(1), owner: key(1), artifact: artifact(1, 6) }));
    assert_eq!(store.artifact(&artifact_id(9)).await.unwrap(), None);
}

pub(crate) async fn old_runs_are_forgotten_and_conversations_as_a_whole(store: Store) {
    for number in 1..=2 {
        store.create_conversation(&conversation(number)).await.unwrap();
    }
    // Each ends a moment after its number.
    let mut batch: Vec<_> = [new(1), new(2), new(30), within(3, 1), within(4, 2)].into_iter().map(begin).collect();
    batch.extend([1, 2, 30, 3, 4].map(|number| event(number, ended(StopReason::Completed))));
    // One conversation goes on much later.
    batch.extend([give_back(3, 5, None), give_back(4, 5, None), begin(within(40, 2)), give_back(40, 41, None)]);
    write(&store, batch).await;
    store.put_artifact(&id(1), &artifact(1, 1), 9).await.unwrap();
    let left = async || {
        let runs = store.runs(&RunQuery { limit: 99, ..RunQuery::default() }).await.unwrap();
        let mut left: Vec<_> = runs.iter().map(|record| record.run.started_at.0).collect();
        left.sort_unstable();
        left
    };
    assert_eq!(store.prune(at(2), 99).await.unwrap(), 0);
    assert_eq!(store.prune(at(10), 1).await.unwrap(), 1);
    assert_eq!(left().await, [2, 3, 4, 30, 40], "the oldest first");
    assert_eq!(store.artifact(&artifact_id(1)).await.unwrap(), None);
    assert_eq!(store.prune(at(10), 99).await.unwrap(), 3, "a run, a conversation and its run");
    assert_eq!(left().await, [4, 30, 40], "a conversation is kept whole");
    assert_eq!(store.conversation(&talk(1)).await.unwrap(), None);
    assert!(store.conversation(&talk(2)).await.unwrap().is_some());
    assert_eq!(store.prune(at(10), 99).await.unwrap(), 0);
}

pub(crate) async fn what_goes_on_is_never_forgotten(store: Store) {
    store.create_conversation(&conversation(1)).await.unwrap();
    write(&store, vec![begin(new(1)), begin(within(2, 1)), event(2, ended(StopReason::Completed))]).await;
    assert_eq!(store.prune(at(99), 99).await.unwrap(), 0);
    write(&store, vec![event(1, ended(StopReason::Completed)), give_back(2, 3, None)]).await;
    assert_eq!(store.prune(at(99), 99).await.unwrap(), 3);
}
