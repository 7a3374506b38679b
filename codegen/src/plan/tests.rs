mod convert;
mod memory;
mod proof;
