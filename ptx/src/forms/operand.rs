//! The kinds of operands.

use super::check::{Filled, Names, Symbol};
use super::{Count, Kind, Space, Ty};
use crate::{Address, Modifier, Name, Operand, Special, Type, VarSpace, Word};

/// The context in which an operand is checked: the modifiers, and the names in scope.
pub(super) struct Context<'a> {
    pub(super) filled: &'a Filled,
    pub(super) names: Option<&'a dyn Names>,
}

impl Context<'_> {
    /// Whether `operand` may be in a place of this kind.
    pub(super) fn fits(&self, kind: Kind, operand: &Operand) -> bool {
        match (kind, operand) {
            (Kind::Def(ty) | Kind::UseReg(ty), Operand::Name(name)) => self.register(ty, name),
            (Kind::DefOrSink(_) | Kind::Sink, Operand::Sink) => true,
            (Kind::DefOrSink(ty), Operand::Name(name)) => self.register(ty, name),
            (Kind::DefPreds | Kind::UsePred, Operand::Name(name)) => self.predicate(name),
            (Kind::DefPreds, Operand::Pair(p, q)) => self.predicate(p) && self.predicate(q),
            (Kind::DefWithPred { ty, both: false }, Operand::Name(name)) => self.register(ty, name),
            (Kind::DefWithPred { ty, .. }, Operand::Pair(d, p)) => {
                (&**d == "_" || self.register(ty, d)) && self.predicate(p)
            }
            (Kind::Use(ty), operand) => self.value(ty, operand),
            (Kind::UseOrSpecial(ty), Operand::Special(special)) => ty.of(self.filled).is_some_and(|ty| {
                // A register of 32 bits is read as 16 too.
                special.ty() != Type::Pred && special.ty().bits() >= ty.bits()
            }),
            (Kind::UseOrSpecial(ty), operand) => self.value(ty, operand),
            (Kind::UsePred, Operand::Not(name)) => self.predicate(name),
            (Kind::UsePred, Operand::Int(value)) => matches!(value, 0 | 1),
            (Kind::DefVec(count, ty), operand) => self.parts(count, operand, |part| match part {
                Operand::Name(name) => self.register(ty, name),
                part => {
                    matches!((count, part), (Count::Slot(_) | Count::Is(_), Operand::Sink))
                }
            }),
            (Kind::UseVec(count, ty), operand) => self.parts(count, operand, |part| self.value(ty, part)),
            (Kind::Source(ty), operand) => self.source(ty, operand),
            (Kind::Parts { ty, written }, Operand::Vector(parts)) => self.equal_parts(ty, written, parts),
            (Kind::Pointer(ty), Operand::Name(name)) => {
                self.variable(name).is_some() || self.register(ty, name)
            }
            (Kind::Pointer(_), Operand::Offset(name, _)) => self.variable(name).is_some(),
            (Kind::Address(space), Operand::Address(address)) => self.address(space, address),
            (Kind::Tensor(dims), Operand::Address(address)) => self.tensor(dims, address),
            (Kind::Constant(accepted), Operand::Int(value)) => {
                accepted.is_empty() || accepted.contains(value)
            }
            (Kind::Barrier, Operand::Int(id)) => (0..16).contains(id),
            (Kind::Barrier, Operand::Name(name)) => self.register(Ty::Is(Type::U32), name),
            (Kind::Label | Kind::Table, Operand::Name(name)) => {
                self.symbol(name).is_none_or(|symbol| symbol == Symbol::Label)
            }
            _ => false,
        }
    }

    /// The meaning of `name`; `None` if it is not known.
    fn symbol(&self, name: &str) -> Option<Symbol> {
        self.names.and_then(|names| names.symbol(name))
    }

    fn variable(&self, name: &str) -> Option<VarSpace> {
        match self.symbol(name) {
            Some(Symbol::Variable(space)) => Some(space),
            _ => None,
        }
    }

    /// Whether `name` can be a register for an operand of type `ty`.
    fn register(&self, ty: Ty, name: &Name) -> bool {
        let (Some(expected), symbol) = (ty.of(self.filled), self.symbol(name)) else { return false };
        match symbol {
            None => true,
            Some(Symbol::Register(found)) => holds(found, expected, matches!(ty, Ty::Wider(_))),
            Some(_) => false,
        }
    }

    fn predicate(&self, name: &Name) -> bool {
        &**name == "_" || self.register(Ty::Is(Type::Pred), name)
    }

    /// A register or a constant.
    fn value(&self, ty: Ty, operand: &Operand) -> bool {
        let Some(expected) = ty.of(self.filled) else { return false };
        match operand {
            Operand::Name(name) => self.register(ty, name),
            Operand::Int(_) | Operand::Special(Special::WarpSize) => expected.is_int() || expected.is_bits(),
            Operand::F32(_) | Operand::F64(_) => {
                matches!(expected, Type::F32 | Type::F64 | Type::B32 | Type::B64)
            }
            _ => false,
        }
    }

    fn source(&self, ty: Ty, operand: &Operand) -> bool {
        let Some(expected) = ty.of(self.filled) else { return false };
        let integral = expected.is_int() || expected.is_bits();
        match operand {
            Operand::Name(name) | Operand::Offset(name, _) if self.variable(name).is_some() => {
                integral && matches!(expected.bits(), Some(32 | 64))
            }
            // The address of code.
            Operand::Name(name)
                if matches!(self.symbol(name), Some(Symbol::Function { .. } | Symbol::Kernel)) =>
            {
                integral && expected.bits() == Some(64)
            }
            Operand::Special(special) if special.ty() == Type::Pred => expected == Type::Pred,
            Operand::Special(special) => {
                let fits = expected.bits() == special.ty().bits() || *special == Special::WarpSize;
                // Before PTX 2.0 these special registers had 16 bits.
                integral && (fits || expected.bits() == Some(16) && is_place(*special))
            }
            Operand::Int(_) if expected == Type::Pred => true,
            operand => self.value(ty, operand),
        }
    }

    /// Whether `operand` is a vector of `count` parts, or a single part if the count's slot is empty, and `fits`
    /// accepts every part.
    fn parts(&self, count: Count, operand: &Operand, fits: impl Fn(&Operand) -> bool) -> bool {
        match (count.of(self.filled), operand) {
            // A vector of one is a scalar too.
            (None, Operand::Vector(parts)) => matches!(&parts[..], [part] if fits(part)),
            (None, part) => !matches!(part, Operand::Sink) && fits(part),
            (Some(count), Operand::Vector(parts)) => parts.len() == count && parts.iter().all(fits),
            _ => false,
        }
    }

    fn equal_parts(&self, ty: usize, written: bool, parts: &[Operand]) -> bool {
        let bits = Ty::Slot(ty).of(self.filled).and_then(Type::bits).unwrap_or(0) as usize;
        let part = bits / parts.len().max(1);
        matches!(parts.len(), 2 | 4)
            && part >= 8
            && parts.iter().all(|operand| match operand {
                Operand::Name(name) => match self.symbol(name) {
                    None => true,
                    Some(Symbol::Register(found)) => found.bits() == Some(part as u32),
                    Some(_) => false,
                },
                Operand::Sink => written,
                Operand::Int(_) => !written,
                _ => false,
            })
    }

    fn address(&self, space: Space, address: &Address) -> bool {
        let within = match space {
            Space::Is(word) => Some(word),
            Space::Generic => None,
            Space::Slot(slot) => match self.filled.get(slot) {
                Some(Some(Modifier::Word(word))) => Some(*word),
                _ => None,
            },
        };
        let Some(base) = &address.base else { return within == Some(Word::Local) };
        address.coordinates.is_empty()
            && match self.symbol(base) {
                None => true,
                Some(Symbol::Register(ty)) => {
                    let narrow = within.is_some_and(is_window);
                    (ty.is_int() || ty.is_bits())
                        && (ty.bits() == Some(64) || narrow && ty.bits() == Some(32))
                }
                Some(Symbol::Variable(found)) => match within {
                    Some(space) => declared_in(space) == Some(found),
                    None => matches!(space, Space::Slot(_)) && found != VarSpace::Param,
                },
                Some(_) => false,
            }
    }

    fn tensor(&self, dims: usize, address: &Address) -> bool {
        let dims = match self.filled.get(dims) {
            Some(Some(Modifier::Word(word))) => dimensions(*word),
            _ => None,
        };
        let map = address.base.as_ref().is_some_and(|base| match self.symbol(base) {
            None => true,
            Some(Symbol::Register(ty)) => holds(ty, Type::B64, false) && !matches!(ty, Type::F64),
            Some(_) => false,
        });
        map && address.offset == 0
            && dims == Some(address.coordinates.len())
            && address.coordinates.iter().all(|coordinate| self.value(Ty::Is(Type::S32), coordinate))
    }

    /// The operand, and what is known of its name.
    pub(super) fn describe(&self, operand: &Operand) -> String {
        let name = match operand {
            Operand::Name(name) | Operand::Not(name) => Some(name),
            Operand::Address(address) => address.base.as_ref(),
            _ => None,
        };
        match name.and_then(|name| self.symbol(name)) {
            Some(Symbol::Register(ty)) => format!("`{operand}`, a register of type .{ty}"),
            Some(Symbol::Variable(space)) => format!("`{operand}`, a variable in {space}"),
            Some(Symbol::Label) => format!("`{operand}`, a label"),
            Some(Symbol::Function { .. }) => format!("`{operand}`, a function"),
            Some(Symbol::Kernel) => format!("`{operand}`, a kernel"),
            None => format!("`{operand}`"),
        }
    }
}

/// Whether a register of type `register` fits an operand of type `ty` (PTX ISA, "Operand Type Information" and
/// "Operand Size Exceeding Instruction-Type Size").
fn holds(register: Type, ty: Type, wider: bool) -> bool {
    let (Some(have), Some(want)) = (register.bits(), ty.bits()) else { return register == ty };
    let sizes = have == want || wider && have > want;
    sizes && (register == ty || ty.is_bits() || register.is_bits() || (register.is_int() && ty.is_int()))
}

/// Whether addresses in a state space fit 32 bits, as they do in the spaces that are windows of the generic address
/// space.
fn is_window(space: Word) -> bool {
    matches!(
        space,
        Word::Shared | Word::SharedCta | Word::SharedCluster | Word::Local | Word::Const | Word::Param
    )
}

/// The state space of the declarations that an address in `space` may name.
fn declared_in(space: Word) -> Option<VarSpace> {
    Some(match space {
        Word::Param | Word::ParamEntry | Word::ParamFunc => VarSpace::Param,
        Word::Shared | Word::SharedCta | Word::SharedCluster => VarSpace::Shared,
        Word::Global => VarSpace::Global,
        Word::Const => VarSpace::Const,
        Word::Local => VarSpace::Local,
        _ => return None,
    })
}

/// Whether a special register has the place of a thread in its block or grid, or the extents of these.
fn is_place(special: Special) -> bool {
    use Special as S;
    let block = matches!(special, S::TidX | S::TidY | S::TidZ | S::NtidX | S::NtidY | S::NtidZ);
    block || matches!(special, S::CtaidX | S::CtaidY | S::CtaidZ | S::NctaidX | S::NctaidY | S::NctaidZ)
}

fn dimensions(word: Word) -> Option<usize> {
    [Word::Dim1, Word::Dim2, Word::Dim3, Word::Dim4, Word::Dim5]
        .iter()
        .position(|&dim| dim == word)
        .map(|at| at + 1)
}

impl Ty {
    /// The type, given the modifiers.
    pub fn of(self, filled: &Filled) -> Option<Type> {
        let slot = match self {
            Ty::Is(ty) => return Some(ty),
            Ty::Slot(slot) | Ty::Wider(slot) | Ty::Double(slot) | Ty::Packed(slot) => slot,
        };
        let Some(Some(Modifier::Type(ty))) = filled.get(slot) else { return None };
        match (self, ty) {
            (Ty::Double(_), Type::U16) => Some(Type::U32),
            (Ty::Double(_), Type::U32) => Some(Type::U64),
            (Ty::Double(_), Type::S16) => Some(Type::S32),
            (Ty::Double(_), Type::S32) => Some(Type::S64),
            (Ty::Double(_), _) => None,
            (Ty::Packed(_), Type::F16) => Some(Type::B32),
            _ => Some(*ty),
        }
    }
}

impl Kind {
    /// Whether the operand has braces.
    pub(super) fn is_braced(self, filled: &Filled) -> bool {
        match self {
            Kind::DefVec(count, _) | Kind::UseVec(count, _) => count.of(filled).is_some(),
            Kind::Parts { .. } => true,
            _ => false,
        }
    }
}

impl Count {
    /// The number of parts, given the modifiers; `None` for a scalar.
    pub fn of(self, filled: &Filled) -> Option<usize> {
        match self {
            Count::Is(count) => Some(count),
            Count::Slot(slot) => match filled.get(slot) {
                Some(Some(Modifier::Word(word))) => match word {
                    Word::X1 => Some(1),
                    Word::V2 | Word::X2 => Some(2),
                    Word::V4 | Word::X4 => Some(4),
                    Word::V8 => Some(8),
                    _ => None,
                },
                _ => None,
            },
            Count::Offsets(slot) => match filled.get(slot) {
                Some(Some(Modifier::Word(word))) => dimensions(*word)?.checked_sub(2),
                _ => None,
            },
            Count::Accumulators { shape, ty } => {
                let Some(Some(shape)) = filled.get(shape) else { return Some(0) };
                let n =
                    shape.text().strip_prefix("m64n").and_then(|rest| rest.split('k').next()?.parse().ok());
                let bits = Ty::Slot(ty).of(filled).and_then(Type::bits).unwrap_or(32) as usize;
                Some(n.unwrap_or(0) * 64 / 128 * bits / 32)
            }
        }
    }
}
