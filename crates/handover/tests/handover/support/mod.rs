//! A door that does what a test says, and a client on the other end of a pipe.

mod door;
mod pipe;

pub(crate) use door::{Reply, ScriptedDoor, answer, article, hit, refusal, stopped};
pub(crate) use pipe::{Called, Pipe};
