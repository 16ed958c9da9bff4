//! What the ledger says about the calls of a model, for whoever compares costs.

use bylaw_cost::{Attempt, Call, FromLedger, InvalidCost, Measured, Measurement};
use bylaw_gate::{Day, LedgerError, LedgerStore, Note, Row, RowFilter, RowKind, RowNumber};

/// Rows that are read at once.
const PAGE: usize = 1_000;
/// The model of a row that says that the extract answered where a model could have been asked.
const EXTRACT: &str = "extract";

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// What was asked for is out of range, or there are too many calls.
    #[error(transparent)]
    Invalid(#[from] InvalidCost),
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// No call of that model is on the books in that time.
    #[error("from_ledger.model: no call of {model:?} whose tokens are known is on the books of the last {days} days")]
    ModelNotFound {
        /// The model.
        model: String,
        /// The days.
        days: u32,
    },
}

/// Measures the calls of a model in the last days, `today` included. Reads the ledger once, a page at a time.
///
/// # Errors
/// If there are none, or too many, or the ledger cannot be read.
pub async fn measure(ledger: &dyn LedgerStore, today: Day, wanted: &FromLedger) -> Result<Measured, MeasureError> {
    wanted.check()?;
    let from = today.days_before(wanted.days.saturating_sub(1));
    let filter = RowFilter { from: Some(from), to: Some(today), ..RowFilter::default() };
    let mut measurement = Measurement::default();
    let mut after = RowNumber::default();
    loop {
        let page = ledger.rows(&filter, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.number;
        for stored in &page {
            take_in(&mut measurement, stored.number, &stored.row, today, &wanted.model)?;
        }
    }
    let nothing = || MeasureError::ModelNotFound { model: wanted.model.clone(), days: wanted.days };
    measurement.finish(wanted).ok_or_else(nothing)
}

fn take_in(
    measurement: &mut Measurement,
    number: RowNumber,
    row: &Row,
    today: Day,
    model: &str,
) -> Result<(), InvalidCost> {
    let task = row.labels.request_id.as_str();
    let attempt = match (row.kind, row.note) {
        (RowKind::Avoided, _) => {
            if row.labels.model == EXTRACT {
                measurement.answered_free(task);
            } else if row.labels.model == model {
                measurement.cached(task);
            }
            return Ok(());
        }
        (_, Some(Note::NotSent)) => Attempt::NotSent,
        (RowKind::Spent, _) => Attempt::Reported(row.tokens),
        (RowKind::Estimated, _) => Attempt::Estimated(row.tokens),
        (RowKind::Abandoned, _) => Attempt::Abandoned(row.tokens),
        (RowKind::Unknown, _) => Attempt::Unknown,
    };
    if row.labels.model != model {
        return Ok(());
    }
    measurement.call(Call {
        number: number.0,
        corrects: row.corrects.map(|corrected| corrected.0),
        task,
        run: row.labels.run_id.as_ref().map(bylaw_contract::RunId::as_str),
        purpose: &row.labels.purpose,
        days_ago: today.days_since(row.day),
        attempt,
    })
}
