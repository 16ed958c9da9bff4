//! `bylaw cost`: when does hosting your own model pay?

use crate::{books::Books, peers::Peers, program::Home};

/// Flags that say everything there is to say.
const FLAGS: [&str; 18] = [
    "--volume",
    "50000",
    "--input-price",
    "1",
    "--output-price",
    "4",
    "--prompt-tokens",
    "2500",
    "--completion-tokens",
    "500",
    "--gpu-hour",
    "2",
    "--prefill-rate",
    "20000",
    "--decode-rate",
    "1500",
    "--labour",
    "3000",
];

#[test]
fn the_simple_formula_is_a_number_and_what_it_leaves_out() {
    let home = Home::new();
    let simple = ["cost", "--simple", "--gpu-hour", "2", "--tokens", "3000", "--price", "2"];
    let report = home.json(&simple);
    assert_eq!(report["break_even_requests_per_day"], 8_000);
    assert_eq!(report["at_half_the_tokens"], 16_000);
    insta::assert_snapshot!("cost_simple", home.run(&simple).stdout);
}

#[test]
fn an_example_is_written_once_and_can_be_run() {
    let home = Home::new();
    for (arguments, file) in
        [(vec!["cost", "init"], "cost.toml"), (vec!["cost", "init", "own.toml", "--owned"], "own.toml")]
    {
        assert_eq!(home.run(&arguments).code, Some(0));
        let again = home.run(&arguments);
        assert_eq!((again.code, again.stderr.starts_with("error[invalid_path]")), (Some(2), true), "{}", again.stderr);
        let ended = home.run(&["cost", file]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    insta::assert_snapshot!("cost_rented", home.run(&["cost", "cost.toml"]).stdout);
}

#[test]
fn flags_say_everything_or_overrule_the_file() {
    let home = Home::new();
    let report = home.json(&[&["cost"], &FLAGS[..]].concat());
    assert_eq!(report["self_hosted"]["replicas"], 2);
    assert_eq!(report["api"]["cost_per_month"], 6_848.44);
    home.run(&["cost", "init"]);
    let all =
        ["cost", "cost.toml", "--volume", "1000", "--set", "self_hosted.labour_per_month=0", "--set", "currency=EUR"];
    let report = home.json(&all);
    assert_eq!(report["tasks_per_day"], 1_000);
    assert_eq!(report["inputs"]["self_hosted"]["labour_per_month"], 0);
    assert_eq!(report["currency"], "EUR");
}

#[test]
fn a_day_needs_no_quotes_and_the_language_can_be_chosen() {
    let home = Home::new();
    home.write("a.toml", "price_date = 2026-11-01\n");
    let all = [&["cost", "a.toml", "--lang", "zh-TW"], &FLAGS[..]].concat();
    let ended = home.run(&all);
    assert!(ended.stdout.contains("價格日期 2026-11-01") && ended.stdout.contains("件起自架划算"), "{}", ended.stdout);
}

#[test]
fn a_page_and_a_table_hold_what_the_json_holds() {
    let home = Home::new();
    let ended = home.run(&[&["cost", "--csv", "--html", "cost.html"], &FLAGS[..]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("\napi.cost_per_month,6848.44\n"), "{}", ended.stdout);
    let page = std::fs::read_to_string(home.path("cost.html")).unwrap();
    assert!(page.contains("data-path=\"/api/cost_per_month\">6,848.44<"));
}

#[tokio::test]
async fn what_is_wrong_is_named_field_by_field() {
    let books = Books::new().await;
    let home = &books.home;
    home.write("typo.toml", "[api]\ninput_pirce = 1\n");
    home.write("broken.toml", "[api\n");
    home.write("word.toml", "[self_hosted.profile]\nprompt_tokens = \"many\"\n");
    home.write("nan.toml", "[api]\ninput_price = nan\n");
    home.write("mixed.toml", "[api]\ncurrency = \"USD\"\n[self_hosted]\ncurrency = \"TWD\"\n");
    let of = |more: &[&'static str]| [&["--data", "books", "cost"], more].concat();
    let with_all = |more: &[&'static str]| [&of(more)[..], &FLAGS[..]].concat();
    let mut told = String::new();
    for arguments in [
        of(&[]),
        of(&["typo.toml"]),
        of(&["broken.toml"]),
        of(&["word.toml"]),
        of(&["nan.toml"]),
        of(&["none.toml"]),
        with_all(&["mixed.toml"]),
        with_all(&["--set", "api.input_price=-1", "--set", "self_hosted.target_utilisation=1.5"]),
        with_all(&["--set", "api.profile.cached_tokens=2501"]),
        with_all(&["--set", "api.input_price"]),
        with_all(&["--set", "currency.x=1", "--set", "currency.x.y=1"]),
        with_all(&["--from-ledger", "a month", "--model", "large"]),
        with_all(&["--from-ledger", "0d", "--model", "large"]),
        with_all(&["--from-ledger", "30d", "--model", "nobody-knows-it"]),
        of(&["--simple", "--gpu-hour", "2", "--tokens", "0", "--price", "-2"]),
        of(&["--simple", "--gpu-hour", "two", "--tokens", "3000", "--price", "2"]),
    ] {
        let ended = home.run(&arguments);
        assert!(matches!(ended.code, Some(2 | 3)) && ended.stdout.is_empty(), "{arguments:?} {}", ended.stdout);
        told.push_str(&format!("{} {}\n", ended.code.unwrap(), ended.stderr.lines().next().unwrap()));
    }
    insta::assert_snapshot!("cost_refusals", told);
}

#[test]
fn a_profile_is_measured_from_what_was_really_asked() {
    let (home, peers) = (Home::new(), Peers::start());
    peers.configure(&home);
    for message in ["hello", "hello again"] {
        let ended = home.run(&["chat", "--print", message]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    let all = [&["cost", "--from-ledger", "30d", "--model", "m"], &FLAGS[..]].concat();
    let report = home.json(&all);
    assert_eq!((&report["measured"]["model"], &report["measured"]["tasks"]), (&"m".into(), &2.into()), "{report}");
    let measured = &report["measured"]["prompt_tokens"]["mean"];
    assert!(measured.as_f64().is_some_and(|tokens| tokens > 0.0), "{report}");
    assert_eq!(&report["inputs"]["api"]["profile"]["prompt_tokens"], measured);
}
