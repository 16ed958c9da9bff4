//! What an answer may cost, what it did cost, and what happens when it may not.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bylaw_answer::{AnswerError, Ceilings, IgnoreEvents};
use bylaw_contract::{
    MicroUsd, Outcome, ReservationId, StopReason, Timestamp, TokenUsage,
    ask::{Answer, AnsweredBy, AskRequest, Mode},
};
use bylaw_gate::{
    Account, Budget, BudgetKey, GateConfig, Lease, LedgerError, LedgerStore, MemoryLedger, ModelPrice, OpenReservation,
    Period, RowFilter, RowKind, RowNumber, Seal, ServiceBudgets, StoredRow, UsageLine, Write, Written,
};
use bylaw_model::{
    FinishReason,
    scripted::{Script, ScriptedEnd, ScriptedReply},
};
use tokio_util::sync::CancellationToken;

use crate::{
    bank::{Bank, Caller, Setup, Tokens},
    rulebook::Rulebook,
};

pub(crate) const RULES: &str = "# 工作規則\n\n\
### 第二十六條（特別休假）\n\n員工繼續服務滿一年未滿二年者，特別休假七日。\n\n\
### 第二十七條（事假）\n\n事假一年合計不得超過十四日，不給工資。\n";

pub(crate) fn rules() -> Rulebook {
    Rulebook::of(&[("work_rules.md", RULES)])
}

const REPLY: &str = "事假十四日[work_rules.md#27]。";

/// 100 tokens read and one written for each character: what the scripted model reports.
const COST: i64 = 100 + 2 * 24;

fn once(limit: i64) -> ServiceBudgets {
    ServiceBudgets {
        service: vec![Budget { limit: MicroUsd(limit), period: Period::Once }],
        ..ServiceBudgets::UNLIMITED
    }
}

fn stop(answer: &Answer) -> Option<StopReason> {
    answer.stop.as_ref().map(|stop| stop.reason)
}

/// What everyone gets who gets no answer: the rules' own words.
fn is_not_empty_handed(answer: &Answer) -> bool {
    answer.answer.is_none() && answer.extract.as_ref().is_some_and(|extract| !extract.sentences.is_empty())
}

#[tokio::test]
async fn an_answer_says_what_was_booked_for_it() {
    let bank = Bank::open(rules(), Script::new([ScriptedReply::text(REPLY)]), Setup::default());
    let answer = bank.pipeline("事假幾天").await;
    assert_eq!(REPLY.chars().count(), 24);
    assert_eq!(bank.booked().await, [(RowKind::Spent, COST)]);
    let usage = &answer.usage;
    assert_eq!((usage.cost_micro_usd, usage.model_calls, usage.cached), (MicroUsd(COST), 1, false));
    assert_eq!((usage.cost.as_str(), usage.currency.as_str()), ("0.004736", "TWD"));
    assert_eq!(usage.cost_twd, Some(0.004_736));
    let row = &bank.rows().await[0].row;
    assert_eq!(row.labels.run_id.as_ref(), Some(&answer.run_id));
    assert!(row.reserved > row.amount);
    assert_eq!(bank.reserved().await, 0);
}

#[tokio::test]
async fn a_cap_that_is_too_small_calls_nobody_and_is_no_error() {
    let script = Script::new([]);
    let bank = Bank::open(rules(), script.clone(), Setup::default());
    let request =
        AskRequest { mode: Mode::Pipeline, max_cost: Some("0.001".to_owned()), ..AskRequest::new("事假幾天") };
    let answer = bank.ask(&request, Caller::default(), &IgnoreEvents).await.expect("a stop is an answer");
    assert_eq!((answer.outcome, stop(&answer)), (Outcome::Stopped, Some(StopReason::Cost)));
    assert!(is_not_empty_handed(&answer) && answer.draft.is_none());
    let message = answer.stop.expect("a stop").message;
    assert!(message.contains("這個問題") && message.contains("0.000992 TWD"), "{message}");
    assert_eq!((script.requests().len(), bank.booked().await.len()), (0, 0));
}

#[tokio::test]
async fn what_can_be_paid_is_asked_for_and_a_reply_that_is_cut_by_it_is_a_stop() {
    let cut = ScriptedReply::Stream {
        deltas: vec!["事假".to_owned()],
        end: ScriptedEnd::Finished {
            finish_reason: FinishReason::Length,
            usage: Some(TokenUsage { input_tokens: 100, output_tokens: 300, ..TokenUsage::default() }),
        },
    };
    let script = Script::new([cut]);
    // Enough for the prompt and some four hundred tokens.
    let bank = Bank::open(rules(), script.clone(), Setup { budgets: once(2_200), ..Setup::default() });
    let answer = bank.pipeline("事假幾天").await;
    let asked_for = script.requests()[0].max_tokens;
    assert!((256..900).contains(&asked_for), "{asked_for}");
    assert_eq!((answer.outcome, stop(&answer)), (Outcome::Stopped, Some(StopReason::Cost)));
    assert_eq!(answer.draft.as_deref(), Some("事假"));
    assert!(is_not_empty_handed(&answer));
    assert_eq!(bank.booked().await, [(RowKind::Spent, 700)]);
    // It was not kept: the next asks again.
    assert!(!bank.pipeline("事假幾天").await.usage.cached);
}

#[tokio::test]
async fn an_exhausted_budget_stops_with_its_name_and_the_free_answer_goes_on() {
    let bank = Bank::open(rules(), Script::new([]), Setup { budgets: once(10), ..Setup::default() });
    let answer = bank.pipeline("What about 事假?").await;
    assert_eq!(stop(&answer), Some(StopReason::Cost));
    let free = bank.ask(&AskRequest::new("事假一年幾天"), Caller::default(), &IgnoreEvents).await.expect("an answer");
    assert_eq!((free.outcome, free.answered_by), (Outcome::Answered, AnsweredBy::Extract));
    assert_eq!(free.usage.cost_micro_usd, MicroUsd::ZERO);
}

#[tokio::test]
async fn debt_is_on_the_books_and_blocks() {
    let greedy = ScriptedReply::Stream {
        deltas: vec![REPLY.to_owned()],
        end: ScriptedEnd::Finished {
            finish_reason: FinishReason::Stop,
            usage: Some(TokenUsage { input_tokens: 6_000, output_tokens: 9_000, ..TokenUsage::default() }),
        },
    };
    let bank = Bank::open(rules(), Script::new([greedy]), Setup { budgets: once(20_000), ..Setup::default() });
    let answer = bank.pipeline("事假幾天").await;
    assert_eq!((answer.outcome, answer.usage.cost_micro_usd), (Outcome::Answered, MicroUsd(24_000)));
    assert_eq!(stop(&bank.pipeline("特別休假幾天").await), Some(StopReason::Cost));
}

#[tokio::test(start_paused = true)]
async fn a_wall_time_cap_cuts_the_call_and_gives_what_there_is() {
    let stalls = ScriptedReply::ending(["事假", "十四日"], ScriptedEnd::Stalls);
    let script = Script::new([stalls]).with_patience(Duration::from_secs(600));
    let ceilings = Ceilings { max_wall: Duration::from_secs(3), ..Ceilings::default() };
    let bank = Bank::open(rules(), script, Setup { ceilings, ..Setup::default() });
    let tokens = Tokens::default();
    let request = AskRequest { mode: Mode::Pipeline, ..AskRequest::new("事假幾天") };
    let before = tokio::time::Instant::now();
    let answer = bank.ask(&request, Caller::default(), &tokens).await.expect("a stop is an answer");
    assert_eq!(before.elapsed(), Duration::from_secs(3));
    assert_eq!((answer.outcome, stop(&answer)), (Outcome::Stopped, Some(StopReason::Time)));
    assert_eq!(answer.draft.as_deref(), Some("事假十四日"));
    assert_eq!(tokens.0.lock().expect("no test panics while it holds this").concat(), "事假十四日");
    assert!(is_not_empty_handed(&answer));
    // Somebody was still there, so it is an estimate; and it is not less than what was received.
    let booked = bank.booked().await;
    assert_eq!((booked.len(), booked[0].0), (1, RowKind::Estimated));
    assert_eq!(answer.usage.cost_micro_usd.0, booked[0].1);
    assert!(answer.usage.estimated && booked[0].1 >= 2 * 15);
}

#[tokio::test(start_paused = true)]
async fn time_that_is_up_before_a_call_is_admitted_calls_nobody() {
    let script = Script::new([]);
    let config = GateConfig { wait: Duration::from_secs(60), ..GateConfig::default() };
    let bank = Bank::open(rules(), script.clone(), Setup { budgets: once(4_000), config, ..Setup::default() });
    // Another call holds the whole budget for longer than this one may wait.
    let other = Bank::open(
        rules(),
        Script::always(ScriptedReply::NeverAnswers).with_patience(Duration::from_secs(600)),
        Setup { budgets: once(4_000), ledger: Arc::clone(&bank.ledger), first_id: 1_000, ..Setup::default() },
    );
    let other = Arc::new(other);
    let waiting = tokio::spawn(async move { other.pipeline("特別休假幾天").await });
    while bank.reserved().await == 0 {
        tokio::task::yield_now().await;
    }
    let request = AskRequest {
        mode: Mode::Pipeline,
        max_wall_ms: serde_json::Number::from_f64(500.0),
        ..AskRequest::new("事假幾天")
    };
    let answer = bank.ask(&request, Caller::default(), &IgnoreEvents).await.expect("a stop is an answer");
    assert_eq!((stop(&answer), answer.usage.cost_micro_usd), (Some(StopReason::Time), MicroUsd::ZERO));
    assert_eq!(script.requests().len(), 0);
    waiting.abort();
}

#[tokio::test]
async fn a_model_without_a_price_is_not_asked_unless_it_is_declared_free() {
    let script = Script::always(ScriptedReply::text(REPLY));
    let bank = Bank::open(rules(), script.clone(), Setup { price: None, ..Setup::default() });
    let answer = bank.pipeline("事假幾天").await;
    assert_eq!(answer.outcome, Outcome::Degraded);
    assert!(answer.warnings[0].contains("\"scripted\" is not known"), "{:?}", answer.warnings);
    assert!(is_not_empty_handed(&answer));
    assert_eq!(script.requests().len(), 0);
    let bank = Bank::open(rules(), script, Setup { price: Some(ModelPrice::Free), ..Setup::default() });
    assert_eq!(bank.pipeline("事假幾天").await.outcome, Outcome::Answered);
    assert_eq!(bank.booked().await, [(RowKind::Spent, 0)]);
}

#[tokio::test]
async fn a_caller_who_leaves_is_charged_for_what_was_received_and_no_more_than_was_reserved() {
    let stalls = ScriptedReply::ending(["事假十四日"], ScriptedEnd::Stalls);
    let script = Script::new([stalls]).with_patience(Duration::from_secs(600));
    let bank = Bank::open(rules(), script, Setup::default());
    let cancel = CancellationToken::new();
    let caller = Caller { cancel: cancel.clone(), ..Caller::default() };
    let request = AskRequest { mode: Mode::Pipeline, ..AskRequest::new("事假幾天") };
    let tokens = Tokens::default();
    let asked = bank.ask(&request, caller, &tokens);
    let leaving = async {
        while tokens.0.lock().expect("no test panics while it holds this").is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(asked, leaving);
    assert!(matches!(answer, Err(AnswerError::Cancelled)));
    while bank.gate.live() > 0 {
        tokio::task::yield_now().await;
    }
    let rows = bank.rows().await;
    assert_eq!((rows.len(), rows[0].row.kind), (1, RowKind::Abandoned));
    assert!(rows[0].row.amount.0 >= 2 * 15 && rows[0].row.amount <= rows[0].row.reserved);
    assert_eq!((bank.reserved().await, bank.answerer.tallies().calls_abandoned), (0, 1));
}

#[tokio::test]
async fn a_free_answer_where_a_model_was_there_is_counted() {
    let bank = Bank::open(rules(), Script::new([]), Setup::default());
    bank.ask(&AskRequest::new("事假一年幾天"), Caller::default(), &IgnoreEvents).await.expect("an answer");
    let row = &bank.rows().await[0].row;
    assert_eq!((row.kind, row.amount, row.labels.model.as_str()), (RowKind::Avoided, MicroUsd::ZERO, "extract"));
}

/// A ledger that cannot be read or written.
#[derive(Debug, Default)]
struct CorruptLedger(MemoryLedger);

fn corrupt<T>() -> Result<T, LedgerError> {
    Err(LedgerError::Corrupt { what: "row 7 is not a row".to_owned() })
}

#[async_trait]
impl LedgerStore for CorruptLedger {
    async fn commit(&self, _lease: &Lease, _writes: Vec<Write>) -> Result<Vec<Written>, LedgerError> {
        corrupt()
    }
    async fn renew(&self, _lease: &Lease) -> Result<(), LedgerError> {
        corrupt()
    }
    async fn expire(&self, _now: Timestamp, _limit: usize) -> Result<usize, LedgerError> {
        corrupt()
    }
    async fn accounts(&self, budgets: &[BudgetKey]) -> Result<Vec<Account>, LedgerError> {
        self.0.accounts(budgets).await
    }
    async fn open(&self, after: Option<&ReservationId>, limit: usize) -> Result<Vec<OpenReservation>, LedgerError> {
        self.0.open(after, limit).await
    }
    async fn forget_requests(&self, before: Timestamp) -> Result<usize, LedgerError> {
        self.0.forget_requests(before).await
    }
    async fn totals(&self, after: Option<&BudgetKey>, limit: usize) -> Result<Vec<(BudgetKey, Account)>, LedgerError> {
        self.0.totals(after, limit).await
    }
    async fn rows(&self, filter: &RowFilter, after: RowNumber, limit: usize) -> Result<Vec<StoredRow>, LedgerError> {
        self.0.rows(filter, after, limit).await
    }
    async fn usage(&self, filter: &RowFilter) -> Result<Vec<UsageLine>, LedgerError> {
        self.0.usage(filter).await
    }
    async fn last_row(&self) -> Result<RowNumber, LedgerError> {
        self.0.last_row().await
    }
    async fn seals(&self, after: RowNumber, limit: usize) -> Result<Vec<Seal>, LedgerError> {
        self.0.seals(after, limit).await
    }
    async fn last_seal(&self) -> Result<Option<Seal>, LedgerError> {
        self.0.last_seal().await
    }
    async fn append_seal(&self, seal: &Seal) -> Result<bool, LedgerError> {
        self.0.append_seal(seal).await
    }
}

#[tokio::test]
async fn while_the_ledger_is_corrupt_nothing_is_spent_and_answering_from_the_rules_goes_on() {
    let script = Script::new([]);
    let setup = Setup { ledger: Arc::new(CorruptLedger::default()), ..Setup::default() };
    let bank = Bank::open(rules(), script.clone(), setup);
    let answer = bank.pipeline("事假幾天").await;
    assert_eq!((answer.outcome, script.requests().len()), (Outcome::Degraded, 0));
    assert!(answer.warnings[0].contains("bylaw ledger verify"), "{:?}", answer.warnings);
    assert!(is_not_empty_handed(&answer) && bank.gate.is_failing());
    let free = bank.ask(&AskRequest::new("事假一年幾天"), Caller::default(), &IgnoreEvents).await.expect("an answer");
    assert_eq!(free.outcome, Outcome::Answered);
}
