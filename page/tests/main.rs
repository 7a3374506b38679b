//! The page without a browser: calls as a Rust function, and the server over sockets.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod kernels;
mod layouts;
mod partitions;
mod recording;
mod server;
mod tiles;
mod views;
