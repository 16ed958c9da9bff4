//! `bylaw key`, and what the program says to a service that needs one.

use std::{
    io::{Read, Write},
    net::TcpListener,
};

use crate::program::{Ended, Home, Serving};

/// Output with what differs from run to run replaced.
fn redact(text: &str) -> String {
    let words = text.split_inclusive(&[' ', '\n'][..]).map(|word| {
        let bare = word.trim_end();
        let end = &word[bare.len()..];
        match bare {
            _ if bare.starts_with("key_") => format!("[id]{end}"),
            _ if bare.starts_with("bylaw_") && bare.len() == 70 => format!("[secret]{end}"),
            _ if bare.len() == 25 && bare.ends_with("+08:00") => format!("[moment]{end}"),
            _ => word.to_owned(),
        }
    });
    words.collect()
}

fn create(home: &Home, arguments: &[&str]) -> serde_json::Value {
    home.json(&[&["key", "create"], arguments].concat())
}

#[test]
fn keys_are_made_listed_and_revoked_as_it_is_meant_to_read() {
    let home = Home::new();
    insta::assert_snapshot!("key_list_empty", home.run(&["key", "list"]).stderr);
    let first = home.run(&["key", "create", "reception"]);
    insta::assert_snapshot!("key_create_first", redact(&first.stdout));
    let limits = ["--budget", "5/day", "--budget", "100.25/month", "--expires", "2099-01-31"];
    let second = ["key", "create", "shop floor", "--role", "editor", "--source", "a.md", "--source", "b.md"];
    insta::assert_snapshot!("key_create_second", redact(&home.run(&[&second[..], &limits].concat()).stdout));
    home.run(&["key", "create", "machine", "--role", "admin", "--no-sources"]);
    insta::assert_snapshot!("key_revoke", redact(&home.run(&["key", "revoke", "reception"]).stdout));
    insta::assert_snapshot!("key_list", redact(&home.run(&["key", "list"]).stdout));
}

#[test]
fn a_secret_is_shown_once_and_kept_nowhere() {
    let home = Home::new();
    let made = create(&home, &["reception"]);
    let secret = made["secret"].as_str().unwrap();
    assert_eq!(made["first"], true);
    for arguments in [&["key", "list"][..], &["--json", "key", "list"], &["key", "revoke", "reception"], &["doctor"]] {
        assert!(!home.run(arguments).stdout.contains(&secret[6..]), "{arguments:?}");
    }
    let folder = home.path(".local/share/bylaw/default");
    for file in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(64).any(|window| window == &secret.as_bytes()[6..]));
    }
}

#[test]
fn a_key_is_revoked_by_its_id_or_by_a_name_that_only_it_has() {
    let home = Home::new();
    let ids: Vec<String> = (0..2).map(|_| create(&home, &["twin"])["key"]["id"].as_str().unwrap().to_owned()).collect();
    let ended = home.run(&["key", "revoke", "twin"]);
    assert_eq!(ended.code, Some(2));
    assert!(ids.iter().all(|id| ended.stderr.contains(id.as_str())), "{}", ended.stderr);
    assert_eq!(home.json(&["key", "revoke", &ids[0]])["state"], "revoked");
    // The name is the other one's alone now.
    assert_eq!(home.json(&["key", "revoke", "twin"])["id"], ids[1].as_str());
    let again = home.run(&["key", "revoke", &ids[1]]);
    assert!(again.stdout.contains("had been revoked before"), "{}", again.stdout);
    assert!(again.stdout.contains("every request is refused"), "{}", again.stdout);
    assert_eq!(home.run(&["key", "revoke", "nobody"]).code, Some(3));
}

#[test]
fn other_machines_are_let_in_only_where_there_has_been_a_key() {
    let home = Home::new();
    home.write("a.md", "### 第 1 條（事假）\n\n事假十四日。\n");
    home.run(&["--data", "d", "ingest", "a.md"]);
    let refused = home.run(&["--data", "d", "serve", "--host", "0.0.0.0", "--port", "0"]);
    assert_eq!(refused.code, Some(4));
    assert!(refused.stderr.contains("bylaw key create NAME"), "{}", refused.stderr);
    home.run(&["--data", "d", "key", "create", "reception"]);
    home.run(&["--data", "d", "key", "revoke", "reception"]);
    let serving = Serving::start(&home, &["--data", "d", "--host", "0.0.0.0"]);
    assert_eq!(serving.announced["keys"], 1);
}

#[test]
fn doctor_says_who_may_come_in() {
    let home = Home::new();
    home.write("a.md", "### 第 1 條（事假）\n\n事假十四日。\n");
    let keys = || {
        let stdout = home.run(&["doctor"]).stdout;
        stdout.lines().find_map(|line| line.split_once(" keys ")).unwrap().1.trim().to_owned()
    };
    home.run(&["ingest", "a.md"]);
    assert_eq!(keys(), "no keys: open to this machine only");
    create(&home, &["one"]);
    assert_eq!(keys(), "1 key: every request needs one");
    create(&home, &["two"]);
    assert_eq!(keys(), "2 keys: every request needs one");
    home.run(&["key", "revoke", "one"]);
    home.run(&["key", "revoke", "two"]);
    assert!(keys().starts_with("no valid key"), "{}", keys());
}

/// Answers one request with an empty list, and gives back its head.
fn listen(listener: &TcpListener) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]").unwrap();
    String::from_utf8(head).unwrap().to_lowercase()
}

#[test]
fn a_service_is_sent_the_key_from_the_flag_or_the_variable() {
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let [one, other] = ["1", "2"].map(|digit| format!("bylaw_{}", digit.repeat(64)));
    let heard = |flag: Option<&str>, variable: Option<&str>| {
        let mut command = home.command(&["sources", "--url", &url]);
        command.args(flag.into_iter().flat_map(|key| ["--key", key]));
        command.envs(variable.map(|key| ("BYLAW_KEY", key)));
        std::thread::scope(|scope| {
            let head = scope.spawn(|| listen(&listener));
            let ended = Ended::of(&mut command);
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
            assert!(!ended.stderr.contains("bylaw_1") && !ended.stderr.contains("bylaw_2"), "{}", ended.stderr);
            let head = head.join().unwrap();
            head.lines().find_map(|line| line.strip_prefix("authorization: bearer ")).map(str::to_owned)
        })
    };
    assert_eq!(heard(None, None), None);
    assert_eq!(heard(None, Some(&one)), Some(one.clone()));
    assert_eq!(heard(Some(&other), None), Some(other.clone()));
    assert_eq!(heard(Some(&other), Some(&one)), Some(other.clone()));
}

#[test]
fn a_key_that_is_none_is_refused_here_and_never_repeated() {
    let home = Home::new();
    let mut command = home.command(&["search", "--url", "http://127.0.0.1:9/", "事假"]);
    let ended = Ended::of(command.env("BYLAW_KEY", "s3cret"));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.starts_with("error[invalid_key]"), "{}", ended.stderr);
    assert!(ended.stderr.contains("BYLAW_KEY") && !ended.stderr.contains("s3cret"), "{}", ended.stderr);
}
