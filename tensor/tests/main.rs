//! One binary for all of them, since linking one for each file takes longer than running it.

mod dtypes;
mod host;
mod print;
mod seed;
mod views;
