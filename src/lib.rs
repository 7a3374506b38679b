//! The facade.

pub use girih_codegen as codegen;
pub use girih_device as device;
pub use girih_kernels as kernels;
pub use girih_layout as layout;
pub use girih_ptx as ptx;
pub use girih_sim as sim;
pub use girih_tensor as tensor;
