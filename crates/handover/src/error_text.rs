//! Why a call brought nothing, as one sentence for a model.

use bylaw_contract::{ApiError, ErrorCode, Language, RequestId, ask::StreamErrorEvent};
use bylaw_mcp::ToolStop;
use serde_json::{Value, json};

use crate::{Advice, DoorError, Visit, sentences::Label};

/// Most of what a door or an argument said that is told back.
const MOST_ECHO_CHARS: usize = 600;

/// What the door said, as a failed call. `more` is what may help to do better: names that there are.
pub(crate) fn told(error: &DoorError, visit: &Visit, language: Language, more: Option<&str>) -> ToolStop {
    let zh = language.is_chinese();
    let (code, advice, what, request_id) = match error {
        DoorError::Refused(refused) => {
            (refused.code, Advice::about(refused.code), said(refused, more), &refused.request_id)
        }
        DoorError::Broken(broken) => return broke_off(broken, language),
        DoorError::Unreachable(what) => {
            let what = if zh {
                format!("規章服務沒有回應：{what}")
            } else {
                format!("the service does not answer: {what}")
            };
            (ErrorCode::ServiceUnreachable, Advice::Wait, what, &visit.request_id)
        }
        DoorError::Foreign(what) => {
            let what = if zh {
                format!("那個位址上回應的不是規章服務：{what}")
            } else {
                format!("what answers there is not Bylaw: {what}")
            };
            (ErrorCode::ServiceUnreachable, Advice::GiveUp, what, &visit.request_id)
        }
        DoorError::CutOff(what) => {
            let what = if zh {
                format!("規章服務的回覆到一半就斷了：{what}")
            } else {
                format!("the service's reply broke off: {what}")
            };
            (ErrorCode::ServiceUnreachable, Advice::Retry, what, &visit.request_id)
        }
        DoorError::Late(limit) => {
            let seconds = limit.as_secs();
            let what = if zh {
                format!("規章服務 {seconds} 秒內沒有回覆")
            } else {
                format!("the service did not reply within {seconds} seconds")
            };
            (ErrorCode::ServiceUnreachable, Advice::Wait, what, &visit.request_id)
        }
        DoorError::Cancelled => {
            let what = if zh {
                "呼叫已取消，服務端也一併停下。"
            } else {
                "The call was cancelled, and the service stopped with it."
            };
            return ToolStop::refused(what);
        }
    };
    failed(code, &what, request_id, advice, language)
}

/// A call whose arguments are wrong. Nothing was asked of the door.
pub(crate) fn wrong(problem: &str, request_id: &RequestId, language: Language) -> ToolStop {
    failed(ErrorCode::InvalidRequest, problem, request_id, Advice::Fix, language)
}

fn failed(code: ErrorCode, what: &str, request_id: &RequestId, advice: Advice, language: Language) -> ToolStop {
    let (name, what) = (code.as_str(), cut(what));
    let advice_words = advice.sentence(language);
    let (sentence, not_nothing) = if language.is_chinese() {
        (format!("{name}：{what}（request_id={request_id}）。"), "這不是查無資料。")
    } else {
        (format!("{name}: {what} (request_id={request_id}). "), "This is not \"nothing found\". ")
    };
    // Where the arguments were at fault, nobody takes the failure for an empty result.
    let not_nothing = if advice == Advice::Fix { "" } else { not_nothing };
    ToolStop::refused(format!("{sentence}{not_nothing}{advice_words}"))
        .with_structured(as_json(name, &what, request_id, advice))
}

fn as_json(code: &str, message: &str, request_id: &RequestId, advice: Advice) -> Value {
    json!({ "error": { "code": code, "message": message, "request_id": request_id, "advice": advice.as_str() } })
}

fn said(refused: &ApiError, more: Option<&str>) -> String {
    // Hints speak of addresses and headers, which a model cannot use; what there is instead, it can.
    match (more, refused.code) {
        (Some(more), _) => format!("{}; {more}", refused.message),
        (None, ErrorCode::InvalidKey | ErrorCode::Forbidden) => match &refused.hint {
            Some(hint) => format!("{}; {hint}", refused.message),
            None => refused.message.clone(),
        },
        (None, _) => refused.message.clone(),
    }
}

/// An answer that broke off: nobody leaves with empty hands.
fn broke_off(broken: &StreamErrorEvent, language: Language) -> ToolStop {
    let code = ErrorCode::ALL.iter().find(|code| code.as_str() == broken.code).copied();
    let advice = code.map_or(Advice::Retry, Advice::about);
    let zh = language.is_chinese();
    let (code, message, id) = (&broken.code, cut(&broken.message), &broken.request_id);
    let mut text = if zh {
        format!("{code}：{message}（request_id={id}）。這不代表規章沒有規定。{}", advice.sentence(language))
    } else {
        format!(
            "{code}: {message} (request_id={id}). This does not mean that the rules are silent. {}",
            advice.sentence(language)
        )
    };
    let sentences = broken.extract.iter().flat_map(|extract| &extract.sentences);
    let lines: Vec<String> = sentences.map(|sentence| format!("[{}] {}", sentence.id, sentence.text)).collect();
    if !lines.is_empty() {
        text.push_str("\n\n");
        text.push_str(Label::Verbatim.words(language));
        text.push('\n');
        text.push_str(&lines.join("\n"));
    }
    ToolStop::refused(text).with_structured(as_json(code, &message, id, advice))
}

fn cut(text: &str) -> String {
    let text = text.trim().trim_end_matches(['.', '。']);
    match text.char_indices().nth(MOST_ECHO_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
