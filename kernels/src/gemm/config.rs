//! A chosen configuration and the kernel that is generated from it.

use girih_codegen::gemm::warp_specialized::{self, WarpSpecializedConfig, WarpSpecializedKernel};
use girih_codegen::gemm::{self, GemmConfig, GemmKernel};
use girih_ptx::Module;

/// What a GEMM's module is generated from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a plain value, one for each module")]
pub enum Config {
    /// A multistage mainloop of copies by every thread.
    Multistage(GemmConfig),
    /// Tensor copies by one warpgroup, products by the others.
    WarpSpecialized(WarpSpecializedConfig),
}

impl Config {
    /// The kernel's name in the module.
    pub fn name(&self) -> &'static str {
        match self {
            Config::Multistage(config) => config.name,
            Config::WarpSpecialized(config) => config.name,
        }
    }

    /// BlockM, BlockN, BlockK in elements.
    pub fn tile(&self) -> [i64; 3] {
        match self {
            Config::Multistage(config) => config.tile,
            Config::WarpSpecialized(config) => config.tile,
        }
    }

    /// Generates the kernel.
    ///
    /// # Errors
    /// Those of the generators.
    pub fn generate(&self) -> Result<Generated, girih_codegen::Error> {
        Ok(match self {
            Config::Multistage(config) => Generated::Multistage(gemm::generate(config)?),
            Config::WarpSpecialized(config) => {
                Generated::WarpSpecialized(Box::new(warp_specialized::generate(config)?))
            }
        })
    }
}

/// A generated kernel and what its launch needs.
#[derive(Clone, Debug)]
pub enum Generated {
    /// Takes pointers and pitches.
    Multistage(GemmKernel),
    /// Takes tensor maps.
    WarpSpecialized(Box<WarpSpecializedKernel>),
}

impl Generated {
    /// The module with the kernel [`Config::name`].
    pub fn module(&self) -> &Module {
        match self {
            Generated::Multistage(kernel) => &kernel.module,
            Generated::WarpSpecialized(kernel) => &kernel.module,
        }
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        match self {
            Generated::Multistage(kernel) => kernel.threads,
            Generated::WarpSpecialized(kernel) => kernel.threads,
        }
    }

    /// Dynamic shared memory of a block in bytes.
    pub fn shared_bytes(&self) -> u32 {
        match self {
            Generated::Multistage(kernel) => kernel.shared_bytes,
            Generated::WarpSpecialized(kernel) => kernel.shared_bytes,
        }
    }

    /// What the kernel was derived from, line by line: name and layout.
    pub fn partitions(&self) -> &[(&'static str, String)] {
        match self {
            Generated::Multistage(kernel) => &kernel.partitions,
            Generated::WarpSpecialized(kernel) => &kernel.partitions,
        }
    }
}
