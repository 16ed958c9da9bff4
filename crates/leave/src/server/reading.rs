//! The tools that look things up.

use std::sync::Arc;

use async_trait::async_trait;
use bylaw_contract::Language;
use bylaw_mcp::{CallContext, ServerTool, ToolReply, ToolSpec, ToolStop};
use serde_json::json;

use super::{
    arguments::{Balance, GetLeave, SearchLeaves},
    describe, principals, stopped,
};
use crate::{
    desk::{Desk, Found, LeaveView, MOST_SHOWN, Principal},
    domain::effect::Tool,
};

pub(super) fn tools(desk: &Desk) -> Vec<Arc<dyn ServerTool>> {
    let types = [Language::English, Language::TraditionalChinese].map(|language| told_types(desk, language));
    let types = Arc::new(types);
    Tool::ALL
        .iter()
        .filter(|tool| tool.is_read_only())
        .map(|tool| Arc::new(Reading { tool: *tool, desk: desk.clone(), types: types.clone() }) as Arc<dyn ServerTool>)
        .collect()
}

/// Every leave type, told in this language.
fn told_types(desk: &Desk, language: Language) -> ToolReply {
    let types = desk.types(language);
    let line = |kind: &crate::desk::TypeView| {
        format!("{} ({}): {} [{}]", kind.name, kind.kind, kind.rule, kind.articles.join("; "))
    };
    let text: Vec<String> = types.iter().map(line).collect();
    ToolReply::text(text.join("\n")).structured(json!({ "types": types }))
}

struct Reading {
    tool: Tool,
    desk: Desk,
    /// They do not change while a server runs: told once, in English and in Chinese.
    types: Arc<[ToolReply; 2]>,
}

/// Nobody of ours let this caller in: a mistake of whoever mounted the server.
pub(super) fn stranger() -> ToolStop {
    ToolStop::refused("Nobody is signed in. Tell the people who run this server.")
}

#[async_trait]
impl ServerTool for Reading {
    fn spec(&self) -> ToolSpec {
        describe::of(self.tool)
    }

    async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop> {
        let who = principals::of(&call.caller).ok_or_else(stranger)?;
        let desk = &self.desk;
        match self.tool {
            Tool::SearchLeaves => {
                let search = call.parse::<SearchLeaves>()?.into();
                found(&desk.search(&who, &search).await.map_err(|error| stopped(&error, &who))?, &who)
            }
            Tool::ListPendingApprovals => {
                found(&desk.pending(&who).await.map_err(|error| stopped(&error, &who))?, &who)
            }
            Tool::GetLeave => {
                let GetLeave { leave_id } = call.parse()?;
                one(&desk.get(&who, &leave_id).await.map_err(|error| stopped(&error, &who))?, &who)
            }
            Tool::LeaveBalance => {
                let Balance { kind, on } = call.parse()?;
                let on = on.filter(|on| !on.trim().is_empty());
                let balances = desk.balance(&who, kind.as_deref(), on.as_deref()).await;
                let balances = balances.map_err(|error| stopped(&error, &who))?;
                let text: Vec<String> = balances.iter().map(|balance| balance_line(balance, &who)).collect();
                Ok(ToolReply::text(text.join("\n")).structured(json!({ "balances": balances })))
            }
            Tool::ListLeaveTypes => {
                let [english, chinese] = &*self.types;
                Ok(if who.language.is_chinese() { chinese } else { english }.clone())
            }
            Tool::CreateLeave | Tool::UpdateLeave | Tool::UpdateLeaveStatus | Tool::CancelApprovedLeave => {
                Err(stranger())
            }
        }
    }
}

fn balance_line(balance: &crate::desk::BalanceView, who: &Principal) -> String {
    let zh = who.language.is_chinese();
    let line = |line: &crate::desk::BalanceLine| {
        let carried = match (line.carried_over, zh) {
            (false, _) => "",
            (true, true) => "（遞延）",
            (true, false) => " (carried over)",
        };
        if zh {
            format!(
                "剩 {}{carried}，{} 至 {}，已用 {}，審核中 {}",
                line.left, line.from, line.until, line.used, line.pending
            )
        } else {
            format!(
                "{} left{carried}, {} to {}, {} used, {} waiting",
                line.left, line.from, line.until, line.used, line.pending
            )
        }
    };
    let lines: Vec<String> = balance.lines.iter().map(line).collect();
    let said = if lines.is_empty() { balance.rule.clone() } else { lines.join(if zh { "；" } else { "; " }) };
    format!("{}{}{said}", balance.type_name, if zh { "：" } else { ": " })
}

fn found(found: &Found, who: &Principal) -> Result<ToolReply, ToolStop> {
    let zh = who.language.is_chinese();
    let mut lines: Vec<String> = found.leaves.iter().map(|view| line(view, who)).collect();
    if found.total == 0 {
        lines.push(if zh {
            "查無符合的假單。可用較短的關鍵字或空白關鍵字再查。".to_owned()
        } else {
            "Nothing was found. Try fewer words, or an empty keyword.".to_owned()
        });
    } else if found.total > found.leaves.len() {
        lines.push(if zh {
            format!("共 {} 張，只顯示最近 {MOST_SHOWN} 張；請加上關鍵字、狀態或日期縮小範圍。", found.total)
        } else {
            format!("There are {}; the latest {MOST_SHOWN} are shown. Narrow by keyword, status or dates.", found.total)
        });
    }
    Ok(ToolReply::text(lines.join("\n")).structured(json!({ "leaves": found.leaves, "total": found.total })))
}

/// One leave in one line.
pub(super) fn line(view: &LeaveView, who: &Principal) -> String {
    let LeaveView { leave_id, title, type_name, status, status_name, start, end, amount, applicant_name, .. } = view;
    if who.language.is_chinese() {
        format!(
            "{leave_id} {applicant_name} {type_name}「{title}」{start} 至 {end}，{amount}，{status_name}（{status}）"
        )
    } else {
        format!("{leave_id} {applicant_name}, {type_name} {title:?}, {start} to {end}, {amount}, {status}")
    }
}

/// One leave in full.
pub(super) fn one(view: &LeaveView, who: &Principal) -> Result<ToolReply, ToolStop> {
    let mut text = line(view, who);
    let steps: Vec<String> = view
        .next
        .iter()
        .map(|next| {
            let zh = who.language.is_chinese();
            let by: Vec<&str> = next.by.iter().map(|party| if zh { party.zh() } else { party.as_str() }).collect();
            format!("{} ({})", next.status, by.join("/"))
        })
        .collect();
    if !steps.is_empty() {
        let head = if who.language.is_chinese() { "下一步：" } else { "Next: " };
        text.push_str(&format!("\n{head}{}", steps.join(", ")));
    }
    for remark in &view.remarks {
        text.push('\n');
        text.push_str(remark);
    }
    let structured = serde_json::to_value(view).unwrap_or_default();
    Ok(ToolReply::text(text).structured(structured))
}
