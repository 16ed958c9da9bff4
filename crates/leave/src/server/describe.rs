//! What is said of each tool: what it does, when to use it, and when not.

use bylaw_mcp::{ToolAnnotations, ToolSpec, Words};

use super::schemas;
use crate::domain::effect::Tool;

/// A tool's name, title and description.
fn spec(tool: Tool, english: &str, title: &str, description: Words) -> ToolSpec {
    ToolSpec::new(tool.as_str(), description).titled(Words::new(english, title))
}

/// Everything that is said of a tool.
pub(super) fn of(tool: Tool) -> ToolSpec {
    match tool {
        Tool::SearchLeaves => spec(
            tool,
            "Search leaves",
            "查詢假單",
            Words::new(
                "Finds leaves that the person may see, by words in title, reason, type or owner's name; an empty keyword finds \
                 all. Use it first whenever a leave is meant: it shows the real id, which every change needs. Do not use it \
                 for what is left (leave_balance) or for what types there are (list_leave_types).",
                "以關鍵字（標題、事由、假別、申請人）查詢本人可見的假單，空白關鍵字列出全部。只要提到某張假單，請先用它取得真實 ID，任何變更都需要。不要用它查餘額（改用 leave_balance）或假別（改用 list_leave_types）。",
            ),
        )
        .taking(schemas::object(
            &[
                ("keyword", schemas::text("Words to look for; all of them must be there. Empty finds all.")),
                ("status", schemas::text("Only in this status: draft, submitted, approved, taken, rejected, withdrawn, cancelled.")),
                ("from", schemas::text("Only what ends on this day or later, as 2026-03-01.")),
                ("to", schemas::text("Only what begins on this day or earlier.")),
            ],
            1,
        ))
        .giving(schemas::leaves())
        .that(ToolAnnotations::READS),
        Tool::GetLeave => spec(
            tool,
            "Show a leave",
            "檢視假單",
            Words::new(
                "Shows one leave in full, with the steps that can be taken next and by whom. Use it to look a leave up again \
                 before a change. Do not use it to find a leave whose id is not known: search_leaves does that.",
                "顯示一張假單的完整內容，以及下一步可由誰做什麼。變更前要再確認內容時使用。不知道 ID 時不要用它，請改用 search_leaves。",
            ),
        )
        .taking(schemas::object(&[schemas::leave_id()], 1))
        .giving(schemas::leave())
        .that(ToolAnnotations::READS),
        Tool::ListPendingApprovals => spec(
            tool,
            "Waiting for approval",
            "待審假單",
            Words::new(
                "For managers: the submitted leaves that wait for this person's decision. Do not use it for the person's own \
                 leaves.",
                "主管專用：列出等待本人審核的假單。不要用它查本人自己的假單。",
            ),
        )
        .taking(schemas::object(&[], 0))
        .giving(schemas::leaves())
        .that(ToolAnnotations::READS),
        Tool::LeaveBalance => spec(
            tool,
            "What is left",
            "假別餘額",
            Words::new(
                "Shows how much leave the person has left, of one type or of all, today or on a day. Carried-over days are \
                 shown by themselves with their last day. Do not add or convert days yourself: ask this.",
                "查詢本人各假別（或單一假別）今日或某日的餘額，遞延的日數會單獨列出到期日。不要自行推算日數，請直接查詢。",
            ),
        )
        .taking(schemas::object(
            &[
                ("type", schemas::text("Only this type, by its id or any name. Optional.")),
                ("on", schemas::text("On this day, as 2026-03-01; today unless given.")),
            ],
            0,
        ))
        .giving(schemas::list("balances"))
        .that(ToolAnnotations::READS),
        Tool::ListLeaveTypes => spec(
            tool,
            "Leave types",
            "假別一覽",
            Words::new(
                "Lists the leave types: days, unit, pay, notice, evidence, and the article of law each comes from. Use it when \
                 the type is not clear. It does not say what the person has left.",
                "列出所有假別：日數、單位、工資、預告、證明文件與法條依據。假別不明確時使用。它不會告訴您還剩幾天。",
            ),
        )
        .taking(schemas::object(&[], 0))
        .giving(schemas::list("types"))
        .that(ToolAnnotations::READS),
        Tool::CreateLeave => {
            let mut fields = schemas::leave_fields();
            fields.push(schemas::once());
            spec(
                tool,
                "Make a draft",
                "新增假單",
                Words::new(
                    "Makes a draft of a leave for the person. It asks nobody for anything yet: submit it with \
                     update_leave_status after looking it up. Do not use it to move or replace a leave that exists.",
                    "為本人新增一張假單草稿，尚未送審；查詢確認後再以 update_leave_status 送審。不要用它來改期或取代已有的假單。",
                ),
            )
            .taking(schemas::object(&fields, 4))
            .giving(schemas::leave())
            .that(ToolAnnotations::WRITES)
        }
        Tool::UpdateLeave => {
            let mut fields = vec![schemas::leave_id()];
            fields.extend(schemas::leave_fields());
            fields.extend([schemas::version(), schemas::once()]);
            spec(
                tool,
                "Edit a draft",
                "修改草稿",
                Words::new(
                    "Edits a draft; what is left out stays. Look it up first. Only drafts are edited: do not use it for a \
                     leave that was submitted or approved.",
                    "修改草稿，未填的欄位維持不變。請先查詢。只有草稿可以修改，已送審或已核准的不要用它。",
                ),
            )
            .taking(schemas::object(&fields, 1))
            .giving(schemas::leave())
            .that(ToolAnnotations::WRITES_ONCE)
        }
        Tool::UpdateLeaveStatus => spec(
            tool,
            "Move one step",
            "更新假單狀態",
            Words::new(
                "Moves a leave one step: submitted (by its owner), consented (by the deputy), approved or rejected (by the \
                 manager), withdrawn (by its owner), taken (when it is over). Look it up first. The person may be asked. Do \
                 not skip steps, and do not use it to cancel an approved leave: cancel_approved_leave does that.",
                "將假單推進一級：submitted（本人送審）、consented（代理人同意）、approved 或 rejected（主管）、withdrawn（本人撤回）、taken（休畢）。請先查詢。必要時會詢問使用者。不可跳級，也不要用它取消已核准的假（改用 cancel_approved_leave）。",
            ),
        )
        .taking(schemas::object(
            &[
                schemas::leave_id(),
                ("status", schemas::text("submitted, consented, approved, rejected, withdrawn or taken.")),
                schemas::version(),
                schemas::once(),
            ],
            2,
        ))
        .giving(schemas::leave())
        .that(ToolAnnotations::DESTROYS),
        Tool::CancelApprovedLeave => spec(
            tool,
            "Cancel an approved leave",
            "取消已核准假單",
            Words::new(
                "Cancels a leave that was approved. The person is always asked first; when they say no, that is final. Look it \
                 up first. Do not use it for drafts or submitted leaves: update_leave_status withdraws those.",
                "取消已核准的假單。一定會先詢問使用者，使用者拒絕即為定案。請先查詢。草稿或審核中的假單不要用它（改用 update_leave_status 撤回）。",
            ),
        )
        .taking(schemas::object(
            &[
                schemas::leave_id(),
                ("reason", schemas::text("Why, at most 500 characters, in the person's words.")),
                schemas::version(),
                schemas::once(),
            ],
            2,
        ))
        .giving(schemas::leave())
        .that(ToolAnnotations::DESTROYS),
    }
}
