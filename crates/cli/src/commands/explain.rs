//! `bylaw explain`: what happened under a request id, and everything on the books under it.

mod happened;

use std::{
    collections::{BTreeMap, BTreeSet},
    process::ExitCode,
};

use bylaw_agent::Purpose;
use bylaw_contract::{ErrorCode, KeyId, MicroUsd, RequestId, ReservationId, RunId, Timestamp, TokenUsage, ask::Mode};
use bylaw_gate::{Currency, LedgerStore, Note, OpenReservation, RowFilter, RowKind, RowNumber, StoredRow, Zone};
use serde::Serialize;

use self::happened::Happened;
use crate::{
    amounts::both,
    args::Explain,
    config::Settings,
    dataset::DataSet,
    failure::Failure,
    moments,
    terminal::{self, Format, printable},
};

const PAGE: usize = 1_000;

pub(crate) async fn run(arguments: &Explain, settings: &Settings, format: Format) -> Result<ExitCode, Failure> {
    let store = DataSet::to_read(settings)?.require_used()?.store().await?;
    // Open ones first: what is settled in between is shown twice rather than not at all.
    let open = open_of(&store, &arguments.request).await?;
    let rows = rows_of(&store, &arguments.request).await?;
    let booked: Vec<&RunId> = rows.iter().filter_map(|row| row.row.labels.run_id.as_ref()).collect();
    let opened = open.iter().filter_map(|open| open.labels.run_id.as_ref());
    let booked: BTreeSet<&RunId> = booked.into_iter().chain(opened).collect();
    let happened = happened::of_request(&store, &arguments.request, &booked.into_iter().collect::<Vec<_>>()).await?;
    store.close().await;
    if rows.is_empty() && open.is_empty() && happened.is_empty() {
        let message = format!("nothing is known of the request id {}", arguments.request);
        return Err(Failure::new(ErrorCode::RequestNotFound, message)
            .hint("ids are in answers and in the header x-request-id; runs are forgotten after runs.keep_days"));
    }
    let runs = runs(&rows, &open, &happened);
    match format {
        Format::Json => {
            let currency = settings.money.currency.code();
            terminal::json(&serde_json::json!({
                "request_id": arguments.request,
                "currency": currency,
                "runs": runs,
            }));
        }
        Format::Text => {
            runs.iter().for_each(|run| run.show(&settings.money.currency, &settings.money.budgets.zone));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn rows_of(store: &dyn LedgerStore, request: &RequestId) -> Result<Vec<StoredRow>, Failure> {
    let filter = RowFilter { request_id: Some(request.clone()), ..RowFilter::default() };
    let (mut all, mut after) = (Vec::new(), RowNumber::default());
    loop {
        let page = store.rows(&filter, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(all) };
        after = last.number;
        all.extend(page);
    }
}

async fn open_of(store: &dyn LedgerStore, request: &RequestId) -> Result<Vec<OpenReservation>, Failure> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = store.open(after.as_ref(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(all) };
        after = Some(last.id.clone());
        all.extend(page.into_iter().filter(|open| open.labels.request_id == *request));
    }
}

/// What one run, or the hits of caches, which have none, left on the books.
#[derive(Debug, Serialize)]
struct Run<'a> {
    run_id: Option<&'a RunId>,
    key: Option<&'a KeyId>,
    mode: Option<Mode>,
    /// What is kept of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    happened: Option<&'a Happened>,
    /// Reserved over all attempts, also those that are open.
    reserved: MicroUsd,
    /// Charged; rows that were corrected do not count.
    charged: MicroUsd,
    /// What caches saved.
    avoided: MicroUsd,
    attempts: Vec<Attempt<'a>>,
    open: Vec<Open<'a>>,
}

#[derive(Debug, Serialize)]
struct Attempt<'a> {
    row: RowNumber,
    at: Timestamp,
    kind: RowKind,
    model: &'a str,
    purpose: &'a str,
    tokens: TokenUsage,
    amount: MicroUsd,
    reserved: MicroUsd,
    reservation: Option<&'a ReservationId>,
    corrects: Option<RowNumber>,
    corrected_by: Option<RowNumber>,
    repeats: Option<&'a RunId>,
    note: Option<Note>,
}

#[derive(Debug, Serialize)]
struct Open<'a> {
    reservation: &'a ReservationId,
    at: Timestamp,
    model: &'a str,
    purpose: &'a str,
    amount: MicroUsd,
}

/// Runs in the order of their first row; then those that have only open reservations; then those that cost nothing.
fn runs<'a>(rows: &'a [StoredRow], open: &'a [OpenReservation], happened: &'a [Happened]) -> Vec<Run<'a>> {
    let corrected: BTreeMap<RowNumber, RowNumber> =
        rows.iter().filter_map(|row| Some((row.row.corrects?, row.number))).collect();
    let mut runs = Vec::<Run<'a>>::new();
    for row in rows {
        let labels = &row.row.labels;
        let run = run_of(&mut runs, labels.run_id.as_ref(), labels.key.as_ref(), labels.mode);
        let corrected_by = corrected.get(&row.number).copied();
        let sum = if row.row.kind == RowKind::Avoided { &mut run.avoided } else { &mut run.charged };
        if corrected_by.is_none() {
            *sum = plus(*sum, row.row.amount);
        }
        if row.row.corrects.is_none() {
            run.reserved = plus(run.reserved, row.row.reserved);
        }
        run.attempts.push(Attempt {
            row: row.number,
            at: row.row.at,
            kind: row.row.kind,
            model: &labels.model,
            purpose: &labels.purpose,
            tokens: row.row.tokens,
            amount: row.row.amount,
            reserved: row.row.reserved,
            reservation: row.row.reservation.as_ref(),
            corrects: row.row.corrects,
            corrected_by,
            repeats: row.row.repeats.as_ref(),
            note: row.row.note,
        });
    }
    for open in open {
        let labels = &open.labels;
        let run = run_of(&mut runs, labels.run_id.as_ref(), labels.key.as_ref(), labels.mode);
        run.reserved = plus(run.reserved, open.amount);
        run.open.push(Open {
            reservation: &open.id,
            at: open.at,
            model: &labels.model,
            purpose: &labels.purpose,
            amount: open.amount,
        });
    }
    for happened in happened {
        let record = &happened.record.run;
        let mode = match record.purpose {
            Purpose::Ask(mode) => Some(mode),
            Purpose::Agent(_) => None,
        };
        let known = runs.iter().position(|run| run.run_id == Some(happened.id()));
        let run = match known {
            Some(place) => &mut runs[place],
            None => run_of(&mut runs, Some(happened.id()), record.owner.key(), mode),
        };
        run.happened = Some(happened);
    }
    runs
}

fn run_of<'a, 'b>(
    runs: &'b mut Vec<Run<'a>>,
    run_id: Option<&'a RunId>,
    key: Option<&'a KeyId>,
    mode: Option<Mode>,
) -> &'b mut Run<'a> {
    let place = runs.iter().position(|run| run.run_id == run_id && run.key == key).unwrap_or_else(|| {
        let (attempts, open) = (Vec::new(), Vec::new());
        let [reserved, charged, avoided] = [MicroUsd::ZERO; 3];
        runs.push(Run { run_id, key, mode, happened: None, reserved, charged, avoided, attempts, open });
        runs.len() - 1
    });
    &mut runs[place]
}

fn plus(sum: MicroUsd, amount: MicroUsd) -> MicroUsd {
    MicroUsd(sum.0.saturating_add(amount.0))
}

impl Run<'_> {
    fn show(&self, currency: &Currency, zone: &Zone) {
        let what = self.run_id.map_or_else(|| "answers from a cache".to_owned(), ToString::to_string);
        let who = self.key.map_or_else(|| "no key".to_owned(), ToString::to_string);
        let mode = self.mode.map(|mode| format!(", {}", super::ledger::mode_name(mode))).unwrap_or_default();
        terminal::line(format!("{what}  ({who}{mode})"));
        if let Some(happened) = self.happened {
            happened.show(zone);
        }
        let sums = [("reserved", self.reserved), ("charged", self.charged), ("avoided", self.avoided)];
        for (name, amount) in sums.into_iter().filter(|(_, amount)| *amount != MicroUsd::ZERO) {
            terminal::line(format!("  {name:<9} {}", both(amount, currency)));
        }
        for attempt in &self.attempts {
            attempt.show(zone);
        }
        for open in &self.open {
            terminal::line(format!(
                "  open     {}  {} for {}: {} reserved as {}",
                moments::show(open.at, zone),
                printable(open.model),
                printable(open.purpose),
                open.amount,
                open.reservation
            ));
        }
    }
}

impl Attempt<'_> {
    fn show(&self, zone: &Zone) {
        let Self { row, kind, amount, tokens, .. } = self;
        let tokens = match tokens.embedding_tokens {
            0 => format!("{} tokens in, {} out", tokens.input_tokens, tokens.output_tokens),
            embedded => format!("{embedded} tokens embedded"),
        };
        terminal::line(format!(
            "  row {row}  {}  {} for {}: {} {amount}, {tokens}",
            moments::show(self.at, zone),
            printable(self.model),
            printable(self.purpose),
            kind.as_str(),
        ));
        let notes = [
            self.reservation.map(|id| format!("{} were reserved as {id}", self.reserved)),
            self.corrects.map(|other| format!("replaces row {other}")),
            self.corrected_by.map(|other| format!("does not count: row {other} replaces it")),
            self.repeats.map(|run| format!("the result of {run}, given again")),
            self.note.map(|note| note.as_str().replace('_', " ")),
        ];
        notes.into_iter().flatten().for_each(|note| terminal::line(format!("         {note}")));
    }
}
