//! `bylaw ask`: one question, in process or to a running service.

use std::process::ExitCode;

use bylaw_agent::{NewRun, OpenRun, Owner, Purpose};
use bylaw_answer::{Ask as Question, EventSink};
use bylaw_contract::{
    Citation, ErrorCode, Outcome, RequestId, RunEvent, RunId,
    ask::{Answer, AskRequest, Mode, StepEvent},
};
use bylaw_gate::Principal;
use tokio_util::sync::CancellationToken;

use crate::{
    args::{Ask, AskMode},
    assemble::{self, Access},
    client::Client,
    config::Settings,
    dataset::DataSet,
    failure::Failure,
    terminal::{self, Format, printable},
};

pub(crate) async fn run(arguments: Ask, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    let mut request = AskRequest::new(arguments.question.join(" "));
    request.k = arguments.k;
    request.mode = match arguments.mode {
        AskMode::Auto => Mode::Auto,
        AskMode::Extract => Mode::Extract,
        AskMode::Pipeline => Mode::Pipeline,
        AskMode::Agent => Mode::Agent,
    };
    request.max_steps = arguments.max_steps;
    request.self_check = arguments.self_check;
    request.max_cost = arguments.max_cost;
    request.max_wall_ms = arguments.max_wall_ms.map(Into::into);
    request.use_cache = !arguments.no_cache;
    request.source = arguments.narrow.source;
    request.chapter_no = arguments.narrow.chapter;
    request.check().map_err(|error| Failure::new(ErrorCode::InvalidRequest, error.to_string()))?;
    let (answer, was_printed) = match &arguments.narrow.url {
        Some(url) => (Client::new(url, settings.client_key.as_ref())?.ask(&request).await?, false),
        None => (in_process(&request, settings, format).await?, format == Format::Text),
    };
    match format {
        Format::Json => terminal::json(&answer),
        Format::Text => show(&answer, was_printed),
    }
    Ok(ExitCode::SUCCESS)
}

async fn in_process(request: &AskRequest, settings: &Settings, format: Format) -> Result<Answer, Failure> {
    settings.money.warn();
    let assembly = assemble::open(settings, &DataSet::to_read(settings)?.require_used()?, Access::Read).await?;
    let cancel = CancellationToken::new();
    let (request_id, run_id) = (RequestId::mint(assembly.random.as_ref()), RunId::mint(assembly.random.as_ref()));
    let run = assembly.journal.hold(NewRun {
        id: run_id.clone(),
        owner: Owner::LocalDoor,
        purpose: Purpose::Ask(request.mode),
        model: assembly.answerer.model().filter(|_| request.mode != Mode::Extract).map(|model| model.name().to_owned()),
        conversation: None,
        message: request.question.clone(),
        request_id: request_id.clone(),
        started_at: assembly.clock.now(),
    });
    let events = Told { run, printed: format == Format::Text };
    let question = Question {
        request,
        generation: assembly.library.generation(),
        principal: Principal::LocalDoor,
        idempotency_key: None,
        request_id,
        run_id,
        started: assembly.clock.elapsed(),
        cancel: cancel.clone(),
        events: &events,
    };
    let answer = {
        let mut answer = Box::pin(assembly.answerer.ask(question));
        tokio::select! {
            answer = &mut answer => answer,
            _ = tokio::signal::ctrl_c() => {
                cancel.cancel();
                answer.await
            }
        }
    };
    // What happened and what was spent is written before the process ends.
    drop(events);
    assembly.close().await;
    Ok(answer?)
}

/// Writes a run down, and shows its answer while it is written, and what an agent does before.
struct Told {
    run: OpenRun,
    printed: bool,
}

impl EventSink for Told {
    fn report(&self, event: RunEvent) {
        if self.printed {
            match &event {
                RunEvent::Token { text } => terminal::piece(&printable(text)),
                RunEvent::Step(step) => terminal::note(printable(&in_one_line(step))),
                RunEvent::Citations { .. } | RunEvent::Done { .. } | RunEvent::Failed { .. } | RunEvent::Loop(_) => {}
            }
        }
        self.run.report(event);
    }
}

/// `1 search 特別休假 → work_rules.md#26, work_rules.md#26-1`.
fn in_one_line(step: &StepEvent) -> String {
    let mut line = format!("{} {}", step.step, step.tool);
    if !step.query.is_empty() {
        line = format!("{line} {}", step.query);
    }
    if !step.found.is_empty() {
        let found: Vec<String> = step.found.iter().map(ToString::to_string).collect();
        line = format!("{line} → {}", found.join(", "));
    }
    match &step.problem {
        Some(problem) => format!("{line} ({problem})"),
        None => line,
    }
}

fn show(answer: &Answer, was_printed: bool) {
    match (&answer.answer, was_printed) {
        (Some(_), true) => terminal::line(""),
        (Some(text), false) => terminal::line(printable(text)),
        (None, _) => {
            if let Some(draft) = &answer.draft {
                terminal::line(if was_printed { String::new() } else { printable(draft) });
            }
            terminal::line(&answer.note);
            for sentence in answer.extract.iter().flat_map(|extract| &extract.sentences) {
                terminal::line(format!("  {}  — {}", printable(&sentence.text), sentence.id));
            }
        }
    }
    for sentence in answer.sentences.iter().filter(|sentence| !sentence.problems.is_empty()) {
        terminal::note(format!("unsupported: {} ({})", printable(&sentence.text), sentence.problems.join(", ")));
    }
    for warning in &answer.warnings {
        terminal::note(format!("warning: {warning}"));
    }
    if let Some(stop) = &answer.stop {
        terminal::note(&stop.message);
    }
    let (used, looked_up): (Vec<_>, Vec<_>) = answer.citations.iter().partition(|citation| citation.used);
    if !used.is_empty() {
        terminal::line("");
        used.into_iter().for_each(cite);
    } else if answer.outcome != Outcome::NotUnderstood && !looked_up.is_empty() {
        terminal::line("");
        let chinese = answer.note.chars().any(|c| c > '\u{2e80}');
        terminal::line(if chinese { "查到但沒有用上：" } else { "Looked up, not used:" });
        looked_up.into_iter().for_each(cite);
    }
}

fn cite(citation: &Citation) {
    terminal::line(format!("  {}  {}", printable(&citation.title), citation.id));
}
