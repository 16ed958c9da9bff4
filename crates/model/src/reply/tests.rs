//! What replies of every kind are read as.

use proptest::prelude::*;

use super::*;

fn asked() -> Asked {
    Asked { model: "asked".to_owned(), max_tokens: 300, turn: 2, ..Asked::default() }
}

/// What a reader makes of a body that comes in these pieces and then ends: the deltas, one to a word, and the error.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (String, ReplyReader) {
    read_as(asked(), pieces)
}

fn read_as<'a>(asked: Asked, pieces: impl IntoIterator<Item = &'a [u8]>) -> (String, ReplyReader) {
    let mut reader = ReplyReader::new(asked);
    let mut deltas = VecDeque::new();
    let mut result = Ok(());
    for piece in pieces {
        result = reader.push(piece, &mut deltas);
        if result.is_err() || reader.is_whole() {
            break;
        }
    }
    if result.is_ok() && !reader.is_whole() {
        result = reader.finish(&mut deltas);
    }
    let mut told = String::new();
    for delta in deltas {
        match delta {
            ChatDelta::Text(text) => told.push_str(&text),
            ChatDelta::Reasoning(thought) => told.push_str(&format!("({})", thought.text)),
            ChatDelta::ToolCall(call) => told.push_str(&format!("|{} {}({})", call.id, call.name, call.arguments)),
            ChatDelta::CutToolCall(call) => {
                told.push_str(&format!("|cut {} {}({})", call.id, call.name, call.arguments));
            }
            ChatDelta::End { finish_reason, usage, model } => {
                let usage = usage.map(|usage| (usage.input_tokens, usage.output_tokens));
                told.push_str(&format!("|{finish_reason:?} {usage:?} {model}"));
            }
        }
    }
    if let Err(error) = result {
        told.push_str(&format!("|! {error}"));
    }
    (told, reader)
}

fn check(body: &str, expected: &str) {
    assert_eq!(read([body.as_bytes()]).0, expected, "{body}");
    assert_eq!(read(body.as_bytes().chunks(1)).0, expected, "{body}");
}

const TEXT: &str =
    r#"data: {"model":"m-1","choices":[{"index":0,"delta":{"content":"特休"},"finish_reason":null}],"usage":null}"#;
const FINISH: &str = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#;

#[test]
fn a_stream_is_whole_when_it_says_so() {
    check(&format!("{TEXT}\n\n{FINISH}\n\n{USAGE}\n\ndata: [DONE]\n\n{TEXT}\n\n"), "特休|Stop Some((9, 2)) m-1");
    check(&format!("\u{feff}{TEXT}\r\n\r\n{FINISH}\r\n\r\n"), "特休|Stop None m-1");
    check(&format!("{TEXT}\n\ndata: [DONE]\n\n"), "特休|Stop None m-1");
    check(&format!("{TEXT}\n\ndata: [DONE]"), "特休|Stop None m-1");
    check(&format!("{TEXT}\n\n{FINISH}"), "特休|Stop None m-1");
    check(&format!("{TEXT}\n\n{FINISH}\n\n{}", &USAGE[..40]), "特休|Stop None m-1");
    check(r#"data: {"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]}"#, "a|Length None asked");
}

#[test]
fn what_ends_before_is_incomplete() {
    let incomplete = "the model's reply ended before it was complete";
    check(&format!("{TEXT}\n\n"), &format!("特休|! {incomplete}"));
    check(&format!("{TEXT}\n\n{}", &TEXT[..60]), &format!("特休|! {incomplete}"));
    check("", &format!("|! {incomplete}"));
    check(r#"{"choices":[{"message":{"cont"#, &format!("|! {incomplete}"));
}

#[test]
fn plain_json_is_a_reply_in_one_piece() {
    check(
        r#" {"model":"m-1","choices":[{"message":{"content":"七日"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#,
        "七日|Stop Some((9, 2)) m-1",
    );
    check(r#"{"choices":[{"message":{"content":null}}]}"#, "|Stop None asked");
    check(
        r#"{"choices":[{"message":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"a"}]}}]}"#,
        "a|Stop None asked",
    );
    check(r#"{"ok":true}"#, "|! the model's reply cannot be understood: it holds no `choices`");
}

#[test]
fn an_error_inside_the_reply_is_an_error() {
    let data = r#"{"error":{"message":"overloaded","code":503}}"#;
    let expected = "the model's endpoint answered 503: overloaded";
    check(&format!("{TEXT}\n\ndata: {data}\n\n"), &format!("特休|! {expected}"));
    check(&format!("event: error\ndata: {data}\n\n"), &format!("|! {expected}"));
    check("event: error\ndata: no slot\n\n", "|! the model's endpoint answered 200: no slot");
    check(data, &format!("|! {expected}"));
    check(r#"data: {"error":null,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#, "a|Stop None asked");
}

#[test]
fn what_is_no_reply_is_malformed() {
    let check = |body: &str| {
        let told = read([body.as_bytes()]).0;
        assert!(told.starts_with("|! the model's reply cannot be understood: "), "{told}");
    };
    check("<!doctype html><p>sign in</p>");
    check("data: {\"choices\": 7}\n\n");
    check("data: not json\n\n");
    check(r#"{"choices":[}"#);
}

#[test]
fn everything_the_model_wrote_is_received_and_only_its_answer_is_told() {
    let body = concat!(
        "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"想想\",\"reasoning\":\"想想\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"ab\",\"refusal\":\"no\"}},{\"index\":1,\"delta\":{\"content\":\"zz\"}}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}\n\n",
    );
    let (told, reader) = read([body.as_bytes()]);
    assert_eq!(told, "(想想)ab|! the model's reply ended before it was complete");
    assert_eq!(reader.text_bytes(), 6 + 2 + 2 + 2);
    assert_eq!(reader.final_usage(), None, "a running count is not the usage of the reply");
    assert_eq!(read([br#"{"choices":[{"#.as_slice()]).1.text_bytes(), 13, "half a JSON reply may be all text");
}

/// A stream of these deltas, with another end than `tool_calls` if one is named.
fn deltas(deltas: &[&str], finish_reason: &str) -> String {
    let event = |delta: &&str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n");
    let mut body: String = deltas.iter().map(event).collect();
    body.push_str(&format!(
        "data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":{finish_reason}}}]}}\n\ndata: [DONE]\n\n"
    ));
    body
}

/// Each piece of a call is an item of `tool_calls` in a delta of its own.
fn check_calls(pieces: &[&str], expected: &str) {
    let pieces: Vec<String> = pieces.iter().map(|piece| format!("{{\"tool_calls\":[{piece}]}}")).collect();
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    check(&deltas(&pieces, "\"tool_calls\""), &format!("{expected}|ToolCalls None asked"));
}

#[test]
fn pieces_of_calls_find_their_call() {
    // As OpenAI sends them.
    check_calls(
        &[
            r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}"#,
            r#"{"index":0,"function":{"arguments":"{\"city\":"}}"#,
            r#"{"index":0,"function":{"arguments":"\"杭州\"}"}}"#,
        ],
        r#"|a f({"city":"杭州"})"#,
    );
    // By turns, and the second first.
    check_calls(
        &[
            r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}"#,
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#,
            r#"{"index":1,"function":{"arguments":"}"}}"#,
            r#"{"index":0,"function":{"arguments":"}"}}"#,
        ],
        "|a f({})|b g({})",
    );
    // Two whole calls under one index.
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#,
            r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{\"p\":2}"}}"#,
        ],
        r#"|a f({"p":1})|b f({"p":2})"#,
    );
    // Two under one index in pieces: the id tells them apart.
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#,
            r#"{"index":0,"id":"b","function":{"name":"g","arguments":"{"}}"#,
            r#"{"index":0,"id":"a","function":{"arguments":"}"}}"#,
            r#"{"index":0,"id":"b","function":{"arguments":"}"}}"#,
        ],
        "|a f({})|b g({})",
    );
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#,
            r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{"}}"#,
            r#"{"index":0,"id":"a","function":{"arguments":"}"}}"#,
            r#"{"index":0,"id":"b","function":{"arguments":"}"}}"#,
        ],
        "|a f({})|b f({})",
    );
    // Neither index nor id but the first.
    check_calls(
        &[
            r#"{"id":"a","function":{"name":"f","arguments":"{"}}"#,
            r#"{"function":{"arguments":"}"}}"#,
            r#"{"id":"b","function":{"name":"f","arguments":"{}"}}"#,
        ],
        "|a f({})|b f({})",
    );
    // Several in one delta, without index or id.
    check_calls(
        &[r#"{"function":{"name":"f","arguments":"{\"p\":1}"}},{"function":{"name":"f","arguments":"{\"p\":2}"}}"#],
        r#"|call_2_0 f({"p":1})|call_2_1 f({"p":2})"#,
    );
}

#[test]
fn ids_and_names_are_whole_unique_and_never_joined() {
    // No id at first, an empty one later.
    check_calls(
        &[
            r#"{"index":0,"function":{"name":"f","arguments":""}}"#,
            r#"{"index":0,"id":"","function":{"arguments":"{}"}}"#,
        ],
        "|call_2_0 f({})",
    );
    // The id comes later than the call.
    check_calls(
        &[
            r#"{"index":0,"function":{"name":"f","arguments":"{"}}"#,
            r#"{"index":0,"id":"a","function":{"arguments":"}"}}"#,
        ],
        "|a f({})",
    );
    // Both in every piece.
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#,
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"\"p\":"}}"#,
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}}"}}"#,
        ],
        r#"|a f({"p":{}})"#,
    );
    // Told once more at the end.
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#,
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#,
        ],
        r#"|a f({"p":1})"#,
    );
    // Two calls with one id.
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#,
            r#"{"index":1,"id":"a","function":{"name":"g","arguments":"{}"}}"#,
        ],
        "|a f({})|a_2 g({})",
    );
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#,
            r#"{"index":1,"id":"a","function":{"name":"f","arguments":"{"}}"#,
            r#"{"index":0,"function":{"arguments":"}"}}"#,
            r#"{"index":1,"function":{"arguments":"}"}}"#,
        ],
        "|a f({})|a_2 f({})",
    );
    // An id that an earlier turn had.
    let body = deltas(&[r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}"#], "null");
    let asked = Asked { call_ids: HashSet::from(["a".to_owned()]), ..asked() };
    assert_eq!(read_as(asked, [body.as_bytes()]).0, "|a_2 f({})|ToolCalls None asked");
}

#[test]
fn arguments_are_told_as_they_were_written() {
    let check = |arguments: &str, expected: &str| {
        let function = format!(r#"{{"name":"f"{arguments}}}"#);
        check_calls(&[&format!(r#"{{"index":0,"id":"a","function":{function}}}"#)], &format!("|a f({expected})"));
        let whole = format!(r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"a","function":{function}}}]}}}}]}}"#);
        check(&whole, &format!("|a f({expected})|ToolCalls None asked"));
    };
    check("", "");
    check(r#","arguments":null"#, "");
    check(r#","arguments":"""#, "");
    check(r#","arguments":"null""#, "null");
    check(r#","arguments":{"p":1}"#, r#"{"p":1}"#);
    check(r#","arguments":["p"]"#, r#"["p"]"#);
    check(r#","arguments":7"#, "7");
    check(r#","arguments":"{\"keyword\": \"家庭""#, r#"{"keyword": "家庭"#);
}

#[test]
fn calls_decide_and_not_the_reason_that_is_named() {
    let call = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}"#;
    let half = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}"#;
    for reason in
        ["\"stop\"", "\"tool_calls\"", "\"function_call\"", "\"tool_use\"", "\"eos\"", "\"done\"", "\"\"", "null"]
    {
        check(&deltas(&[call], reason), "|a f({})|ToolCalls None asked");
    }
    for (reason, name) in [("length", "Length"), ("max_tokens", "Length"), ("content_filter", "ContentFilter")] {
        check(&deltas(&[call], &format!("\"{reason}\"")), &format!("|cut a f({{}})|{name} None asked"));
    }
    check(&deltas(&[half], "\"stop\""), "|a f({)|ToolCalls None asked");
    check(&deltas(&[half], "\"abort\""), r#"|cut a f({)|Other("abort") None asked"#);
    check(&deltas(&[r#"{"content":"七日"}"#], "\"tool_calls\""), "七日|Stop None asked");
    check(&deltas(&[r#"{"content":null}"#], "\"stop\""), "|Stop None asked");
}

#[test]
fn a_reply_that_used_all_its_tokens_was_cut_off_whatever_it_says() {
    let body = |tokens: u32| {
        let message = r#"{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}"#;
        let usage = format!(r#"{{"prompt_tokens":9,"completion_tokens":{tokens}}}"#);
        format!(r#"{{"choices":[{{"message":{message},"finish_reason":"tool_calls"}}],"usage":{usage}}}"#)
    };
    check(&body(299), "|a f({})|ToolCalls Some((9, 299)) asked");
    check(&body(300), "|cut a f({})|Length Some((9, 300)) asked");
}

#[test]
fn a_call_of_a_stream_that_broke_is_none() {
    let call = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}"#;
    let body = deltas(&[call], "\"tool_calls\"");
    let broken = &body[..body.find("data: {\"choices\":[{\"delta\":{}").unwrap()];
    check(broken, "|! the model's reply ended before it was complete");
    assert_eq!(read([broken.as_bytes()]).1.text_bytes(), 3, "but it was written");
}

#[test]
fn the_function_call_of_old_is_a_call() {
    check(
        &deltas(
            &[
                r#"{"function_call":{"name":"f","arguments":""}}"#,
                r#"{"function_call":{"arguments":"{\"p\":"}}"#,
                r#"{"function_call":{"arguments":"1}"}}"#,
            ],
            "\"function_call\"",
        ),
        r#"|call_2_0 f({"p":1})|ToolCalls None asked"#,
    );
    check(
        r#"{"choices":[{"message":{"content":null,"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}]}"#,
        "|call_2_0 f({})|ToolCalls None asked",
    );
}

#[test]
fn calls_of_plain_json_are_told_one_by_one() {
    check(
        r#"{"choices":[{"message":{"content":"so","reasoning_content":"think-42","tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}},{"id":"c1","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
        "(think-42)so|c1 f({})|c1_2 f({})|ToolCalls None asked",
    );
    check(r#"{"choices":[{"message":{"tool_calls":null},"finish_reason":"stop"}]}"#, "|Stop None asked");
    check(r#"{"choices":[{"message":{"tool_calls":[]},"finish_reason":"stop"}]}"#, "|Stop None asked");
    check(r#"{"choices":[]}"#, "|Stop None asked");
    let many = vec![r#"{"function":{"name":"f"}}"#; 129].join(",");
    let told = read([format!(r#"{{"choices":[{{"message":{{"tool_calls":[{many}]}}}}]}}"#).as_bytes()]).0;
    assert!(told.ends_with("it asks for more than 128 calls"), "{told}");
}

#[test]
fn usage_is_the_last_that_says_something() {
    let real = r#"data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#;
    let null = r#"data: {"choices":[{"delta":{"content":""}}],"usage":null}"#;
    let nulls = r#"data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":null,"total_tokens":null}}"#;
    let check = |lines: &[&str], expected: &str| {
        check(&format!("{}\n\n", lines.join("\n\n")), expected);
    };
    check(&[TEXT, null, null, real, FINISH, nulls, "data: [DONE]"], "特休|Stop Some((9, 2)) m-1");
    check(&[TEXT, nulls, FINISH, "data: [DONE]"], "特休|Stop None m-1");
}

#[test]
fn calls_in_words_are_calls() {
    let check = |text: &str, reason: &str, expected: &str| {
        let asked = Asked { in_words: true, ..asked() };
        let text = serde_json::to_string(text).unwrap();
        let body = deltas(&[&format!(r#"{{"content":{text}}}"#)], &format!("\"{reason}\""));
        assert_eq!(read_as(asked, body.as_bytes().chunks(7)).0, expected);
    };
    check(r#"{"name":"f","arguments":{"p":1}}"#, "stop", r#"|call_2_0 f({"p":1})|ToolCalls None asked"#);
    check(r#"{"name":"final_answer","arguments":{"text":"七日"}}"#, "stop", "七日|Stop None asked");
    check("七日", "stop", "七日|Stop None asked");
    check(r#"{"name":"f","arguments":{"p"#, "length", r#"|cut call_2_0 f({"p)|Length None asked"#);
}

proptest! {
    #[test]
    fn any_cutting_reads_the_same(
        lines in prop::collection::vec(prop::sample::select(vec![TEXT, FINISH, USAGE, "data: [DONE]", ": ping", "data: x"]), 0..8),
        end in prop::sample::select(vec!["\n\n", "\r\n\r\n"]),
        size in 1_usize..40,
    ) {
        let body: String = lines.iter().flat_map(|line| [*line, end]).collect();
        let whole = read([body.as_bytes()]);
        let cut = read(body.as_bytes().chunks(size));
        prop_assert_eq!(whole.0, cut.0);
        prop_assert_eq!(whole.1.text_bytes(), cut.1.text_bytes());
    }

    #[test]
    fn any_interleaving_of_indexed_pieces_gives_the_same_calls(
        calls in prop::collection::vec(("[a-z]{1,4}", prop::collection::vec("[a-z條 ]{0,3}", 1..4)), 1..4),
        order in prop::collection::vec(any::<prop::sample::Index>(), 24),
        says_ids in 0_u8..3,
        repeats_names in any::<bool>(),
        size in 1_usize..60,
    ) {
        let mut queues: Vec<VecDeque<String>> = Vec::new();
        let mut expected = String::new();
        for (index, (name, words)) in calls.iter().enumerate() {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let arguments = format!("{{\"p\":[{}]}}", words.join(","));
            let chars: Vec<char> = arguments.chars().collect();
            let pieces = chars.chunks(chars.len().div_ceil(3)).enumerate();
            queues.push(pieces.map(|(place, piece)| {
                let mut function = serde_json::json!({"arguments": piece.iter().collect::<String>()});
                if place == 0 || repeats_names {
                    function["name"] = name.as_str().into();
                }
                let mut call = serde_json::json!({"index": index, "function": function});
                if says_ids == 2 || (says_ids == 1 && place == 0) {
                    call["id"] = format!("id{index}").into();
                }
                serde_json::json!({"tool_calls": [call]}).to_string()
            }).collect());
            let id = if says_ids == 0 { format!("call_2_{index}") } else { format!("id{index}") };
            expected.push_str(&format!("|{id} {name}({arguments})"));
        }
        let mut shuffled = Vec::new();
        for pick in &order {
            let waiting: Vec<usize> = (0..queues.len()).filter(|&queue| !queues[queue].is_empty()).collect();
            if waiting.is_empty() { break; }
            shuffled.extend(queues[waiting[pick.index(waiting.len())]].pop_front());
        }
        let shuffled: Vec<&str> = shuffled.iter().map(String::as_str).collect();
        let body = deltas(&shuffled, "\"tool_calls\"");
        let expected = format!("{expected}|ToolCalls None asked");
        prop_assert_eq!(&read([body.as_bytes()]).0, &expected);
        prop_assert_eq!(&read(body.as_bytes().chunks(size)).0, &expected);
    }
}
