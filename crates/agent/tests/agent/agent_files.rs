//! Agents as files.

use std::time::Duration;

use bylaw_agent::{AgentFile, ApprovalPolicy, Limits, ServerTools, ToolApproval};
use bylaw_mcp::{McpAddress, McpServer};

const LEAVE: &str = r#"
prompt = "You help with leaves."
max_output_tokens = 512
validation = "coerce"
schemas = "plain"

[servers.hr]
url = "http://127.0.0.1:8031/mcp"
bearer = "HR_TOKEN"
tools = ["search", "cancel"]
timeout_seconds = 10
tool_timeout_seconds = { cancel = 120 }

[servers.files]
command = "files-mcp"
args = ["--read-only"]

[approvals]
policy = "destructive"
tools = { cancel = "always", search = "never" }

[limits]
steps = 8
wall_time_seconds = 60
"#;

#[test]
fn a_file_says_all_that_an_agent_is() {
    let file = AgentFile::parse(LEAVE).unwrap();
    let servers = file.servers(|name| (name == "HR_TOKEN").then(|| "s3cret".to_owned())).unwrap();
    let [(files, all), (hr, some)] = &servers[..] else { panic!("{servers:?}") };
    assert_eq!((files, all), (&McpServer::stdio("files", "files-mcp", ["--read-only"]), &ServerTools::default()));
    assert!(matches!(&hr.address, McpAddress::Http { bearer: Some(bearer), .. } if bearer == "s3cret"));
    assert_eq!((some.only.len(), some.timeout), (2, Some(Duration::from_secs(10))));
    assert_eq!(some.timeouts["cancel"], Duration::from_secs(120));
    assert_eq!(
        (file.approvals.policy, file.approvals.tools["cancel"]),
        (ApprovalPolicy::Destructive, ToolApproval::Always)
    );
    let expected = Limits { steps: 8, wall_time: Duration::from_secs(60), ..Limits::default() };
    assert_eq!(file.limits(), expected);
    assert_eq!(file.servers(|_| None).unwrap_err().to_string(), "the server `hr` needs the secret `HR_TOKEN`");
}

#[test]
fn what_nobody_knows_is_refused_by_name_and_place() {
    let check = |text: &str, expected: &[&str]| {
        let told = AgentFile::parse(text).unwrap_err().to_string();
        assert!(expected.iter().all(|part| told.contains(part)) && !told.contains('\n'), "{told}");
    };
    check("prompt = \"x\"\ncolour = 1", &["line 2", "`colour`"]);
    check("prompt = \"x\"\n[limits]\nmax_turns = 3", &["line 3", "`max_turns`", "`steps`"]);
    check("prompt = \"x\"\n[servers.hr]\nurll = \"u\"", &["`urll`"]);
    check("prompt = \"x\"\n[approvals]\npolicy = \"maybe\"", &["`maybe`", "`destructive`"]);
    check("prompt = \"x\"\n[servers.hr]", &["`hr` needs a url or a command"]);
    check("prompt = \"x\"\n[servers.hr]\nurl = \"u\"\ncommand = \"c\"", &["both"]);
    check("[limits]", &["`prompt`"]);
    check("prompt = ", &["line 1"]);
}
