//! Whatever a model calls.

use std::collections::BTreeSet;

use bylaw_contract::{ArticleId, Outcome, ask::AskRequest};
use bylaw_model::scripted::{Script, ScriptedReply};
use proptest::prelude::*;

use super::house::{Caller, Heard, House, question, reader};

const IDS: [&str; 7] = [
    "work_rules.md#26",
    "work_rules.md#26-1",
    "work_rules.md#40",
    "salary_bands.md#5",
    "handbook_en.md#12",
    "no.md#1",
    "9",
];

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("特別休假".to_owned()),
        Just("P7 薪資帶".to_owned()),
        Just("NOT_IN_RULES".to_owned()),
        prop::sample::select(&IDS[..]).prop_map(str::to_owned),
        prop::sample::subsequence(&IDS[..], 0..4)
            .prop_map(|ids| ids.iter().map(|id| format!("七日[{id}]。")).collect::<String>()),
        ".{0,12}",
    ]
}

fn arguments() -> impl Strategy<Value = String> {
    let field = prop::sample::select(&["query", "k", "source", "article", "text", "citations", "junk"][..]);
    let value = prop_oneof![
        words().prop_map(serde_json::Value::from),
        any::<i32>().prop_map(serde_json::Value::from),
        prop::collection::vec(words(), 0..3).prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    prop_oneof![
        8 => prop::collection::btree_map(field, value, 0..4).prop_map(|map| serde_json::to_string(&map).unwrap()),
        4 => words().prop_map(|text| serde_json::json!({ "text": text }).to_string()),
        4 => words().prop_map(|text| serde_json::json!({ "query": text }).to_string()),
        4 => words().prop_map(|text| serde_json::json!({ "article": text }).to_string()),
        1 => ".{0,20}",
    ]
}

fn reply(at: usize) -> impl Strategy<Value = ScriptedReply> {
    let tool = prop::sample::select(&["search", "read_article", "check", "answer", "junk", ""][..]);
    let calls = prop::collection::vec((tool, arguments()), 1..4).prop_map(move |calls| {
        let calls: Vec<(&str, &str)> = calls.iter().map(|(tool, arguments)| (*tool, arguments.as_str())).collect();
        ScriptedReply::calls(100 * at, &calls)
    });
    prop_oneof![
        8 => calls,
        2 => words().prop_map(|text| ScriptedReply::text(&text)),
        1 => Just(ScriptedReply::Unreachable),
        1 => ".{0,30}".prop_map(ScriptedReply::Raw),
    ]
}

fn replies() -> impl Strategy<Value = Vec<ScriptedReply>> {
    (1_usize..8).prop_flat_map(|length| (1..=length).map(|at| reply(at).boxed()).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_what_is_readable_and_was_read_is_cited_the_run_ends_and_the_books_balance(
        replies in replies(),
        steps in 1_u32..6,
        self_check: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let script = Script::new(replies);
            let (house, heard) = (House::of(&script), Heard::default());
            let request = AskRequest { max_steps: Some(steps), self_check, ..question("特休幾天") };
            let caller = Caller { principal: reader(&["work_rules.md", "handbook_en.md"]), ..Caller::default() };
            let answer = house.try_ask(&request, caller, &heard).await.unwrap();
            let listed: BTreeSet<ArticleId> = answer.citations.iter().map(|citation| citation.id.clone()).collect();
            assert!(listed.iter().all(|id| id.source.as_str() != "salary_bands.md"), "{listed:?}");
            let cited = answer.sentences.iter().flat_map(|sentence| &sentence.citations);
            assert!(cited.clone().all(|id| listed.contains(id)), "{answer:?}");
            // Read: in some result that the model was given.
            let shown: String = script.requests().iter().flat_map(|r| r.messages.iter().map(|m| m.content().to_owned())).collect();
            if matches!(answer.answered_by, bylaw_contract::ask::AnsweredBy::Model { .. }) {
                assert!(cited.clone().all(|id| shown.contains(&format!("<article id=\"{id}\">"))), "{answer:?}");
            }
            assert!(!shown.contains("120,000"));
            let trace = answer.agent.clone().unwrap();
            assert!(trace.steps <= steps && answer.stop.as_ref().is_none_or(|stop| stop.at_step <= steps));
            assert!(answer.answer.is_some() || answer.extract.is_some());
            assert!(answer.outcome != Outcome::Stopped || answer.stop.is_some() && answer.answer.is_none());
            let (spent, open) = house.balance().await;
            assert_eq!((spent, open), (answer.usage.cost_micro_usd.0, 0));
            let told = heard.told();
            let last = told.last().map(String::as_str).unwrap_or_default();
            assert!(last == "done" || last.starts_with("failed"), "{told:?}");
            assert_eq!(heard.tokens(), answer.answer.clone().or(answer.draft.clone()).unwrap_or_default());
        });
    }
}
