//! `bylaw ledger verify`: is every row as it was sealed, is none missing, and do the accounts add up?

use bylaw_contract::ErrorCode;
use bylaw_gate::{Checkpoint, Fault, LedgerError, LedgerStore, Verification, VerifyingKey, verify_watched};
use bylaw_library::ServiceLock;

use crate::{
    args::LedgerVerify,
    dataset::DataSet,
    failure::{FAULTY_LEDGER, Failure},
    progress::Progress,
    sealing,
    terminal::{self, Format},
};

/// Accounts are compared while others write: a difference that is none is gone the next time.
const ATTEMPTS: u32 = 3;

pub(super) async fn run(arguments: &LedgerVerify, data: &DataSet, format: Format) -> Result<(), Failure> {
    let store = data.store().await?;
    // Taken before the walk, so that everything up to it is verified.
    let newest = store.last_seal().await?.map(|seal| seal.checkpoint());
    let key = match (sealing::read(&data.directory)?, newest) {
        (Some(key), _) => key.verifying_key(),
        (None, Some(_)) => return Err(sealing::missing(&data.directory)),
        // Without seals there is nothing to verify with a key, and any will do.
        (None, None) => sealing_nothing()?,
    };
    let verification = walk(&store, &key, arguments.checkpoint).await?;
    store.close().await;
    match &verification.fault {
        Some(fault) => Err(faulty(fault, data)),
        None => {
            show(&verification, newest, format);
            Ok(())
        }
    }
}

fn sealing_nothing() -> Result<VerifyingKey, Failure> {
    "0".repeat(64).parse().map_err(|error| Failure::from_error(ErrorCode::InternalError, &error))
}

async fn walk(
    store: &dyn LedgerStore,
    key: &VerifyingKey,
    checkpoint: Option<Checkpoint>,
) -> Result<Verification, LedgerError> {
    let progress = Progress::new();
    let mut attempt = 1;
    loop {
        let total = store.last_row().await?.0;
        let show = |row: bylaw_gate::RowNumber| progress.at("verifying", row.0, total.max(row.0));
        let verification = verify_watched(store, key, checkpoint, &show).await?;
        match verification.fault {
            Some(Fault::AccountDiffers { .. }) if attempt < ATTEMPTS => attempt += 1,
            _ => return Ok(verification),
        }
    }
}

fn faulty(fault: &Fault, data: &DataSet) -> Failure {
    let failure = Failure::new(ErrorCode::LedgerFaulty, fault.to_string());
    match (fault, ServiceLock::holder(&data.directory)) {
        (Fault::AccountDiffers { .. }, Some(holder)) => {
            failure.hint(format!("{holder} may be writing: stop it and verify again. If it stays: {FAULTY_LEDGER}"))
        }
        _ => failure.hint(FAULTY_LEDGER),
    }
}

fn show(verification: &Verification, newest: Option<Checkpoint>, format: Format) {
    let Verification { rows, sealed, .. } = verification;
    if format == Format::Json {
        let checkpoint = newest.map(|checkpoint| checkpoint.to_string());
        return terminal::json(&serde_json::json!({ "rows": rows, "sealed": sealed, "checkpoint": checkpoint }));
    }
    terminal::line(format!("{rows} rows, sealed up to row {sealed}: as they were written, and the accounts add up"));
    match newest {
        Some(checkpoint) => {
            terminal::line(format!("checkpoint {checkpoint}"));
            terminal::line(
                "Keep it where this data is not: bylaw ledger verify --checkpoint … then notices a missing end.",
            );
        }
        None => terminal::line("no checkpoint yet: a running service seals rows, and nothing is sealed so far"),
    }
}
