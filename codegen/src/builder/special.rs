//! Special registers, and the shape of clusters, on which the values of some special registers depend.

use girih_ptx::{Directive, Opcode, Operand, Special, Type};

use super::Builder;
use crate::error::BuilderError;
use crate::expr::Expr;

/// The most blocks of a grid along x, and along y and z (CUDA C++ Programming Guide, "Technical Specifications
/// per Compute Capability").
const MAX_GRID: [i64; 2] = [(1 << 31) - 1, (1 << 16) - 1];
/// The most blocks of a cluster.
const MAX_CLUSTER: u32 = 16;

impl Builder {
    /// Gives every launch clusters of `blocks` blocks along x, y, z (`.reqnctapercluster`): 1 to 16 together, above 8 only where a GPU
    /// has room for them. [`Builder::finish`] refuses other shapes, and clusters below sm_90.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    /// use girih_ptx::Special;
    ///
    /// let mut b = Builder::new("k", 90, 128);
    /// b.cluster([2, 1, 1]);
    /// assert_eq!(b.special(Special::ClusterCtarank).range(), (0, 1));
    /// assert_eq!(b.special(Special::ClusterNctarank).as_constant(), Some(2));
    /// assert_eq!(b.finish()?.info().required_cluster, Some([2, 1, 1]));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn cluster(&mut self, blocks: [u32; 3]) {
        let all = blocks.iter().fold(1u32, |all, &extent| all.saturating_mul(extent));
        if !(1..=MAX_CLUSTER).contains(&all) {
            return self.fail(BuilderError::Cluster { blocks, most: MAX_CLUSTER });
        }
        if self.sm() < 90 {
            return self.fail(BuilderError::Target { what: "a cluster", sm: self.sm(), least: 90 });
        }
        if let Some(first) = self.cluster {
            return self.fail(BuilderError::ClusterTwice { blocks, first });
        }
        self.cluster = Some(blocks);
        self.directives.push(Directive::ReqNctaPerCluster(blocks));
    }

    /// The blocks of a cluster along x, y, z, if [`Builder::cluster`] has been called.
    pub fn cluster_shape(&self) -> Option<[u32; 3]> {
        self.cluster
    }

    /// A special register, with the range of its values in this kernel: the threads of a block are known, and the blocks of a grid and
    /// of a cluster are at most as many as the hardware takes (PTX ISA, "Special Registers"). The register is read at the kernel's start,
    /// except for one that changes meanwhile, such as a clock, which is read here.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    /// use girih_ptx::Special;
    ///
    /// let mut b = Builder::new("k", 80, 96);
    /// assert_eq!(b.special(Special::TidX).range(), (0, 95));
    /// assert_eq!(b.special(Special::Laneid).range(), (0, 31));
    /// assert_eq!(b.special(Special::WarpSize).as_constant(), Some(32));
    /// ```
    #[track_caller]
    pub fn special(&mut self, special: Special) -> Expr {
        if let Some(known) = self.specials.get(&special) {
            return known.clone();
        }
        let (lower, upper) = self.range_of(special);
        if lower == upper {
            return Expr::from(lower);
        }
        let changes = matches!(
            special,
            Special::Clock
                | Special::ClockHi
                | Special::Clock64
                | Special::Globaltimer
                | Special::GlobaltimerLo
                | Special::GlobaltimerHi
                | Special::Smid
                | Special::Warpid
        );
        let depth = if changes { self.depth() } else { 0 };
        let ty = special.ty();
        let reg = self.reg(ty);
        self.inst_at(depth, Opcode::Mov, &[ty.into()], vec![Operand::from(&reg), Operand::Special(special)]);
        let expr = self.var_at(&reg, depth, lower, upper, 1);
        if !changes {
            self.specials.insert(special, expr.clone());
        }
        expr
    }

    fn range_of(&self, special: Special) -> (i64, i64) {
        use Special as S;
        let threads = i64::from(self.threads);
        // The least and the most blocks of a cluster along an axis, or of the whole cluster.
        let along = |axis: Option<usize>| match (self.cluster, axis) {
            (None, _) => (1, MAX_CLUSTER.into()),
            (Some(extents), Some(axis)) => (extents[axis].into(), extents[axis].into()),
            (Some(extents), None) => [extents.iter().map(|&extent| i64::from(extent)).product(); 2].into(),
        };
        let place = |axis| (0, along(axis).1 - 1);
        match special {
            S::TidX | S::TidY | S::TidZ => (0, threads - 1),
            S::NtidX | S::NtidY | S::NtidZ => (1, threads),
            S::Laneid => (0, 31),
            S::WarpSize => (32, 32),
            S::CtaidX => (0, MAX_GRID[0] - 1),
            S::CtaidY | S::CtaidZ => (0, MAX_GRID[1] - 1),
            S::NctaidX => (1, MAX_GRID[0]),
            S::NctaidY | S::NctaidZ => (1, MAX_GRID[1]),
            S::ClusterCtaidX => place(Some(0)),
            S::ClusterCtaidY => place(Some(1)),
            S::ClusterCtaidZ => place(Some(2)),
            S::ClusterCtarank => place(None),
            S::ClusterNctaidX => along(Some(0)),
            S::ClusterNctaidY => along(Some(1)),
            S::ClusterNctaidZ => along(Some(2)),
            S::ClusterNctarank => along(None),
            _ if special.ty() == Type::U64 => (0, i64::MAX),
            _ => (0, i64::from(u32::MAX)),
        }
    }
}
