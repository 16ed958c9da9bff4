//! From a question to ranked articles of one index generation
