//! What a scenario found.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::terminal::{self, Format};

/// What a scenario found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    scenario: &'static str,
    holds: bool,
    claims: Vec<Claim>,
    numbers: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct Claim {
    claim: String,
    holds: bool,
    found: String,
}

impl Report {
    pub(super) fn new(scenario: &'static str) -> Self {
        Self { scenario, holds: true, claims: Vec::new(), numbers: Map::new() }
    }

    /// Whether every claim holds.
    pub(super) const fn holds(&self) -> bool {
        self.holds
    }

    /// Something that must be so.
    pub(super) fn claim(&mut self, claim: impl Into<String>, holds: bool, found: impl Into<String>) {
        self.holds &= holds;
        self.claims.push(Claim { claim: claim.into(), holds, found: found.into() });
    }

    /// Something that was counted or measured.
    pub(super) fn number(&mut self, name: impl Into<String>, number: impl Into<Value>) {
        self.numbers.insert(name.into(), number.into());
    }

    pub(super) fn show(&self, format: Format) {
        if format == Format::Json {
            return terminal::json(self);
        }
        terminal::line(format!("{}: {}", self.scenario, if self.holds { "holds" } else { "DOES NOT HOLD" }));
        for Claim { claim, holds, found } in &self.claims {
            terminal::line(format!("  {}  {claim}: {found}", if *holds { "yes" } else { "NO " }));
        }
        for (name, number) in &self.numbers {
            terminal::line(format!("       {name} {number}"));
        }
    }
}
