//! The network door
