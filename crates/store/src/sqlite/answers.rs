//! Answers that are kept for repeated requests.

use async_trait::async_trait;
use bylaw_answer::{AnswerStore, AnswerStoreError, KeptAnswer, KeptName};
use bylaw_contract::{KeyId, Timestamp};
use sqlx::Row;

use super::{SqliteStore, columns::Failure};

#[async_trait]
impl AnswerStore for SqliteStore {
    async fn find(&self, name: &KeptName, since: Timestamp) -> Result<Option<KeptAnswer>, AnswerStoreError> {
        let read = async {
            let row = sqlx::query(
                "SELECT fingerprint, answer, kept_at FROM kept_answers WHERE owner = ? AND name = ? AND kept_at >= ?",
            )
            .bind(owner(name))
            .bind(name.key.as_str())
            .bind(since.0)
            .fetch_optional(&self.readers)
            .await?;
            row.map(|row| {
                let fingerprint: &[u8] = row.try_get("fingerprint")?;
                Ok(KeptAnswer {
                    fingerprint: fingerprint.try_into()?,
                    answer: row.try_get("answer")?,
                    kept_at: Timestamp(row.try_get("kept_at")?),
                })
            })
            .transpose()
        };
        read.await.map_err(|error: Failure| failed("reading a kept answer", &*error))
    }

    async fn keep(
        &self,
        name: &KeptName,
        answer: &KeptAnswer,
        forget_before: Timestamp,
    ) -> Result<(), AnswerStoreError> {
        let written = async {
            let mut transaction = self.write().await?;
            sqlx::query("DELETE FROM kept_answers WHERE kept_at < ?")
                .bind(forget_before.0)
                .execute(&mut *transaction)
                .await?;
            sqlx::query(
                "INSERT INTO kept_answers (owner, name, fingerprint, answer, kept_at) VALUES (?, ?, ?, ?, ?)
                 ON CONFLICT DO NOTHING",
            )
            .bind(owner(name))
            .bind(name.key.as_str())
            .bind(answer.fingerprint.as_slice())
            .bind(answer.answer.as_str())
            .bind(answer.kept_at.0)
            .execute(&mut *transaction)
            .await?;
            transaction.commit().await
        };
        written.await.map_err(|error| failed("keeping an answer", &error))
    }
}

fn owner(name: &KeptName) -> &str {
    name.owner.as_ref().map_or("", KeyId::as_str)
}

fn failed(operation: &'static str, source: &dyn std::error::Error) -> AnswerStoreError {
    AnswerStoreError { operation, problem: source.to_string() }
}
