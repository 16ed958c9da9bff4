//! The ring of keys: what it believes, for how long, and how seldom it asks.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bylaw_contract::{Clock, KeyId, Timestamp};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use crate::{
    AuthenticateError, KeyHash, KeyRecord, KeyRing, KeySecret, KeyStore, KeyStoreError, MemoryKeys, NewKey, Principal,
    ReadableSources, Role, create_key, testing::SeededRandomness,
};

const START: i64 = 1_000_000;

/// A clock whose two times go together.
#[derive(Default)]
struct Watch(Mutex<Duration>);

impl Watch {
    fn forward(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for Watch {
    fn now(&self) -> Timestamp {
        Timestamp(START).plus(self.elapsed())
    }

    fn elapsed(&self) -> Duration {
        *self.0.lock().unwrap()
    }
}

/// How long a store takes for each answer.
struct Slow {
    takes: Duration,
    /// The clock that goes on with it; `None` if the test moves the clock.
    moves: Option<Arc<Watch>>,
}

/// Keys that count how often they are asked, and can be out of order or slow.
#[derive(Default)]
struct Watched {
    keys: MemoryKeys,
    revisions: AtomicUsize,
    broken: AtomicBool,
    hanging: AtomicBool,
    slow: Mutex<Option<Arc<Slow>>>,
}

impl Watched {
    async fn answer(&self) -> Result<(), KeyStoreError> {
        if self.hanging.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        let slow = self.slow.lock().unwrap().clone();
        if let Some(slow) = slow {
            sleep(slow.takes).await;
            if let Some(clock) = &slow.moves {
                clock.forward(slow.takes);
            }
        }
        if self.broken.load(Ordering::SeqCst) {
            return Err(KeyStoreError { operation: "reading", source: "no disk".into() });
        }
        Ok(())
    }
}

#[async_trait]
impl KeyStore for Watched {
    async fn add(&self, record: &KeyRecord, hash: &KeyHash) -> Result<(), KeyStoreError> {
        self.keys.add(record, hash).await
    }
    async fn by_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, KeyStoreError> {
        self.keys.by_hash(hash).await
    }
    async fn list(&self) -> Result<Vec<KeyRecord>, KeyStoreError> {
        self.keys.list().await
    }
    async fn entries(&self) -> Result<Vec<(KeyHash, KeyRecord)>, KeyStoreError> {
        self.answer().await?;
        self.keys.entries().await
    }
    async fn revoke(&self, id: &KeyId, at: Timestamp) -> Result<bool, KeyStoreError> {
        self.keys.revoke(id, at).await
    }
    async fn revision(&self) -> Result<u64, KeyStoreError> {
        self.revisions.fetch_add(1, Ordering::SeqCst);
        self.answer().await?;
        self.keys.revision().await
    }
}

struct World {
    clock: Arc<Watch>,
    store: Arc<Watched>,
    ring: Arc<KeyRing>,
    random: SeededRandomness,
}

impl World {
    fn new(seed: u64) -> Self {
        let (clock, store) = (Arc::new(Watch::default()), Arc::new(Watched::default()));
        let ring = Arc::new(KeyRing::new(Arc::clone(&store) as _, Arc::clone(&clock) as _));
        Self { clock, store, ring, random: SeededRandomness::new(seed) }
    }

    async fn key(&self, expires_at: Option<Timestamp>) -> (KeyRecord, KeySecret) {
        let new = NewKey {
            name: "someone".to_owned(),
            role: Role::Reader,
            sources: ReadableSources::All,
            budgets: Vec::new(),
            expires_at,
        };
        create_key(&*self.store, new, &*self.clock, &self.random).await.unwrap()
    }

    fn forward(&self, milliseconds: u64) {
        self.clock.forward(Duration::from_millis(milliseconds));
    }

    fn slow(&self, milliseconds: u64, moves: Option<&Arc<Watch>>) {
        let slow = Slow { takes: Duration::from_millis(milliseconds), moves: moves.cloned() };
        *self.store.slow.lock().unwrap() = Some(Arc::new(slow));
    }

    fn asked(&self) -> usize {
        self.store.revisions.load(Ordering::SeqCst)
    }

    async fn said(&self, secret: Option<&str>) -> &'static str {
        said(&self.ring, secret).await
    }

    /// What a hundred callers with one credential are told who come at once, and how many milliseconds each one waited.
    async fn burst(&self, secret: &KeySecret) -> Vec<(&'static str, u128)> {
        let mut callers = JoinSet::new();
        for _ in 0..100 {
            let (ring, secret, began) = (Arc::clone(&self.ring), secret.reveal().to_owned(), Instant::now());
            callers.spawn(async move { (said(&ring, Some(&secret)).await, began.elapsed().as_millis()) });
        }
        callers.join_all().await
    }
}

/// What a credential comes to, in a word.
async fn said(ring: &KeyRing, secret: Option<&str>) -> &'static str {
    match ring.principal(secret).await {
        Ok(Principal::LocalDoor) => "local",
        Ok(Principal::Key(_)) => "key",
        Err(AuthenticateError::InvalidKey) => "invalid",
        Err(AuthenticateError::Store(_)) => "store",
    }
}

#[tokio::test]
async fn without_a_key_on_record_the_door_is_local_and_with_any_a_valid_one_is_needed() {
    let world = World::new(1);
    let stranger = KeySecret::mint(&SeededRandomness::new(99));
    assert!(!world.ring.required().await.unwrap());
    assert_eq!(world.said(None).await, "local");
    assert_eq!(world.said(Some(stranger.reveal())).await, "invalid");
    assert_eq!(world.said(Some("")).await, "invalid");

    let (record, secret) = world.key(None).await;
    world.forward(100);
    assert!(world.ring.required().await.unwrap());
    assert_eq!(world.said(None).await, "invalid");
    assert_eq!(world.said(Some(secret.reveal())).await, "key");
    assert_eq!(world.said(Some(stranger.reveal())).await, "invalid");

    world.store.revoke(&record.id, world.clock.now()).await.unwrap();
    world.forward(100);
    assert!(world.ring.required().await.unwrap(), "a revoked key is a key on record");
    assert_eq!(world.said(None).await, "invalid");
    assert_eq!(world.said(Some(secret.reveal())).await, "invalid");
}

#[tokio::test]
async fn a_key_revoked_elsewhere_is_refused_when_the_window_is_over() {
    let world = World::new(2);
    let (record, secret) = world.key(None).await;
    let principal = world.ring.principal(Some(secret.reveal())).await.unwrap();
    world.store.revoke(&record.id, world.clock.now()).await.unwrap();
    world.forward(99);
    assert_eq!(world.said(Some(secret.reveal())).await, "key");
    world.forward(1);
    assert!(!world.ring.holds(&principal).await.unwrap());
    assert_eq!(world.said(Some(secret.reveal())).await, "invalid");
}

#[tokio::test]
async fn a_key_expires_by_the_clock_without_asking() {
    let world = World::new(3);
    let (_, secret) = world.key(Some(Timestamp(START).plus(Duration::from_millis(50)))).await;
    let principal = world.ring.principal(Some(secret.reveal())).await.unwrap();
    world.forward(49);
    assert!(world.ring.holds(&principal).await.unwrap());
    world.forward(1);
    assert!(!world.ring.holds(&principal).await.unwrap());
    assert_eq!(world.said(Some(secret.reveal())).await, "invalid");
    assert_eq!(world.asked(), 1);
}

#[tokio::test]
async fn the_first_key_closes_the_local_door_also_for_those_inside() {
    let world = World::new(4);
    assert!(world.ring.holds(&Principal::LocalDoor).await.unwrap());
    world.key(None).await;
    world.forward(100);
    assert!(!world.ring.holds(&Principal::LocalDoor).await.unwrap());
}

#[tokio::test]
async fn unknown_expired_and_revoked_look_the_same() {
    let world = World::new(5);
    let (record, revoked) = world.key(None).await;
    let (_, expired) = world.key(Some(Timestamp(START + 1))).await;
    world.store.revoke(&record.id, Timestamp(START)).await.unwrap();
    world.forward(1);
    let unknown = KeySecret::mint(&SeededRandomness::new(99));
    let mut said = Vec::new();
    for secret in [revoked.reveal(), expired.reveal(), unknown.reveal(), "bylaw_x", ""] {
        said.push(format!("{:?}", world.ring.principal(Some(secret)).await.unwrap_err()));
    }
    assert!(said.iter().all(|text| *text == said[0]), "{said:?}");
}

#[tokio::test]
async fn ten_thousand_calls_ask_once() {
    let world = World::new(6);
    let (_, secret) = world.key(None).await;
    for _ in 0..10_000 {
        assert_eq!(world.said(Some(secret.reveal())).await, "key");
    }
    assert_eq!(world.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn while_the_store_fails_what_is_known_is_believed_for_two_seconds() {
    for hanging in [false, true] {
        let world = World::new(7);
        let (_, secret) = world.key(None).await;
        assert_eq!(world.said(Some(secret.reveal())).await, "key");
        world.store.hanging.store(hanging, Ordering::SeqCst);
        world.store.broken.store(true, Ordering::SeqCst);
        world.forward(1_999);
        assert_eq!(world.said(Some(secret.reveal())).await, "key", "hanging: {hanging}");
        world.forward(1);
        assert_eq!(world.said(Some(secret.reveal())).await, "store", "hanging: {hanging}");
        assert_eq!(world.said(None).await, "store", "hanging: {hanging}");
        let asked = world.asked();
        world.forward(99);
        world.said(None).await;
        assert!(world.asked() <= asked + 1, "a store that fails is not stormed");
        world.store.hanging.store(false, Ordering::SeqCst);
        world.store.broken.store(false, Ordering::SeqCst);
        world.forward(100);
        assert_eq!(world.said(Some(secret.reveal())).await, "key", "hanging: {hanging}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_question_is_asked_and_everyone_waits_for_it() {
    let world = World::new(8);
    let (_, secret) = world.key(None).await;
    assert_eq!(world.said(Some(secret.reveal())).await, "key");
    world.slow(200, Some(&world.clock));
    world.forward(100);
    assert_eq!(world.burst(&secret).await, [("key", 200); 100]);
    assert_eq!(world.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_burst_after_an_idle_second_refuses_a_revoked_key_for_every_caller() {
    for takes in [0, 200] {
        let world = World::new(9);
        let (record, secret) = world.key(None).await;
        assert_eq!(world.said(Some(secret.reveal())).await, "key");
        world.store.revoke(&record.id, world.clock.now()).await.unwrap();
        world.forward(1_000);
        // What is asked is the revision, and then the keys.
        world.slow(takes / 2, Some(&world.clock));
        assert_eq!(world.burst(&secret).await, [("invalid", u128::from(takes)); 100]);
        assert_eq!(world.asked(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_holds_up_those_who_may_go_on_for_a_moment_once() {
    let world = World::new(10);
    let (_, secret) = world.key(None).await;
    assert_eq!(world.said(Some(secret.reveal())).await, "key");
    world.store.hanging.store(true, Ordering::SeqCst);
    world.forward(100);
    assert_eq!(world.burst(&secret).await, [("key", 250); 100]);
    assert_eq!(world.burst(&secret).await, [("key", 0); 100]);
    assert_eq!(world.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn where_nothing_may_be_believed_everyone_waits_a_second_for_a_store_that_hangs() {
    let world = World::new(11);
    let (_, secret) = world.key(None).await;
    world.store.hanging.store(true, Ordering::SeqCst);
    assert_eq!(world.burst(&secret).await, [("store", 1_000); 100]);
    assert_eq!(world.burst(&secret).await, [("store", 0); 100], "the question that failed is not repeated yet");
    assert_eq!(world.asked(), 1);
    world.store.hanging.store(false, Ordering::SeqCst);
    world.forward(100);
    assert_eq!(world.burst(&secret).await, [("key", 0); 100]);
    assert_eq!(world.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_failed_is_not_repeated_for_a_tenth_of_a_second() {
    let world = World::new(12);
    world.store.broken.store(true, Ordering::SeqCst);
    for (forward, asked) in [(0, 1), (0, 1), (99, 1), (1, 2), (99, 2), (1, 3)] {
        world.forward(forward);
        assert_eq!((world.said(None).await, world.asked()), ("store", asked));
    }
    let error = world.ring.required().await.unwrap_err();
    assert_eq!(error.source.to_string(), "reading failed", "the cause is that of the question");
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_does_not_spoil_the_question() {
    let world = World::new(13);
    let (record, secret) = world.key(None).await;
    let principal = world.ring.principal(Some(secret.reveal())).await.unwrap();
    world.store.revoke(&record.id, world.clock.now()).await.unwrap();
    world.slow(100, Some(&world.clock));
    world.forward(100);
    let began = Instant::now();
    let mut left = 0;
    let holds = loop {
        match timeout(Duration::from_millis(30), world.ring.holds(&principal)).await {
            Ok(holds) => break holds.unwrap(),
            Err(_) => left += 1,
        }
    };
    assert_eq!((holds, left, began.elapsed().as_millis()), (false, 6, 200));
    assert_eq!(world.asked(), 2, "those who came later waited for the same question");
}

#[tokio::test(start_paused = true)]
async fn under_steady_load_the_store_is_asked_in_the_background_and_nobody_waits() {
    for takes in [0, 1, 20, 40] {
        let world = World::new(14);
        let (_, secret) = world.key(None).await;
        assert_eq!(world.said(Some(secret.reveal())).await, "key");
        world.slow(takes, None);
        for _ in 0..1_000 {
            sleep(Duration::from_millis(1)).await;
            world.forward(1);
            let began = Instant::now();
            assert_eq!(world.said(Some(secret.reveal())).await, "key");
            assert_eq!(began.elapsed(), Duration::ZERO);
        }
        assert!((1 + 1_000 / 100..=1 + 1_000 / 50).contains(&world.asked()), "{takes}: {}", world.asked());
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_store_turns_nobody_away_who_waits_behind_others() {
    let world = World::new(15);
    world.slow(400, Some(&world.clock));
    let said = tokio::join!(world.said(None), world.said(None), world.said(None), world.said(None));
    assert_eq!(said, ("local", "local", "local", "local"));
    assert_eq!(world.asked(), 1);
}

/// Whatever happens in whatever order: a key that was revoked a window ago (two seconds ago, if the store fails) opens
/// nothing, and a valid key is refused by nobody but a store that fails.
#[tokio::test]
async fn no_revoked_key_is_accepted_after_the_window() {
    for seed in 0..200 {
        let world = World::new(seed);
        let mut keys = Vec::new();
        let (mut failed_since, mut worked_at) = (None::<Duration>, Duration::ZERO);
        for _ in 0..300 {
            let now = world.clock.elapsed();
            match world.random.below(10) {
                0 if keys.len() < 5 => {
                    let (record, secret) = world.key(None).await;
                    keys.push((record.id, secret, now, None::<Duration>));
                }
                1 if !keys.is_empty() => {
                    let place = usize::try_from(world.random.below(keys.len() as u64)).unwrap();
                    world.store.revoke(&keys[place].0, world.clock.now()).await.unwrap();
                    keys[place].3.get_or_insert(now);
                }
                2 => {
                    let broken = world.random.chance(40);
                    world.store.broken.store(broken, Ordering::SeqCst);
                    if broken {
                        failed_since.get_or_insert(now);
                    } else if failed_since.take().is_some() {
                        worked_at = now;
                    }
                }
                3..=5 => world.forward(world.random.below(400)),
                _ => {
                    for (_, secret, created, revoked) in &keys {
                        let said = world.said(Some(secret.reveal())).await;
                        let works = failed_since.is_none() && now >= worked_at + Duration::from_millis(100);
                        let window = Duration::from_millis(if works { 100 } else { 2_000 });
                        match *revoked {
                            Some(at) if now >= at + window => assert_ne!(said, "key", "seed {seed}"),
                            None if works && now >= *created + window => assert_eq!(said, "key", "seed {seed}"),
                            Some(_) | None => {}
                        }
                    }
                }
            }
        }
    }
}
