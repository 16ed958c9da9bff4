//! Many servers side by side.

use futures_util::future::join_all;

use super::{ClientOptions, Host, McpClient, McpError, McpServer, RemoteTool, ServerState};

/// Clients of many servers, each with its own state. What is wrong with one is nothing to the others.
#[derive(Clone, Debug, Default)]
pub struct McpClients {
    clients: Vec<McpClient>,
}

impl McpClients {
    /// Connects to all at once, and returns when each is connected or has failed. Those that failed are tried again
    /// when they are next needed.
    pub async fn connect(servers: Vec<McpServer>, options: &ClientOptions, host: &Host) -> Self {
        let clients: Vec<McpClient> =
            servers.into_iter().map(|server| McpClient::new(server, options.clone(), host.clone())).collect();
        join_all(clients.iter().map(|client| async move {
            if let Err(error) = client.ready().await {
                tracing::warn!(%error, "a server is not available");
            }
        }))
        .await;
        Self { clients }
    }

    /// Each client, in the order of the servers.
    #[must_use]
    pub fn all(&self) -> &[McpClient] {
        &self.clients
    }

    /// The client of the server of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&McpClient> {
        self.clients.iter().find(|client| client.name() == name)
    }

    /// Each server's name and how it stands.
    #[must_use]
    pub fn states(&self) -> Vec<(String, ServerState)> {
        self.clients.iter().map(|client| (client.name().to_owned(), client.state().borrow().clone())).collect()
    }

    /// The tools of each, asked at once: a server's own error in place of its tools.
    pub async fn tools(&self) -> Vec<(&McpClient, Result<Vec<RemoteTool>, McpError>)> {
        join_all(self.clients.iter().map(|client| async move { (client, client.tools().await) })).await
    }

    /// Closes all at once.
    pub async fn close(&self) {
        join_all(self.clients.iter().map(McpClient::close)).await;
    }
}
