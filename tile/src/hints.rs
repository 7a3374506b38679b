//! Hints: requests of a user to placement and launch, which never change results.

use std::collections::BTreeMap;

use crate::error::{Fault, ensure};
use crate::types::named;

named! {
    /// A kind of hint, by the name that kernels are annotated with.
    Hint {
        NumCtas "num_ctas" "Blocks in a cluster.",
        Occupancy "occupancy" "Blocks on a multiprocessor at a time.",
        NumWorkerWarps "num_worker_warps" "Warps of a block.",
        OptLevel "opt_level" "Optimisation level.",
        NumStages "num_stages" "Tiles of a loop over products that are in shared memory at a time.",
        Latency "latency" "Expected latency of an access: how far ahead it may be issued.",
        AllowTma "allow_tma" "Whether an access may go by tensor copies.",
    }
}

named! {
    /// What a hint is at.
    Construct {
        Kernel "kernel" "A kernel.",
        Load "load" "A load of a tile.",
        Store "store" "A store of a tile.",
        Gather "gather" "A gather.",
        Scatter "scatter" "A scatter.",
        Atomic "atomic" "An atomic operation.",
    }
}

impl Hint {
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
    /// [`Fault::HintValue`].
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
        let refused = |accepted| Fault::HintValue { hint: self.name(), value, arch, accepted };
        let (listed, accepted) = self.accepted();
        let ok = match self {
            Hint::Occupancy => (1..=32).contains(&value),
            Hint::Latency => (1..=10).contains(&value),
            _ => listed.contains(&value),
        };
        ensure!(ok, refused(accepted));
        let cluster = self == Hint::NumCtas && value > 1;
        let none = arch.is_some_and(|arch| arch < 90);
        ensure!(!(cluster && none), refused("1, since clusters begin with sm_90,"));
        u32::try_from(value).map_err(|_| refused(accepted))
    }

    /// Whether the hint may be at a construct.
    ///
    /// # Errors
    /// [`Fault::HintUnsupportedHere`].
    pub fn check_on(self, construct: Construct) -> Result<(), Fault> {
        let on: &[Construct] = match self {
            Hint::NumCtas | Hint::Occupancy | Hint::NumWorkerWarps | Hint::OptLevel | Hint::NumStages => {
                &[Construct::Kernel]
            }
            Hint::Latency => &[Construct::Load, Construct::Store, Construct::Gather, Construct::Scatter],
            Hint::AllowTma => &[Construct::Load, Construct::Store],
        };
        let names = || on.iter().map(|construct| construct.name()).collect();
        let (hint, construct_name) = (self.name(), construct.name());
        let fault = || Fault::HintUnsupportedHere { hint, construct: construct_name, accepted: names() };
        ensure!(on.contains(&construct), fault());
        Ok(())
    }
}

/// Architectures that hints can be given for.
const ARCHS: &[u32] = &[80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121];

/// The architecture of a key such as `sm_90`, as the number 90.
///
/// # Errors
/// [`Fault::ArchKey`].
pub fn arch(key: &str) -> Result<u32, Fault> {
    let digits = key.strip_prefix("sm_").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let known = digits.and_then(|digits| digits.parse().ok()).filter(|arch| ARCHS.contains(arch));
    known.ok_or_else(|| Fault::ArchKey { key: key.into(), accepted: ARCHS })
}

/// The hints of one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct HintSet {
    /// Blocks in a cluster: 1, 2, 4, 8 or 16.
    pub num_ctas: Option<u32>,
    /// Blocks on an SM at a time: 1 to 32.
    pub occupancy: Option<u32>,
    /// Warps of a block: 4, 8, 16 or 32.
    pub num_worker_warps: Option<u32>,
    /// Optimisation level: 0 to 3.
    pub opt_level: Option<u32>,
    /// Tiles of a loop over products that are in shared memory at a time: 1 to 8.
    pub num_stages: Option<u32>,
}

impl HintSet {
    /// The hints, each with its value.
    pub(crate) fn slots(&mut self) -> [(Hint, &mut Option<u32>); 5] {
        [
            (Hint::NumCtas, &mut self.num_ctas),
            (Hint::Occupancy, &mut self.occupancy),
            (Hint::NumWorkerWarps, &mut self.num_worker_warps),
            (Hint::OptLevel, &mut self.opt_level),
            (Hint::NumStages, &mut self.num_stages),
        ]
    }

    /// The value of a hint that kernels have.
    pub(crate) fn slot(&mut self, hint: Hint) -> Option<&mut Option<u32>> {
        self.slots().into_iter().find(|(of, _)| *of == hint).map(|(_, value)| value)
    }

    /// What is set here, and else what `base` has.
    #[must_use]
    pub fn over(mut self, mut base: HintSet) -> HintSet {
        self.slots().into_iter().zip(base.slots()).for_each(|((_, own), (_, other))| *own = own.or(*other));
        self
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
    /// [`Fault::ArchKey`], [`Fault::HintUnsupportedHere`], [`Fault::HintValue`].
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
        if let Some(slot) = set.slot(hint) {
            *slot = value;
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
