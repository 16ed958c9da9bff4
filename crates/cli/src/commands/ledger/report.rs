//! `bylaw ledger report`: what the rows add up to.

use std::collections::BTreeMap;

use bylaw_contract::{KeyId, MicroUsd, TokenUsage, ask::Mode};
use bylaw_gate::{Currency, Day, LedgerStore, OpenReservation, RowFilter, RowKind, UsageLine};
use serde::Serialize;

use super::check_days;
use crate::{
    amounts::decimal,
    args::{LedgerReport, ReportBy},
    config::Settings,
    dataset::DataSet,
    failure::Failure,
    terminal::{self, Format, printable},
};

const PAGE: usize = 1_000;

pub(super) async fn run(
    arguments: LedgerReport,
    data: &DataSet,
    settings: &Settings,
    format: Format,
) -> Result<(), Failure> {
    let LedgerReport { from, to, key, by } = arguments;
    check_days(from, to)?;
    let filter = RowFilter { from, to, key, ..RowFilter::default() };
    let store = data.store().await?;
    let mut report = Report::new(by);
    store.usage(&filter).await?.iter().for_each(|line| report.add_line(line));
    let mut after = None;
    loop {
        let page = store.open(after.as_ref(), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        page.iter().filter(|open| is_asked_for(&filter, open)).for_each(|open| report.add_open(open));
    }
    store.close().await;
    let currency = &settings.money.currency;
    match format {
        Format::Json => terminal::json(&report.to_json(currency)),
        Format::Text => report.show(currency),
    }
    Ok(())
}

fn is_asked_for(filter: &RowFilter, open: &OpenReservation) -> bool {
    filter.key.as_ref().is_none_or(|key| open.labels.key.as_ref() == Some(key))
        && filter.from.is_none_or(|from| from <= open.day)
        && filter.to.is_none_or(|to| open.day <= to)
}

/// What a line of the report is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
enum Group {
    Day(Day),
    Key(Option<KeyId>),
    Text(Option<String>),
}

impl Group {
    fn of(by: ReportBy, day: Day, key: Option<&KeyId>, model: &str, mode: Option<Mode>) -> Self {
        match by {
            ReportBy::Day => Self::Day(day),
            ReportBy::Key => Self::Key(key.cloned()),
            ReportBy::Model => Self::Text(Some(model.to_owned())),
            ReportBy::Mode => Self::Text(mode.map(|mode| mode_name(mode).to_owned())),
        }
    }

    fn title(&self) -> String {
        match self {
            Self::Day(day) => day.to_string(),
            Self::Key(Some(key)) => key.to_string(),
            Self::Key(None) => "no key".to_owned(),
            Self::Text(Some(text)) => printable(text),
            Self::Text(None) => "none".to_owned(),
        }
    }
}

/// A mode as it is written.
pub(crate) const fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Auto => "auto",
        Mode::Extract => "extract",
        Mode::Pipeline => "pipeline",
        Mode::Agent => "agent",
    }
}

/// Kinds and what else is added up, in the order in which they are shown.
const COLUMNS: [&str; 7] = ["spent", "estimated", "abandoned", "unknown", "debt", "reserved", "avoided"];

#[derive(Clone, Debug, Default)]
struct Sums {
    rows: u64,
    /// In the order of [`COLUMNS`].
    amounts: [MicroUsd; 7],
    tokens: TokenUsage,
}

impl Sums {
    fn add(&mut self, column: usize, amount: MicroUsd) {
        let sum = &mut self.amounts[column];
        *sum = MicroUsd(sum.0.saturating_add(amount.0));
    }

    fn add_line(&mut self, line: &UsageLine) {
        let column = match line.kind {
            RowKind::Spent => 0,
            RowKind::Estimated => 1,
            RowKind::Abandoned => 2,
            RowKind::Unknown => 3,
            RowKind::Avoided => 6,
        };
        self.rows = self.rows.saturating_add(line.rows);
        self.add(column, line.amount);
        self.add(4, line.overrun);
        if line.kind != RowKind::Avoided {
            self.tokens.add(line.tokens);
        }
    }
}

struct Report {
    by: ReportBy,
    groups: BTreeMap<Group, Sums>,
    total: Sums,
}

impl Report {
    fn new(by: ReportBy) -> Self {
        Self { by, groups: BTreeMap::new(), total: Sums::default() }
    }

    fn add_line(&mut self, line: &UsageLine) {
        let group = Group::of(self.by, line.day, line.key.as_ref(), &line.model, line.mode);
        self.groups.entry(group).or_default().add_line(line);
        self.total.add_line(line);
    }

    fn add_open(&mut self, open: &OpenReservation) {
        let group = Group::of(self.by, open.day, open.labels.key.as_ref(), &open.labels.model, open.labels.mode);
        for sums in [self.groups.entry(group).or_default(), &mut self.total] {
            sums.add(5, open.amount);
        }
    }

    fn to_json(&self, currency: &Currency) -> serde_json::Value {
        let sums = |sums: &Sums| {
            let amounts = COLUMNS.iter().zip(sums.amounts).map(|(column, amount)| {
                let amount = serde_json::json!({ "micro_usd": amount, "display": decimal(currency.show(amount)) });
                ((*column).to_owned(), amount)
            });
            let mut object: serde_json::Map<_, _> = amounts.collect();
            object.insert("rows".to_owned(), sums.rows.into());
            object.insert("tokens".to_owned(), serde_json::json!(sums.tokens));
            object
        };
        let group = |(group, of): (&Group, &Sums)| {
            let mut object = sums(of);
            object.insert("group".to_owned(), serde_json::json!(group));
            object
        };
        serde_json::json!({
            "currency": currency.code(),
            "groups": self.groups.iter().map(group).collect::<Vec<_>>(),
            "total": sums(&self.total),
        })
    }

    fn show(&self, currency: &Currency) {
        let titled: Vec<(String, &Sums)> = self.groups.iter().map(|(group, sums)| (group.title(), sums)).collect();
        let lines: Vec<(&str, &Sums)> =
            titled.iter().map(|(title, sums)| (title.as_str(), *sums)).chain([("total", &self.total)]).collect();
        let width = lines.iter().map(|(title, _)| title.chars().count()).max().unwrap_or(0);
        let columns: String = COLUMNS.iter().map(|column| format!(" {column:>14}")).collect();
        terminal::line(format!("{:<width$} {:>7}    {columns}", "", "rows"));
        for (title, sums) in lines {
            let amounts = |amount: &dyn Fn(MicroUsd) -> i64| -> String {
                sums.amounts.iter().map(|one| format!(" {:>14}", decimal(amount(*one)))).collect()
            };
            terminal::line(format!("{title:<width$} {:>7} USD{}", sums.rows, amounts(&|amount| amount.0)));
            if currency.code() != "USD" {
                let shown = amounts(&|amount| currency.show(amount));
                terminal::line(format!("{:<width$} {:>7} {currency}{shown}", "", ""));
            }
        }
        terminal::line(
            "\ndebt is the part of what was charged that was beyond its reservation; avoided is what caches saved",
        );
    }
}
