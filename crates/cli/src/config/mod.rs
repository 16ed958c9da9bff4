//! Configuration: defaults, then `bylaw.toml`, then environment, then flags; resolved once.

mod caps;
mod client;
mod ledger;
mod load;
mod mcp;
mod model;
mod money;
mod prices;
mod raw;
mod runs;
mod settings;
mod variables;

pub(crate) use client::ClientKey;
pub(crate) use load::{DEFAULTS, Flags, Layers, load};
pub(crate) use raw::LogFormat;
pub(crate) use settings::Settings;
pub(crate) use variables::VARIABLES;
