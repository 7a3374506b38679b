//! One binary for all of them, since linking one for each file takes longer than running it.

mod constants;
mod demand;
mod errors;
mod functions;
mod golden;
mod instances;
mod laws;
mod orders;
mod pressure;
mod ptxas;
mod shared;
mod sources;
mod syntax;
mod tensor_map;
mod verify;
