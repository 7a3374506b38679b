//! One binary for all of them, since linking one for each file takes longer than running it.

mod launches;
mod ops;
