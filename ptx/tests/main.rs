//! One binary for all of them, since linking one for each file takes longer than running it.

mod errors;
mod functions;
mod golden;
mod instances;
mod laws;
mod ptxas;
mod shared;
mod sources;
mod syntax;
mod tensor_map;
mod verify;
