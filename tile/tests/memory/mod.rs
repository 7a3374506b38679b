//! Accesses and hints as users ask for them: what is accepted, what is refused and what is said then.

mod accesses;
mod hints;
