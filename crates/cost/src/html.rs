//! A report as one page that needs nothing else: no script, no other file, no colour that means anything.
//!
//! Every number is looked up in the report's own JSON and written with the path that it came from, so that the page cannot say
//! anything else than `--json` does.

mod drawing;
pub(crate) use drawing::shortened;
mod tornado;

use std::fmt::Write;

use bylaw_contract::Language;
use serde_json::Value;

use crate::{
    explain,
    figure::Figure,
    report::CostReport,
    words::{self, Words, say},
};

const STYLE: &str = include_str!("html/page.css");

/// How a number is written.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// An amount of money, with two places.
    Money,
    /// Tasks, tokens, replicas: as many places as it has.
    Plain,
    /// A share, in per cent.
    Share,
}

/// Writes the page.
#[must_use]
pub fn html(report: &CostReport, language: Language) -> String {
    let json = serde_json::to_value(report).unwrap_or_default();
    let page = Page { json, language, report };
    page.write()
}

pub(crate) struct Page<'a> {
    json: Value,
    pub(crate) language: Language,
    pub(crate) report: &'a CostReport,
}

impl Page<'_> {
    pub(crate) fn say(&self, words: Words) -> &'static str {
        say(self.language, words)
    }

    fn figure(&self, path: &str) -> Option<Figure> {
        match self.json.pointer(path)? {
            Value::Number(number) => serde_json::from_value(Value::Number(number.clone())).ok(),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The text of a number; a dash where there is none.
    pub(crate) fn text(&self, path: &str, kind: Kind) -> String {
        let Some(figure) = self.figure(path) else { return "–".to_owned() };
        let text = match kind {
            Kind::Money => figure.grouped(2),
            Kind::Plain => explain::plain(figure),
            Kind::Share => explain::per_cent(figure),
        };
        text.replace('-', "−")
    }

    /// A number that says where it is from.
    fn number(&self, path: &str, kind: Kind) -> String {
        match self.json.pointer(path) {
            Some(Value::Number(value)) => {
                format!("<data value=\"{value}\" data-path=\"{path}\">{}</data>", self.text(path, kind))
            }
            Some(_) | None => "–".to_owned(),
        }
    }

    /// A number in a drawing.
    pub(crate) fn mark(&self, at: (f64, f64), anchor: &str, path: &str, kind: Kind, class: &str) -> String {
        let ((x, y), text) = (at, self.text(path, kind));
        format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\" data-path=\"{path}\">{text}</text>"
        )
    }

    fn write(&self) -> String {
        let CostReport { api, self_hosted, currency, price_date, .. } = self.report;
        let title = self.say(("An API, or a model of your own?", "用 API，還是自架模型？"));
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{title}</h1>\n",
            self.language.tag(),
        );
        let prices = match price_date {
            Some(day) => format!("{}<time>{}</time>", self.say(("prices of ", "價格日期 ")), escape(day)),
            None => self.say(("prices without a date", "價格未註明日期")).to_owned(),
        };
        let versus = self.say((" against ", " 與 "));
        let _ = writeln!(
            out,
            "<p class=\"about\">{}{versus}{} · {} · {prices}</p>\n</header>",
            escape(&api.name),
            escape(&self_hosted.name),
            escape(currency),
        );
        self.lead(&mut out);
        out.push_str(&self.staircase());
        self.at_your_volume(&mut out);
        self.break_even(&mut out);
        out.push_str(&self.tornado());
        self.sensitivity(&mut out);
        self.outlook(&mut out);
        self.quality(&mut out);
        self.measured(&mut out);
        self.assumptions(&mut out);
        self.inputs(&mut out);
        out.push_str("</main>\n</body>\n</html>\n");
        out
    }

    fn lead(&self, out: &mut String) {
        let CostReport { api, self_hosted, currency, .. } = self.report;
        let month = self.say(("a month", "每月"));
        let saving = if self.report.saving_per_month < Figure::ZERO {
            self.say(("hosting saves (it costs more)", "自架節省（實為較貴）"))
        } else {
            self.say(("hosting saves", "自架節省"))
        };
        let tiles = [
            (api.name.as_str(), "/api/cost_per_month"),
            (self_hosted.name.as_str(), "/self_hosted/cost_per_month"),
            (saving, "/saving_per_month"),
        ];
        out.push_str("<section class=\"lead\">\n<dl>\n");
        for (name, path) in tiles {
            let _ = writeln!(
                out,
                "<div><dt>{}</dt><dd>{}<small>{} {month}</small></dd></div>",
                escape(name),
                self.number(path, Kind::Money),
                escape(currency),
            );
        }
        out.push_str("</dl>\n");
        for sentence in explain::sentences(self.report, self.language) {
            let _ = writeln!(out, "<p>{}</p>", escape(&sentence));
        }
        out.push_str("</section>\n");
    }

    fn at_your_volume(&self, out: &mut String) {
        let CostReport { api, self_hosted, .. } = self.report;
        self.heading(out, ("At your volume", "以您的用量計"));
        let _ = writeln!(
            out,
            "<table>\n<thead><tr><th></th><th>{}</th><th>{}</th></tr></thead>\n<tbody>",
            escape(&api.name),
            escape(&self_hosted.name)
        );
        let rows: [(Words, &str, &str, Kind); 10] = [
            (("tasks a day", "每日件數"), "/tasks_per_day", "/tasks_per_day", Kind::Plain),
            (("cost of a task", "每件成本"), "/api/cost_per_task", "/self_hosted/cost_per_task", Kind::Plain),
            (("cost of a month", "每月成本"), "/api/cost_per_month", "/self_hosted/cost_per_month", Kind::Money),
            (("GPU seconds of a task", "每件 GPU 秒數"), "", "/self_hosted/gpu_seconds_per_task", Kind::Plain),
            (
                ("tasks a day that one replica bears", "每份副本每日容量"),
                "",
                "/self_hosted/capacity_per_replica",
                Kind::Plain,
            ),
            (("replicas", "副本數"), "", "/self_hosted/replicas", Kind::Plain),
            (("replicas, a month", "副本每月費用"), "", "/self_hosted/gpus_per_month", Kind::Money),
            (("busy, on average", "平均使用率"), "", "/self_hosted/utilisation", Kind::Share),
            (("paid for waiting, a month", "每月閒置費用"), "", "/self_hosted/idle_per_month", Kind::Money),
            (
                ("people, retraining, storage, a month", "每月人力、再訓練與儲存"),
                "",
                "/self_hosted/fixed_per_month",
                Kind::Money,
            ),
        ];
        for (title, one, other, kind) in rows {
            self.row(out, self.say(title), &[self.number(one, kind), self.number(other, kind)]);
        }
        out.push_str("</tbody>\n</table>\n");
    }

    fn break_even(&self, out: &mut String) {
        let even = &self.report.break_even;
        self.heading(out, ("Where hosting pays", "自架划算的範圍"));
        self.head(out, &[("replicas", "副本數"), ("from tasks a day", "自每日件數"), ("to tasks a day", "至每日件數")]);
        for index in 0..even.steps.len() {
            let step = |name: &str| self.number(&format!("/break_even/steps/{index}/{name}"), Kind::Plain);
            self.row(out, &step("replicas"), &[step("from"), step("to")]);
        }
        if even.steps.is_empty() {
            let never = self.say(("never", "永遠不划算")).to_owned();
            self.row(out, "–", &[never.clone(), never]);
        }
        out.push_str("</tbody>\n</table>\n");
        if even.ranges.last().is_some_and(|range| range.to.is_none()) {
            self.note(out, ("From there on it pays at every volume.", "此後任何用量皆划算。"));
        }
        for index in 0..even.gaps.len().min(12) {
            let _ = writeln!(
                out,
                "<p class=\"note\">{} {} – {}</p>",
                self.say(("Dearer again:", "再度變貴：")),
                self.number(&format!("/break_even/gaps/{index}/from"), Kind::Plain),
                self.number(&format!("/break_even/gaps/{index}/to"), Kind::Plain),
            );
        }
        let fits = match (even.naive_tasks_per_day, even.naive_fits) {
            (None, _) => ("no volume", "無此用量"),
            (Some(_), true) => ("its hardware bears that", "其硬體承受得了"),
            (Some(_), false) => ("more than its hardware bears", "超過其硬體容量"),
        };
        let _ = writeln!(
            out,
            "<p class=\"note\">{}: {} ({}). {}: {}; {}: {}.</p>",
            self.say(("A formula without capacity says", "不計容量的公式")),
            self.number("/break_even/naive_tasks_per_day", Kind::Plain),
            self.say(fits),
            self.say(("A full replica does work worth, in a day", "一份副本滿載一日之產值")),
            self.number("/break_even/replica_worth_per_day", Kind::Plain),
            self.say(("and costs", "其費用")),
            self.number("/break_even/replica_price_per_day", Kind::Plain),
        );
    }

    fn sensitivity(&self, out: &mut String) {
        self.head(
            out,
            &[
                ("a quarter off", "偏離四分之一"),
                ("low", "低值"),
                ("saving a month", "每月節省"),
                ("high", "高值"),
                ("saving a month", "每月節省"),
            ],
        );
        for (index, one) in self.report.sensitivity.iter().enumerate() {
            let cell = |name: &str, kind| self.number(&format!("/sensitivity/{index}/{name}"), kind);
            let title = words::field(&one.field, self.language);
            let cells = [
                cell("low", Kind::Plain),
                cell("saving_at_low", Kind::Money),
                cell("high", Kind::Plain),
                cell("saving_at_high", Kind::Money),
            ];
            self.row(out, title, &cells);
        }
        out.push_str("</tbody>\n</table>\n");
        self.heading(out, ("How sure is it?", "有多確定？"));
        self.head(out, &[("every figure drawn anew", "所有數字重新抽樣"), ("", "")]);
        let rows: [(Words, &str, Kind); 6] = [
            (("hosting is cheaper in", "自架較便宜的比例"), "probability_self_hosting_is_cheaper", Kind::Share),
            (("saving a month, one in twenty below", "每月節省（5 百分位）"), "saving_p5", Kind::Money),
            (("saving a month, half below", "每月節省（中位數）"), "saving_p50", Kind::Money),
            (("saving a month, one in twenty above", "每月節省（95 百分位）"), "saving_p95", Kind::Money),
            (("draws", "抽樣次數"), "draws", Kind::Plain),
            (("seed", "種子"), "seed", Kind::Plain),
        ];
        for (title, name, kind) in rows {
            self.row(out, self.say(title), &[self.number(&format!("/uncertainty/{name}"), kind)]);
        }
        out.push_str("</tbody>\n</table>\n");
    }

    fn outlook(&self, out: &mut String) {
        self.heading(out, ("What comes later", "往後"));
        self.head(out, &[("", ""), ("", "")]);
        let rows: [(Words, &str, Kind); 4] = [
            (("growth a month", "每月成長"), "growth_per_month", Kind::Share),
            (("months until hosting pays", "幾個月後划算"), "months_to_break_even", Kind::Plain),
            (("paid before the first task", "期初支出"), "upfront", Kind::Money),
            (("months until that is paid back", "回收月數"), "payback_months", Kind::Plain),
        ];
        for (title, name, kind) in rows {
            self.row(out, self.say(title), &[self.number(&format!("/outlook/{name}"), kind)]);
        }
        for index in 0..self.report.outlook.horizons.len() {
            let title = format!(
                "{}{}{}",
                self.say(("worth after ", "")),
                self.number(&format!("/outlook/horizons/{index}/months"), Kind::Plain),
                self.say((" months, in money of today", " 個月後的淨現值")),
            );
            self.row(out, &title, &[self.number(&format!("/outlook/horizons/{index}/net_present_value"), Kind::Money)]);
        }
        out.push_str("</tbody>\n</table>\n");
    }

    fn quality(&self, out: &mut String) {
        if self.report.quality.is_none() {
            return;
        }
        let CostReport { api, self_hosted, .. } = self.report;
        self.heading(out, ("What being right is worth", "答對的價值"));
        let _ = writeln!(
            out,
            "<table>\n<thead><tr><th></th><th>{}</th><th>{}</th></tr></thead>\n<tbody>",
            escape(&api.name),
            escape(&self_hosted.name)
        );
        let rows: [(Words, &str, Kind); 3] = [
            (("tasks that succeed", "成功率"), "success_rate", Kind::Share),
            (("a task, failures included", "每件期望成本（含失敗）"), "expected_cost_per_task", Kind::Plain),
            (("a task that succeeds", "每件成功成本"), "cost_per_success", Kind::Plain),
        ];
        for (title, name, kind) in rows {
            let of = |option: &str| self.number(&format!("/quality/{option}/{name}"), kind);
            self.row(out, self.say(title), &[of("api"), of("self_hosted")]);
        }
        let failure = self.number("/quality/failure_cost", Kind::Money);
        self.row(out, self.say(("a failure costs otherwise", "一次失敗的其他損失")), &[failure.clone(), failure]);
        out.push_str("</tbody>\n</table>\n");
    }

    fn measured(&self, out: &mut String) {
        let Some(measured) = &self.report.measured else { return };
        let _ = writeln!(out, "<h2>{} {}</h2>", self.say(("Measured: ", "實測：")), escape(&measured.model));
        self.head(out, &[("", ""), ("p50", "p50"), ("mean", "平均"), ("p95", "p95")]);
        let spreads: [(Words, &str); 4] = [
            (("prompt tokens", "提示詞元"), "prompt_tokens"),
            (("cached tokens", "快取詞元"), "cached_tokens"),
            (("written tokens", "輸出詞元"), "completion_tokens"),
            (("calls of a task", "每件呼叫次數"), "calls_per_task"),
        ];
        for (title, name) in spreads {
            let cells = ["p50", "mean", "p95"].map(|at| self.number(&format!("/measured/{name}/{at}"), Kind::Plain));
            self.row(out, self.say(title), &cells);
        }
        let single: [(Words, &str, Kind); 7] = [
            (("days", "天數"), "days", Kind::Plain),
            (("tasks", "件數"), "tasks", Kind::Plain),
            (("tasks a day", "每日件數"), "tasks_per_day", Kind::Plain),
            (("calls", "呼叫"), "calls", Kind::Plain),
            (("retries", "重試"), "retries", Kind::Plain),
            (("retries of a call", "每次呼叫的重試率"), "retry_rate", Kind::Share),
            (("questions that the extract answered free", "摘錄免費回答的比例"), "answered_free_share", Kind::Share),
        ];
        for (title, name, kind) in single {
            let cells = [String::new(), self.number(&format!("/measured/{name}"), kind), String::new()];
            self.row(out, self.say(title), &cells);
        }
        out.push_str("</tbody>\n</table>\n");
    }

    fn assumptions(&self, out: &mut String) {
        self.heading(out, ("Assumed, because nobody said it", "未指定而採用的假設"));
        out.push_str("<table class=\"text\">\n<tbody>\n");
        for (index, one) in self.report.assumptions.iter().enumerate() {
            let _ = writeln!(
                out,
                "<tr><th><code>{}</code></th><td data-text=\"/assumptions/{index}/value\">{}</td>\
                 <td data-text=\"/assumptions/{index}/why\">{}</td></tr>",
                escape(&one.field),
                escape(&one.value),
                escape(&one.why),
            );
        }
        out.push_str("</tbody>\n</table>\n");
    }

    fn inputs(&self, out: &mut String) {
        self.heading(out, ("Computed from", "計算依據"));
        out.push_str("<table>\n<tbody>\n");
        let mut paths = Vec::new();
        numbers_below(self.json.pointer("/inputs"), "/inputs", &mut paths);
        for path in paths {
            let name = path.trim_start_matches("/inputs/").replace('/', ".");
            self.row(out, &format!("<code>{name}</code>"), &[self.number(&path, Kind::Plain)]);
        }
        out.push_str("</tbody>\n</table>\n");
    }

    fn heading(&self, out: &mut String, words: Words) {
        let _ = writeln!(out, "<h2>{}</h2>", self.say(words));
    }

    fn note(&self, out: &mut String, words: Words) {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", self.say(words));
    }

    fn head(&self, out: &mut String, titles: &[Words]) {
        out.push_str("<table>\n");
        if titles.iter().any(|title| !title.0.is_empty()) {
            out.push_str("<thead><tr>");
            for title in titles {
                let _ = write!(out, "<th>{}</th>", self.say(*title));
            }
            out.push_str("</tr></thead>\n");
        }
        out.push_str("<tbody>\n");
    }

    /// A row; its title and cells are written already.
    fn row(&self, out: &mut String, title: &str, cells: &[String]) {
        let _ = write!(out, "<tr><th>{title}</th>");
        for cell in cells {
            let _ = write!(out, "<td>{cell}</td>");
        }
        out.push_str("</tr>\n");
    }
}

fn numbers_below(value: Option<&Value>, path: &str, paths: &mut Vec<String>) {
    match value {
        Some(Value::Object(fields)) => {
            fields.iter().for_each(|(name, value)| numbers_below(Some(value), &format!("{path}/{name}"), paths));
        }
        Some(Value::Number(_)) => paths.push(path.to_owned()),
        Some(Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_)) | None => {}
    }
}

/// Text as it may stand in a page.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
