//! What a vandal does to a ledger is found.

use bylaw_contract::{MicroUsd, OwnerId, Timestamp};

use super::world::{BEFORE_MIDNIGHT, daily, labels, run};
use crate::{
    Charge, Demand, Fault, Lease, LedgerError, LedgerStore, Link, MemoryLedger, Order, Principal, Row, RowFilter,
    RowKind, RowNumber, Seal, SealingKey, StoredRow, Verification, Write, seal_some,
    testing::{SeededRandomness, StandingClock},
    verify,
};

fn sealing_key() -> SealingKey {
    SealingKey::mint(&SeededRandomness::new(1))
}

/// Rows 1 to 6: seals over 1–2 and 3–5, the last row not sealed yet.
async fn ledger() -> MemoryLedger {
    let (store, random, clock) =
        (MemoryLedger::default(), SeededRandomness::new(5), StandingClock::at(BEFORE_MIDNIGHT));
    let lease = Lease { owner: OwnerId::mint(&random), until: Timestamp(i64::MAX) };
    let budgets = daily(1_000);
    for number in 1..=6 {
        let reservation = bylaw_contract::ReservationId::mint(&random);
        let order = Order {
            reservation: reservation.clone(),
            owner: lease.owner.clone(),
            labels: labels(number),
            claims: budgets.claims(&Principal::LocalDoor, &run(number), None, BEFORE_MIDNIGHT),
            demand: Demand::exactly(MicroUsd(50)),
            at: BEFORE_MIDNIGHT,
            day: budgets.zone.day(BEFORE_MIDNIGHT),
        };
        let charge = Charge { kind: RowKind::Spent, amount: MicroUsd(40), ..Charge::unknown(MicroUsd(50)) };
        let settle = Write::Settle { reservation, charge, at: BEFORE_MIDNIGHT };
        store.commit(&lease, vec![Write::Reserve(order), settle]).await.unwrap();
        if [2, 5].contains(&number) {
            assert!(seal_some(&store, &sealing_key(), &clock).await.unwrap() > 0);
        }
    }
    store
}

fn rewrite(stored: &mut StoredRow, change: impl FnOnce(&mut Row)) {
    let mut row = stored.row.clone();
    change(&mut row);
    *stored = StoredRow::new(stored.number, row);
}

async fn found(change: impl FnOnce(&mut Vec<StoredRow>, &mut Vec<Seal>)) -> Option<Fault> {
    let store = ledger().await;
    let checkpoint = store.last_seal().await.unwrap().map(|seal| seal.checkpoint());
    store.tamper(change);
    verify(&store, &sealing_key().verifying_key(), checkpoint).await.unwrap().fault
}

#[tokio::test]
async fn an_untouched_ledger_is_whole() {
    let store = ledger().await;
    let verified = verify(&store, &sealing_key().verifying_key(), None).await.unwrap();
    assert_eq!(verified, Verification { rows: 6, sealed: RowNumber(5), fault: None });
}

#[tokio::test]
async fn the_first_row_that_was_changed_or_removed_is_named() {
    assert_eq!(
        found(|rows, _| rewrite(&mut rows[0], |row| row.amount = MicroUsd(1))).await,
        Some(Fault::RowChanged(RowNumber(1)))
    );
    assert_eq!(
        found(|rows, _| rewrite(&mut rows[3], |row| row.labels.model.push('x'))).await,
        Some(Fault::RowChanged(RowNumber(4)))
    );
    assert_eq!(
        found(|rows, _| rewrite(&mut rows[4], |row| row.at.0 += 1)).await,
        Some(Fault::RowChanged(RowNumber(5)))
    );
    assert_eq!(found(|rows, _| drop(rows.remove(1))).await, Some(Fault::RowMissing(RowNumber(2))));
    assert_eq!(found(|rows, _| rows.truncate(4)).await, Some(Fault::RowMissing(RowNumber(5))));
}

#[tokio::test]
async fn a_chain_that_was_made_to_fit_lacks_the_signature() {
    let fault = found(|rows, seals| {
        rewrite(&mut rows[1], |row| row.amount = MicroUsd(1));
        let mut link = Link::default();
        for seal in seals {
            seal.before = link;
            for (place, sealed) in seal.links.iter_mut().enumerate() {
                link = link.then(&rows[usize::try_from(seal.first.0).unwrap() - 1 + place]);
                *sealed = link;
            }
        }
    });
    assert_eq!(fault.await, Some(Fault::SealForged(RowNumber(1))));
}

#[tokio::test]
async fn seals_that_were_removed_are_missed() {
    assert_eq!(found(|_, seals| drop(seals.remove(0))).await, Some(Fault::SealMissing(RowNumber(1))));
    let cut_off = found(|rows, seals| {
        rows.truncate(2);
        seals.truncate(1);
    });
    assert_eq!(cut_off.await, Some(Fault::CutOff { sealed: RowNumber(2), checkpoint: RowNumber(5) }));
}

#[tokio::test]
async fn a_row_that_was_never_sealed_is_held_against_the_accounts() {
    let fault = found(|rows, _| rewrite(&mut rows[5], |row| row.amount = MicroUsd(39))).await;
    let Some(Fault::AccountDiffers { says, adds_up_to, .. }) = fault else { panic!("{fault:?}") };
    assert_eq!((says.settled, adds_up_to.settled), (MicroUsd(240), MicroUsd(239)));
}

#[tokio::test]
async fn nothing_is_sealed_over_a_gap() {
    let store = ledger().await;
    store.tamper(|rows, _| rows[5].number = RowNumber(7));
    let sealed = seal_some(&store, &sealing_key(), &StandingClock::at(BEFORE_MIDNIGHT)).await;
    assert!(matches!(sealed, Err(LedgerError::Corrupt { what }) if what == "row 6 is missing, row 7 follows"));
}

#[tokio::test]
async fn a_key_and_a_checkpoint_read_back_from_their_text() {
    let key = sealing_key();
    assert_eq!(SealingKey::parse(&format!("{}\n", key.reveal())).unwrap().verifying_key(), key.verifying_key());
    assert_eq!(key.verifying_key().to_string().parse(), Ok(key.verifying_key()));
    let checkpoint = ledger().await.last_seal().await.unwrap().unwrap().checkpoint();
    assert_eq!(checkpoint.to_string().parse(), Ok(checkpoint));
    for bad in ["", "5", "5:", "x:00", "é"] {
        assert!(bad.parse::<crate::Checkpoint>().is_err() && SealingKey::parse(bad).is_err(), "{bad}");
    }
}

#[tokio::test]
async fn the_text_of_a_row_is_one_line_of_json() {
    let store = ledger().await;
    let row = store.rows(&RowFilter::default(), RowNumber(0), 1).await.unwrap().remove(0);
    insta::assert_snapshot!(row.text(), @r#"{"number":1,"kind":"spent","at":1772380790000,"day":"2026-03-01","request_id":"request-1","run_id":"run_000000000000000000000001","key":null,"model":"scripted","mode":null,"purpose":"answer","reservation":"rsv_47c16b10f0d3923b45b905da","reserved":50,"covered":50,"amount":40,"tokens":{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0,"reasoning_tokens":0,"embedding_tokens":0},"budgets":["service/day:2026-03-01"],"corrects":null,"repeats":null,"note":null}"#);
    assert_eq!(StoredRow::from_text(row.text().to_owned()).unwrap(), row);
}

#[test]
fn a_row_of_a_later_version_keeps_its_text_and_with_it_its_link() {
    let known = r#"{"number":1,"kind":"avoided","at":5,"day":"2026-03-01","request_id":"a","run_id":null,"key":null,"model":"m","mode":"pipeline","purpose":"answer","reservation":null,"reserved":0,"covered":0,"amount":7,"tokens":{"input_tokens":0,"output_tokens":0},"budgets":[],"corrects":null,"repeats":null,"note":null"#;
    let (now, later) = (format!("{known}}}"), format!("{known},\"tide\":3}}"));
    let (now, later) = (StoredRow::from_text(now).unwrap(), StoredRow::from_text(later).unwrap());
    assert_eq!(now.row, later.row);
    assert_ne!(Link::default().then(&now), Link::default().then(&later));
    for bad in ["", "{}", "[]", &known.replace("avoided", "gifted"), &known.replace("2026-03-01", "today")] {
        assert!(StoredRow::from_text(format!("{bad}}}")).is_err(), "{bad}");
    }
}

/// One reservation of 50 in a budget of 60, settled by an estimate of 20; what it gave back is reserved again by another.
#[tokio::test]
async fn truth_that_comes_after_the_rest_was_given_away_is_debt_and_breaks_no_limit() {
    let (store, random) = (MemoryLedger::default(), SeededRandomness::new(5));
    let lease = Lease { owner: OwnerId::mint(&random), until: Timestamp(i64::MAX) };
    let budgets = daily(60);
    let reserve = |number, amount| Order {
        reservation: bylaw_contract::ReservationId::mint(&random),
        owner: lease.owner.clone(),
        labels: labels(number),
        claims: budgets.claims(&Principal::LocalDoor, &run(number), None, BEFORE_MIDNIGHT),
        demand: Demand::exactly(MicroUsd(amount)),
        at: BEFORE_MIDNIGHT,
        day: budgets.zone.day(BEFORE_MIDNIGHT),
    };
    let (first, second) = (reserve(1, 50), reserve(2, 40));
    let settle = |kind, amount| Write::Settle {
        reservation: first.reservation.clone(),
        charge: Charge { kind, amount: MicroUsd(amount), ..Charge::unknown(MicroUsd(50)) },
        at: BEFORE_MIDNIGHT,
    };
    let writes = vec![
        Write::Reserve(first.clone()),
        settle(RowKind::Abandoned, 20),
        Write::Reserve(second),
        settle(RowKind::Spent, 45),
    ];
    store.commit(&lease, writes).await.unwrap();
    let (_, account) = store.every_account().remove(0);
    assert_eq!((account.settled, account.reserved, account.debt), (MicroUsd(20), MicroUsd(40), MicroUsd(25)));
    let verified = verify(&store, &sealing_key().verifying_key(), None).await.unwrap();
    assert_eq!(verified.fault, None);
}
