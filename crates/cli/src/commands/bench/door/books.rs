//! What the ledger of a service says.

use std::collections::HashMap;

use bylaw_contract::MicroUsd;
use bylaw_gate::{LedgerStore, RowFilter, RowKind, RowNumber, StoredRow};
use bylaw_store::SqliteStore;

use super::{
    super::upstream::{Counts, Seen},
    broken,
    report::Report,
    service::{INPUT_PRICE, OUTPUT_PRICE, Place},
};
use crate::failure::Failure;

const PAGE: usize = 10_000;

/// Rows and open reservations of a service.
pub(super) struct Books {
    /// By the label of their request. Rows of remembered answers are left out.
    pub(super) rows: HashMap<String, Vec<StoredRow>>,
    /// Reservations that nothing has closed.
    pub(super) open: usize,
}

impl Books {
    /// Reads them, beside the service if it runs.
    pub(super) async fn read(place: &Place) -> Result<Self, Failure> {
        let store = SqliteStore::open(&place.data().database()).await?;
        let (mut rows, mut after) = (HashMap::<String, Vec<StoredRow>>::new(), RowNumber(0));
        loop {
            let page = store.rows(&RowFilter::default(), after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.number;
            for stored in page.into_iter().filter(|stored| stored.row.kind != RowKind::Avoided) {
                rows.entry(stored.row.labels.request_id.to_string()).or_default().push(stored);
            }
        }
        let open = LedgerStore::open(&store, None, PAGE).await?.len();
        store.close().await;
        Ok(Self { rows, open })
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &StoredRow> {
        self.rows.values().flatten()
    }

    /// How many rows of this kind.
    pub(super) fn count(&self, kind: RowKind) -> usize {
        self.all().filter(|stored| stored.row.kind == kind).count()
    }

    /// What was booked in all.
    pub(super) fn booked(&self) -> i64 {
        self.all().map(|stored| stored.row.amount.0).sum()
    }

    /// The row of a request, if it has exactly one.
    pub(super) fn row(&self, call: &str) -> Option<&StoredRow> {
        match self.rows.get(call).map(Vec::as_slice) {
            Some([row]) => Some(row),
            Some(_) | None => None,
        }
    }

    /// Claims that every request that the model received has exactly one row, and shows how many of each kind there are.
    pub(super) fn claim_complete(&self, report: &mut Report, upstream: &Counts) {
        let calls: Vec<&Seen> = upstream.list.iter().collect();
        let missing: Vec<&str> = calls.iter().map(|seen| call(seen)).filter(|call| self.row(call).is_none()).collect();
        let sample: Vec<&&str> = missing.iter().take(5).collect();
        report.claim(
            "every request that the model received has one row",
            missing.is_empty() && calls.len() as u64 == upstream.requests,
            format!(
                "{} requests, {} rows, {} without one row of their own {sample:?}",
                calls.len(),
                self.all().count(),
                missing.len()
            ),
        );
        for kind in RowKind::ALL.into_iter().filter(|kind| *kind != RowKind::Avoided) {
            report.number(format!("rows_{}", kind.as_str()), self.count(kind));
        }
        report.number("booked_micro_usd", self.booked());
        report.number("billed_micro_usd", cost(upstream.prompt_tokens, upstream.completion_tokens).0);
    }

    /// Claims that what was reported is booked as reported: tokens, and their price.
    pub(super) fn claim_spent(&self, report: &mut Report, upstream: &Counts) {
        let seen: HashMap<&str, &Seen> = upstream.list.iter().map(|seen| (call(seen), seen)).collect();
        let (mut booked, mut billed, mut odd) = ((0, 0), (0, 0), Vec::new());
        for (call, rows) in &self.rows {
            for StoredRow { row, .. } in rows.iter().filter(|stored| stored.row.kind == RowKind::Spent) {
                let Some(seen) = seen.get(call.as_str()) else {
                    odd.push(call.clone());
                    continue;
                };
                booked = (booked.0 + row.tokens.input_tokens, booked.1 + row.tokens.output_tokens);
                billed = (billed.0 + seen.prompt_tokens, billed.1 + seen.completion_tokens);
                let same = (row.tokens.input_tokens, row.tokens.output_tokens, row.amount)
                    == (seen.prompt_tokens, seen.completion_tokens, cost(seen.prompt_tokens, seen.completion_tokens));
                if !same || !seen.usage_sent {
                    odd.push(call.clone());
                }
            }
        }
        odd.truncate(5);
        report.claim(
            "what the model reported is what is booked",
            odd.is_empty() && booked == billed,
            format!("{}+{} tokens booked, {}+{} billed {odd:?}", booked.0, booked.1, billed.0, billed.1),
        );
    }

    /// Claims that nothing is reserved any more.
    pub(super) fn claim_closed(&self, report: &mut Report) {
        report.claim("nothing stays reserved", self.open == 0, format!("{} open reservations", self.open));
    }
}

/// What a request calls itself.
pub(super) fn call(seen: &Seen) -> &str {
    seen.call.as_deref().unwrap_or_default()
}

/// What these tokens cost at the usual prices.
pub(super) fn cost(input_tokens: u64, output_tokens: u64) -> MicroUsd {
    let tokens = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    MicroUsd(tokens(input_tokens) * INPUT_PRICE + tokens(output_tokens) * OUTPUT_PRICE)
}

/// Has the program verify the ledger, and claims that it finds no fault. The service must not run.
pub(super) async fn claim_verified(report: &mut Report, place: &Place) -> Result<(), Failure> {
    let output = place.program()?.args(["ledger", "verify"]).output().await;
    let output = output.map_err(|error| broken("ledger verify", &error))?;
    let said = if output.status.success() { output.stdout } else { output.stderr };
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    report.claim("the ledger verifies", output.status.success(), said);
    Ok(())
}
