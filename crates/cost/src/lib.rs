//! When does hosting your own model pay?
//!
//! Two options, an API that bills by the token and GPUs that bill by the hour, each with its own profile of what a task asks of
//! the model. Values in, values out:
//!
//! ```text
//! CostInput ──check──▶ Checked ──▶ Scenario ──▶ break_even · sensitivity · uncertainty · outlook
//!     ▲     what is missing is assumed,          └──────────────┬───────────────┘
//!     │     and listed                                     CostReport ──▶ JSON · csv · text · html
//! Measured ◀── Measurement ◀── calls of a ledger
//! ```
//!
//! [`compare`] does all of it; [`simple`] is the formula that everyone starts with. Money is decimal ([`Figure`]); floats are
//! for months and probabilities, and for where a line is drawn. Nothing here waits, reads a file or knows a ledger: profiles
//! arrive as values. The formulas are written at [`scenario`], the set of volumes at which hosting pays at [`mod@break_even`].

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failing test should panic"))]

pub mod break_even;
mod chart;
mod check;
mod csv;
mod examples;
mod explain;
mod figure;
mod html;
mod input;
mod measured;
pub mod outlook;
mod report;
pub mod scenario;
pub mod sensitivity;
mod simple;
mod text;
mod words;

pub use chart::{Chart, Stair};
pub use check::{Assumption, Checked, InvalidCost, Problem, check};
pub use csv::csv;
pub use examples::Example;
pub use figure::{Figure, InvalidFigure};
pub use html::html;
pub use input::{ApiInput, CostInput, FromLedger, ProfileInput, SelfHostedInput, Statistic};
pub use measured::{Attempt, Call, Measured, Measurement, Spread};
pub use report::{ApiCost, CostReport, OptionQuality, Outlook, Quality, SelfHostedCost, compare};
pub use simple::{SimpleInput, SimpleReport, simple};
pub use text::{simple_text, text};
