//! Each mistake gets one line, a stable code and an exit code, and changes nothing.

use std::process::Stdio;

use crate::program::{Home, Serving};

#[test]
fn mistakes_are_told_in_one_line_with_a_code() {
    let home = Home::new();
    home.write("rules.md", "### 第 1 條（事假）\n\n事假十四日。\n");
    home.write("latin1.md", b"### Article 1\n\ncaf\xe9\n");
    home.write("letter.docx", b"PK\x03\x04");
    home.write("empty.md", "  \n");
    home.write("broken.jsonl", "{\"id\":\"1\",\"text\":\"a\"}\n{\"id\":\n");
    home.run(&["ingest", "rules.md"]);
    let long = "假".repeat(501);
    let rows: &[(&[&str], i32, &str)] = &[
        (&["ask", ""], 2, "error[invalid_request]: question: empty"),
        (&["ask", " 　"], 2, "error[invalid_request]: question: empty"),
        (&["ask", "😀😀"], 2, "error[invalid_request]: question: has no word"),
        (&["ask", &long], 2, "error[invalid_request]: question: longer than 500"),
        (&["search", "-k", "0", "事假"], 2, "error[invalid_request]: k: 0 is outside 1 to 50"),
        (&["ask", "-k", "16", "事假"], 2, "error[invalid_request]: k: 16 is outside 1 to 15"),
        (&["search", "--source", "nope.md", "事假"], 3, "error[source_not_found]"),
        (&["ingest", "nope.md"], 3, "error[document_not_found]"),
        (&["ingest", "latin1.md"], 2, "byte 18 is not UTF-8"),
        (&["ingest", "letter.docx"], 2, "read today: Markdown"),
        (&["ingest", "empty.md"], 2, "there is no text"),
        (&["ingest", "broken.jsonl"], 2, "line 2"),
        (&["sources", "delete", "nope.md"], 3, "error[source_not_found]"),
        (&["sources", "show", "../x"], 2, "error[invalid_request]"),
        (&["ask", "--url", "http://127.0.0.1:9/", "事假"], 4, "error[service_unreachable]"),
        (&["ask", "--url", "nonsense", "事假"], 2, "error[invalid_configuration]"),
        (&["--data", "rules.md/x", "serve"], 1, "error[data_directory_unusable]"),
        (&["serve", "--host", "0.0.0.0"], 4, "error[address_unavailable]"),
        (&["ask", "--max-wall-ms", "0", "事假"], 2, "error[invalid_request]: max_wall_ms"),
        (&["ask", "--max-wall-ms", "600001", "事假"], 2, "error[invalid_request]: max_wall_ms"),
        (&["ask", "--max-cost", "-1", "事假"], 2, "error[invalid_request]: max_cost"),
        (&["ask", "--max-cost", "0.0000001", "事假"], 2, "error[invalid_request]: max_cost"),
        (&["sources", "--key", "s3cret", "--url", "http://127.0.0.1:9/"], 2, "error[invalid_key]"),
        (&["key", "create", ""], 2, "error[invalid_request]: a key's name has 1 to 100 characters"),
        (&["key", "create", "x", "--budget", "5"], 2, "--budget: \"5\": write an amount in TWD"),
        (&["key", "create", "x", "--budget", "-5/day"], 2, "--budget: \"-5/day\": an amount is not negative"),
        (&["key", "create", "x", "--budget", "1/day", "--budget", "2/day"], 2, "one for this period already"),
        (&["key", "create", "x", "--expires", "soon"], 2, "--expires: \"soon\": write 90d"),
        (&["key", "create", "x", "--expires", "2001-01-31"], 2, "would be expired when it is made"),
        (&["key", "create", "x", "--source", "../x"], 2, "error[invalid_request]: --source"),
        (&["key", "create", "x", "--source", "a.md", "--no-sources"], 2, "cannot be used with"),
        (&["key", "create", "x", "--role", "owner"], 2, "invalid value 'owner'"),
        (&["key", "revoke", "x"], 3, "error[key_not_found]"),
        (&["ledger", "report", "--from", "2026-2-1"], 2, "\"2026-2-1\" is not a day"),
        (&["ledger", "report", "--from", "2026-02-02", "--to", "2026-02-01"], 2, "error[invalid_request]: --to"),
        (&["ledger", "report", "--key", "x"], 2, "key_ and 24"),
        (&["ledger", "verify", "--checkpoint", "1"], 2, "a row number, a colon and 64"),
        (&["explain", "abc"], 3, "error[request_not_found]"),
        (&["explain", "a b"], 2, "invalid value"),
        (&["serve", "nope"], 3, "error[document_not_found]"),
        (&["--config", "nope.toml", "sources"], 2, "error[invalid_configuration]"),
        (&["frobnicate"], 2, "unrecognized subcommand"),
    ];
    for (arguments, code, expected) in rows {
        let ended = home.run(arguments);
        assert_eq!(ended.code, Some(*code), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(expected), "{arguments:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{arguments:?}: {}", ended.stderr);
    }
    assert_eq!(home.json(&["sources"]).as_array().unwrap().len(), 1, "nothing may have changed");
}

#[test]
fn failures_are_json_too() {
    let error = Home::new().json(&["search", "事假"]);
    assert_eq!(error["error"]["code"], "not_ready");
    assert!(error["error"]["hint"].as_str().unwrap().contains("bylaw ingest"));
}

#[test]
fn a_second_service_on_the_same_data_is_refused_and_names_the_first() {
    let home = Home::new();
    home.write("a.md", "### 第 1 條（事假）\n\n事假十四日。\n");
    let serving = Serving::start(&home, &["a.md"]);
    let second = home.run(&["serve", "--port", "0", "a.md"]);
    assert_eq!(second.code, Some(4));
    assert!(second.stderr.contains("error[data_directory_locked]"), "{}", second.stderr);
    assert!(second.stderr.contains(serving.url()), "{}", second.stderr);
}

#[test]
fn a_port_in_use_is_named_and_nothing_is_created() {
    let home = Home::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ended = home.run(&["--data", "d", "serve", "--port", &port]);
    assert_eq!(ended.code, Some(4));
    assert!(ended.stderr.contains(&format!("127.0.0.1:{port} is in use")), "{}", ended.stderr);
    assert!(!home.path("d").exists());
}

#[test]
fn a_huge_text_is_refused_without_being_read() {
    let home = Home::new();
    let file = std::fs::File::create(home.path("huge.txt")).unwrap();
    file.set_len(200 << 20).unwrap();
    let ended = home.run(&["ingest", "huge.txt"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("[document_too_large]"), "{}", ended.stderr);
}

#[test]
fn a_hundred_kilobytes_of_numerals_are_read_and_asked_about_in_linear_time() {
    let home = Home::new();
    home.write("numerals.md", format!("### 第 1 條（數字）\n\n{}\n", "一十".repeat(17_000)));
    assert_eq!(home.run(&["ingest", "numerals.md"]).code, Some(0));
    let question = "一十".repeat(250);
    assert_eq!(home.run(&["search", &question]).code, Some(0));
}

#[test]
fn a_reader_that_leaves_is_not_a_failure() {
    let home = Home::new();
    home.write("a.md", "### 第 1 條（事假）\n\n事假十四日。\n");
    home.run(&["ingest", "a.md"]);
    let mut child = home.command(&["sources"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}
