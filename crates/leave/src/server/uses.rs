//! Answers count once, also across restarts: their tickets are kept with the leaves.

use std::sync::Arc;

use async_trait::async_trait;
use bylaw_mcp::{ConfirmationUse, ConfirmationUses, ConfirmationUsesError};

use crate::domain::store::{LeaveStore, Ticket};

pub(super) struct Tickets(pub(super) Arc<dyn LeaveStore>);

#[async_trait]
impl ConfirmationUses for Tickets {
    async fn spend(&self, used: &ConfirmationUse) -> Result<bool, ConfirmationUsesError> {
        let ticket = Ticket { text: used.id.to_string(), expires: used.expires };
        self.0.spend(&ticket, used.now).await.map_err(|error| ConfirmationUsesError(Box::new(error)))
    }
}
