//! A folder of agents, and agents that are connected.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use bylaw_agent::{AgentFile, Ask, Catalogue, ConnectWith, ConnectedAgent, Conversation, Question};
use bylaw_mcp::{ClientOptions, ElicitReply};
use bylaw_model::scripted::Script;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{
    self, Highest, StoppedClock, calls,
    raw::{Raw, Say, said, tool},
    says, setup,
};

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = support::folder();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

#[test]
fn a_folder_of_files_is_a_catalogue_of_names() {
    let folder = folder(&[
        ("leave.toml", b"prompt = \"You help with leaves.\""),
        ("費用.toml", "prompt = \"你處理報支。\"".as_bytes()),
        ("README.md", b"no agent"),
    ]);
    let catalogue = Catalogue::read(folder.path()).unwrap();
    assert_eq!(catalogue.names().collect::<Vec<_>>(), ["leave", "費用"]);
    assert_eq!(catalogue.get("leave").unwrap().prompt, "You help with leaves.");
    assert!(catalogue.get("none").is_none() && !catalogue.is_empty());
}

#[test]
fn what_is_wrong_is_said_in_one_line_with_file_and_place() {
    let check = |name: &str, bytes: &[u8], expected: &[&str]| {
        let folder = folder(&[("good.toml", b"prompt = \"x\""), (name, bytes)]);
        let told = Catalogue::read(folder.path()).unwrap_err().to_string();
        assert!(told.contains(name) && expected.iter().all(|part| told.contains(part)), "{told}");
        assert!(!told.contains('\n'), "{told}");
    };
    check("leave.toml", b"prompt = \"x\"\n\n[limits]\nmax_turns = 3\n", &["line 4", "`max_turns`", "`steps`"]);
    check("leave.toml", b"prompt = \"x\"\ncolour = 1", &["line 2", "`colour`"]);
    check("leave.toml", b"prompt = \"\xb0\xb2\"", &["UTF-8", "byte 10"]);
    check("leave.toml", &[b'#'; (1 << 20) + 1], &["longer than"]);
    check("my leave.toml", b"prompt = \"x\"", &["rename"]);
    let many: String = (0..33).map(|n| format!("[servers.s{n}]\nurl = \"http://x\"\n")).collect();
    check("leave.toml", format!("prompt = \"x\"\n{many}").as_bytes(), &["33 servers", "32"]);
    let absent = Catalogue::read(Path::new("/nowhere/agents")).unwrap_err().to_string();
    assert!(absent.starts_with("/nowhere/agents: "), "{absent}");
}

async fn connect(file: &str, patience: Duration) -> ConnectedAgent {
    let options = ClientOptions { connect_timeout: patience, ..ClientOptions::default() };
    let with = ConnectWith { options, patience, ..ConnectWith::new(Arc::new(StoppedClock), Arc::new(Highest)) };
    AgentFile::parse(file).unwrap().connect("leave", &with).await
}

#[tokio::test]
async fn a_server_that_fails_is_one_warning_and_stops_no_other() {
    let good = Raw::tools(json!([tool("look", true, json!({}))]), |_| said("seen")).await;
    let mute = Raw::start(|_| Say::Nothing).await;
    let junk = Raw::start(|_| Say::Raw("\u{1b}[2J".to_owned())).await;
    let crowd: Vec<_> = (0..5_000).map(|n| tool(&format!("t{n}"), true, json!({}))).collect();
    let crowd = Raw::tools(json!(crowd), |_| said("")).await;
    let file = format!(
        "prompt = \"x\"\n[servers.good]\nurl = \"{}\"\n[servers.mute]\nurl = \"{}\"\n[servers.junk]\nurl = \"{}\"\n\
         [servers.crowd]\nurl = \"{}\"\n[servers.absent]\nurl = \"http://127.0.0.1:9/mcp\"\n\
         [servers.unable]\ncommand = \"no-such-program-anywhere\"\n\
         [servers.locked]\nurl = \"http://127.0.0.1:9/mcp\"\nbearer = \"TOKEN\"\n",
        good.url, mute.url, junk.url, crowd.url
    );
    let began = Instant::now();
    let connected = connect(&file, Duration::from_millis(500)).await;
    assert!(began.elapsed() < Duration::from_secs(10), "they are asked at once, and none for ever");
    assert_eq!(connected.agent.toolbox.names(), ["look"]);
    let warnings = connected.warnings.join("\n");
    assert_eq!(connected.warnings.len(), 6, "{warnings}");
    for expected in [
        "mute did not",
        "junk ",
        "more than 1000 tools",
        "absent cannot be reached",
        "cannot be started",
        "the secret `TOKEN`",
    ] {
        assert!(warnings.contains(expected), "{expected}: {warnings}");
    }
    assert!(!warnings.contains('\u{1b}'), "{warnings}");
    connected.close().await;
}

struct Asked(Mutex<Vec<Question>>);

#[async_trait]
impl Ask for Asked {
    async fn ask(&self, question: Question) -> ElicitReply {
        self.0.lock().unwrap().push(question);
        ElicitReply::Decline
    }
}

#[tokio::test]
async fn a_connected_agent_runs_and_brings_the_questions_of_its_servers_to_the_run() {
    let tools = json!([tool("cancel", false, json!({}))]);
    let server = Raw::newer(tools, |asked| match asked.params.get("inputResponses") {
        None => Say::Result(json!({
            "resultType": "input_required",
            "inputRequests": { "sure": { "method": "elicitation/create", "params": {
                "mode": "form", "message": "Sure?", "requestedSchema": { "type": "object", "properties": {} } } } },
            "requestState": "s",
        })),
        Some(replies) => Say::Result(json!({
            "resultType": "complete", "content": [{ "type": "text", "text": format!("heard {}", replies["sure"]["action"]) }],
        })),
    })
    .await;
    let connected =
        connect(&format!("prompt = \"x\"\n[servers.hr]\nurl = \"{}\"", server.url), Duration::from_secs(20)).await;
    let person = Arc::new(Asked(Mutex::default()));
    let mut setup = setup(Script::new([calls("a", &[("cancel", "{}")]), says("DONE")]));
    setup.with.ask = Some(Arc::clone(&person) as _);
    setup.with.elicitations = Some(connected.elicitations.clone());
    let ran = setup.run(&connected.agent, &mut Conversation::default()).await;
    assert_eq!((connected.warnings.as_slice(), ran.answer()), (&[] as &[String], "DONE"));
    assert!(ran.results()[0].contains("heard \"decline\""), "{}", ran.results()[0]);
    assert_eq!(person.0.lock().unwrap()[0].message, "Sure?");
    connected.close().await;
}
