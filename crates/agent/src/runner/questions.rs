//! Questions of one run that wait for a person, and what answers them.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use bylaw_contract::{
    loop_event::{QuestionKind, ReplyAction},
    runs::RunReply,
};
use bylaw_mcp::ElicitReply;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::{
    arguments::{self, Validation},
    ask::{Ask, Question},
    store::RunStoreError,
};

/// Why an answer does not count.
#[derive(Debug, thiserror::Error)]
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
    Store(#[from] RunStoreError),
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

/// The open questions of one run.
#[derive(Default)]
pub(crate) struct Questions {
    open: Mutex<Vec<Open>>,
    /// How many questions of all runs are open.
    waiting: Arc<AtomicUsize>,
}

struct Open {
    question: Question,
    answer: oneshot::Sender<ElicitReply>,
}

impl Questions {
    pub(crate) fn counted(waiting: &Arc<AtomicUsize>) -> Self {
        Self { open: Mutex::default(), waiting: Arc::clone(waiting) }
    }

    /// Those that nobody has answered.
    pub(crate) fn all(&self) -> Vec<Question> {
        self.lock().iter().map(|open| open.question.clone()).collect()
    }

    /// One that nobody has answered.
    pub(crate) fn get(&self, id: u32) -> Option<Question> {
        self.lock().iter().find(|open| open.question.id == id).map(|open| open.question.clone())
    }

    /// Lets the run go on with an answer. Whether anybody waited for it.
    pub(crate) fn hand_over(&self, id: u32, answer: ElicitReply) -> bool {
        let open = {
            let mut open = self.lock();
            open.iter().position(|open| open.question.id == id).map(|at| open.swap_remove(at))
        };
        open.is_some_and(|open| open.answer.send(answer).is_ok())
    }

    fn put_away(&self, id: u32) {
        self.lock().retain(|open| open.question.id != id);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question while it is open.
struct Asked<'a> {
    questions: &'a Questions,
    id: u32,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.questions.waiting.fetch_sub(1, Ordering::SeqCst);
        self.questions.put_away(self.id);
    }
}

#[async_trait]
impl Ask for Questions {
    async fn ask(&self, question: Question) -> ElicitReply {
        let (sender, answer) = oneshot::channel();
        let id = question.id;
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let _asked = Asked { questions: self, id };
        self.lock().push(Open { question, answer: sender });
        answer.await.unwrap_or(ElicitReply::Cancel)
    }
}

/// What a person said, if it answers the question.
pub(crate) fn read(question: &Question, reply: RunReply) -> Result<ElicitReply, ReplyError> {
    let RunReply { action, content } = reply;
    let invalid = |problem: &str| Err(ReplyError::Invalid(format!("content: {problem}")));
    match (action, question.kind, content) {
        (ReplyAction::Decline | ReplyAction::Cancel, _, Some(_)) => invalid("only an accept of an elicitation has one"),
        (ReplyAction::Decline, _, None) => Ok(ElicitReply::Decline),
        (ReplyAction::Cancel, _, None) => Ok(ElicitReply::Cancel),
        (ReplyAction::Accept, QuestionKind::Approval, Some(_)) => {
            invalid("an approval has none: the arguments are those that were shown")
        }
        (ReplyAction::Accept, QuestionKind::Approval, None) => Ok(ElicitReply::Accept(Value::Object(Map::new()))),
        (ReplyAction::Accept, QuestionKind::Elicitation, content) => match content.unwrap_or_else(|| Map::new().into())
        {
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
    use futures_util::poll;
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
            let read = read(&question(1, kind), RunReply { action, content });
            let said = read.map_or_else(|error| error.to_string(), |_| "fine".to_owned());
            assert!(said.starts_with(expected), "{shown}: {said}");
        }
    }

    #[tokio::test]
    async fn an_open_question_is_answered_once() {
        let questions = Questions::default();
        let mut asked = Box::pin(questions.ask(question(1, QuestionKind::Approval)));
        assert!(poll!(&mut asked).is_pending());
        assert_eq!((questions.all().len(), questions.waiting.load(Ordering::SeqCst)), (1, 1));
        assert!(!questions.hand_over(2, ElicitReply::Decline));
        assert!(questions.hand_over(1, ElicitReply::Decline));
        assert!(!questions.hand_over(1, ElicitReply::Cancel));
        assert_eq!(asked.await, ElicitReply::Decline);
        assert_eq!((questions.all().len(), questions.waiting.load(Ordering::SeqCst)), (0, 0));
    }

    #[tokio::test]
    async fn an_answer_that_nobody_needs_any_more_does_not_count() {
        let questions = Questions::default();
        let mut asked = Box::pin(questions.ask(question(1, QuestionKind::Approval)));
        assert!(poll!(&mut asked).is_pending());
        drop(asked);
        assert_eq!((questions.all().len(), questions.waiting.load(Ordering::SeqCst)), (0, 0));
        assert!(!questions.hand_over(1, ElicitReply::Decline));
    }
}
