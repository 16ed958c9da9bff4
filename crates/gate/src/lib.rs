//! Who may ask and what may be spent
