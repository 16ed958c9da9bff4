//! Why a model did not finish, for people.

use bylaw_contract::{Language, Stop, StopReason};
use bylaw_gate::{Action, Currency, PeriodKey, Principal, ReserveError, Scope, Shortfall};
use bylaw_model::{ModelError, Refused};

/// The stop of a call that broke.
pub(crate) fn stop_of(error: &ModelError, language: Language) -> Stop {
    let reason = match error {
        ModelError::TimedOut { .. } => StopReason::UpstreamTimeout,
        ModelError::Incomplete => StopReason::UpstreamIncomplete,
        ModelError::Cancelled => StopReason::Cancelled,
        ModelError::Refused(_) => StopReason::Cost,
        ModelError::ContextTooLong { .. } => StopReason::Context,
        ModelError::Unreachable { .. } | ModelError::Status { .. } | ModelError::Malformed { .. } => StopReason::Failed,
    };
    stop(reason, language)
}

/// A stop with its sentence, before any step.
pub(crate) fn stop(reason: StopReason, language: Language) -> Stop {
    let (chinese, english) = match reason {
        StopReason::UpstreamTimeout => {
            ("模型太久沒有回應，回答沒有完成。", "The model took too long; the answer is not complete.")
        }
        StopReason::UpstreamIncomplete => {
            ("模型的回覆中途斷線，回答沒有完成。", "The model's reply broke off; the answer is not complete.")
        }
        StopReason::Refused => ("模型拒絕把回答寫完。", "The model refused to finish the answer."),
        StopReason::Cost => {
            ("費用上限到了，回答沒有完成。", "The limit on cost was reached; the answer is not complete.")
        }
        StopReason::Time => {
            ("時間上限到了，回答沒有完成。", "The limit on time was reached; the answer is not complete.")
        }
        StopReason::Cancelled => ("請求已取消。", "The request was cancelled."),
        StopReason::Steps => {
            ("步驟上限到了，回答可能不完整。", "The limit on steps was reached; the answer may not be complete.")
        }
        StopReason::ToolCalls => (
            "工具次數上限到了，回答可能不完整。",
            "The limit on tool calls was reached; the answer may not be complete.",
        ),
        StopReason::RepeatedCall => {
            ("模型一直重複同樣的查詢，已經停止。", "The model kept repeating the same call and was stopped.")
        }
        StopReason::Context => (
            "內容超過模型能讀的長度，回答沒有完成。",
            "There was more than the model can read; the answer is not complete.",
        ),
        StopReason::Completed | StopReason::Failed => ("模型在回答途中失敗。", "The model failed while it answered."),
    };
    let message = if language.is_chinese() { chinese } else { english };
    Stop { reason, at_step: 0, message: message.to_owned() }
}

/// The stop of a call that did not fit in a budget: which one, its limit, and what is left. How much the whole service may
/// spend and has spent is told only to those who may see it.
pub(crate) fn over_budget(
    shortfall: &Shortfall,
    principal: &Principal,
    currency: &Currency,
    language: Language,
) -> Stop {
    let chinese = language.is_chinese();
    let whose = match (&shortfall.budget.scope, chinese) {
        (Scope::Request(_), true) => "這個問題",
        (Scope::Request(_), false) => "this question",
        (Scope::Key(_), true) => "這把金鑰",
        (Scope::Key(_), false) => "this key",
        (Scope::Service, true) => "整個服務",
        (Scope::Service, false) => "the whole service",
    };
    let period = match (&shortfall.budget.period, chinese) {
        (PeriodKey::Once, _) => "",
        (PeriodKey::Day(_), true) => "每日",
        (PeriodKey::Day(_), false) => "daily ",
        (PeriodKey::Month(_), true) => "每月",
        (PeriodKey::Month(_), false) => "monthly ",
    };
    let amounts = [shortfall.limit, shortfall.left, shortfall.needed].map(|amount| currency.text(amount));
    let [limit, left, needed] = amounts;
    let secret = shortfall.budget.scope == Scope::Service && !principal.may(Action::Budgets);
    let message = if secret && chinese {
        format!("沒有呼叫模型：{whose}的{period}預算已經用完，這次至少要保留 {needed}。")
    } else if secret {
        format!("No model was called: the {period}budget of {whose} is used up, and this call must reserve {needed}.")
    } else if chinese {
        format!("沒有呼叫模型：{whose}的{period}預算是 {limit}，剩 {left}，而這次至少要保留 {needed}。")
    } else {
        format!(
            "No model was called: the budget of {whose} ({period}) is {limit}, {left} is left, and this call must reserve {needed}."
        )
    };
    Stop { reason: StopReason::Cost, at_step: 0, message }
}

/// A refusal that is not about a budget, with what to do about it.
pub(crate) fn refused(why: &ReserveError) -> ModelError {
    let reason = match why {
        ReserveError::Ledger(_) => {
            format!("{why}: the ledger cannot be used; searching goes on (bylaw ledger verify says what is wrong)")
        }
        ReserveError::Budget(_) | ReserveError::NoPrice(_) | ReserveError::ShuttingDown => why.to_string(),
    };
    ModelError::Refused(Refused { reason })
}

/// What a model's error says. Of a refusal the reason is inside: what is around it says only that there was one.
pub(crate) fn reason(error: &ModelError) -> String {
    match error {
        ModelError::Refused(refused) => refused.reason.clone(),
        other => other.to_string(),
    }
}

/// Why there is no model's answer, in front of the reason for it, if one is known.
pub(crate) fn no_model_answer(reason: Option<&str>, language: Language) -> String {
    match (reason, language.is_chinese()) {
        (None, true) => "沒有設定模型，改附條文摘錄。".to_owned(),
        (None, false) => "No model is configured; the extract is given instead.".to_owned(),
        (Some(reason), true) => format!("無法由模型作答，改附條文摘錄：{reason}"),
        (Some(reason), false) => format!("No answer from the model; the extract is given instead: {reason}"),
    }
}
