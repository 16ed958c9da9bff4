//! The settings as they are written. Unknown keys are refused by name.

use std::{collections::BTreeMap, fmt};

use bylaw_model::ActionMode;
use serde::{Deserialize, Deserializer, Serialize, de};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub(super) server: Server,
    pub(super) data: Data,
    pub(super) retrieval: Retrieval,
    pub(super) model: Model,
    pub(super) agents: Agents,
    pub(super) money: Money,
    pub(super) budgets: Budgets,
    pub(super) caps: Caps,
    pub(super) ledger: Ledger,
    pub(super) runs: Runs,
    pub(super) prices: BTreeMap<String, Price>,
    pub(super) client: Client,
    pub(super) mcp: Mcp,
    pub(super) log: Log,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) allowed_hosts: Vec<String>,
    pub(super) frame_ancestors: Vec<String>,
    pub(super) documents_root: String,
    pub(super) max_upload_mib: u32,
    pub(super) max_concurrent_asks: u32,
    pub(super) shutdown_grace_seconds: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Data {
    pub(super) directory: String,
    pub(super) undo_days: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Retrieval {
    pub(super) glossary: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Model {
    pub(super) base_url: String,
    pub(super) name: String,
    pub(super) api_key: String,
    pub(super) connect_timeout_seconds: u32,
    pub(super) first_byte_timeout_seconds: u32,
    pub(super) idle_timeout_seconds: u32,
    pub(super) total_timeout_seconds: u32,
    pub(super) retries: u32,
    pub(super) actions: ActionMode,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Agents {
    pub(super) directory: String,
    pub(super) max_concurrent_runs: u32,
    pub(super) max_open_questions: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Money {
    pub(super) currency: String,
    pub(super) rate: Quoted,
    pub(super) time_zone: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Budgets {
    pub(super) service: Vec<Quoted>,
    pub(super) key: Vec<Quoted>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Caps {
    pub(super) max_cost: Quoted,
    pub(super) max_wall_seconds: u32,
    pub(super) max_steps: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ledger {
    pub(super) lease_seconds: u32,
    pub(super) seal_seconds: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Runs {
    pub(super) keep_days: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Price {
    pub(super) input: Option<Quoted>,
    pub(super) cached_input: Option<Quoted>,
    pub(super) output: Option<Quoted>,
    #[serde(default)]
    pub(super) free: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Client {
    pub(super) key: String,
    pub(super) language: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mcp {
    pub(super) url: String,
    pub(super) source: String,
    pub(super) max_steps: u32,
    pub(super) max_wall_ms: u32,
    pub(super) language: String,
    pub(super) aliases: bool,
}

/// An amount as text. A number without quotes is refused: TOML would make a float of it, which is no longer what was written.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Quoted(pub(super) String);

impl<'de> Deserialize<'de> for Quoted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl Visitor {
            fn refuse<E: de::Error>(number: impl fmt::Display) -> Result<Quoted, E> {
                Err(E::custom(format!("amounts are written in quotes: \"{number}\"")))
            }
        }

        impl de::Visitor<'_> for Visitor {
            type Value = Quoted;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an amount in quotes")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Quoted, E> {
                Ok(Quoted(text.to_owned()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Quoted, E> {
                Self::refuse(number)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Quoted, E> {
                Self::refuse(number)
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Quoted, E> {
                Self::refuse(number)
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Log {
    pub(super) level: String,
    pub(super) format: LogFormat,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
