//! `bylaw chat`: a conversation with a model that uses tools.

mod form;
mod lines;
mod logs;
mod person;
mod screen;
mod servers;
mod talk;
mod words;

use std::{
    io::{IsTerminal, Read},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bylaw_agent::{AgentFile, ApprovalPolicy, Approvals};
use bylaw_contract::{ErrorCode, Language, StopReason};
use bylaw_mcp::ServerState;
use tokio_util::sync::CancellationToken;

use self::{
    lines::{Heard, Line, Lines},
    logs::Watcher,
    person::Person,
    screen::{Place, Screen, shown},
    talk::{Around, Talk, Turn},
    words::Words,
};
use crate::{
    amounts,
    args::{Approve, Chat},
    assemble,
    config::Settings,
    dataset::DataSet,
    failure::{Failure, exit_code},
    terminal::{self, Format},
};

/// What an agent is called that has no file.
const NAME: &str = "chat";

/// What a model is told that talks without an agent's file.
const PROMPT: &str = "You help the person at this terminal. Use the tools where they help, look before you change \
                      anything, and say plainly what you did and what you could not do. Answer in the person's language.";

/// The longest message that is read from standard input.
const MAX_MESSAGE_BYTES: u64 = 1 << 20;

/// The exit code after Ctrl-C, as shells give it.
const INTERRUPTED: u8 = 130;

pub(crate) async fn run(arguments: Chat, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    if settings.model.is_none() {
        return Err(no_model());
    }
    let message = one_message(&arguments)?;
    if message.is_none() && format == Format::Json {
        return Err(Failure::new(ErrorCode::InvalidRequest, "a conversation has no JSON form")
            .hint("give one message with --print, or through a pipe"));
    }
    settings.money.warn();
    let place = if message.is_some() { Place::OneMessage } else { Place::Conversation };
    let words = Words(settings.language.unwrap_or(Language::English));
    let max_cost = arguments.max_cost.as_deref().map(|text| amounts::parse(text, &settings.money.currency)).transpose();
    let max_cost = max_cost.map_err(|error| Failure::new(ErrorCode::InvalidRequest, format!("--max-cost: {error}")))?;
    let data = DataSet::to_read(settings)?;
    let mut file = agent_file(&arguments, arguments.agent.as_deref(), settings)?;
    let paying = assemble::paying(settings, &data).await?;
    let model = paying.model.clone().ok_or_else(no_model)?;
    let taken_up = match (&arguments.conversation, arguments.go_on) {
        (None, false) => None,
        (id, _) => Some(talk::take_up(&paying, id.as_deref()).await?),
    };
    let mut name = arguments.agent.as_deref().unwrap_or(NAME).to_owned();
    if arguments.agent.is_none()
        && let Some(agent) = taken_up.as_ref().and_then(|taken| taken.agent.clone()).filter(|agent| agent != NAME)
    {
        file = agent_file(&arguments, Some(&agent), settings)?;
        name = agent;
    }
    let screen = Arc::new(Screen::new(words, place, Arc::clone(&paying.clock)));

    let with = assemble::connect_with(&paying.clock, &paying.random);
    if !file.servers.is_empty() {
        screen.wait(&file.servers.keys().cloned().collect::<Vec<_>>().join(", "));
    }
    let mut connected = tokio::select! {
        connected = file.connect(&name, &with) => connected,
        _ = tokio::signal::ctrl_c() => {
            paying.close().await;
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    for warning in &connected.warnings {
        screen.warn(&format!("{}: {warning}", words.warning()));
    }
    let limits = &mut connected.agent.limits;
    limits.steps = arguments.max_steps.map_or(limits.steps, |most| most.min(limits.steps));
    limits.wall_time =
        arguments.max_wall.map_or(limits.wall_time, |most| Duration::from_secs(most).min(limits.wall_time));

    let mut talk = Talk::new(connected, paying, model, max_cost, taken_up);
    let ended = match message {
        Some(message) => one(&mut talk, &message, &screen, format).await,
        None => converse(&mut talk, &screen, &data, &name).await,
    };
    talk.close().await;
    ended
}

fn no_model() -> Failure {
    Failure::new(ErrorCode::InvalidConfiguration, "a conversation needs a model, and none is configured").hint(
        "write base_url and name under [model] in bylaw.toml, for example base_url = \"http://127.0.0.1:11434/v1\"; \
         bylaw doctor --model tries it",
    )
}

/// The message, where there is to be only one.
fn one_message(arguments: &Chat) -> Result<Option<String>, Failure> {
    let piped = match arguments.print.as_deref() {
        Some("-") => true,
        Some(_) => false,
        None => !std::io::stdin().is_terminal(),
    };
    let message = match (piped, &arguments.print) {
        (true, _) => {
            let unreadable = |error: std::io::Error| {
                Failure::new(ErrorCode::InvalidRequest, format!("the message on standard input: {error}"))
            };
            let mut text = String::new();
            std::io::stdin().take(MAX_MESSAGE_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
            if text.len() as u64 > MAX_MESSAGE_BYTES {
                return Err(unreadable(std::io::Error::other(format!("longer than {MAX_MESSAGE_BYTES} bytes"))));
            }
            text
        }
        (false, Some(text)) => text.clone(),
        (false, None) => return Ok(None),
    };
    if message.trim().is_empty() {
        return Err(Failure::new(ErrorCode::InvalidRequest, "the message is empty")
            .hint("bylaw chat --print \"MESSAGE\", or bylaw chat at a terminal"));
    }
    Ok(Some(message))
}

/// The agent's file, with what the command line adds to it.
fn agent_file(arguments: &Chat, agent: Option<&str>, settings: &Settings) -> Result<AgentFile, Failure> {
    let mut file = match agent {
        None => {
            let approvals = Approvals { policy: ApprovalPolicy::Destructive, ..Approvals::default() };
            let mut file = AgentFile::new(PROMPT);
            file.approvals = approvals;
            file
        }
        Some(name) => {
            let catalogue = assemble::catalogue(settings)?;
            let file = catalogue.get(name).ok_or_else(|| {
                let known = catalogue.names().collect::<Vec<_>>().join(", ");
                let hint = match (&settings.agents, known.is_empty()) {
                    (None, _) => "there is no folder of agents; name one under [agents] in bylaw.toml".to_owned(),
                    (Some(folder), true) => format!("there is none in {}", folder.display()),
                    (Some(_), false) => format!("there are: {known}"),
                };
                Failure::new(ErrorCode::NotFound, format!("no agent is called {name:?}")).hint(hint)
            })?;
            AgentFile::clone(file)
        }
    };
    if let Some(approve) = arguments.approve {
        file.approvals.policy = match approve {
            Approve::Destructive => ApprovalPolicy::Destructive,
            Approve::All => ApprovalPolicy::All,
            Approve::Never => ApprovalPolicy::Never,
        };
    }
    for written in &arguments.mcp {
        servers::add(&mut file, written)?;
    }
    Ok(file)
}

/// One message, one answer.
async fn one(talk: &mut Talk, message: &str, screen: &Arc<Screen>, format: Format) -> Result<ExitCode, Failure> {
    let watcher = match format {
        Format::Text => Watcher::Person(Arc::clone(screen)),
        Format::Json => Watcher::Program,
    };
    let turn = talk.turn(message, Around { watcher, ask: None, cancel: CancellationToken::new() }).await?;
    if format == Format::Text {
        if let Some(answer) = &turn.end.answer {
            terminal::line(shown(answer).trim_end());
        }
        tell_end(&turn, talk, screen);
    }
    Ok(ExitCode::from(exit_of(&turn)))
}

/// Until the person leaves.
async fn converse(talk: &mut Talk, screen: &Arc<Screen>, data: &DataSet, name: &str) -> Result<ExitCode, Failure> {
    let words = screen.words;
    let lines = Lines::start(data.directory.root().join("chat_history")).map_err(|error| {
        Failure::new(ErrorCode::InternalError, format!("the terminal cannot be used: {error}"))
            .hint("bylaw chat --print \"MESSAGE\" needs none")
    })?;
    let lines = Arc::new(lines);
    screen.say(&format!("Bylaw · {} · {name} · {}", talk.model.name(), tools_line(talk, words)));
    if talk.length() > 0 {
        screen.whisper(&words.taken_up(talk.length()));
    }
    screen.whisper(words.hint());
    let mut interrupted = false;
    loop {
        let line = match lines.read("> ", Line::Message).await {
            Heard::Line(line) => line,
            Heard::Left => break,
            Heard::Interrupted if interrupted => break,
            Heard::Interrupted => {
                interrupted = true;
                screen.whisper(words.again_to_leave());
                continue;
            }
        };
        interrupted = false;
        match line.trim() {
            "" => {}
            "/quit" | "/exit" => break,
            "/help" | "/?" => screen.say(words.help()),
            "/tools" => tools(talk, screen),
            "/new" => {
                talk.begin_anew();
                screen.whisper(words.pick("a new conversation", "新的對話"));
            }
            command if command.starts_with('/') && !command.contains(char::is_whitespace) => {
                screen.warn(&words.unknown_command(command));
            }
            message => {
                let (cancel, leaves) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
                let person = Person {
                    lines: Arc::clone(&lines),
                    screen: Arc::clone(screen),
                    cancel: cancel.clone(),
                    leaves: Arc::clone(&leaves),
                    turn: tokio::sync::Mutex::default(),
                };
                let watcher = Watcher::Person(Arc::clone(screen));
                let around = Around { watcher, ask: Some(Arc::new(person)), cancel };
                match talk.turn(message, around).await {
                    Ok(turn) => tell_end(&turn, talk, screen),
                    Err(failure) => screen.warn(&failure.to_string()),
                }
                if leaves.load(Ordering::SeqCst) {
                    break;
                }
            }
        }
    }
    if let Some(id) = &talk.id {
        screen.whisper(&words.goodbye(id));
    }
    Ok(ExitCode::SUCCESS)
}

fn tools_line(talk: &Talk, words: Words) -> String {
    let clients = talk.connected.clients().iter();
    let servers = clients.filter(|client| *client.state().borrow() == ServerState::Ready).count();
    match talk.connected.agent.toolbox.names().len() {
        0 => words.no_tools().to_owned(),
        tools => words.tools(servers, tools),
    }
}

fn tools(talk: &Talk, screen: &Screen) {
    let names = talk.connected.agent.toolbox.names();
    if names.is_empty() {
        screen.say(screen.words.no_tools());
    }
    names.iter().for_each(|name| screen.say(&format!("  {name}")));
    talk.connected.agent.toolbox.problems().iter().for_each(|problem| screen.warn(&format!("  {problem}")));
}

/// Why it ended, if that needs saying, and what it cost.
fn tell_end(turn: &Turn, talk: &Talk, screen: &Screen) {
    let (end, words) = (&turn.end, screen.words);
    if let Some(stopped) = words.stopped(end.stop.reason, end.stop.at_step, &end.stop.message) {
        screen.warn(&stopped);
        if end.stop.reason == StopReason::Failed {
            let id = &turn.request_id;
            screen.whisper(&match words.0.is_chinese() {
                true => format!("bylaw explain {id} 說明帳目；bylaw doctor --model 檢查模型"),
                false => format!("bylaw explain {id} tells what was booked; bylaw doctor --model checks the model"),
            });
        }
    }
    let about = if turn.tab.is_estimated() { "≤ " } else { "" };
    let money = format!("{about}{}", amounts::both(turn.tab.cost(), &talk.paying.purse.currency));
    let tokens = end.usage.input_tokens.saturating_add(end.usage.output_tokens);
    screen.whisper(&words.spent(end.steps, end.tool_calls, tokens, &money, turn.took.as_secs_f64()));
}

/// What a run that could not be carried through is worth to a shell; a limit is no failure.
fn exit_of(turn: &Turn) -> u8 {
    let reason = turn.end.stop.reason;
    if reason == StopReason::Cancelled {
        return INTERRUPTED;
    }
    if !reason.is_breakdown() {
        return 0;
    }
    let coded = turn.end.code.and_then(|code| ErrorCode::ALL.iter().find(|known| known.as_str() == code));
    exit_code(coded.copied().unwrap_or(ErrorCode::UpstreamFailed))
}
