//! What a user asks of placement and launch. Hints leave results as they are.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::{Code, Fault};

/// A kind of hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hint {
    /// Blocks in a cluster.
    NumCtas,
    /// Blocks on a multiprocessor at a time.
    Occupancy,
    /// Warps of a block.
    NumWorkerWarps,
    /// Optimisation level.
    OptLevel,
    /// Tiles of a loop over products that are in shared memory at a time.
    NumStages,
    /// Expected latency of an access: how far ahead it may be issued.
    Latency,
    /// Whether an access may go by tensor copies.
    AllowTma,
}

/// What a hint stands at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Construct {
    /// A kernel.
    Kernel,
    /// A load of a tile.
    Load,
    /// A store of a tile.
    Store,
    /// A gather.
    Gather,
    /// A scatter.
    Scatter,
    /// An atomic operation.
    Atomic,
}

impl Construct {
    /// Everything that hints can stand at.
    pub const ALL: &[Construct] = &[
        Construct::Kernel,
        Construct::Load,
        Construct::Store,
        Construct::Gather,
        Construct::Scatter,
        Construct::Atomic,
    ];

    /// The construct's name.
    pub const fn name(self) -> &'static str {
        match self {
            Construct::Kernel => "kernel",
            Construct::Load => "load",
            Construct::Store => "store",
            Construct::Gather => "gather",
            Construct::Scatter => "scatter",
            Construct::Atomic => "atomic",
        }
    }
}

impl Hint {
    /// All kinds.
    pub const ALL: &[Hint] = &[
        Hint::NumCtas,
        Hint::Occupancy,
        Hint::NumWorkerWarps,
        Hint::OptLevel,
        Hint::NumStages,
        Hint::Latency,
        Hint::AllowTma,
    ];

    /// The hint's name, as kernels are annotated with it.
    pub const fn name(self) -> &'static str {
        match self {
            Hint::NumCtas => "num_ctas",
            Hint::Occupancy => "occupancy",
            Hint::NumWorkerWarps => "num_worker_warps",
            Hint::OptLevel => "opt_level",
            Hint::NumStages => "num_stages",
            Hint::Latency => "latency",
            Hint::AllowTma => "allow_tma",
        }
    }

    /// The hint of a name.
    pub fn named(name: &str) -> Option<Hint> {
        Hint::ALL.iter().copied().find(|hint| hint.name() == name)
    }

    /// The values that are accepted, if these are listed, and the same in words.
    pub(crate) const fn accepted(self) -> (&'static [i64], &'static str) {
        match self {
            Hint::NumCtas => (&[1, 2, 4, 8, 16], "1, 2, 4, 8 or 16"),
            Hint::Occupancy => (&[], "1 to 32"),
            Hint::NumWorkerWarps => (&[4, 8, 16, 32], "4, 8, 16 or 32"),
            Hint::OptLevel => (&[0, 1, 2, 3], "0 to 3"),
            Hint::NumStages => (&[1, 2, 3, 4, 5, 6, 7, 8], "1 to 8"),
            Hint::Latency => (&[], "1 to 10"),
            Hint::AllowTma => (&[0, 1], "true (1) or false (0)"),
        }
    }

    /// The hint's value if it is accepted, for all architectures or for one.
    ///
    /// # Errors
    /// [`Code::HintValue`].
    ///
    /// # Examples
    /// ```
    /// use girih_tile::hints::Hint;
    ///
    /// assert_eq!(Hint::NumCtas.check(4, None)?, 4);
    /// assert!(Hint::NumCtas.check(2, Some(80)).is_err());
    /// assert!(Hint::Latency.check(11, None).is_err());
    /// # Ok::<(), girih_tile::error::Fault>(())
    /// ```
    pub fn check(self, value: i64, arch: Option<u32>) -> Result<u32, Fault> {
        let refused = |accepted: &str, why: &str| {
            let at = arch.map(|arch| format!(" on sm_{arch}")).unwrap_or_default();
            Fault::new(Code::HintValue, format!("`{self} = {value}`{at}: {accepted} is accepted{why}"))
        };
        let (listed, accepted) = self.accepted();
        let ok = match self {
            Hint::Occupancy => (1..=32).contains(&value),
            Hint::Latency => (1..=10).contains(&value),
            _ => listed.contains(&value),
        };
        if !ok {
            return Err(refused(accepted, ""));
        }
        if self == Hint::NumCtas && value > 1 && arch.is_some_and(|arch| arch < 90) {
            return Err(refused("1", ", since clusters begin with sm_90"));
        }
        u32::try_from(value).map_err(|_| refused(accepted, ""))
    }

    /// Whether the hint may stand at a construct.
    ///
    /// # Errors
    /// [`Code::HintUnsupportedHere`].
    pub fn check_on(self, construct: Construct) -> Result<(), Fault> {
        let on: &[Construct] = match self {
            Hint::NumCtas | Hint::Occupancy | Hint::NumWorkerWarps | Hint::OptLevel | Hint::NumStages => {
                &[Construct::Kernel]
            }
            Hint::Latency => &[Construct::Load, Construct::Store, Construct::Gather, Construct::Scatter],
            Hint::AllowTma => &[Construct::Load, Construct::Store],
        };
        if on.contains(&construct) {
            return Ok(());
        }
        let names: Vec<&str> = on.iter().map(|construct| construct.name()).collect();
        Err(Fault::new(
            Code::HintUnsupportedHere,
            format!(
                "`{self}` does not belong to the construct `{}`: it is accepted at {}",
                construct.name(),
                names.join(", ")
            ),
        ))
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Architectures that hints can be given for.
const ARCHS: &[u32] = &[80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121];

/// The architecture of a key such as `sm_90`, as the number 90.
///
/// # Errors
/// [`Code::ArchKey`].
pub fn arch(key: &str) -> Result<u32, Fault> {
    let digits = key.strip_prefix("sm_").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok()).filter(|arch| ARCHS.contains(arch)).ok_or_else(|| {
        let known: Vec<String> = ARCHS.iter().map(|arch| format!("sm_{arch}")).collect();
        Fault::new(Code::ArchKey, format!("no architecture is called `{key}`: {} are", known.join(", ")))
    })
}

/// The hints of one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct HintSet {
    /// Blocks in a cluster: 1, 2, 4, 8 or 16.
    pub num_ctas: Option<u32>,
    /// Blocks on a multiprocessor at a time: 1 to 32.
    pub occupancy: Option<u32>,
    /// Warps of a block: 4, 8, 16 or 32.
    pub num_worker_warps: Option<u32>,
    /// Optimisation level: 0 to 3.
    pub opt_level: Option<u32>,
    /// Tiles of a loop over products that are in shared memory at a time: 1 to 8.
    pub num_stages: Option<u32>,
}

impl HintSet {
    /// What is set here, and else what `base` has.
    #[must_use]
    pub fn over(self, base: HintSet) -> HintSet {
        HintSet {
            num_ctas: self.num_ctas.or(base.num_ctas),
            occupancy: self.occupancy.or(base.occupancy),
            num_worker_warps: self.num_worker_warps.or(base.num_worker_warps),
            opt_level: self.opt_level.or(base.opt_level),
            num_stages: self.num_stages.or(base.num_stages),
        }
    }
}

/// Hints for all targets, and for architectures, which are asked first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Hints {
    /// For targets that are not named.
    pub all: HintSet,
    /// By architecture, such as 90 for sm_90.
    pub by_arch: BTreeMap<u32, HintSet>,
}

impl Hints {
    /// Sets a hint of a kernel, for all targets or for an architecture such as `sm_90`.
    ///
    /// # Errors
    /// [`Code::ArchKey`], [`Code::HintUnsupportedHere`], [`Code::HintValue`].
    ///
    /// # Examples
    /// ```
    /// use girih_tile::hints::{Hint, Hints};
    ///
    /// let mut hints = Hints::default();
    /// hints.set(None, Hint::NumCtas, 2)?;
    /// hints.set(Some("sm_90"), Hint::NumCtas, 4)?;
    /// assert_eq!(hints.resolve(90).num_ctas, Some(4));
    /// assert_eq!(hints.resolve(100).num_ctas, Some(2));
    /// # Ok::<(), girih_tile::error::Fault>(())
    /// ```
    pub fn set(&mut self, key: Option<&str>, hint: Hint, value: i64) -> Result<(), Fault> {
        let arch = key.map(arch).transpose()?;
        hint.check_on(Construct::Kernel)?;
        let value = Some(hint.check(value, arch)?);
        let set = match arch {
            Some(arch) => self.by_arch.entry(arch).or_default(),
            None => &mut self.all,
        };
        match hint {
            Hint::NumCtas => set.num_ctas = value,
            Hint::Occupancy => set.occupancy = value,
            Hint::NumWorkerWarps => set.num_worker_warps = value,
            Hint::OptLevel => set.opt_level = value,
            Hint::NumStages => set.num_stages = value,
            Hint::Latency | Hint::AllowTma => {}
        }
        Ok(())
    }

    /// These hints in the place of others of the same names: what is set here for all targets also replaces what the others set for one.
    #[must_use]
    pub fn over(&self, base: &Hints) -> Hints {
        let archs = self.by_arch.keys().chain(base.by_arch.keys());
        let of = |hints: &Hints, arch| hints.by_arch.get(arch).copied().unwrap_or_default();
        let by_arch = archs.map(|arch| (*arch, of(self, arch).over(self.all).over(of(base, arch))));
        Hints { all: self.all.over(base.all), by_arch: by_arch.collect() }
    }

    /// The hints that hold for an architecture, such as 90: its own, and else those for all. A cluster asked for on all targets is one
    /// block where there are no clusters.
    pub fn resolve(&self, arch: u32) -> HintSet {
        let mut set = self.by_arch.get(&arch).copied().unwrap_or_default().over(self.all);
        if arch < 90 {
            set.num_ctas = set.num_ctas.map(|_| 1);
        }
        set
    }
}
