//! Every environment variable that is read, in one list.

/// A variable and the setting it sets.
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: &'static str,
    /// The setting, as `section.key`.
    pub(crate) key: &'static str,
}

const fn variable(name: &'static str, key: &'static str) -> Variable {
    Variable { name, key }
}

/// Every variable that configuration reads. (`BYLAW_CONFIG` names the file itself.)
pub(crate) const VARIABLES: &[Variable] = &[
    variable("BYLAW_HOST", "server.host"),
    variable("BYLAW_PORT", "server.port"),
    variable("BYLAW_DOCUMENTS_ROOT", "server.documents_root"),
    variable("BYLAW_DATA", "data.directory"),
    variable("BYLAW_GLOSSARY", "retrieval.glossary"),
    variable("BYLAW_MODEL_BASE_URL", "model.base_url"),
    variable("BYLAW_MODEL_NAME", "model.name"),
    variable("BYLAW_MODEL_API_KEY", "model.api_key"),
    variable("BYLAW_MODEL_ACTIONS", "model.actions"),
    variable("BYLAW_AGENTS", "agents.directory"),
    variable("BYLAW_KEY", "client.key"),
    variable("BYLAW_LANGUAGE", "client.language"),
    variable("BYLAW_URL", "mcp.url"),
    variable("BYLAW_MCP_SOURCE", "mcp.source"),
    variable("BYLAW_MCP_MAX_STEPS", "mcp.max_steps"),
    variable("BYLAW_MCP_MAX_WALL_MS", "mcp.max_wall_ms"),
    variable("BYLAW_MCP_LANGUAGE", "mcp.language"),
    variable("BYLAW_MCP_ALIASES", "mcp.aliases"),
    variable("BYLAW_LOG", "log.level"),
    variable("BYLAW_LOG_FORMAT", "log.format"),
];
