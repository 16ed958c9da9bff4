//! Runs, conversations and artifacts: the behaviour of every store, also of the one in memory, and what only a file has.

mod behaviour;
mod conversations;
mod file;
mod world;

/// Runs each behaviour on plain memory, on a database in memory, and on one in a file.
macro_rules! behaves {
    ($($module:ident::{ $($behaviour:ident),+ $(,)? }),+ $(,)?) => {
        mod in_plain_memory {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $behaviour() {
                super::$module::$behaviour(std::sync::Arc::new(bylaw_agent::MemoryRuns::default())).await;
            })+)+
        }

        mod in_memory {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $behaviour() {
                let store = bylaw_store::SqliteStore::in_memory().await.unwrap();
                super::$module::$behaviour(std::sync::Arc::new(store)).await;
            })+)+
        }

        mod in_a_file {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $behaviour() {
                let folder = crate::folder::Folder::new();
                let store = folder.open().await;
                super::$module::$behaviour(std::sync::Arc::new(store.clone())).await;
                store.close().await;
            })+)+
        }
    };
}

behaves!(
    behaviour::{
        an_empty_store_has_nothing,
        a_run_is_kept_as_it_began_and_as_it_ended,
        a_run_ends_with_the_last_event_of_its_kind,
        events_come_back_in_their_order_page_by_page,
        numbers_have_no_gaps_whoever_writes_at_the_same_time,
        what_cannot_be_written_is_left_out_and_the_rest_is_written,
        a_run_waits_while_a_question_is_open,
        of_32_answers_at_once_the_first_wins,
        an_answer_that_the_run_tells_of_closes_its_question,
        runs_are_filtered_by_everything_that_is_given,
        runs_come_newest_first_page_by_page,
        a_run_whose_process_is_gone_is_lost,
    },
    conversations::{
        a_conversation_is_kept_with_what_was_said,
        a_conversation_is_had_by_one_run_at_a_time,
        of_32_runs_that_begin_at_once_one_has_the_conversation,
        a_conversation_of_another_owner_does_not_exist,
        conversations_come_newest_first_page_by_page,
        a_deleted_conversation_is_gone_with_its_runs,
        artifacts_belong_to_their_run_up_to_its_limit,
        old_runs_are_forgotten_and_conversations_as_a_whole,
        what_goes_on_is_never_forgotten,
    },
);
