//! `bylaw chat` with one message, and what goes wrong around it.

use std::{io::Write, process::Stdio};

use serde_json::Value;

use crate::{
    peers::Peers,
    program::{Ended, Home},
};

fn one_line(ended: &Ended) {
    let first = ended.stderr.lines().next().unwrap_or_default();
    assert!(first.starts_with("error["), "{}", ended.stderr);
    assert!(ended.stderr.lines().skip(1).all(|line| line.starts_with("hint: ")), "{}", ended.stderr);
}

#[test]
fn one_message_is_answered_on_standard_output_and_everything_else_is_told_beside() {
    let (home, peers) = (Home::new(), Peers::start());
    peers.configure(&home);
    let ended = home.run(&["chat", "--print", "hello"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "\u{fffd}[2Jyou said hello\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("0 steps, 0 calls, 15 tokens") && ended.stderr.contains("TWD"), "{}", ended.stderr);

    let mut child = home.command(&["chat"]);
    let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all("請假\n".as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("you said 請假"), "a pipe is a message");
}

#[test]
fn nobody_is_asked_about_one_message_and_what_happens_is_told_as_events() {
    let (home, peers) = (Home::new(), Peers::start());
    peers.configure(&home);
    let ended = home.run(&["--json", "chat", "--mcp", &peers.mcp(), "--print", "cancel LV-1"]);
    let events: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!((names[0], *names.last().unwrap(), ended.code), ("started", "ended", Some(0)), "{}", ended.stderr);
    let reply = events.iter().find(|event| event["event"] == "reply").unwrap();
    assert_eq!((&reply["by"], &reply["action"]), (&Value::from("policy"), &Value::from("cancel")));
    assert_eq!(peers.calls(), [] as [&str; 0], "what nobody allowed is not done");

    let allowed = home.run(&["chat", "--mcp", &peers.mcp(), "--approve", "never", "--print", "cancel LV-1"]);
    assert!(allowed.stdout.contains("cancelled LV-1"), "{}{}", allowed.stdout, allowed.stderr);
    assert_eq!(peers.calls(), ["cancel_leave {\"leave_id\":\"LV-1\"}"]);
}

#[test]
fn a_limit_ends_a_message_with_a_sentence_and_is_no_failure() {
    let (home, peers) = (Home::new(), Peers::start());
    peers.configure(&home);
    let steps = home.run(&["chat", "--mcp", &peers.mcp(), "--max-steps", "2", "--print", "look x"]);
    assert_eq!(steps.code, Some(0), "{}", steps.stderr);
    assert!(steps.stderr.contains("Stopped: the limit of 2 steps was reached."), "{}", steps.stderr);
    assert!(steps.stderr.contains("look (done") && !steps.stderr.contains('\u{7}'), "{}", steps.stderr);

    let chinese =
        |arguments: &[&str]| Ended::of(home.command(&[&["chat"], arguments].concat()).env("LC_ALL", "zh_TW.UTF-8"));
    let money = chinese(&["--max-cost", "0.000001", "--print", "hello"]);
    assert_eq!((money.code, money.stdout.as_str()), (Some(0), ""));
    assert!(money.stderr.contains("停止：費用到了上限"), "{}", money.stderr);
    let time = chinese(&["--max-wall", "1", "--print", "wait"]);
    assert_eq!(time.code, Some(0));
    assert!(time.stderr.contains("停止：時間到了。"), "{}", time.stderr);
}

#[test]
fn a_conversation_goes_on_in_another_process() {
    let (home, peers) = (Home::new(), Peers::start());
    peers.configure(&home);
    let absent = home.run(&["chat", "--continue", "--print", "count"]);
    assert_eq!(absent.code, Some(3));
    one_line(&absent);
    for (arguments, expected) in [
        (&["chat", "--print", "count"][..], "1 messages\n"),
        (&["chat", "--continue", "--print", "count"], "2 messages\n"),
        (&["chat", "--print", "count"], "1 messages\n"),
        (&["chat", "--continue", "--print", "count"], "2 messages\n"),
    ] {
        assert_eq!(home.run(arguments).stdout, expected, "{arguments:?}");
    }
    let unknown = home.run(&["chat", "--conversation", "cnv_000000000000000000000001", "--print", "count"]);
    assert_eq!(unknown.code, Some(3));
    one_line(&unknown);
}

#[test]
fn a_server_that_is_not_there_is_one_warning_and_the_others_go_on() {
    let (home, peers) = (Home::new(), Peers::start());
    peers.configure(&home);
    let arguments = [
        "chat",
        "--mcp",
        "http://127.0.0.1:9/mcp",
        "--mcp",
        "no-such-program",
        "--mcp",
        &peers.mcp(),
        "--print",
        "look",
    ];
    let ended = home.run(&[&arguments[..], &["--max-steps", "1"]].concat());
    let warnings: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!((warnings.len(), ended.code), (2, Some(0)), "{}", ended.stderr);
    assert!(warnings[0].contains("cannot be reached") && warnings[1].contains("cannot be started"), "{warnings:?}");
    assert_eq!(peers.calls().len(), 1);
}

#[test]
fn what_keeps_a_conversation_from_beginning_is_one_line_that_says_what_to_do() {
    let (home, peers) = (Home::new(), Peers::start());
    let check = |arguments: &[&str], code: i32, expected: &[&str]| {
        let ended = home.run(&[&["chat"], arguments].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{arguments:?}: {}", ended.stderr);
        one_line(&ended);
        assert!(expected.iter().all(|part| ended.stderr.contains(part)), "{arguments:?}: {}", ended.stderr);
    };
    check(&["--print", "hello"], 2, &["none is configured", "base_url"]);
    peers.configure(&home);
    check(&["--print", " "], 2, &["the message is empty"]);
    check(&["--print", "x", "--mcp", ""], 2, &["--mcp"]);
    check(&["--print", "x", "--max-cost", "much"], 2, &["--max-cost"]);
    check(&["--print", "x", "--agent", "leave"], 3, &["no agent is called \"leave\"", "no folder of agents"]);
    home.write("agents/leave.toml", "prompt = \"You help.\"\n[limits]\nmax_turns = 3\n");
    check(&["--print", "x", "--agent", "leave"], 2, &["leave.toml: line 3: unknown field `max_turns`"]);
    home.write("agents/leave.toml", "prompt = \"You help.\"\n");
    check(&["--print", "x", "--agent", "travel"], 3, &["there are: leave"]);
    assert!(home.run(&["chat", "--agent", "leave", "--print", "hello"]).stdout.contains("you said hello"));
    assert!(home.run(&["doctor"]).stdout.contains("leave"));
}

#[test]
fn a_model_that_cannot_be_used_ends_the_message_with_a_reason_and_an_exit_code() {
    let (home, peers) = (Home::new(), Peers::start());
    peers.configure(&home);
    let refused = home.run(&["chat", "--print", "refuse"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(5), ""));
    assert!(refused.stderr.starts_with("Stopped: ") && refused.stderr.contains("401"), "{}", refused.stderr);
    home.write(
        "bylaw.toml",
        "[model]\nbase_url = \"http://127.0.0.1:9/v1\"\nname = \"m\"\nretries = 0\n[prices]\nm = { free = true }\n",
    );
    let absent = home.run(&["chat", "--print", "hello"]);
    assert_eq!((absent.code, absent.stdout.as_str()), (Some(5), ""));
    assert!(absent.stderr.starts_with("Stopped: ") && absent.stderr.contains("127.0.0.1:9"), "{}", absent.stderr);
}
