//! The ledger as its users see it.

mod gate;
mod interleavings;
mod race;
mod ring;
mod sealing;
mod simulation;
mod storms;
mod world;
