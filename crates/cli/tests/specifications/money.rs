//! `bylaw ledger` and `bylaw explain`: what was spent, and whether the books are as they were written.

use bylaw_gate::{LedgerStore, RowFilter, RowNumber};

use crate::{books::Books, program::Ended, program::Home, program::Serving};

fn run(books: &Books, arguments: &[&str]) -> Ended {
    books.home.run(&[&["--data", "books"], arguments].concat())
}

#[tokio::test]
async fn reports_read_as_they_are_meant_to() {
    let books = Books::new().await;
    for by in ["day", "key", "model", "mode"] {
        insta::assert_snapshot!(format!("report_by_{by}"), run(&books, &["ledger", "report", "--by", by]).stdout);
    }
    insta::assert_snapshot!("report_json", run(&books, &["--json", "ledger", "report", "--by", "key"]).stdout);
}

#[tokio::test]
async fn a_report_is_restricted_to_days_and_a_key() {
    let books = Books::new().await;
    let total = |arguments: &[&str]| {
        let report = books.home.json(&[&["--data", "books", "ledger", "report"], arguments].concat());
        ["spent", "abandoned", "debt", "reserved", "avoided"]
            .map(|of| report["total"][of]["micro_usd"].as_i64().unwrap())
    };
    assert_eq!(total(&[]), [3_200, 530, 500, 5_000, 700]);
    assert_eq!(total(&["--from", "2026-03-02"]), [2_500, 530, 500, 5_000, 700]);
    assert_eq!(total(&["--to", "2026-03-01"]), [700, 0, 0, 0, 0]);
    assert_eq!(total(&["--from", "2026-03-03", "--to", "2026-03-03"]), [0, 530, 0, 0, 0]);
    assert_eq!(total(&["--key", "key_000000000000000000000001"]), [700, 0, 0, 0, 700]);
    assert_eq!(total(&["--key", "key_000000000000000000000009"]), [0; 5]);
}

#[tokio::test]
async fn everything_under_a_request_id_is_explained() {
    let books = Books::new().await;
    insta::assert_snapshot!("explain", run(&books, &["explain", "shared"]).stdout);
    insta::assert_snapshot!("explain_json", run(&books, &["--json", "explain", "shared"]).stdout);
    for request in ["worked", "broken"] {
        insta::assert_snapshot!(format!("explain_{request}"), run(&books, &["explain", request]).stdout);
    }
    let happened = &books.home.json(&["--data", "books", "explain", "worked"])["runs"][0]["happened"];
    assert_eq!((&happened["status"], &happened["events"][9]["number"]), (&"waiting".into(), &10.into()));
    insta::assert_snapshot!("explain_abandoned", run(&books, &["explain", "another"]).stdout);
    assert_eq!(run(&books, &["explain", "nobody"]).code, Some(3));
}

#[tokio::test]
async fn an_export_is_what_is_stored_byte_for_byte() {
    let books = Books::new().await;
    let store = books.store().await;
    let rows = store.rows(&RowFilter::default(), RowNumber(0), 100).await.unwrap();
    store.close().await;
    let texts: Vec<String> = rows.iter().map(|row| format!("{}\n", row.text())).collect();
    assert_eq!(run(&books, &["ledger", "export"]).stdout, texts.concat());
    let first_day = run(&books, &["ledger", "export", "--to", "2026-03-01"]).stdout;
    assert_eq!(first_day, texts[..2].concat());
}

#[tokio::test]
async fn a_verified_ledger_gives_a_checkpoint_that_verifies_later() {
    let books = Books::new().await;
    books.seal().await;
    let ended = run(&books, &["ledger", "verify"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    insta::assert_snapshot!("verify", ended.stdout);
    let checkpoint =
        books.home.json(&["--data", "books", "ledger", "verify"])["checkpoint"].as_str().unwrap().to_owned();
    assert_eq!(run(&books, &["ledger", "verify", "--checkpoint", &checkpoint]).code, Some(0));
    let other = checkpoint.replace("5:", "6:");
    let ended = run(&books, &["ledger", "verify", "--checkpoint", &other]);
    assert!(ended.stderr.contains("sealed up to row 5, and the checkpoint was taken at row 6"), "{}", ended.stderr);
}

#[tokio::test]
async fn verifying_seals_nothing_and_makes_no_key() {
    let books = Books::new().await;
    let ended = run(&books, &["ledger", "verify"]);
    assert!(ended.stdout.starts_with("5 rows, sealed up to row 0"), "{}{}", ended.stdout, ended.stderr);
    assert!(books.store().await.last_seal().await.unwrap().is_none());
    assert!(!books.home.path("books/sealing.key").exists());
}

#[tokio::test]
async fn a_ledger_that_was_tampered_with_names_the_row() {
    let rows = [
        (
            "UPDATE ledger SET text = replace(text, '\"amount\":700', '\"amount\":7') WHERE number = 2",
            "row 2 is not as it was",
        ),
        ("DELETE FROM ledger WHERE number = 3", "row 3 is missing"),
        ("UPDATE ledger SET text = '{}' WHERE number = 4", "row 4"),
        ("UPDATE seals SET signature = zeroblob(64)", "the seal that begins at row 1 was not signed with this key"),
        ("UPDATE accounts SET settled = settled - 1 WHERE budget = 'service/once'", "the account service/once says"),
    ];
    for (statement, expected) in rows {
        let books = Books::new().await;
        books.seal().await;
        books.tamper(statement).await;
        let ended = run(&books, &["ledger", "verify"]);
        assert_eq!(ended.code, Some(1), "{statement}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.starts_with("error[ledger_faulty]"), "{statement}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{statement}: {}", ended.stderr);
        assert!(ended.stderr.contains("keep a copy of the data directory"), "{statement}: {}", ended.stderr);
    }
}

#[tokio::test]
async fn seals_without_their_key_are_a_fault() {
    let books = Books::new().await;
    books.seal().await;
    std::fs::remove_file(books.home.path("books/sealing.key")).unwrap();
    let ended = run(&books, &["ledger", "verify"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("sealing.key: missing, and rows are sealed with it"), "{}", ended.stderr);
}

#[tokio::test]
async fn a_service_seals_what_is_committed_with_a_key_that_only_its_owner_reads() {
    use std::os::unix::fs::PermissionsExt;
    let books = Books::new().await;
    let serving = Serving::start(&books.home, &["--data", "books"]);
    let file = books.home.path("books/sealing.key");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let secret = std::fs::read_to_string(&file).unwrap();
    let store = books.store().await;
    // Bounded: half a minute on the slowest machine; the first look usually suffices.
    for _ in 0..600 {
        if store.last_seal().await.unwrap().is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    store.close().await;
    assert_eq!(serving.stop(), Some(0));
    let ended = run(&books, &["ledger", "verify"]);
    assert!(ended.stdout.starts_with("5 rows, sealed up to row 5"), "{}{}", ended.stdout, ended.stderr);
    let serving = Serving::start(&books.home, &["--data", "books"]);
    assert_eq!(serving.stop(), Some(0));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), secret, "a restart keeps the key");
}

#[test]
fn a_ledger_that_there_is_not_is_said_to_be_missing() {
    let home = Home::new();
    for command in [&["ledger", "report"][..], &["ledger", "verify"], &["ledger", "export"], &["explain", "x"]] {
        let ended = home.run(command);
        assert_eq!(ended.code, Some(4), "{command:?}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("error[not_ready]"), "{command:?}: {}", ended.stderr);
    }
}
