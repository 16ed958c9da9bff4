//! From the calls of a reply to a result for each: those that only read together, others in order.

use bylaw_contract::{LoopEvent, loop_event::ToolStatus};
use bylaw_model::{ChatMessage, ChatReply, ToolCallRequest};
use futures_util::future::join_all;

use crate::{
    artifacts::READER,
    desk::{Verdict, identity},
    end::Ending,
    limits::{Repetition, always_wrong, repeated},
    make::{Call, Made},
    repair,
    state::Run,
    toolbox::Shelf,
};

/// The results of a reply's calls, in their order: one for each, whatever happened.
pub(crate) struct Results {
    pub(crate) messages: Vec<ChatMessage>,
    pub(crate) end: Option<Ending>,
}

/// The results while they come in.
struct Answers<'r> {
    calls: Vec<&'r ToolCallRequest>,
    told: Vec<Option<String>>,
    /// Calls that are about to be made together.
    group: Vec<(usize, Call)>,
    end: Option<Ending>,
}

/// What is to be done with a call.
enum Admission {
    Make(Call),
    Tell(ToolStatus, String),
    TellThenEnd(ToolStatus, String, Ending),
}

impl Run<'_> {
    pub(crate) async fn call(&mut self, tools: &Shelf, reply: &ChatReply) -> Results {
        self.used.steps += 1;
        let calls: Vec<&ToolCallRequest> = reply.tool_calls.iter().chain(&reply.cut_tool_calls).collect();
        let told = vec![None; calls.len()];
        let mut answers = Answers { calls, told, group: Vec::new(), end: None };
        let outcome = match reply.cut_tool_calls.is_empty() {
            true => self.answer_each(tools, &mut answers).await,
            false => self.answer_cut_off(&mut answers).await,
        };
        // An answer goes before a limit that was reached along with it.
        let end = match (outcome, self.answer.get()) {
            (Err(end), _) => Some(end),
            (Ok(()), Some(answer)) => Some(Ending::answered(answer.clone(), "the model answered through a tool")),
            (Ok(()), None) => answers.end,
        };
        let text = |told: Option<String>| told.unwrap_or_else(|| repair::not_made("the run ends"));
        let messages =
            answers.calls.iter().zip(answers.told).map(|(call, told)| ChatMessage::tool(&call.id, text(told)));
        Results { messages: messages.collect(), end }
    }

    async fn answer_cut_off(&mut self, answers: &mut Answers<'_>) -> Result<(), Ending> {
        for at in 0..answers.calls.len() {
            self.tell(answers, at, ToolStatus::Skipped, repair::CUT_OFF.to_owned()).await?;
        }
        self.used.cut_reply(&self.agent.limits).map_or(Ok(()), Err)
    }

    async fn answer_each(&mut self, tools: &Shelf, answers: &mut Answers<'_>) -> Result<(), Ending> {
        for at in 0..answers.calls.len() {
            if answers.end.is_none() {
                answers.end = self.must_end();
            }
            if let Some(end) = &answers.end {
                let why = end.message.clone();
                self.make_group(answers).await?;
                self.tell(answers, at, ToolStatus::Skipped, repair::not_made(&why)).await?;
                continue;
            }
            match self.admit(tools, answers, at).await? {
                Admission::Make(call) => {
                    let is_alone = !call.annotations().read_only || !self.agent.in_parallel;
                    if is_alone {
                        self.make_group(answers).await?;
                    }
                    self.used.tool_calls += 1;
                    answers.group.push((at, call));
                    if is_alone {
                        self.make_group(answers).await?;
                    }
                }
                Admission::Tell(status, text) => self.tell(answers, at, status, text).await?,
                Admission::TellThenEnd(status, text, end) => {
                    self.make_group(answers).await?;
                    self.tell(answers, at, status, text).await?;
                    answers.end.get_or_insert(end);
                }
            }
        }
        self.make_group(answers).await?;
        if answers.end.is_none() {
            answers.end = self.must_end();
        }
        Ok(())
    }

    fn must_end(&self) -> Option<Ending> {
        if self.with.cancel.is_cancelled() {
            Some(Ending::cancelled())
        } else {
            self.deadline.has_passed().then(|| self.agent.limits.time_is_up())
        }
    }

    /// Everything that has to be right before a call is made.
    async fn admit(&mut self, tools: &Shelf, answers: &mut Answers<'_>, at: usize) -> Result<Admission, Ending> {
        let request = answers.calls[at];
        let limits = &self.agent.limits;
        let reader = (request.name == READER && tools.get(READER).is_none()).then_some(());
        let prepared = match reader {
            Some(()) => Call::reader(request, self.history.artifacts()),
            None => Call::prepare(tools, request, self.agent.toolbox.validation()),
        };
        let call = match prepared {
            Ok(call) => call,
            Err(problem) => {
                let count = self.used.wrong(&request.name, true);
                return Ok(if count >= limits.repeated_call_ends {
                    Admission::TellThenEnd(ToolStatus::Invalid, problem, always_wrong(&request.name, count))
                } else {
                    Admission::Tell(ToolStatus::Invalid, problem)
                });
            }
        };
        self.used.wrong(&request.name, false);
        match self.used.repetition(&call.key, call.polls(), limits) {
            Repetition::No => {}
            Repetition::Told { count, last } => {
                let last = match last {
                    Some(last) => Some(last),
                    None => {
                        self.make_group(answers).await?;
                        self.used.last(&call.key)
                    }
                };
                return Ok(Admission::Tell(ToolStatus::Skipped, repair::repeated(count, last.as_deref())));
            }
            Repetition::TooOften(count) => {
                let end = repeated(&request.name, count);
                let last = self.used.last(&call.key);
                return Ok(Admission::TellThenEnd(ToolStatus::Skipped, repair::repeated(count, last.as_deref()), end));
            }
        }
        if self.used.tool_calls >= limits.tool_calls {
            let end = limits.tool_calls_used_up();
            return Ok(Admission::TellThenEnd(ToolStatus::Skipped, repair::not_made(&end.message), end));
        }
        self.ask_person(answers, call).await
    }

    async fn ask_person(&mut self, answers: &mut Answers<'_>, call: Call) -> Result<Admission, Ending> {
        let Some(entry) = call.entry() else { return Ok(Admission::Make(call)) };
        let identity = identity(entry);
        let annotations = entry.info.annotations;
        if !annotations.read_only {
            // A person may say no to what runs now.
            self.make_group(answers).await?;
        }
        let (is_refused, touches) = {
            let declined = self.desk.declined();
            (declined.is_refused(&identity, &call.arguments), declined.touches(&call.arguments))
        };
        if is_refused {
            return Ok(Admission::Tell(ToolStatus::Declined, repair::DECLINED_BEFORE.to_owned()));
        }
        let is_needed = self.agent.approvals.needed(&entry.info.name, &entry.shown, &annotations);
        if !is_needed && (!touches || annotations.read_only) {
            return Ok(Admission::Make(call));
        }
        let verdict = tokio::select! {
            biased;
            () = self.with.cancel.cancelled() => return Err(Ending::cancelled()),
            verdict = self.desk.approve(entry, &call.arguments) => verdict?,
        };
        Ok(match verdict {
            Verdict::Approved => Admission::Make(call),
            Verdict::Declined if self.agent.approvals.stop_on_decline => {
                Admission::TellThenEnd(ToolStatus::Declined, repair::DECLINED.to_owned(), Ending::declined())
            }
            Verdict::Declined => Admission::Tell(ToolStatus::Declined, repair::DECLINED.to_owned()),
            Verdict::Nobody => Admission::Tell(ToolStatus::Declined, repair::NOBODY.to_owned()),
            Verdict::Unanswered => Admission::Tell(ToolStatus::Declined, repair::UNANSWERED.to_owned()),
        })
    }

    /// Makes the calls that were put together, each with its intent in the log before.
    async fn make_group(&mut self, answers: &mut Answers<'_>) -> Result<(), Ending> {
        let group = std::mem::take(&mut answers.group);
        if group.is_empty() {
            return Ok(());
        }
        let intents = group.iter().map(|(at, call)| call.intent(&answers.calls[*at].id)).collect();
        self.log(intents).await?;
        let this = &*self;
        let made = join_all(group.iter().map(|(at, call)| this.make(call, answers.calls[*at]))).await;
        let mut failed = None;
        for ((at, call), made) in group.into_iter().zip(made) {
            let Made { text, artifacts, changed, declined, written } = made;
            if declined && self.agent.approvals.stop_on_decline {
                answers.end.get_or_insert_with(Ending::declined);
            }
            self.used.made(&call.key, &text, changed);
            self.history.keep(artifacts);
            answers.told[at] = Some(text);
            failed = failed.or(written.err());
        }
        failed.map_or(Ok(()), Err)
    }

    /// Answers a call that is not made.
    async fn tell(&self, answers: &mut Answers<'_>, at: usize, status: ToolStatus, text: String) -> Result<(), Ending> {
        let call = answers.calls[at];
        answers.told[at] = Some(text.clone());
        let (call_id, tool) = (call.id.clone(), call.name.clone());
        self.log(vec![LoopEvent::ToolResult { call_id, tool, status, text, artifacts: Vec::new() }]).await
    }
}
