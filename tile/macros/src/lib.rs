//! The attributes of girih's tile language.
