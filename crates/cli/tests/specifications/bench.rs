//! What `bylaw bench` measures with.

use std::{io::Write as _, net::TcpStream};

use serde_json::{Value, json};

use crate::program::{Home, Serving};

fn upstream(home: &Home) -> Serving {
    Serving::of(&mut home.command(&["--json", "bench", "upstream", "--pieces", "6"]))
}

fn request(question: &str) -> String {
    let prompt = format!("<article id=\"r.md#26\">\n事假十四日。\n</article>\n<question>{question}</question>");
    json!({
        "model": "scripted", "max_tokens": 300, "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": prompt }],
    })
    .to_string()
}

fn counts(serving: &Serving) -> Value {
    serde_json::from_str(&serving.http("GET", "/counts", "").1).unwrap()
}

#[test]
fn the_scripted_model_counts_a_whole_answer_and_one_that_was_cut() {
    let home = Home::new();
    let upstream = upstream(&home);
    let (whole, cut) = (request("事假幾日"), request("upstream:cut"));
    let (status, text) = upstream.http("POST", "/v1/chat/completions", &whole);
    assert_eq!(status, 200);
    assert!(text.contains("[r.md#26]") && text.contains("[DONE]"), "{text}");
    let (_, text) = upstream.http("POST", "/v1/chat/completions", &cut);
    assert!(text.contains("依規定辦理") && !text.contains("[DONE]"), "{text}");
    let (status, _) = upstream.http("POST", "/v1/chat/completions", "{}");
    assert_eq!(status, 400);
    let counts = counts(&upstream);
    let prompts = whole.len().div_ceil(4) + cut.len().div_ceil(4);
    for (what, expected) in [
        ("requests", 3),
        ("open", 0),
        ("completed", 1),
        ("cut", 1),
        ("refused", 1),
        ("client_left", 0),
        ("usage_sent", 1),
        ("completion_tokens", 6 + 3),
        ("prompt_tokens", prompts),
    ] {
        assert_eq!(counts[what], expected, "{what}: {counts}");
    }
    let ends: Vec<&Value> = counts["list"].as_array().unwrap().iter().map(|seen| &seen["end"]).collect();
    assert_eq!(ends, ["completed", "cut", "refused"]);
}

#[test]
fn the_scripted_model_notices_that_its_client_has_left() {
    let home = Home::new();
    let upstream = upstream(&home);
    let address = upstream.url().trim_start_matches("http://");
    let (silent, body) = (TcpStream::connect(address).unwrap(), request("upstream:silent"));
    write!(&silent, "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .unwrap();
    let until = |what: &str| (0..10_000).any(|_| counts(&upstream)[what] == 1);
    assert!(until("open"));
    drop(silent);
    assert!(until("never_answered"));
    assert_eq!(counts(&upstream)["open"], 0);
    assert_eq!(upstream.http("POST", "/reset", "").0, 200);
    assert_eq!(counts(&upstream)["requests"], 0);
}

#[test]
fn of_40_concurrent_callers_a_budget_worth_5_admits_5_also_in_two_processes() {
    for processes in ["1", "2"] {
        let home = Home::new();
        let race =
            ["bench", "race", "--callers", "40", "--worth", "5", "--processes", processes, "--ledger", "race.db"];
        let report = home.json(&race);
        for (what, expected) in [
            ("admitted", 5),
            ("refused", 35),
            ("failed", 0),
            ("limit_micro_usd", 500),
            ("most_held_micro_usd", 500),
            ("settled_micro_usd", 500),
        ] {
            assert_eq!(report[what], expected, "{processes} processes, {what}: {report}");
        }
        // What has been spent stays spent.
        assert_eq!(home.run(&race).code, Some(2));
    }
}

/// Runs a scenario before a service of its own; what it claims, and whether all of it holds.
fn door(arguments: &[&str]) -> (Option<i32>, Value) {
    let ended = Home::new().run(&[&["--json", "bench", "door"], arguments].concat());
    let report = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}{}", ended.stdout, ended.stderr));
    (ended.code, report)
}

#[test]
fn the_books_are_right_after_everything_that_can_go_wrong() {
    for scenario in [
        &["crash", "--calls", "48", "--concurrent", "8"][..],
        &["reset", "--calls", "12", "--concurrent", "4"],
        &["overspend", "--callers", "20", "--worth", "3"],
    ] {
        let (code, report) = door(scenario);
        assert_eq!((code, &report["holds"]), (Some(0), &json!(true)), "{report:#}");
    }
}

#[test]
fn a_claim_that_does_not_hold_is_said_and_ends_with_1() {
    let (code, report) = door(&["leave", "--times", "1", "--limit-ms", "0"]);
    assert_eq!((code, &report["holds"]), (Some(1), &json!(false)), "{report:#}");
    assert_eq!(report["claims"][0]["holds"], false, "{report:#}");
}

#[test]
fn every_fault_of_a_model_and_of_tools_is_survived_as_it_should_be() {
    let faults = ["--json", "bench", "faults", "--own", "--patience-ms", "300", "--retry-after-ms", "100"];
    let ended = Home::new().run(&faults);
    let report: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}{}", ended.stdout, ended.stderr));
    let wrong: Vec<&Value> =
        report["cases"].as_array().unwrap().iter().filter(|case| case["right"] != json!(true)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!((ended.code, &report["right"]), (Some(0), &json!(24)), "{report:#}");
}

#[test]
fn a_fault_server_that_is_none_is_said() {
    let home = Home::new();
    let upstream = upstream(&home);
    let ended = home.run(&["bench", "faults", upstream.url()]);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("error[service_unreachable]: "), "{}", ended.stderr);
}

#[test]
fn what_a_run_of_an_agent_costs_is_measured_also_durably_and_while_it_waits() {
    let home = Home::new();
    let few = ["--runs", "2", "--concurrent-runs", "8", "--concurrent", "4", "--durable"];
    let report = home.json(&[&["bench", "loop"], &few[..]].concat());
    for way in ["shared", "fresh", "durable"] {
        assert_eq!((&report[way]["errors"], &report[way]["conc"]), (&json!(0), &json!(4)), "{report:#}");
        assert!(report[way]["p50_ms"].as_f64().unwrap() > 0.0, "{report:#}");
    }
    let report = home.json(&["bench", "loop", "--waiting", "20"]);
    assert_eq!((&report["waiting"], &report["right"]), (&json!(20), &json!(20)), "{report:#}");
}

#[test]
fn a_deed_that_a_model_does_not_do_is_said_and_ends_with_1() {
    let home = Home::new();
    let upstream = upstream(&home);
    let ended = home.run(&["--json", "bench", "small-model", &format!("{}/v1", upstream.url())]);
    let report: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}{}", ended.stdout, ended.stderr));
    assert_eq!((ended.code, &report["holds"]), (Some(1), &json!(false)), "{report:#}");
}
