//! `bylaw search` and `bylaw ask`, in process and through a service.

use crate::program::{Home, Serving};

fn sample() -> Home {
    let home = Home::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/sample");
    assert_eq!(home.run(&["ingest", folder]).code, Some(0));
    home
}

#[test]
fn answers_read_as_they_are_meant_to() {
    let home = sample();
    for (name, question) in [
        ("ask_answered", "出差住飯店一晚最多報多少？"),
        ("ask_english", "How many days of annual leave do I get after five years with the company?"),
        ("ask_not_in_rules", "公司有健身房補助嗎？"),
        ("ask_missing_article", "第九十九條規定什麼？"),
    ] {
        let ended = home.run(&["ask", question]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        insta::assert_snapshot!(name, ended.stdout);
    }
}

#[test]
fn a_search_reads_as_it_is_meant_to() {
    insta::assert_snapshot!("search", sample().run(&["search", "-k", "3", "特休幾天"]).stdout);
}

#[test]
fn a_service_and_the_command_line_give_the_same_answer() {
    let home = sample();
    let serving = Serving::start(&home, &[]);
    let question = "出差住飯店一晚最多報多少？";
    let strip = |mut answer: serde_json::Value| {
        for field in ["request_id", "run_id", "timing", "asked_at"] {
            answer.as_object_mut().unwrap().remove(field);
        }
        answer
    };
    let there = home.json(&["ask", "--url", serving.url(), question]);
    let here = home.json(&["ask", question]);
    assert_eq!(strip(there), strip(here));
}

#[test]
fn filters_restrict_what_is_found() {
    let home = sample();
    let hits = home.json(&["search", "--source", "employee-handbook.md", "annual leave"]);
    let hits = hits["hits"].as_array().unwrap();
    assert!(!hits.is_empty());
    assert!(hits.iter().all(|hit| hit["source"] == "employee-handbook.md"));
}
