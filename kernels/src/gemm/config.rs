//! A chosen configuration and the kernel that is generated from it.

use girih_codegen::Kernel;
use girih_codegen::gemm::warp_specialized::{self, WarpSpecializedConfig, WarpSpecializedKernel};
use girih_codegen::gemm::{self, GemmConfig, GemmKernel};

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
            Config::Multistage(config) => Generated::Multistage(Box::new(gemm::generate(config)?)),
            Config::WarpSpecialized(config) => {
                Generated::WarpSpecialized(Box::new(warp_specialized::generate(config)?))
            }
        })
    }
}

/// A generated kernel, and how its arguments are made.
#[derive(Clone, Debug)]
pub enum Generated {
    /// Takes pointers and pitches.
    Multistage(Box<GemmKernel>),
    /// Takes tensor maps.
    WarpSpecialized(Box<WarpSpecializedKernel>),
}

impl Generated {
    /// The kernel [`Config::name`].
    pub fn kernel(&self) -> &Kernel {
        match self {
            Generated::Multistage(generated) => &generated.kernel,
            Generated::WarpSpecialized(generated) => &generated.kernel,
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
