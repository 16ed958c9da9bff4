//! One metered call to a language model
