//! What a conversation at the terminal says, in the language of its person.

use bylaw_contract::{ConversationId, Language, StopReason, loop_event::ToolStatus};

use super::form::{Field, Format, Kind, Wrong};

/// The sentences of one language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words(pub(super) Language);

impl Words {
    pub(super) fn pick<'t>(self, english: &'t str, chinese: &'t str) -> &'t str {
        if self.0.is_chinese() { chinese } else { english }
    }

    pub(super) fn help(self) -> &'static str {
        self.pick(
            "/help   this\n/tools  what may be called\n/new    a new conversation\n/quit   leave\n\
             Ctrl-C cancels what is being done; twice at the prompt, or Ctrl-D, leaves.",
            "/help   這份說明\n/tools  可以使用的工具\n/new    開始新的對話\n/quit   離開\n\
             Ctrl-C 取消正在做的事；在提示處連按兩次，或按 Ctrl-D，離開。",
        )
    }

    pub(super) fn hint(self) -> &'static str {
        self.pick("/help for commands, Ctrl-C cancels, Ctrl-D leaves", "/help 看指令，Ctrl-C 取消，Ctrl-D 離開")
    }

    pub(super) fn again_to_leave(self) -> &'static str {
        self.pick("(Ctrl-C again, or Ctrl-D, leaves)", "（再按一次 Ctrl-C，或按 Ctrl-D，離開）")
    }

    pub(super) fn taken_up(self, messages: usize) -> String {
        match self.0.is_chinese() {
            true => format!("接續先前的對話（{messages} 則訊息）"),
            false => format!("going on with {messages} messages"),
        }
    }

    pub(super) fn goodbye(self, id: &ConversationId) -> String {
        match self.0.is_chinese() {
            true => format!("bylaw chat --conversation {id} 可接續這次對話"),
            false => format!("bylaw chat --conversation {id} goes on with this"),
        }
    }

    pub(super) fn unknown_command(self, command: &str) -> String {
        match self.0.is_chinese() {
            true => format!("沒有 {command} 這個指令；/help 看指令"),
            false => format!("there is no command {command}; /help lists them"),
        }
    }

    pub(super) fn tools(self, servers: usize, tools: usize) -> String {
        match (self.0.is_chinese(), servers, tools) {
            (true, _, _) => format!("{servers} 個伺服器，{tools} 個工具"),
            (false, 1, 1) => "1 server, 1 tool".to_owned(),
            (false, 1, _) => format!("1 server, {tools} tools"),
            (false, _, 1) => format!("{servers} servers, 1 tool"),
            (false, _, _) => format!("{servers} servers, {tools} tools"),
        }
    }

    pub(super) fn no_tools(self) -> &'static str {
        self.pick("no tools; --mcp URL or --agent NAME brings some", "沒有工具；用 --mcp URL 或 --agent 名稱 加入")
    }

    pub(super) fn warning(self) -> &'static str {
        self.pick("warning", "警告")
    }

    pub(super) fn thinking(self) -> &'static str {
        self.pick("thinking", "思考中")
    }

    pub(super) fn status(self, status: ToolStatus) -> &'static str {
        match status {
            ToolStatus::Succeeded => self.pick("done", "完成"),
            ToolStatus::Failed => self.pick("failed", "失敗"),
            ToolStatus::Invalid => self.pick("not made: wrong", "未執行：有誤"),
            ToolStatus::Declined => self.pick("not made: declined", "未執行：未獲同意"),
            ToolStatus::Skipped => self.pick("not made", "未執行"),
            ToolStatus::Unknown => self.pick("outcome unknown", "結果不明"),
        }
    }

    /// Why a run ended; nothing if it ended by itself. `message` is the run's own sentence, in English.
    pub(super) fn stopped(self, reason: StopReason, at_step: u32, message: &str) -> Option<String> {
        let because = match reason {
            StopReason::Completed => return None,
            _ if !self.0.is_chinese() => return Some(format!("Stopped: {message}.")),
            StopReason::Steps => format!("已做了 {at_step} 步，到了步數上限"),
            StopReason::ToolCalls => "到了工具呼叫次數的上限".to_owned(),
            StopReason::RepeatedCall => "模型一再做同樣的呼叫".to_owned(),
            StopReason::Context => "對話已超過模型能讀的長度".to_owned(),
            StopReason::Cost => format!("費用到了上限，或預算不足（{message}）"),
            StopReason::Time => "時間到了".to_owned(),
            StopReason::Cancelled => "已取消".to_owned(),
            StopReason::UpstreamIncomplete => "模型的回覆中途斷了".to_owned(),
            StopReason::UpstreamTimeout => "模型沒有及時回覆".to_owned(),
            StopReason::Refused => "模型拒絕回答".to_owned(),
            StopReason::Failed => format!("出了問題（{message}）"),
        };
        Some(format!("停止：{because}。"))
    }

    pub(super) fn spent(self, steps: u32, calls: u32, tokens: u64, money: &str, seconds: f64) -> String {
        let plural = |n: u32| if n == 1 { "" } else { "s" };
        match self.0.is_chinese() {
            true => format!("{steps} 步、{calls} 次呼叫、{tokens} tokens、{money}、{seconds:.1} 秒"),
            false => format!(
                "{steps} step{}, {calls} call{}, {tokens} tokens, {money}, {seconds:.1} s",
                plural(steps),
                plural(calls)
            ),
        }
    }

    pub(super) fn approval(self, tool: &str, server: Option<&str>) -> String {
        match (self.0.is_chinese(), server) {
            (true, Some(server)) => format!("要執行 {server} 的 {tool}，參數如下："),
            (true, None) => format!("要執行 {tool}，參數如下："),
            (false, Some(server)) => format!("{tool} of {server} is about to be called with:"),
            (false, None) => format!("{tool} is about to be called with:"),
        }
    }

    pub(super) fn no_arguments(self) -> &'static str {
        self.pick("(no arguments)", "（沒有參數）")
    }

    pub(super) fn asks(self, server: &str, tool: Option<&str>) -> String {
        match (self.0.is_chinese(), tool) {
            (true, Some(tool)) => format!("{server} 在執行 {tool} 時問你："),
            (true, None) => format!("{server} 問你："),
            (false, Some(tool)) => format!("{server} asks, while {tool} is being called:"),
            (false, None) => format!("{server} asks:"),
        }
    }

    /// What may be answered.
    pub(super) fn choices(self, can_accept: bool, is_long: bool) -> String {
        let mut parts = Vec::new();
        if can_accept {
            parts.push(self.pick("[a] Accept", "[1] 同意"));
        }
        parts.push(self.pick("[d] Decline", "[2] 拒絕"));
        parts.push(self.pick("[c] Cancel", "[3] 取消"));
        if is_long {
            parts.push(self.pick("[s] Show all", "[s] 全部顯示"));
        }
        parts.join("  ")
    }

    pub(super) fn choose_again(self, can_accept: bool) -> &'static str {
        match can_accept {
            true => self.pick("Write a, d or c.", "請輸入 1、2 或 3（同意、拒絕、取消）。"),
            false => self.pick("Write d or c.", "請輸入 2 或 3（拒絕、取消）。"),
        }
    }

    pub(super) fn cannot_fill(self, field: &str) -> String {
        match self.0.is_chinese() {
            true => format!("（「{field}」無法在終端機填寫，只能拒絕或取消）"),
            false => format!("({field:?} cannot be filled in at a terminal; it can only be declined or cancelled)"),
        }
    }

    pub(super) fn more_characters(self, count: usize) -> String {
        match self.0.is_chinese() {
            true => format!("…（還有 {count} 個字元）"),
            false => format!("… ({count} more characters)"),
        }
    }

    pub(super) fn withdrawn(self) -> &'static str {
        self.pick("(the question is not waited for any more; press Enter)", "（這個問題已不再等待回答；請按 Enter）")
    }

    /// What a field wants, in brackets after its name.
    pub(super) fn wants(self, field: &Field) -> String {
        let mut parts = Vec::new();
        match &field.kind {
            Kind::Text { format, .. } => parts.extend(format.map(|format| self.format(format).to_owned())),
            Kind::Number { whole, least, most } => {
                let name = if *whole { self.pick("whole number", "整數") } else { self.pick("number", "數字") };
                parts.push(match (least, most) {
                    (Some(least), Some(most)) => format!("{name} {least}–{most}"),
                    (Some(least), None) => format!("{name} ≥ {least}"),
                    (None, Some(most)) => format!("{name} ≤ {most}"),
                    (None, None) => name.to_owned(),
                });
            }
            Kind::YesOrNo => parts.push(self.pick("y/n", "是/否").to_owned()),
            Kind::One(_) => parts.push(self.pick("one of", "擇一").to_owned()),
            Kind::Some { .. } => parts.push(self.pick("any of, with commas", "可複選，以逗號分隔").to_owned()),
        }
        if let Some(default) = &field.default {
            let shown = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
            parts.push(format!("{} {shown}", self.pick("default", "預設")));
        } else if !field.required {
            parts.push(self.pick("optional", "可留空").to_owned());
        }
        parts.join(self.pick(", ", "，"))
    }

    fn format(self, format: Format) -> &'static str {
        match format {
            Format::Email => self.pick("e-mail address", "電子郵件地址"),
            Format::Uri => self.pick("address such as https://…", "網址，如 https://…"),
            Format::Date => self.pick("date such as 2026-01-31", "日期，如 2026-01-31"),
            Format::DateTime => {
                self.pick("time such as 2026-01-31T09:00:00+08:00", "時間，如 2026-01-31T09:00:00+08:00")
            }
        }
    }

    /// What is wrong with what was written into a field.
    pub(super) fn wrong(self, wrong: &Wrong) -> String {
        let chinese = self.0.is_chinese();
        match wrong {
            Wrong::Missing => self.pick("This is needed.", "這一項必填。").to_owned(),
            Wrong::TooShort(least) if chinese => format!("至少 {least} 個字。"),
            Wrong::TooShort(least) => format!("At least {least} characters."),
            Wrong::TooLong(most) if chinese => format!("最多 {most} 個字。"),
            Wrong::TooLong(most) => format!("At most {most} characters."),
            Wrong::No(format) if chinese => format!("這裡要填{}。", self.format(*format)),
            Wrong::No(format) => format!("This must be a valid {}.", self.format(*format)),
            Wrong::NoNumber => self.pick("This must be a number.", "這裡要填數字。").to_owned(),
            Wrong::NotWhole => self.pick("This must be a whole number.", "這裡要填整數。").to_owned(),
            Wrong::TooSmall(least) if chinese => format!("不可小於 {least}。"),
            Wrong::TooSmall(least) => format!("Not less than {least}."),
            Wrong::TooLarge(most) if chinese => format!("不可大於 {most}。"),
            Wrong::TooLarge(most) => format!("Not more than {most}."),
            Wrong::NeitherYesNorNo => self.pick("Write y or n.", "請輸入「是」或「否」。").to_owned(),
            Wrong::NoChoice(count) if chinese => format!("請輸入 1 到 {count} 的編號。"),
            Wrong::NoChoice(count) => format!("Write a number from 1 to {count}."),
            Wrong::TooFew(least) if chinese => format!("至少選 {least} 項。"),
            Wrong::TooFew(least) => format!("Choose at least {least}."),
            Wrong::TooMany(most) if chinese => format!("最多選 {most} 項。"),
            Wrong::TooMany(most) => format!("Choose at most {most}."),
        }
    }
}
