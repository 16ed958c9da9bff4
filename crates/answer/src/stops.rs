//! Why a model did not finish, for people.

use bylaw_contract::{Language, Stop, StopReason};
use bylaw_model::ModelError;

/// The stop of a call that broke.
pub(crate) fn stop_of(error: &ModelError, language: Language) -> Stop {
    let reason = match error {
        ModelError::TimedOut { .. } => StopReason::UpstreamTimeout,
        ModelError::Incomplete => StopReason::UpstreamIncomplete,
        ModelError::Cancelled => StopReason::Cancelled,
        ModelError::Refused(_) => StopReason::Cost,
        ModelError::Unreachable { .. } | ModelError::Status { .. } | ModelError::Malformed { .. } => StopReason::Failed,
    };
    stop(reason, language)
}

/// A stop with its sentence. A pipeline has no steps.
pub(crate) fn stop(reason: StopReason, language: Language) -> Stop {
    let (chinese, english) = match reason {
        StopReason::UpstreamTimeout => {
            ("模型太久沒有回應，回答沒有完成。", "The model took too long; the answer is not complete.")
        }
        StopReason::UpstreamIncomplete => {
            ("模型的回覆中途斷線，回答沒有完成。", "The model's reply broke off; the answer is not complete.")
        }
        StopReason::Refused => ("模型拒絕把回答寫完。", "The model refused to finish the answer."),
        StopReason::Cost => ("預算不允許呼叫模型。", "The budget does not allow a model call."),
        StopReason::Cancelled => ("請求已取消。", "The request was cancelled."),
        StopReason::Completed
        | StopReason::Steps
        | StopReason::ToolCalls
        | StopReason::RepeatedCall
        | StopReason::Context
        | StopReason::Time
        | StopReason::Failed => ("模型在回答途中失敗。", "The model failed while it answered."),
    };
    let message = if language.is_chinese() { chinese } else { english };
    Stop { reason, at_step: 0, message: message.to_owned() }
}

/// Why there is no model's answer, in front of what the model's error says.
pub(crate) fn no_model_answer(error: Option<&ModelError>, language: Language) -> String {
    match (error, language.is_chinese()) {
        (None, true) => "沒有設定模型，改附條文摘錄。".to_owned(),
        (None, false) => "No model is configured; the extract is given instead.".to_owned(),
        (Some(error), true) => format!("無法由模型作答，改附條文摘錄：{error}"),
        (Some(error), false) => format!("No answer from the model; the extract is given instead: {error}"),
    }
}
