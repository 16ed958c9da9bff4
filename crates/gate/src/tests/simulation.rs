//! Processes that share a store, over a network that delays, repeats and loses: seeded, on a clock that leaps.

use std::{collections::BTreeMap, time::Duration};

use bylaw_contract::{Clock, MicroUsd, OwnerId, ReservationId, Timestamp, TokenUsage};

use super::world::{BEFORE_MIDNIGHT, all_rows, booked, booked_on, call, current, daily, labels, run};
use crate::{
    BudgetKey, Closing, Ending, Lease, LedgerStore, Listener, MemoryLedger, Order, Principal, Quote, RowKind,
    SealingKey, ServiceBudgets, Verdict, Write, Written, seal_some,
    testing::{SeededRandomness, StandingClock},
    verify,
};

const LIMIT: i64 = 700;
const LEASE: Duration = Duration::from_secs(60);

/// A call under way, known to its process alone.
struct UnderWay {
    reservation: ReservationId,
    granted: MicroUsd,
    quote: Quote,
    sent: bool,
}

struct Process {
    owner: OwnerId,
    calls: Vec<UnderWay>,
}

/// What really happened with a call, as the provider counts it.
#[derive(Clone, Copy)]
struct Truth {
    used: i64,
    /// The settlement that reached the store, if one did.
    arrived: Option<RowKind>,
}

struct World {
    seed: u64,
    store: MemoryLedger,
    clock: StandingClock,
    random: SeededRandomness,
    processes: Vec<Process>,
    /// Settlements between a process and the store.
    network: Vec<Write>,
    upstream: BTreeMap<ReservationId, Truth>,
    key: SealingKey,
    runs: u64,
    budgets: ServiceBudgets,
}

impl World {
    fn new(seed: u64) -> Self {
        let random = SeededRandomness::new(seed);
        let process = || Process { owner: OwnerId::mint(&random), calls: Vec::new() };
        Self {
            seed,
            store: MemoryLedger::default(),
            clock: StandingClock::at(BEFORE_MIDNIGHT),
            processes: vec![process(), process(), process()],
            network: Vec::new(),
            upstream: BTreeMap::new(),
            key: SealingKey::mint(&random),
            runs: 0,
            budgets: daily(LIMIT),
            random,
        }
    }

    fn lease(&self, process: usize) -> Lease {
        Lease { owner: self.processes[process].owner.clone(), until: self.clock.now().plus(LEASE) }
    }

    async fn step(&mut self) {
        let process = usize::try_from(self.random.below(3)).unwrap();
        match self.random.below(100) {
            0..30 => self.reserve(process).await,
            30..50 => self.end_call(process),
            50..75 => self.deliver().await,
            75..80 => self.store.renew(&self.lease(process)).await.unwrap(),
            80..84 => self.crash(process),
            84..88 => drop(self.store.expire(self.clock.now(), 5).await.unwrap()),
            88..92 => drop(seal_some(&self.store, &self.key, &self.clock).await.unwrap()),
            92..98 => self.clock.set(self.clock.now().plus(Duration::from_millis(self.random.below(90_000)))),
            // The clock is set back, perhaps to before midnight.
            _ => self.clock.set(Timestamp(self.clock.now().0 - i64::try_from(self.random.below(60_000)).unwrap())),
        }
        self.check_limits();
    }

    async fn reserve(&mut self, process: usize) {
        let at = self.clock.now();
        self.runs += 1;
        let (budgets, run) = (&self.budgets, run(self.runs));
        let quote = call(30, u32::try_from(10 + self.random.below(90)).unwrap(), 10).quote;
        let reservation = ReservationId::mint(&self.random);
        let order = Order {
            reservation: reservation.clone(),
            owner: self.processes[process].owner.clone(),
            labels: labels(self.runs),
            claims: budgets.claims(&Principal::LocalDoor, &run, Some(MicroUsd(200)), at),
            demand: quote.demand(),
            at,
            day: budgets.zone.day(at),
        };
        // Sometimes the same message comes twice.
        let mut writes = vec![Write::Reserve(order.clone())];
        if self.random.chance(10) {
            writes.push(Write::Reserve(order));
        }
        let written = self.store.commit(&self.lease(process), writes).await.unwrap();
        assert!(written.iter().all(|one| *one == written[0]), "{written:?}");
        if let Written::Verdict(Verdict::Granted(granted)) = written[0] {
            let quote = quote.lower_max_tokens(granted).expect("a grant that is acceptable");
            self.processes[process].calls.push(UnderWay { reservation, granted, quote, sent: false });
        }
    }

    /// A call goes out, or ends and is settled.
    fn end_call(&mut self, process: usize) {
        let calls = &mut self.processes[process].calls;
        if calls.is_empty() {
            return;
        }
        let which = usize::try_from(self.random.below(calls.len() as u64)).unwrap();
        let at = self.clock.now();
        if !calls[which].sent && !self.random.chance(20) {
            calls[which].sent = true;
            let written = self.random.below(u64::from(calls[which].quote.max_tokens()) + 1);
            // Now and then the provider writes more than it was allowed.
            let overrun = if self.random.chance(5) { 50 } else { 0 };
            let used = i64::try_from(30 + written + overrun).unwrap();
            self.upstream.insert(calls[which].reservation.clone(), Truth { used, arrived: None });
            return;
        }
        let UnderWay { reservation, granted, quote, sent } = calls.swap_remove(which);
        let used = self.upstream.get(&reservation).map_or(0, |truth| u64::try_from(truth.used).unwrap());
        let received = Ending::Received { text_bytes: used.saturating_sub(30), listener: Listener::Gone };
        let reported = TokenUsage { input_tokens: 30, output_tokens: used.saturating_sub(30), ..TokenUsage::default() };
        let endings = match (sent, self.random.below(10)) {
            (false, _) => vec![Ending::NotSent],
            (true, 0..6) => vec![Ending::Reported(reported)],
            (true, 6..8) => vec![received],
            // First an estimate, then the truth comes after all, in any order.
            (true, _) => vec![received, Ending::Reported(reported)],
        };
        for ending in endings {
            let reservation = reservation.clone();
            let write = match quote.close(granted, ending) {
                Closing::Settle(charge) => Write::Settle { reservation, charge, at },
                Closing::Release => Write::Release { reservation, at },
            };
            for _ in 0..=self.random.below(2) {
                self.network.push(write.clone());
            }
        }
    }

    async fn deliver(&mut self) {
        if self.network.is_empty() {
            return;
        }
        let which = usize::try_from(self.random.below(self.network.len() as u64)).unwrap();
        let write = self.network.swap_remove(which);
        if self.random.chance(5) {
            return;
        }
        self.arrive(write).await;
    }

    async fn arrive(&mut self, write: Write) {
        if let Write::Settle { reservation, charge, .. } = &write {
            let truth = self.upstream.get_mut(reservation).expect("only what was sent is settled");
            if charge.kind() == RowKind::Spent || truth.arrived.is_none() {
                truth.arrived = Some(charge.kind());
            }
        }
        let process = usize::try_from(self.random.below(3)).unwrap();
        let written = self.store.commit(&self.lease(process), vec![write]).await.unwrap();
        assert_ne!(written, [Written::NoSuchReservation], "seed {}", self.seed);
    }

    /// The process forgets everything and comes back as another.
    fn crash(&mut self, process: usize) {
        self.processes[process] = Process { owner: OwnerId::mint(&self.random), calls: Vec::new() };
    }

    fn check_limits(&self) {
        self.store.look_at_accounts(|budget, account| {
            let held = account.settled.0 + account.reserved.0;
            assert!(held <= limit_of(budget), "seed {}: {budget} holds {account:?}", self.seed);
        });
    }

    async fn finish(&mut self) {
        while let Some(write) = self.network.pop() {
            self.arrive(write).await;
        }
        for process in 0..3 {
            self.crash(process);
        }
        self.clock.set(self.clock.now().plus(LEASE + Duration::from_secs(600)));
        while self.store.expire(self.clock.now(), 3).await.unwrap() > 0 {}
        while seal_some(&self.store, &self.key, &self.clock).await.unwrap() > 0 {}
        self.check_limits();
        let seed = self.seed;
        let rows = all_rows(&self.store).await;
        let by_rows = booked(&rows);
        for (budget, account) in self.store.every_account() {
            assert_eq!(account.reserved, MicroUsd::ZERO, "seed {seed}: {budget}");
            assert_eq!(booked_on(account), by_rows.get(&budget).copied().unwrap_or_default(), "seed {seed}: {budget}");
        }
        let counted = current(&rows);
        for (id, truth) in &self.upstream {
            let row = counted.iter().find(|row| row.row.reservation.as_ref() == Some(id));
            let row = &row.unwrap_or_else(|| panic!("seed {seed}: {id} was answered and is not booked")).row;
            match truth.arrived {
                Some(RowKind::Spent) => {
                    assert_eq!((row.kind, row.amount.0), (RowKind::Spent, truth.used), "seed {seed}");
                }
                Some(kind) => {
                    assert_eq!(row.kind, kind, "seed {seed}");
                    assert!(
                        row.amount.0 >= truth.used.min(row.reserved.0) && row.amount <= row.reserved,
                        "seed {seed}"
                    );
                }
                None => assert_eq!((row.kind, row.amount), (RowKind::Unknown, row.reserved), "seed {seed}"),
            }
        }
        let verified = verify(&self.store, &self.key.verifying_key(), None).await.unwrap();
        assert_eq!((verified.fault, verified.sealed.0), (None, verified.rows), "seed {seed}");
    }
}

fn limit_of(budget: &BudgetKey) -> i64 {
    match budget.scope {
        crate::Scope::Request(_) => 200,
        crate::Scope::Key(_) | crate::Scope::Service => LIMIT,
    }
}

#[test]
fn over_1000_seeds_the_limits_hold_and_the_books_explain_what_the_provider_counted() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for seed in 0..1_024 {
            let mut world = World::new(seed);
            for _ in 0..64 {
                world.step().await;
            }
            world.finish().await;
        }
    });
}
