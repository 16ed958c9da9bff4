//! Keys and the ledger: the behaviour of every store, also of the one in memory, and what only a file has.

mod behaviour;
mod file;
mod keys;
mod likeness;
mod race;
mod world;

/// Runs each behaviour on a ledger in plain memory, on a database in memory, and on one in a file.
macro_rules! behaves {
    ($($module:ident on $plain:ident :: { $($behaviour:ident),+ $(,)? }),+ $(,)?) => {
        mod in_plain_memory {
            $($(#[tokio::test]
            async fn $behaviour() {
                super::$module::$behaviour(&bylaw_gate::$plain::default()).await;
            })+)+
        }

        mod in_memory {
            $($(#[tokio::test]
            async fn $behaviour() {
                super::$module::$behaviour(&bylaw_store::SqliteStore::in_memory().await.unwrap()).await;
            })+)+
        }

        mod in_a_file {
            $($(#[tokio::test]
            async fn $behaviour() {
                let folder = crate::folder::Folder::new();
                let store = folder.open().await;
                super::$module::$behaviour(&store).await;
                store.close().await;
            })+)+
        }
    };
}

behaves!(
    keys on MemoryKeys::{
        a_key_is_found_by_its_hash_as_it_was_added,
        keys_are_listed_in_the_order_of_their_creation,
        a_key_is_revoked_once,
        the_revision_grows_exactly_when_keys_change,
    },
    behaviour on MemoryLedger::{
        an_empty_ledger_has_nothing,
        a_reservation_is_open_until_it_is_settled,
        a_settlement_that_arrives_twice_changes_nothing,
        what_does_not_fit_is_refused_and_leaves_nothing,
        what_is_closed_in_a_batch_can_be_had_in_the_same_batch,
        a_released_reservation_leaves_no_row,
        rows_keep_their_text_to_the_letter,
        a_run_out_lease_expires_what_it_held_and_the_truth_corrects_it,
        a_living_lease_keeps_its_reservations,
        reservations_without_a_lease_expire_up_to_the_limit,
        open_reservations_come_by_id_page_by_page,
        totals_come_by_key_page_by_page_without_requests,
        accounts_of_old_requests_are_forgotten_and_their_rows_stay,
        rows_are_filtered_by_everything_that_is_given,
        rows_come_page_by_page,
        usage_adds_up_groups_without_corrected_rows,
        sums_beyond_what_can_be_counted_stop_at_the_largest,
        a_seal_must_begin_where_the_newest_one_ends,
        a_sealed_ledger_verifies,
    },
);
