//! A report as a table for a terminal.

use bylaw_contract::Language;

use crate::{
    check::Assumption,
    explain::{self, plain},
    figure::Figure,
    report::CostReport,
    simple::SimpleReport,
    words::{self, Words, say},
};

/// Figures of the sensitivity that a terminal shows; JSON has all of them.
const SHOWN: usize = 8;

/// Writes the table and the explanation.
#[must_use]
pub fn text(report: &CostReport, language: Language) -> String {
    let mut lines = Lines { out: String::new(), language };
    lines.compare(report);
    lines.break_even(report);
    lines.sensitivity(report);
    lines.outlook(report);
    lines.measured(report);
    lines.assumptions(&report.assumptions);
    lines.out.push('\n');
    for sentence in explain::sentences(report, language) {
        lines.line(&sentence);
    }
    lines.out
}

/// Writes what the simple formula says.
#[must_use]
pub fn simple_text(report: &SimpleReport) -> String {
    let mut lines = Lines { out: String::new(), language: Language::English };
    let unit = if report.break_even_requests_per_day.is_some() { " requests a day" } else { "" };
    lines.line(&format!("{}{unit}", report.formula));
    lines.line(&report.leaves_out);
    lines.assumptions(&report.assumptions);
    lines.out
}

struct Lines {
    out: String,
    language: Language,
}

impl Lines {
    fn say(&self, words: Words) -> &'static str {
        say(self.language, words)
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn row(&mut self, title: &str, cells: &[String]) {
        let mut line = padded(title, 38);
        for cell in cells {
            line.push_str(&format!(" {}{cell}", " ".repeat(20_usize.saturating_sub(width(cell)))));
        }
        self.line(&line);
    }

    fn compare(&mut self, report: &CostReport) {
        let CostReport { api, self_hosted: own, currency, price_date, .. } = report;
        let date = price_date.as_deref().map_or_else(
            || self.say(("prices without a date", "價格未註明日期")).to_owned(),
            |day| format!("{}{day}", self.say(("prices of ", "價格日期 "))),
        );
        self.row(&format!("{currency}, {date}"), &[short(&api.name), short(&own.name)]);
        let none = || String::new();
        let rows: [(Words, String, String); 10] = [
            (("tasks a day", "每日件數"), plain(report.tasks_per_day), plain(report.tasks_per_day)),
            (("cost of a task", "每件成本"), plain(api.cost_per_task), plain(own.cost_per_task)),
            (("cost of a month", "每月成本"), money(api.cost_per_month), money(own.cost_per_month)),
            (("GPU seconds of a task", "每件 GPU 秒數"), none(), plain(own.gpu_seconds_per_task)),
            (("tasks a day that a replica bears", "每份副本每日容量"), none(), plain(own.capacity_per_replica)),
            (("replicas", "副本數"), none(), plain(own.replicas)),
            (("busy, on average", "平均使用率"), none(), explain::per_cent(own.utilisation)),
            (("replicas, a month", "副本每月費用"), none(), money(own.gpus_per_month)),
            (("of that for waiting", "其中閒置費用"), none(), money(own.idle_per_month)),
            (("people, retraining, storage, a month", "每月人力、再訓練與儲存"), none(), money(own.fixed_per_month)),
        ];
        for (title, one, other) in rows {
            self.row(self.say(title), &[one, other]);
        }
        if let Some(quality) = &report.quality {
            let rows: [(Words, Figure, Figure); 2] = [
                (
                    ("a task, failures included", "每件期望成本（含失敗）"),
                    quality.api.expected_cost_per_task,
                    quality.self_hosted.expected_cost_per_task,
                ),
                (
                    ("a task that succeeds", "每件成功成本"),
                    quality.api.cost_per_success,
                    quality.self_hosted.cost_per_success,
                ),
            ];
            for (title, one, other) in rows {
                self.row(self.say(title), &[plain(one), plain(other)]);
            }
        }
    }

    fn break_even(&mut self, report: &CostReport) {
        let even = &report.break_even;
        self.out.push('\n');
        let titles = [("from tasks a day", "自每日件數"), ("to tasks a day", "至每日件數")];
        let titles = titles.map(|title| self.say(title).to_owned());
        self.row(self.say(("hosting pays, with replicas", "自架划算，副本數")), &titles);
        for step in &even.steps {
            self.row(&plain(step.replicas), &[plain(step.from), plain(step.to)]);
        }
        if even.steps.is_empty() {
            self.line(self.say(("never", "永遠不划算")));
        } else if even.ranges.last().is_some_and(|range| range.to.is_none()) {
            self.line(self.say(("and so on: from there on at every volume", "依此類推：此後任何用量皆划算")));
        }
        for gap in &even.gaps {
            let to = gap.to.map_or_else(String::new, plain);
            self.row(self.say(("dearer again", "再度變貴")), &[plain(gap.from), to]);
        }
        if even.abridged {
            self.line(self.say(("some steps between them are not listed", "其間有些階梯未列出")));
        }
        if let Some(naive) = even.naive_tasks_per_day {
            let fits = if even.naive_fits { ("fits", "容量足夠") } else { ("does not fit", "超過容量") };
            let fits = self.say(fits).to_owned();
            self.row(self.say(("a formula without capacity", "不計容量的公式")), &[plain(naive), fits]);
        }
    }

    fn sensitivity(&mut self, report: &CostReport) {
        self.out.push('\n');
        let titles = [("a quarter less", "少四分之一"), ("a quarter more", "多四分之一")];
        let titles = titles.map(|title| self.say(title).to_owned());
        self.row(self.say(("saving a month if it is", "每月節省，若")), &titles);
        for one in report.sensitivity.iter().take(SHOWN) {
            let title = words::field(&one.field, self.language);
            self.row(title, &[money(one.saving_at_low), money(one.saving_at_high)]);
        }
        let sure = &report.uncertainty;
        let title = self.say(("in 9 of 10 draws between", "九成抽樣介於"));
        self.row(title, &[money(sure.saving_p5), money(sure.saving_p95)]);
    }

    fn outlook(&mut self, report: &CostReport) {
        let outlook = &report.outlook;
        self.out.push('\n');
        let months = |months: Option<f64>| months.map_or_else(|| "–".to_owned(), |months| format!("{months:.2}"));
        let title = self.say(("months until hosting pays", "幾個月後划算"));
        self.row(title, &[months(outlook.months_to_break_even)]);
        if outlook.upfront > Figure::ZERO {
            self.row(self.say(("paid before the first task", "期初支出")), &[money(outlook.upfront)]);
            self.row(self.say(("months until that is paid back", "回收月數")), &[months(outlook.payback_months)]);
        }
        for horizon in &outlook.horizons {
            let title = match self.language.is_chinese() {
                true => format!("{} 個月後的淨現值", horizon.months),
                false => format!("worth after {} months", horizon.months),
            };
            self.row(&title, &[money(horizon.net_present_value)]);
        }
    }

    fn measured(&mut self, report: &CostReport) {
        let Some(measured) = &report.measured else { return };
        self.out.push('\n');
        let title = format!("{}{}", self.say(("measured: ", "實測：")), short(&measured.model));
        self.row(&title, &["p50", self.say(("mean", "平均")), "p95"].map(str::to_owned));
        let rows: [(Words, &crate::measured::Spread); 4] = [
            (("prompt tokens", "提示詞元"), &measured.prompt_tokens),
            (("cached tokens", "快取詞元"), &measured.cached_tokens),
            (("written tokens", "輸出詞元"), &measured.completion_tokens),
            (("calls of a task", "每件呼叫次數"), &measured.calls_per_task),
        ];
        for (title, spread) in rows {
            self.row(self.say(title), &[spread.p50, spread.mean, spread.p95].map(plain));
        }
        self.row(self.say(("retries of a call", "每次呼叫的重試率")), &[explain::per_cent(measured.retry_rate)]);
        let title = self.say(("answered free by the extract", "摘錄免費回答的比例"));
        self.row(title, &[explain::per_cent(measured.answered_free_share)]);
    }

    fn assumptions(&mut self, assumptions: &[Assumption]) {
        self.out.push('\n');
        self.line(self.say(("assumed:", "假設：")));
        for Assumption { field, value, why } in assumptions {
            self.line(&format!("  {field} = {value}: {why}"));
        }
    }
}

fn money(figure: Figure) -> String {
    figure.grouped(2)
}

/// Columns that a text takes on a terminal.
fn width(text: &str) -> usize {
    text.chars().map(|c| if c >= '\u{1100}' { 2 } else { 1 }).sum()
}

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

fn short(name: &str) -> String {
    crate::html::shortened(name)
}
