//! Kept answers.

use bylaw_answer::{AnswerStore, IdempotencyKey, KeptAnswer, KeptName};
use bylaw_contract::{KeyId, Timestamp};

fn name(owner: Option<char>, key: &str) -> KeptName {
    let owner = owner.map(|digit| KeyId::new(format!("key_{}", digit.to_string().repeat(24))).unwrap());
    KeptName { owner, key: IdempotencyKey::new(key).unwrap() }
}

fn answer(text: &str, kept_at: i64) -> KeptAnswer {
    KeptAnswer { fingerprint: [7; 32], answer: text.to_owned(), kept_at: Timestamp(kept_at) }
}

pub(crate) async fn an_answer_is_kept_under_its_owner_and_name<S: AnswerStore>(store: &S) {
    let since = Timestamp(0);
    store.keep(&name(Some('1'), "a"), &answer("七日", 10), since).await.unwrap();
    assert_eq!(store.find(&name(Some('1'), "a"), since).await.unwrap(), Some(answer("七日", 10)));
    for other in [name(Some('2'), "a"), name(None, "a"), name(Some('1'), "A")] {
        assert_eq!(store.find(&other, since).await.unwrap(), None, "{other:?}");
    }
}

pub(crate) async fn the_first_answer_stays<S: AnswerStore>(store: &S) {
    let since = Timestamp(0);
    store.keep(&name(None, "a"), &answer("first", 10), since).await.unwrap();
    store.keep(&name(None, "a"), &answer("second", 20), since).await.unwrap();
    assert_eq!(store.find(&name(None, "a"), since).await.unwrap(), Some(answer("first", 10)));
}

pub(crate) async fn old_answers_are_forgotten<S: AnswerStore>(store: &S) {
    store.keep(&name(None, "old"), &answer("old", 10), Timestamp(0)).await.unwrap();
    assert_eq!(store.find(&name(None, "old"), Timestamp(11)).await.unwrap(), None);
    store.keep(&name(None, "new"), &answer("new", 30), Timestamp(20)).await.unwrap();
    assert_eq!(store.find(&name(None, "old"), Timestamp(0)).await.unwrap(), None);
    store.keep(&name(None, "old"), &answer("again", 40), Timestamp(20)).await.unwrap();
    assert_eq!(store.find(&name(None, "old"), Timestamp(0)).await.unwrap(), Some(answer("again", 40)));
}
