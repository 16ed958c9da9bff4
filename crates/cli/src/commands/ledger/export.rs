//! `bylaw ledger export`: the rows, byte for byte.

use bylaw_contract::ErrorCode;
use bylaw_gate::{LedgerStore, RowFilter, RowNumber};

use super::check_days;
use crate::{args::LedgerExport, dataset::DataSet, failure::Failure, terminal};

const PAGE: usize = 1_000;

pub(super) async fn run(arguments: &LedgerExport, data: &DataSet) -> Result<(), Failure> {
    check_days(arguments.from, arguments.to)?;
    let filter = RowFilter { from: arguments.from, to: arguments.to, ..RowFilter::default() };
    let store = data.store().await?;
    let mut after = RowNumber::default();
    loop {
        let rows = store.rows(&filter, after, PAGE).await?;
        let Some(last) = rows.last() else { break };
        after = last.number;
        let text: String = rows.iter().flat_map(|row| [row.text(), "\n"]).collect();
        let goes_on = terminal::bulk(&text).map_err(|error| {
            Failure::new(
                ErrorCode::StorageFailed,
                format!("the export is not complete, it ends before row {after}: {error}"),
            )
        })?;
        if !goes_on {
            break;
        }
    }
    store.close().await;
    Ok(())
}
