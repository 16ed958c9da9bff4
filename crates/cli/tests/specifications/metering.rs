//! There is no command that asks a model and is not on the books.

use serde_json::Value;

use crate::program::{Home, Serving};

/// Runs every command that could ask a model, and compares what arrived there with what was booked.
#[test]
fn whatever_is_run_each_request_to_the_model_has_its_row() {
    let home = Home::new();
    let upstream = Serving::of(&mut home.command(&["--json", "bench", "upstream", "--pieces", "3"]));
    home.write("rules/work_rules.md", "# 工作規則\n\n### 第 27 條（事假）\n\n事假一年合計不得超過十四日，不給工資。\n");
    home.write(
        "bylaw.toml",
        format!(
            "[model]\nbase_url = \"{}/v1\"\nname = \"scripted\"\n[prices]\n\"scripted\" = {{ input = \"1\", output = \"2\" }}\n",
            upstream.url()
        ),
    );
    let run = |arguments: &[&str]| {
        let ended = home.run(&[&["--data", "books"], arguments].concat());
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        ended.stdout
    };
    for arguments in [
        &["ingest", "rules"] as &[&str],
        &["search", "事假"],
        &["sources"],
        &["sources", "show", "work_rules.md"],
        &["config", "show"],
        &["doctor"],
        &["doctor", "--model"],
        &["ask", "事假一年幾天"],
        &["ask", "--mode", "pipeline", "事假要找誰核准？"],
        &["ask", "--mode", "pipeline", "--no-cache", "事假要找誰核准？"],
        &["ask", "--mode", "pipeline", "--max-cost", "0.000001", "事假要找誰核准？"],
        &["chat", "--print", "事假要找誰核准？"],
        &["chat", "--continue", "--print", "病假呢？"],
        &["chat", "--max-cost", "0.000001", "--print", "事假要找誰核准？"],
        &["ledger", "report"],
        &["key", "list"],
    ] {
        run(arguments);
    }
    {
        let serving = Serving::start(&home, &["--data", "books"]);
        for path in ["/ask", "/search"] {
            serving.http("POST", path, r#"{"question":"事假要找誰核准？","mode":"pipeline"}"#);
        }
        home.run(&["ask", "--mode", "pipeline", "--url", serving.url(), "事假給不給工資？"]);
        assert_eq!(serving.stop(), Some(0));
    }
    let rows: Vec<Value> = run(&["ledger", "export"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let charged = rows.iter().filter(|row| row["kind"] != "avoided").count();
    let counts: Value = serde_json::from_str(&upstream.http("GET", "/counts", "").1).unwrap();
    assert!(charged >= 6, "{rows:?}");
    assert_eq!(counts["requests"], charged, "{rows:?}");
}
