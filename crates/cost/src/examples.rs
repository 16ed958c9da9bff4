//! Inputs to begin with.

/// An input that a person can edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    /// A commercial API against one rented GPU.
    Rented,
    /// A commercial API against hardware that one buys.
    Owned,
}

impl Example {
    /// Every example.
    pub const ALL: [Self; 2] = [Self::Rented, Self::Owned];

    /// The file, in TOML, with a comment for each figure.
    #[must_use]
    pub const fn toml(self) -> &'static str {
        match self {
            Self::Rented => include_str!("examples/rented.toml"),
            Self::Owned => include_str!("examples/owned.toml"),
        }
    }
}
