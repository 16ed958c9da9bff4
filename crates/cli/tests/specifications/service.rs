//! `bylaw serve` as a process.

use crate::program::{Home, Serving};

#[test]
fn without_anything_the_sample_answers_from_a_data_set_of_its_own() {
    let home = Home::new();
    let serving = Serving::start(&home, &[]);
    assert_eq!(serving.announced["sample"], true);
    assert_eq!(serving.announced["sources"], 2);
    assert!(serving.announced["data"].as_str().unwrap().ends_with("bylaw/sample"));
    let questions = serving.announced["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 3);
    for question in questions {
        let (status, body) = serving.http("POST", "/ask", &serde_json::json!({ "question": question }).to_string());
        assert_eq!(status, 200);
        let answer: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(answer["outcome"], "answered", "{question}: {body}");
    }
    assert_eq!(serving.stop(), Some(0));
}

#[test]
fn it_is_ready_again_after_a_restart_without_reading_the_documents_anew() {
    let home = Home::new();
    home.write("a.md", "### 第 1 條（事假）\n\n事假十四日。\n");
    let generation = |serving: &Serving| {
        let (status, body) = serving.http("GET", "/healthz", "");
        assert_eq!((status, serving.http("GET", "/readyz", "").0), (200, 204));
        serde_json::from_str::<serde_json::Value>(&body).unwrap()["generation"].clone()
    };
    let first = Serving::start(&home, &["a.md"]);
    let before = generation(&first);
    assert_eq!(first.stop(), Some(0));
    let second = Serving::start(&home, &[]);
    assert_eq!(generation(&second), before);
}

#[test]
fn documents_that_are_watched_are_followed() {
    let home = Home::new();
    home.write("rules/a.md", "### 第 1 條（事假）\n\n事假十四日。\n");
    let serving = Serving::start(&home, &["--watch", "rules"]);
    home.write("rules/b.md", "### 第 1 條（颱風假）\n\n颱風停班不扣薪資。\n");
    // Bounded: half a minute on the slowest machine; the first look usually suffices.
    let found = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        serving.http("POST", "/search", r#"{"question":"颱風停班"}"#).1.contains("b.md#1")
    });
    assert!(found, "the new document was not found");
}

#[test]
fn documents_are_uploaded_over_http_and_answer() {
    let home = Home::new();
    home.write("a.md", "### 第 1 條（事假）\n\n事假十四日。\n");
    let serving = Serving::start(&home, &["a.md"]);
    let other = Home::new();
    other.write("b.md", "### 第 1 條（停車）\n\n停車位每月新臺幣 1,000 元。\n");
    let ended = home.run(&["ask", "--url", serving.url(), "停車位一個月多少錢？"]);
    assert!(!ended.stdout.contains("1,000"));
    let uploaded = home.run(&["ingest", other.path("b.md").to_str().unwrap()]);
    assert_eq!(uploaded.code, Some(0), "{}", uploaded.stderr);
    let ended = home.run(&["ask", "--url", serving.url(), "停車位一個月多少錢？"]);
    assert!(ended.stdout.contains("1,000"), "{}", ended.stdout);
}

#[test]
fn no_question_to_try_is_printed_twice() {
    let home = Home::new();
    home.write("a.md", "### 第 1 條（事假）\n\n事假十四日。\n\n### 第 2 條（遲到）\n\n遲到三次者扣款。\n");
    let serving = Serving::start(&home, &["a.md"]);
    let questions = serving.announced["questions"].as_array().unwrap();
    assert_eq!(questions, &["事假怎麼規定？", "遲到怎麼規定？"]);
}
