//! The lowest `.version` and the lowest architecture that an instruction needs.

use super::Form;
use crate::{Directive, Modifier, Special, Target, Type, Word};

/// The lowest `.version` and `.target` that something needs.
///
/// PTX 6.0 and sm_70 stand for all older ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// `.version`, major and minor.
    pub version: (u8, u8),
    /// The architecture: 90 for sm_90.
    pub sm: u32,
    /// Whether the feature exists on that architecture alone (`sm_90a`), not on its successors.
    pub specific: bool,
}

impl Needs {
    /// The needs of every module.
    pub const LEAST: Needs = Needs { version: (6, 0), sm: 70, specific: false };

    const fn since(major: u8, minor: u8, sm: u32) -> Needs {
        Needs { version: (major, minor), sm, specific: false }
    }

    /// The needs of two things together.
    #[must_use]
    pub fn and(self, other: Needs) -> Needs {
        Needs {
            version: self.version.max(other.version),
            sm: self.sm.max(other.sm),
            specific: self.specific || other.specific,
        }
    }

    /// The lowest target that meets the needs.
    pub fn target(self) -> Target {
        Target { sm: self.sm, suffix: self.specific.then_some('a') }
    }

    /// Whether `target` meets the needs.
    pub fn met_by(self, target: Target) -> bool {
        match self.specific {
            true => target.sm == self.sm && target.suffix == Some('a'),
            false => target.sm >= self.sm,
        }
    }
}

impl Form {
    /// The needs of this form, without those of an instruction's modifiers and operands.
    pub fn needs(&self) -> Needs {
        Needs { version: self.since, sm: self.sm, specific: self.specific }
    }
}

impl Modifier {
    /// The needs of the modifier, in any instruction.
    pub fn needs(self) -> Needs {
        match self {
            Modifier::Word(word) => match word {
                Word::SharedCta => Needs::since(7, 8, 70),
                Word::ParamEntry | Word::ParamFunc => Needs::since(8, 3, 70),
                Word::SharedCluster | Word::Cluster => Needs::since(7, 8, 90),
                Word::L1EvictNormal
                | Word::L1EvictUnchanged
                | Word::L1EvictFirst
                | Word::L1EvictLast
                | Word::L1NoAllocate => Needs::since(7, 4, 70),
                Word::L2Prefetch64 | Word::L2Prefetch128 => Needs::since(7, 4, 75),
                Word::L2Prefetch256 | Word::L2CacheHint => Needs::since(7, 4, 80),
                Word::SpOrdered => Needs::since(8, 5, 80),
                _ => Needs::LEAST,
            },
            Modifier::Type(Type::B128) => Needs::since(8, 3, 70),
            Modifier::Type(_) => Needs::LEAST,
        }
    }
}

impl Special {
    /// The needs of reading the special register.
    pub fn needs(self) -> Needs {
        match self {
            Special::ClusteridX | Special::ClusteridY | Special::ClusteridZ => Needs::since(7, 8, 90),
            Special::NclusteridX | Special::NclusteridY | Special::NclusteridZ => Needs::since(7, 8, 90),
            Special::ClusterCtaidX | Special::ClusterCtaidY | Special::ClusterCtaidZ => {
                Needs::since(7, 8, 90)
            }
            Special::ClusterNctaidX | Special::ClusterNctaidY | Special::ClusterNctaidZ => {
                Needs::since(7, 8, 90)
            }
            Special::ClusterCtarank | Special::ClusterNctarank => Needs::since(7, 8, 90),
            Special::IsExplicitCluster => Needs::since(7, 8, 90),
            Special::AggrSmemSize => Needs::since(8, 1, 90),
            _ => Needs::LEAST,
        }
    }
}

impl Directive {
    /// The needs of the directive.
    pub fn needs(&self) -> Needs {
        match self {
            Directive::ExplicitCluster | Directive::ReqNctaPerCluster(_) | Directive::MaxClusterRank(_) => {
                Needs::since(7, 8, 90)
            }
            _ => Needs::LEAST,
        }
    }
}

impl Target {
    /// The `.version` that introduced the target itself.
    pub fn version(self) -> (u8, u8) {
        match (self.sm, self.suffix) {
            (..75, _) => (6, 0),
            (..80, _) => (6, 3),
            (..86, _) => (7, 0),
            (86, _) => (7, 1),
            (87, _) => (7, 4),
            (..90, _) => (7, 8),
            (..100, None) => (7, 8),
            (..100, _) => (8, 0),
            (..103, Some('f')) => (8, 8),
            (..103, _) => (8, 6),
            (103, _) => (8, 8),
            (..121, Some('f')) => (8, 8),
            (..121, _) => (8, 7),
            _ => (8, 8),
        }
    }
}
