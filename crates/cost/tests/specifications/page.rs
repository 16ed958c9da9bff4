//! The page and the table say what the JSON says.

use std::collections::BTreeSet;

use bylaw_contract::Language;
use bylaw_cost::{CostInput, CostReport, Example, Figure, compare, csv, html, text};
use serde_json::Value;

use crate::{at, base, figure, with_labour};

const LANGUAGES: [Language; 2] = [Language::English, Language::TraditionalChinese];

fn example(example: Example) -> CostReport {
    compare(toml::from_str(example.toml()).unwrap(), None).unwrap()
}

fn reports() -> Vec<CostReport> {
    let mut gaps = base();
    gaps.self_hosted.gpu_price_per_hour = Some(figure("4.5"));
    let mut quality = with_labour();
    quality.failure_cost = Some(figure("2"));
    quality.api.success_rate = Some(figure("0.9"));
    quality.self_hosted.success_rate = Some(figure("0.86"));
    let mut never = base();
    never.api.input_price = Some(figure("0.01"));
    never.api.output_price = Some(figure("0.01"));
    let mut reports: Vec<CostReport> = Example::ALL.into_iter().map(example).collect();
    reports.extend([at(&gaps, "30000"), at(&quality, "100000"), at(&never, "5"), at(&with_labour(), "1000000")]);
    reports
}

/// Every element with a `data-path`: the path, the `value` if it has one, and the text.
fn marked(page: &str) -> Vec<(String, Option<String>, String)> {
    let mut found = Vec::new();
    for piece in page.split("data-path=\"").skip(1) {
        let (path, rest) = piece.split_once('"').unwrap();
        let text = rest.split_once('>').unwrap().1.split_once('<').unwrap().0;
        found.push((path.to_owned(), None, text.to_owned()));
    }
    for piece in page.split("<data value=\"").skip(1) {
        let (value, rest) = piece.split_once('"').unwrap();
        let path = rest.split_once("data-path=\"").unwrap().1.split_once('"').unwrap().0;
        let text = rest.split_once('>').unwrap().1.split_once('<').unwrap().0;
        found.push((path.to_owned(), Some(value.to_owned()), text.to_owned()));
    }
    found
}

/// What a shown number is.
fn read(text: &str) -> Figure {
    let plain = text.replace(',', "").replace('−', "-");
    match plain.strip_suffix(" %") {
        Some(per_cent) => figure(per_cent) / Figure::from(100),
        None => figure(&plain),
    }
}

/// The text that a reader sees, without what is marked and without what is quoted from the input.
fn unmarked_text(page: &str) -> String {
    let body = page.split_once("<body>").unwrap().1;
    let mut text = String::new();
    for (index, piece) in body.split('<').enumerate() {
        let Some((tag, seen)) = (if index == 0 { None } else { piece.split_once('>') }) else { continue };
        if !tag.contains("data-path")
            && !tag.contains("data-text")
            && !tag.starts_with("time")
            && !tag.starts_with("code")
        {
            text.push_str(seen);
        }
        text.push(' ');
    }
    text
}

fn numbers(json: &Value, into: &mut BTreeSet<Figure>) {
    match json {
        Value::Object(fields) => fields.values().for_each(|value| numbers(value, into)),
        Value::Array(items) => items.iter().for_each(|value| numbers(value, into)),
        Value::Number(_) => {
            into.insert(serde_json::from_value(json.clone()).unwrap());
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[test]
fn every_number_of_the_page_is_that_of_the_json() {
    for report in reports() {
        let json = serde_json::to_value(&report).unwrap();
        for language in LANGUAGES {
            let page = html(&report, language);
            let marked = marked(&page);
            assert!(marked.len() > 100, "{}", marked.len());
            for (path, value, text) in marked {
                let of_json: Figure = serde_json::from_value(json.pointer(&path).unwrap().clone()).unwrap();
                assert_eq!(read(&text), of_json, "{path}");
                assert!(value.is_none_or(|value| figure(&value) == of_json), "{path}");
            }
        }
    }
}

#[test]
fn what_the_page_says_in_words_is_in_the_json_too() {
    for report in reports() {
        let mut known = BTreeSet::new();
        numbers(&serde_json::to_value(&report).unwrap(), &mut known);
        known.extend(known.clone().into_iter().map(|figure| -figure));
        for language in LANGUAGES {
            let page = unmarked_text(&html(&report, language));
            let words = page.split(|c: char| !c.is_ascii_digit() && c != ',' && c != '.');
            let words = words.map(|word| word.trim_matches([',', '.'])).filter(|word| !word.is_empty());
            for word in words {
                let number = read(word);
                let share = number / Figure::from(100);
                // Percentiles are named by their number.
                assert!(
                    known.contains(&number) || known.contains(&share) || ["5", "95"].contains(&word),
                    "{word}: {page}"
                );
            }
        }
    }
}

#[test]
fn the_drawings_are_in_the_tables_too() {
    for report in reports() {
        let page = html(&report, Language::English);
        for (index, one) in report.sensitivity.iter().enumerate() {
            for name in ["saving_at_low", "saving_at_high"] {
                let cell = format!("data-path=\"/sensitivity/{index}/{name}\"");
                assert!(page.contains(&format!("<data value=\"{}\" {cell}", json_number(one, name))), "{cell}");
            }
        }
        for index in 0..report.break_even.steps.len() {
            assert!(page.contains(&format!("data-path=\"/break_even/steps/{index}/from\"")));
        }
    }
}

fn json_number(value: &impl serde::Serialize, name: &str) -> String {
    serde_json::to_value(value).unwrap()[name].to_string()
}

#[test]
fn the_page_needs_nothing_else_and_believes_no_name() {
    let mut input: CostInput = toml::from_str(Example::Rented.toml()).unwrap();
    input.api.name = Some("<script>alert(1)</script>&\"".to_owned());
    let page = html(&compare(input, None).unwrap(), Language::English);
    for absent in ["<script", "http://", "https://", "src=", "url(http", "@import", "<link", "onload"] {
        assert!(!page.contains(absent), "{absent}");
    }
    assert!(page.contains("&lt;script&gt;"));
}

#[test]
fn a_table_of_two_columns_holds_every_figure() {
    let report = example(Example::Rented);
    let table = csv(&report);
    let (mut known, mut listed) = (BTreeSet::new(), BTreeSet::new());
    numbers(&serde_json::to_value(&report).unwrap(), &mut known);
    listed.extend(table.lines().filter_map(|line| line.rsplit_once(',')?.1.parse::<Figure>().ok()));
    assert!(known.is_subset(&listed), "{:?}", known.difference(&listed).collect::<Vec<_>>());
    assert!(table.starts_with("figure,value\n") && table.contains("\ncurrency,USD\n"), "{table}");
    let mut input: CostInput = toml::from_str(Example::Rented.toml()).unwrap();
    input.api.name = Some("=1+1, or \"so\"".to_owned());
    assert!(csv(&compare(input, None).unwrap()).contains("api.name,\"'=1+1, or \"\"so\"\"\"\n"));
}

#[test]
fn a_terminal_shows_the_result_the_set_and_what_was_assumed() {
    for (one, language) in [(Example::Rented, Language::English), (Example::Owned, Language::TraditionalChinese)] {
        insta::assert_snapshot!(text(&example(one), language));
    }
}

#[test]
fn the_json_of_a_report_is_stable() {
    insta::assert_json_snapshot!(example(Example::Rented));
}
