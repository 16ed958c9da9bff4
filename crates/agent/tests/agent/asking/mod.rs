//! Agent mode of a question: what it reads, what it cites, how far it goes, and what it costs.

mod any_calls;
mod house;
mod money;
mod sharing;
mod visibility;

use bylaw_contract::{
    Outcome, StopReason,
    ask::{AnsweredBy, AskRequest, Mode},
};
use bylaw_model::scripted::{Script, ScriptedEnd, ScriptedReply};

use house::{Heard, House, question, used};

pub(crate) const ANSWER: &str = r#"{"text":"滿一年七日[work_rules.md#26]。"}"#;

pub(crate) fn search(first: usize, query: &str) -> ScriptedReply {
    ScriptedReply::calls(first, &[("search", &format!(r#"{{"query":"{query}","k":2}}"#))])
}

pub(crate) fn answers(first: usize, arguments: &str) -> ScriptedReply {
    ScriptedReply::calls(first, &[("answer", arguments)])
}

#[tokio::test]
async fn steps_are_told_as_they_happen_then_all_that_was_read_then_the_answer() {
    let read = ScriptedReply::calls(2, &[("read_article", r#"{"source":"work_rules.md","article":"第26條之1"}"#)]);
    let text = r#"{"text":"滿一年七日[work_rules.md#26]。得遞延一次[work_rules.md#26-1]。"}"#;
    let script = Script::new([search(1, "特別休假 天數"), read, answers(3, text)]);
    let (house, heard) = (House::of(&script), Heard::default());
    let answer = house.ask(&AskRequest { k: 1, ..question("特休幾天，可以延嗎") }, &heard).await;
    let told = heard.told();
    assert_eq!(told[0], "1 search(特別休假 天數) 26 5");
    assert_eq!(
        told[1..3],
        [
            "2 read_article(work_rules.md#第26條之1) 26-1",
            "3 answer(滿一年七日[work_rules.md#26]。得遞延一次[work_rules.md#26-1]。) 26 26-1"
        ]
    );
    assert_eq!(
        told[3..],
        [
            "citations 26 5 26-1",
            "token 滿一年七日[work_rules.md#26]。",
            "token 得遞延一次[work_rules.md#26-1]。",
            "done"
        ]
    );
    assert_eq!((answer.outcome, answer.mode), (Outcome::Answered, Mode::Agent));
    assert!(matches!(answer.answered_by, AnsweredBy::Model { ref model } if model == "scripted"));
    assert_eq!(used(&answer), ["work_rules.md#26", "work_rules.md#26-1"]);
    assert!(answer.extract.is_none() && answer.stop.is_none() && answer.draft.is_none());
    let trace = answer.agent.unwrap();
    assert_eq!((trace.steps, trace.searches, trace.llm_calls, trace.hit_cap), (3, 1, 3, false));
    assert_eq!((trace.queries, trace.stopped_reason), (vec!["特別休假 天數".to_owned()], None));
    assert_eq!((answer.usage.model_calls, house.booked().await.len()), (3, 3));
}

/// What becomes of a reply, in the pipeline and in agent mode: as a tool's argument, and as plain text.
#[tokio::test]
async fn a_reply_is_judged_as_the_pipeline_judges_it() {
    for reply in [
        "滿一年七日[work_rules.md#26]。",
        "滿一年七日[9]。",
        "滿一年七日[no_such.md#3]。另外[work_rules.md#26]。",
        "公司重視員工健康。",
        "NOT_IN_RULES",
        "规定的天数是七日[work_rules.md#26]。",
    ] {
        let judged = async |mode, replies: Vec<ScriptedReply>| {
            let (script, heard) = (Script::new(replies), Heard::default());
            let request = AskRequest { mode, k: 2, ..AskRequest::new("公司的健身房補助呢") };
            let answer = House::of(&script).ask(&request, &heard).await;
            assert_eq!(heard.tokens(), answer.answer.clone().unwrap_or_default());
            let has_extract = answer.extract.is_some();
            let cited = used(&answer);
            (answer.answer, answer.outcome, answer.note, answer.sentences, answer.warnings, has_extract, cited)
        };
        // Both read the same article.
        let read = || ScriptedReply::calls(1, &[("read_article", r#"{"article":"work_rules.md#26"}"#)]);
        let arguments = serde_json::json!({ "text": reply }).to_string();
        let plain = judged(Mode::Agent, vec![read(), ScriptedReply::text(reply)]).await;
        let tool = judged(Mode::Agent, vec![read(), answers(2, &arguments)]).await;
        assert_eq!(plain, tool, "{reply}");
        let question = "特別休假滿一年幾天，公司的健身房補助呢";
        let request = AskRequest { mode: Mode::Pipeline, k: 1, ..AskRequest::new(question) };
        let script = Script::new([ScriptedReply::text(reply)]);
        let pipeline = House::of(&script).ask(&request, &Heard::default()).await;
        if !reply.contains("NOT_IN_RULES") {
            assert_eq!(
                (&plain.0, plain.1, &plain.3),
                (&pipeline.answer, pipeline.outcome, &pipeline.sentences),
                "{reply}"
            );
            assert_eq!((&plain.4, plain.5), (&pipeline.warnings, pipeline.extract.is_some()), "{reply}");
        } else {
            assert_eq!((plain.0, plain.5), (None, true));
        }
    }
}

#[tokio::test]
async fn articles_listed_beside_a_text_that_cites_nothing_are_its_citations() {
    let listed = r#"{"text":"滿一年七日。","citations":["work_rules.md#26"]}"#;
    let answer = House::of(&Script::new([search(1, "特別休假"), answers(2, listed)]))
        .ask(&question("特休"), &Heard::default())
        .await;
    assert_eq!((answer.answer.as_deref(), answer.outcome), (Some("滿一年七日。[work_rules.md#26]"), Outcome::Answered));
    let invented = r#"{"text":"滿一年七日。","citations":["work_rules.md#99"]}"#;
    let answer = House::of(&Script::new([search(1, "特別休假"), answers(2, invented)]))
        .ask(&question("特休"), &Heard::default())
        .await;
    assert_eq!((answer.answer.as_deref(), answer.outcome), (Some("滿一年七日。"), Outcome::Degraded));
    assert_eq!(answer.sentences[0].problems, ["invalid_citation", "no_citation"]);
}

#[tokio::test]
async fn the_cap_on_steps_is_true_and_the_forced_answer_is_no_step() {
    let script = Script::answering(|request| match (request.tools.is_empty(), request.messages.len()) {
        (true, _) => ScriptedReply::text("滿一年七日[work_rules.md#26]。"),
        (false, length) => search(length, &format!("特別休假 {length}")),
    });
    let (house, heard) = (House::of(&script), Heard::default());
    let answer = house.ask(&AskRequest { max_steps: Some(2), ..question("特休幾天") }, &heard).await;
    assert_eq!(script.requests().len(), 3);
    assert_eq!((answer.answer.as_deref(), answer.outcome), (Some("滿一年七日[work_rules.md#26]。"), Outcome::Answered));
    let stop = answer.stop.clone().unwrap();
    assert_eq!((stop.reason, stop.at_step), (StopReason::Steps, 2));
    assert!(stop.message.contains("步驟上限") && answer.extract.is_some());
    let trace = answer.agent.unwrap();
    assert_eq!((trace.steps, trace.searches, trace.hit_cap), (2, 2, true));
    assert_eq!((trace.stopped_reason, trace.stopped_at_step), (Some(StopReason::Steps), Some(2)));
    assert!(heard.told().iter().all(|told| !told.starts_with('3')), "{:?}", heard.told());
    assert_eq!(heard.told().last().map(String::as_str), Some("done"));
}

#[tokio::test]
async fn a_model_that_still_calls_when_it_may_no_more_makes_no_further_step() {
    let script = Script::answering(|request| search(request.messages.len(), &format!("{}", request.messages.len())));
    let heard = Heard::default();
    let answer = House::of(&script).ask(&AskRequest { max_steps: Some(2), ..question("特休幾天") }, &heard).await;
    assert_eq!((script.requests().len(), answer.outcome), (3, Outcome::Stopped));
    assert_eq!(answer.stop.map(|stop| (stop.reason, stop.at_step)), Some((StopReason::Steps, 2)));
    assert_eq!(answer.agent.map(|trace| (trace.steps, trace.searches, trace.stopped_at_step)), Some((2, 2, Some(2))));
}

#[tokio::test]
async fn a_stop_without_an_answer_gives_the_extract_and_the_last_draft() {
    let check = ScriptedReply::calls(2, &[("check", r#"{"text":"七日[work_rules.md#26]。"}"#)]);
    let nothing = ScriptedReply::text("");
    let script = Script::new([search(1, "特別休假"), check, nothing]);
    let heard = Heard::default();
    let request = AskRequest { max_steps: Some(2), self_check: true, ..question("特休幾天") };
    let answer = House::of(&script).ask(&request, &heard).await;
    assert_eq!((answer.outcome, answer.answer.as_deref()), (Outcome::Stopped, None));
    assert_eq!(answer.draft.as_deref(), Some("七日[work_rules.md#26]。"));
    assert_eq!(heard.tokens(), "七日[work_rules.md#26]。");
    assert!(answer.extract.is_some_and(|extract| !extract.sentences.is_empty()));
    assert_eq!(answer.stop.map(|stop| (stop.reason, stop.at_step)), Some((StopReason::Steps, 2)));
}

#[tokio::test]
async fn an_answer_that_must_be_checked_is_checked_once_whether_or_not_the_model_thinks_of_it() {
    let bad = r#"{"text":"滿一年七日。"}"#;
    // Checked by the model itself, and then as good as it was; by `answer`, which refuses a bad one once and no more.
    for (replies, expected) in [
        (vec![ScriptedReply::calls(2, &[("check", ANSWER)]), answers(3, ANSWER)], (1, false, false, Outcome::Answered)),
        (vec![answers(2, ANSWER)], (1, false, false, Outcome::Answered)),
        (vec![answers(2, bad), answers(3, ANSWER)], (1, true, true, Outcome::Answered)),
        (vec![answers(2, bad), answers(3, bad)], (1, true, false, Outcome::Degraded)),
    ] {
        let script = Script::new(std::iter::once(search(1, "特別休假")).chain(replies));
        let request = AskRequest { self_check: true, ..question("特休幾天") };
        let answer = House::of(&script).ask(&request, &Heard::default()).await;
        let trace = answer.agent.unwrap();
        assert_eq!((trace.n_checks, trace.flagged, trace.revised, answer.outcome), expected);
        assert!(script.requests()[0].tools.iter().any(|tool| tool.name == "check"));
    }
    let script = Script::new([answers(1, ANSWER)]);
    House::of(&script).ask(&question("特休幾天"), &Heard::default()).await;
    let offered: Vec<String> = script.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(offered, ["search", "read_article", "answer"]);
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_said_with_what_to_do() {
    let calls = [
        ("search", r#"{"query":"？"}"#, "write the question in words"),
        ("search", "{}", "query"),
        ("read_article", r#"{"article":"99"}"#, "There is no such article"),
        ("read_article", r#"{"source":"nope.md","article":"1"}"#, "The documents are: handbook_en.md"),
        ("answer", r#"{"text":" "}"#, "`text` is empty"),
        ("find", "{}", "There is no tool `find`"),
    ];
    for (tool, arguments, expected) in calls {
        let script = Script::new([ScriptedReply::calls(1, &[(tool, arguments)]), ScriptedReply::text("NOT_IN_RULES")]);
        let heard = Heard::default();
        House::of(&script).ask(&question("特休"), &heard).await;
        let told = script.requests()[1].results().concat();
        assert!(told.contains(expected), "{tool} {arguments}: {told}");
        assert!(
            heard.told()[0].starts_with("1 ") && heard.told()[0].contains('!') || tool == "answer",
            "{:?}",
            heard.told()
        );
    }
}

#[tokio::test]
async fn a_model_that_breaks_is_told_as_in_the_pipeline() {
    let cut = || ScriptedReply::ending(["滿一年"], ScriptedEnd::Cut);
    let down = || ScriptedReply::Unreachable;
    for (last, outcome, stop, event) in [
        (cut(), Outcome::Stopped, Some(StopReason::UpstreamIncomplete), "failed upstream_incomplete"),
        (down(), Outcome::Degraded, None, "done"),
        (ScriptedReply::NeverAnswers, Outcome::Stopped, Some(StopReason::UpstreamTimeout), "failed upstream_timeout"),
    ] {
        let (script, heard) = (Script::new([search(1, "特別休假"), last]), Heard::default());
        let answer = House::of(&script).ask(&question("特休幾天"), &heard).await;
        assert_eq!((answer.outcome, answer.stop.as_ref().map(|stop| stop.reason)), (outcome, stop));
        assert!(answer.answer.is_none() && answer.extract.is_some() && answer.mode == Mode::Agent);
        assert_eq!(answer.agent.unwrap().searches, 1);
        assert_eq!(heard.told().last().map(String::as_str), Some(event));
    }
}

#[tokio::test]
async fn the_prompt_is_in_the_questions_language() {
    for (asked, expected) in
        [("特休幾天", "用繁體中文"), ("特别休假几天", "用简体中文"), ("How many days?", "Answer in English")]
    {
        let script = Script::new([ScriptedReply::text("NOT_IN_RULES")]);
        House::of(&script).ask(&question(asked), &Heard::default()).await;
        assert!(script.requests()[0].messages[0].content().contains(expected), "{asked}");
    }
}
