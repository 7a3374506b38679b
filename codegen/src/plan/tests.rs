mod memory;
mod proof;
