//! Behaviour of a ledger.

use bylaw_contract::{MicroUsd, TokenUsage};
use bylaw_gate::{
    BudgetKey, Demand, LedgerStore, Link, OpenReservation, Order, PeriodKey, Row, RowFilter, RowKind, RowNumber, Scope,
    Seal, SealingKey, StoredRow, UsageLine, Verdict, Write, Written, seal_some, verify,
};

use super::world::{
    BEGIN, Seeded, Still, abandoned, all_rows, claim, commit, day, granted, hit, key, labels, lease, moment, of_run,
    order, owner, release, request, reservation, reserve, rows, run, service, settle, spent, stands,
};

pub(crate) async fn an_empty_ledger_has_nothing(store: &dyn LedgerStore) {
    assert_eq!(store.last_row().await.unwrap(), RowNumber(0));
    assert_eq!(all_rows(store).await, []);
    assert_eq!(store.usage(&RowFilter::default()).await.unwrap(), []);
    assert_eq!(store.open(None, 10).await.unwrap(), []);
    assert_eq!(store.totals(None, 10).await.unwrap(), []);
    assert_eq!(store.accounts(&[]).await.unwrap(), []);
    assert_eq!(stands(store).await, (0, 0, 0));
    assert_eq!(store.seals(RowNumber(0), 10).await.unwrap(), []);
    assert_eq!(store.last_seal().await.unwrap(), None);
    assert_eq!(store.expire(BEGIN, 10).await.unwrap(), 0);
    assert_eq!(store.forget_requests(BEGIN).await.unwrap(), 0);
    assert_eq!(commit(store, Vec::new()).await, []);
}

pub(crate) async fn a_reservation_is_open_until_it_is_settled(store: &dyn LedgerStore) {
    assert_eq!(commit(store, vec![reserve(1, 0, 300)]).await, [granted(300)]);
    let Order { reservation: id, owner, labels, at, day, .. } = order(1, 0, 300, 1_000);
    let budgets = vec![of_run(1), service(PeriodKey::Once), service(PeriodKey::Day(day))];
    let open = OpenReservation { id, owner, labels, budgets, amount: MicroUsd(300), at, day };
    assert_eq!(store.open(None, 10).await.unwrap(), [open]);
    assert_eq!(stands(store).await, (0, 300, 0));
    // Asking again for the same changes nothing.
    assert_eq!(commit(store, vec![reserve(1, 0, 300)]).await, [granted(300)]);
    assert_eq!(stands(store).await, (0, 300, 0));

    // Settled the day after, and it still counts for its own day; 20 beyond what was held are debt.
    assert_eq!(commit(store, vec![settle(1, spent(320), 1)]).await, [Written::Row(RowNumber(1))]);
    assert_eq!(store.open(None, 10).await.unwrap(), []);
    assert_eq!(stands(store).await, (300, 0, 20));
    let row = all_rows(store).await.remove(0);
    assert_eq!((row.number, row.row.day, row.row.at), (RowNumber(1), day, moment(1)));
    assert_eq!((row.row.kind, row.row.amount, row.overrun()), (RowKind::Spent, MicroUsd(320), MicroUsd(20)));
    assert_eq!(commit(store, vec![reserve(1, 0, 300)]).await, [Written::Nothing]);
}

pub(crate) async fn a_settlement_that_arrives_twice_changes_nothing(store: &dyn LedgerStore) {
    commit(store, vec![reserve(1, 0, 300)]).await;
    let twice = vec![settle(1, spent(40), 0), settle(1, spent(40), 0)];
    assert_eq!(commit(store, twice).await, [Written::Row(RowNumber(1)), Written::Nothing]);
    assert_eq!(commit(store, vec![settle(1, spent(50), 0)]).await, [Written::Nothing]);
    assert_eq!(commit(store, vec![settle(2, spent(50), 0)]).await, [Written::NoSuchReservation]);
    assert_eq!((stands(store).await, store.last_row().await.unwrap()), ((40, 0, 0), RowNumber(1)));
}

pub(crate) async fn what_does_not_fit_is_refused_and_leaves_nothing(store: &dyn LedgerStore) {
    commit(store, vec![reserve(1, 0, 600), settle(1, spent(600), 0)]).await;
    let written = commit(store, vec![reserve(2, 0, 401), reserve(3, 0, 300), reserve(4, 0, 101)]).await;
    assert!(matches!(&written[0], Written::Verdict(Verdict::Refused(short)) if short.left == MicroUsd(400)));
    assert_eq!(written[1], granted(300));
    assert!(matches!(&written[2], Written::Verdict(Verdict::Wait(short)) if short.left == MicroUsd(100)));
    assert_eq!(stands(store).await, (600, 300, 0));
    assert_eq!(store.open(None, 10).await.unwrap().len(), 1);
}

pub(crate) async fn what_is_closed_in_a_batch_can_be_had_in_the_same_batch(store: &dyn LedgerStore) {
    commit(store, vec![reserve(1, 0, 1_000)]).await;
    let written = commit(store, vec![settle(1, spent(100), 0), reserve(2, 0, 900), release(2, 0), reserve(3, 0, 7)]);
    assert_eq!(written.await, [Written::Row(RowNumber(1)), granted(900), Written::Nothing, granted(7)]);
    assert_eq!(stands(store).await, (100, 7, 0));
}

pub(crate) async fn a_released_reservation_leaves_no_row(store: &dyn LedgerStore) {
    commit(store, vec![reserve(1, 0, 300)]).await;
    assert_eq!(commit(store, vec![release(1, 0), release(1, 0)]).await, [Written::Nothing, Written::Nothing]);
    assert_eq!(stands(store).await, (0, 0, 0));
    assert_eq!(all_rows(store).await, []);
}

pub(crate) async fn rows_keep_their_text_to_the_letter(store: &dyn LedgerStore) {
    let mut put = Vec::new();
    for (number, model) in (1..).zip(["", "\"\\", "\u{1}\t\n\u{7f}\u{2028}", "名\u{0}", "\u{1f600}", "{\"a\": 1.50}"])
    {
        let mut row = hit(number, 0, 5);
        model.clone_into(&mut row.labels.model);
        row.tokens.embedding_tokens = u64::MAX;
        put.push(StoredRow::new(RowNumber(number), row));
    }
    commit(store, put.iter().map(|stored| Write::Record(stored.row.clone())).collect()).await;
    let texts = |rows: &[StoredRow]| rows.iter().map(|row| row.text().to_owned()).collect::<Vec<_>>();
    assert_eq!(texts(&all_rows(store).await), texts(&put));
}

pub(crate) async fn a_run_out_lease_expires_what_it_held_and_the_truth_corrects_it(store: &dyn LedgerStore) {
    commit(store, vec![reserve(1, 0, 300), reserve(2, 0, 200)]).await;
    let expired_at = lease(1, 0).until.plus(std::time::Duration::from_millis(1));
    assert_eq!(store.expire(expired_at, 10).await.unwrap(), 2);
    assert_eq!(store.expire(expired_at, 10).await.unwrap(), 0);
    assert_eq!(stands(store).await, (500, 0, 0));
    let shown = |rows: &[StoredRow]| {
        rows.iter().map(|row| (row.row.kind, row.row.amount.0, row.row.corrects)).collect::<Vec<_>>()
    };
    assert_eq!(shown(&all_rows(store).await), [(RowKind::Unknown, 300, None), (RowKind::Unknown, 200, None)]);
    let late = vec![settle(1, abandoned(300), 1), settle(1, spent(40), 1), release(2, 1)];
    assert_eq!(commit(store, late).await, [3, 4, 5].map(|number| Written::Row(RowNumber(number))));
    assert_eq!(stands(store).await, (13, 0, 27));
    let corrections = [
        (RowKind::Abandoned, 13, Some(RowNumber(1))),
        (RowKind::Spent, 40, Some(RowNumber(3))),
        (RowKind::Unknown, 0, Some(RowNumber(2))),
    ];
    assert_eq!(shown(&all_rows(store).await)[2..], corrections);
}

pub(crate) async fn a_living_lease_keeps_its_reservations(store: &dyn LedgerStore) {
    commit(store, vec![reserve(1, 0, 300)]).await;
    assert_eq!(store.expire(lease(1, 0).until, 10).await.unwrap(), 0);
    store.renew(&lease(1, 5)).await.unwrap();
    assert_eq!(store.expire(moment(5), 10).await.unwrap(), 0);
    // A lease may also be set back.
    store.renew(&lease(1, 0)).await.unwrap();
    assert_eq!(store.expire(moment(1), 10).await.unwrap(), 1);
}

pub(crate) async fn reservations_without_a_lease_expire_up_to_the_limit(store: &dyn LedgerStore) {
    let others = |number| Write::Reserve(Order { owner: owner(2), ..order(number, 0, 10, 1_000) });
    commit(store, vec![others(3), others(1), others(2), reserve(4, 0, 10)]).await;
    assert_eq!(store.expire(moment(0), 2).await.unwrap(), 2);
    let ids = |open: Vec<OpenReservation>| open.into_iter().map(|open| open.id).collect::<Vec<_>>();
    assert_eq!(ids(store.open(None, 10).await.unwrap()), [3, 4].map(reservation));
    assert_eq!(store.expire(moment(0), 0).await.unwrap(), 0);
    assert_eq!(store.expire(moment(0), usize::MAX).await.unwrap(), 1);
    assert_eq!(ids(store.open(None, 10).await.unwrap()), [reservation(4)]);
}

pub(crate) async fn open_reservations_come_by_id_page_by_page(store: &dyn LedgerStore) {
    commit(store, [4, 1, 3, 2].map(|number| reserve(number, 0, 10)).into()).await;
    let page = async |after: Option<u64>| {
        let open = store.open(after.map(reservation).as_ref(), 3).await.unwrap();
        open.into_iter().map(|open| open.id).collect::<Vec<_>>()
    };
    assert_eq!(page(None).await, [1, 2, 3].map(reservation));
    assert_eq!(page(Some(3)).await, [reservation(4)]);
    assert_eq!(page(Some(4)).await, []);
}

pub(crate) async fn totals_come_by_key_page_by_page_without_requests(store: &dyn LedgerStore) {
    let (today, later) = (PeriodKey::Day(day(0)), PeriodKey::Day(day(30)));
    let month = "month:2026-03".parse().unwrap();
    let keyed = |number, period| BudgetKey { scope: Scope::Key(key(number)), period };
    let expected = vec![
        keyed(1, PeriodKey::Once),
        keyed(1, today),
        keyed(1, later),
        keyed(1, month),
        keyed(2, today),
        service(PeriodKey::Once),
        service(today),
        service(month),
    ];
    assert!(expected.is_sorted());
    let claims = expected.iter().rev().cloned().chain([of_run(1), of_run(2)]).map(|budget| claim(budget, None));
    commit(store, vec![Write::Reserve(Order { claims: claims.collect(), ..order(1, 0, 10, 0) })]).await;

    let mut listed = Vec::new();
    let mut after = None;
    loop {
        let page = store.totals(after.as_ref(), 3).await.unwrap();
        let Some((last, _)) = page.last() else { break };
        after = Some(last.clone());
        listed.extend(page.into_iter().map(|(budget, account)| {
            assert_eq!(account.reserved, MicroUsd(10));
            budget
        }));
    }
    assert_eq!(listed, expected);
    assert_eq!(store.totals(Some(&of_run(1)), 100).await.unwrap().len(), expected.len());
    // One that has no account may be gone on from as well.
    assert_eq!(store.totals(Some(&keyed(2, PeriodKey::Once)), 1).await.unwrap()[0].0, keyed(2, today));
    // Accounts come in the order that was asked for, and one that is not there is empty.
    let asked = [service(today), keyed(7, today), of_run(2), service(today)];
    let reserved = store.accounts(&asked).await.unwrap().into_iter().map(|account| account.reserved.0);
    assert_eq!(reserved.collect::<Vec<_>>(), [10, 0, 10, 10]);
}

pub(crate) async fn accounts_of_old_requests_are_forgotten_and_their_rows_stay(store: &dyn LedgerStore) {
    commit(store, [1, 2, 3, 4].map(|number| reserve(number, 0, 10)).into()).await;
    // 1 is over, 2 has a recent row, 3 is open, 4 was released.
    commit(store, vec![settle(1, spent(10), 0), settle(2, spent(10), 2), release(4, 0)]).await;
    assert_eq!(store.forget_requests(moment(2)).await.unwrap(), 2);
    assert_eq!(store.forget_requests(moment(2)).await.unwrap(), 0);
    let left = store.accounts(&[1, 2, 3, 4].map(of_run)).await.unwrap();
    assert_eq!(
        left.iter().map(|account| (account.settled.0, account.reserved.0)).collect::<Vec<_>>(),
        [(0, 0), (10, 0), (0, 10), (0, 0)]
    );
    assert_eq!(all_rows(store).await.len(), 2);
    assert_eq!(store.totals(None, 100).await.unwrap().len(), 2);
}

/// Rows of four requests on four days: 1 spent, 2 and 3 spent and hit, 4 hit.
async fn some_rows(store: &dyn LedgerStore) {
    for number in [1_u32, 2, 3, 4] {
        let (id, on) = (u64::from(number), i64::from(number));
        if number < 4 {
            commit(store, vec![reserve(id, on, 100), settle(id, spent(id * 10), on)]).await;
        }
        if number > 1 {
            commit(store, vec![Write::Record(hit(id, on, 5)), Write::Record(hit(id, on, 6))]).await;
        }
    }
}

pub(crate) async fn rows_are_filtered_by_everything_that_is_given(store: &dyn LedgerStore) {
    some_rows(store).await;
    let any = RowFilter::default();
    let all = all_rows(store).await;
    let check = async |filter: RowFilter, expected: &[u64]| {
        let numbers: Vec<_> = rows(store, &filter).await.iter().map(|row| row.number.0).collect();
        assert_eq!(numbers, expected, "{filter:?}");
        let accepted: Vec<_> = all.iter().filter(|row| filter.accepts(row)).map(|row| row.number.0).collect();
        assert_eq!(accepted, expected, "{filter:?}");
        let counted: u64 = store.usage(&filter).await.unwrap().iter().map(|line| line.rows).sum();
        assert_eq!(counted, u64::try_from(expected.len()).unwrap(), "{filter:?}");
    };
    check(any.clone(), &[1, 2, 3, 4, 5, 6, 7, 8, 9]).await;
    check(RowFilter { request_id: Some(request(2)), ..any.clone() }, &[2, 3, 4]).await;
    check(RowFilter { request_id: Some(request(4)), ..any.clone() }, &[8, 9]).await;
    check(RowFilter { request_id: Some(request(5)), ..any.clone() }, &[]).await;
    check(RowFilter { run_id: Some(run(2)), ..any.clone() }, &[2]).await;
    check(RowFilter { run_id: Some(run(4)), ..any.clone() }, &[]).await;
    check(RowFilter { key: Some(key(1)), ..any.clone() }, &[1, 8, 9]).await;
    check(RowFilter { key: Some(key(0)), ..any.clone() }, &[]).await;
    check(RowFilter { from: Some(day(3)), ..any.clone() }, &[5, 6, 7, 8, 9]).await;
    check(RowFilter { to: Some(day(1)), ..any.clone() }, &[1]).await;
    check(RowFilter { from: Some(day(2)), to: Some(day(2)), ..any.clone() }, &[2, 3, 4]).await;
    check(RowFilter { key: Some(key(1)), from: Some(day(2)), ..any.clone() }, &[8, 9]).await;
    check(RowFilter { request_id: Some(request(2)), run_id: Some(run(2)), ..any.clone() }, &[2]).await;
    check(RowFilter { request_id: Some(request(2)), to: Some(day(1)), ..any }, &[]).await;
}

pub(crate) async fn rows_come_page_by_page(store: &dyn LedgerStore) {
    some_rows(store).await;
    let page = async |after, limit| {
        let filter = RowFilter { from: Some(day(2)), ..RowFilter::default() };
        let rows = store.rows(&filter, RowNumber(after), limit).await.unwrap();
        rows.iter().map(|row| row.number.0).collect::<Vec<_>>()
    };
    assert_eq!(page(0, 3).await, [2, 3, 4]);
    assert_eq!(page(4, 3).await, [5, 6, 7]);
    assert_eq!(page(7, 3).await, [8, 9]);
    assert!(page(9, 3).await.is_empty());
    assert!(page(u64::MAX, 3).await.is_empty());
    assert!(page(0, 0).await.is_empty());
}

/// Lines in the order of their groups.
fn sorted(mut lines: Vec<UsageLine>) -> Vec<UsageLine> {
    lines.sort_by_key(|line| (line.day, line.key.clone(), line.model.clone(), line.kind, line.rows));
    lines
}

pub(crate) async fn usage_adds_up_groups_without_corrected_rows(store: &dyn LedgerStore) {
    commit(store, [1, 4, 7].map(|number| reserve(number, 0, 100)).into()).await;
    // All three have one key; only 4 has another mode. 7 is first thought to have cost 13, and did cost 120: 13 of them
    // were still held, so 107 are debt.
    commit(store, vec![settle(1, spent(130), 0), settle(4, spent(20), 0), settle(7, abandoned(100), 0)]).await;
    commit(store, vec![settle(7, spent(120), 1), Write::Record(hit(1, 0, 9))]).await;
    let line = |number, kind, rows, amount, overrun, input, output| UsageLine {
        day: day(0),
        key: Some(key(1)),
        model: labels(1).model,
        mode: labels(number).mode,
        kind,
        rows,
        amount: MicroUsd(amount),
        overrun: MicroUsd(overrun),
        tokens: TokenUsage { input_tokens: input, output_tokens: output, ..TokenUsage::default() },
    };
    let expected = vec![
        line(4, RowKind::Spent, 1, 20, 0, 20, 0),
        line(1, RowKind::Spent, 2, 250, 137, 250, 0),
        line(1, RowKind::Avoided, 1, 9, 0, 7, 5),
    ];
    assert_eq!(sorted(store.usage(&RowFilter::default()).await.unwrap()), expected);
}

pub(crate) async fn sums_beyond_what_can_be_counted_stop_at_the_largest(store: &dyn LedgerStore) {
    let huge = |covered: i64| {
        let tokens = TokenUsage { input_tokens: 1 << 62, ..TokenUsage::default() };
        Write::Record(Row { kind: RowKind::Spent, covered: MicroUsd(covered), tokens, ..hit(1, 0, i64::MAX) })
    };
    commit(store, vec![huge(i64::MAX), huge(0), huge(-1)]).await;
    let line = store.usage(&RowFilter::default()).await.unwrap().remove(0);
    assert_eq!((line.amount, line.overrun, line.rows), (MicroUsd(i64::MAX), MicroUsd(i64::MAX), 3));
    assert_eq!(line.tokens.input_tokens, 3 << 62);
}

pub(crate) async fn a_seal_must_begin_where_the_newest_one_ends(store: &dyn LedgerStore) {
    let seal = |first: u64, rows: u8| Seal {
        first: RowNumber(first),
        before: Link([9; 32]),
        links: (0..rows).map(|mark| Link([mark; 32])).collect(),
        sealed_at: BEGIN,
        signature: [7; 64],
    };
    for (first, rows, added) in [(2, 1, false), (1, 3, true), (1, 3, false), (3, 1, false), (5, 1, false), (4, 2, true)]
    {
        assert_eq!(store.append_seal(&seal(first, rows)).await.unwrap(), added, "{first}");
    }
    assert_eq!(store.last_seal().await.unwrap(), Some(seal(4, 2)));
    for (after, limit, expected) in [
        (0, 9, vec![seal(1, 3), seal(4, 2)]),
        (0, 1, vec![seal(1, 3)]),
        (2, 9, vec![seal(1, 3), seal(4, 2)]),
        (3, 9, vec![seal(4, 2)]),
        (5, 9, Vec::new()),
    ] {
        assert_eq!(store.seals(RowNumber(after), limit).await.unwrap(), expected, "{after}");
    }
}

pub(crate) async fn a_sealed_ledger_verifies(store: &dyn LedgerStore) {
    some_rows(store).await;
    let lowered = Order { demand: Demand::new(MicroUsd(5_000), MicroUsd(1)), ..order(9, 1, 0, 1_000) };
    commit(store, vec![reserve(8, 1, 10), Write::Reserve(lowered)]).await;
    let signer = SealingKey::mint(&Seeded::new(1));
    assert_eq!(seal_some(store, &signer, &Still).await.unwrap(), 9);
    assert_eq!(seal_some(store, &signer, &Still).await.unwrap(), 0);
    commit(store, vec![Write::Record(hit(9, 1, 1))]).await;
    let checkpoint = store.last_seal().await.unwrap().unwrap().checkpoint();
    let found = verify(store, &signer.verifying_key(), Some(checkpoint)).await.unwrap();
    assert_eq!((found.rows, found.sealed, found.fault), (10, RowNumber(9), None));
}
