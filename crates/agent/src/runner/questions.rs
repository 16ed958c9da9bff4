//! Questions of one run that wait for a person, and what was answered: the first answer counts.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use bylaw_contract::{
    LoopEvent,
    loop_event::{QuestionKind, ReplyAction},
};
use bylaw_mcp::ElicitReply;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::{
    arguments::{self, Validation},
    ask::{Ask, Question},
    log::RunLogError,
};

/// Why an answer does not count.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReplyError {
    /// There is no such question.
    #[error("there is no question {0} in this run")]
    Unknown(u32),
    /// Somebody was faster.
    #[error("question {id} was answered already: {}", action_name(*.action))]
    Answered {
        /// The question.
        id: u32,
        /// What was answered.
        action: ReplyAction,
    },
    /// Nobody waits for it any more: its time was up, or the call behind it is over.
    #[error("nobody waits for an answer to question {0} any more")]
    Closed(u32),
    /// It is no answer to this question.
    #[error("{0}")]
    Invalid(String),
    /// It could not be written down, so nothing follows from it.
    #[error(transparent)]
    Log(#[from] RunLogError),
}

/// The word for an action.
#[must_use]
pub const fn action_name(action: ReplyAction) -> &'static str {
    match action {
        ReplyAction::Accept => "accept",
        ReplyAction::Decline => "decline",
        ReplyAction::Cancel => "cancel",
    }
}

/// The questions of one run.
#[derive(Default)]
pub(crate) struct Questions {
    known: Mutex<BTreeMap<u32, State>>,
    /// How many questions of all runs are open.
    waiting: Arc<AtomicUsize>,
}

enum State {
    Open {
        question: Question,
        reply: oneshot::Sender<ElicitReply>,
    },
    /// Answered, but that is not written down yet.
    Taken {
        action: ReplyAction,
        written: Option<oneshot::Sender<Result<(), RunLogError>>>,
    },
    Answered(ReplyAction),
    PutAway,
}

impl Questions {
    pub(crate) fn counted(waiting: &Arc<AtomicUsize>) -> Self {
        Self { known: Mutex::default(), waiting: Arc::clone(waiting) }
    }

    /// Those that nobody has answered.
    pub(crate) fn open(&self) -> Vec<Question> {
        let open = |state: &State| if let State::Open { question, .. } = state { Some(question.clone()) } else { None };
        self.lock().values().filter_map(open).collect()
    }

    /// Whether there is one that nobody has answered.
    pub(crate) fn are_open(&self) -> bool {
        self.lock().values().any(|state| matches!(state, State::Open { .. }))
    }

    /// Answers a question. Returns when that is written down: the run goes on then, and not before.
    pub(crate) async fn answer(&self, id: u32, action: ReplyAction, content: Option<Value>) -> Result<(), ReplyError> {
        let written = self.take(id, action, content)?;
        // Dropped where the call behind it was cancelled in between.
        Ok(written.await.map_err(|_| ReplyError::Closed(id))??)
    }

    fn take(
        &self,
        id: u32,
        action: ReplyAction,
        content: Option<Value>,
    ) -> Result<oneshot::Receiver<Result<(), RunLogError>>, ReplyError> {
        let mut known = self.lock();
        let state = known.get_mut(&id).ok_or(ReplyError::Unknown(id))?;
        let answer = match state {
            State::Open { question, .. } => read(question, action, content)?,
            State::Taken { action, .. } | State::Answered(action) => {
                return Err(ReplyError::Answered { id, action: *action });
            }
            State::PutAway => return Err(ReplyError::Closed(id)),
        };
        let (sender, written) = oneshot::channel();
        let before = std::mem::replace(state, State::Taken { action, written: Some(sender) });
        if let State::Open { reply, .. } = before
            && reply.send(answer).is_err()
        {
            *state = State::PutAway;
            return Err(ReplyError::Closed(id));
        }
        Ok(written)
    }

    /// Watches events on their way into the log: what is returned is told how that ended, and dropping it without a word
    /// means that nobody knows.
    pub(crate) fn writing(&self, events: &[LoopEvent]) -> Writing<'_> {
        let answered = |event: &LoopEvent| if let LoopEvent::Reply { id, .. } = event { Some(*id) } else { None };
        Writing { questions: self, replies: events.iter().filter_map(answered).collect() }
    }

    fn settle(&self, id: u32, result: Option<&Result<(), RunLogError>>) {
        let mut known = self.lock();
        let Some(state) = known.get_mut(&id) else { return };
        if let State::Taken { action, written } = state {
            let (action, written) = (*action, written.take());
            *state = if matches!(result, Some(Ok(()))) { State::Answered(action) } else { State::PutAway };
            if let (Some(written), Some(result)) = (written, result) {
                // Fails if whoever answered has left.
                let _ = written.send(result.clone());
            }
        }
    }

    fn put_away(&self, id: u32) {
        if let Some(state) = self.lock().get_mut(&id) {
            *state = State::PutAway;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, State>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers that are being written down.
pub(crate) struct Writing<'a> {
    questions: &'a Questions,
    replies: Vec<u32>,
}

impl Writing<'_> {
    pub(crate) fn done(mut self, result: &Result<(), RunLogError>) {
        for id in std::mem::take(&mut self.replies) {
            self.questions.settle(id, Some(result));
        }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        for id in std::mem::take(&mut self.replies) {
            self.questions.settle(id, None);
        }
    }
}

/// A question while it is open.
struct Asked<'a> {
    questions: &'a Questions,
    id: u32,
    answered: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.questions.waiting.fetch_sub(1, Ordering::SeqCst);
        if !self.answered {
            self.questions.put_away(self.id);
        }
    }
}

#[async_trait]
impl Ask for Questions {
    async fn ask(&self, question: Question) -> ElicitReply {
        let (reply, answer) = oneshot::channel();
        let id = question.id;
        self.lock().insert(id, State::Open { question, reply });
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut asked = Asked { questions: self, id, answered: false };
        match answer.await {
            Ok(answer) => {
                asked.answered = true;
                answer
            }
            Err(_) => ElicitReply::Cancel,
        }
    }
}

/// What a person said, if it answers the question.
fn read(question: &Question, action: ReplyAction, content: Option<Value>) -> Result<ElicitReply, ReplyError> {
    let invalid = |problem: &str| Err(ReplyError::Invalid(format!("content: {problem}")));
    match (action, question.kind, content) {
        (ReplyAction::Decline | ReplyAction::Cancel, _, Some(_)) => invalid("only an accept of an elicitation has one"),
        (ReplyAction::Decline, _, None) => Ok(ElicitReply::Decline),
        (ReplyAction::Cancel, _, None) => Ok(ElicitReply::Cancel),
        (ReplyAction::Accept, QuestionKind::Approval, Some(_)) => {
            invalid("an approval has none: the arguments are those that were shown")
        }
        (ReplyAction::Accept, QuestionKind::Approval, None) => Ok(ElicitReply::Accept(Value::Object(Map::new()))),
        (ReplyAction::Accept, QuestionKind::Elicitation, content) => match content.unwrap_or_else(|| Map::new().into()) {
            Value::Object(content) => satisfying(question, content).map(ElicitReply::Accept),
            _ => invalid("must be an object"),
        },
    }
}

fn satisfying(question: &Question, content: Map<String, Value>) -> Result<Value, ReplyError> {
    let Some(Value::Object(schema)) = &question.schema else { return Ok(Value::Object(content)) };
    // A schema that is none checks nothing: the server that asked is left to complain.
    let Ok(validator) = arguments::validator(schema) else { return Ok(Value::Object(content)) };
    match arguments::satisfy(&validator, content, Validation::Strict) {
        Ok(content) => Ok(Value::Object(content)),
        Err(problems) => {
            let problems = problems.join("; ").replace("the arguments", "it");
            Err(ReplyError::Invalid(format!("content: {problems}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use bylaw_contract::loop_event::ReplyBy;
    use futures_util::{future::join_all, poll};
    use serde_json::json;

    use super::*;

    fn question(id: u32, kind: QuestionKind) -> Question {
        let schema = json!({ "type": "object", "required": ["reason"], "additionalProperties": false,
            "properties": { "reason": { "type": "string" }, "days": { "type": "integer", "minimum": 1 } } });
        Question {
            id,
            kind,
            server: None,
            tool: None,
            arguments: None,
            message: "?".to_owned(),
            schema: (kind == QuestionKind::Elicitation).then_some(schema),
        }
    }

    fn reply(id: u32, action: ReplyAction) -> Vec<LoopEvent> {
        vec![LoopEvent::Reply { id, action, content: None, by: ReplyBy::Person }]
    }

    #[test]
    fn an_answer_must_answer_the_question() {
        use QuestionKind::{Approval, Elicitation};
        use ReplyAction::{Accept, Cancel, Decline};
        let rows = [
            (Approval, Accept, None, "fine"),
            (Approval, Accept, Some(json!({})), "content: an approval has none"),
            (Approval, Decline, None, "fine"),
            (Approval, Cancel, None, "fine"),
            (Elicitation, Decline, Some(json!({"reason": "x"})), "content: only an accept"),
            (Elicitation, Accept, Some(json!({"reason": "x", "days": 2})), "fine"),
            (Elicitation, Accept, None, "content: it: misses the required property \"reason\""),
            (Elicitation, Accept, Some(json!("x")), "content: must be an object"),
            (Elicitation, Accept, Some(json!({"reason": 7})), "content: `reason`: must be of type string"),
            (Elicitation, Accept, Some(json!({"reason": "x", "days": 0})), "content: `days`"),
            (Elicitation, Accept, Some(json!({"reason": "x", "more": 0})), "content: it: has properties that do not"),
        ];
        for (kind, action, content, expected) in rows {
            let shown = format!("{kind:?} {action:?} {content:?}");
            let read = read(&question(1, kind), action, content);
            let said = read.map_or_else(|error| error.to_string(), |_| "fine".to_owned());
            assert!(said.starts_with(expected), "{shown}: {said}");
        }
    }

    #[tokio::test]
    async fn the_first_answer_counts_once_it_is_written_down() {
        let questions = Questions::default();
        let mut asked = Box::pin(questions.ask(question(1, QuestionKind::Approval)));
        assert!(poll!(&mut asked).is_pending());
        let mut first = Box::pin(questions.answer(1, ReplyAction::Decline, None));
        assert!(poll!(&mut first).is_pending(), "it is not written down");
        let second = questions.answer(1, ReplyAction::Accept, None).await.unwrap_err();
        assert_eq!(second.to_string(), "question 1 was answered already: decline");
        assert_eq!(asked.await, ElicitReply::Decline);
        questions.writing(&reply(1, ReplyAction::Decline)).done(&Ok(()));
        assert!(first.await.is_ok());
        assert!(!questions.are_open());
        let late = questions.answer(1, ReplyAction::Decline, None).await.unwrap_err();
        assert_eq!(late.to_string(), "question 1 was answered already: decline");
        let none = questions.answer(2, ReplyAction::Decline, None).await.unwrap_err();
        assert!(matches!(none, ReplyError::Unknown(2)));
    }

    #[tokio::test]
    async fn of_many_answers_at_once_one_counts() {
        let questions = Questions::default();
        let mut asked = Box::pin(questions.ask(question(1, QuestionKind::Approval)));
        assert!(poll!(&mut asked).is_pending());
        let answers = join_all((0..50).map(|_| questions.answer(1, ReplyAction::Accept, None)));
        let log = async {
            asked.await;
            questions.writing(&reply(1, ReplyAction::Accept)).done(&Ok(()));
        };
        let (answers, ()) = tokio::join!(answers, log);
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    }

    #[tokio::test]
    async fn an_answer_that_nobody_needs_any_more_does_not_count() {
        let questions = Questions::default();
        let mut asked = Box::pin(questions.ask(question(1, QuestionKind::Approval)));
        assert!(poll!(&mut asked).is_pending());
        assert_eq!(questions.waiting.load(Ordering::SeqCst), 1);
        drop(asked);
        assert_eq!(questions.waiting.load(Ordering::SeqCst), 0);
        let closed = questions.answer(1, ReplyAction::Accept, None).await.unwrap_err();
        assert!(matches!(closed, ReplyError::Closed(1)), "{closed}");

        let mut asked = Box::pin(questions.ask(question(2, QuestionKind::Approval)));
        assert!(poll!(&mut asked).is_pending());
        let mut answer = Box::pin(questions.answer(2, ReplyAction::Accept, None));
        assert!(poll!(&mut answer).is_pending());
        drop(asked);
        drop(questions.writing(&reply(2, ReplyAction::Accept)));
        assert!(matches!(poll!(&mut answer), Poll::Ready(Err(ReplyError::Closed(2)))));
    }

    #[tokio::test]
    async fn an_answer_that_cannot_be_written_down_is_an_error() {
        let questions = Questions::default();
        let mut asked = Box::pin(questions.ask(question(1, QuestionKind::Approval)));
        assert!(poll!(&mut asked).is_pending());
        let mut answer = Box::pin(questions.answer(1, ReplyAction::Accept, None));
        assert!(poll!(&mut answer).is_pending());
        asked.await;
        questions.writing(&reply(1, ReplyAction::Accept)).done(&Err(RunLogError("disk full".to_owned())));
        assert!(matches!(answer.await, Err(ReplyError::Log(_))));
    }
}
