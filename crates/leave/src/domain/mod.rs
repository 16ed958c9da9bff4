//! What a leave is and what may be done with it. Knows neither MCP nor SQL: values, tables and functions.

pub mod book;
pub mod calendar;
pub mod catalogue;
pub mod decide;
pub mod effect;
pub mod history;
pub mod ids;
pub mod leave;
mod question;
pub mod quota;
pub mod refusal;
pub mod rules;
mod sentences;
pub mod status;
pub mod store;
pub mod time;
pub mod words;
