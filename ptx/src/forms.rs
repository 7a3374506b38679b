//! The table of instruction forms: which modifiers and operands each opcode takes, and since when.
//!
//! A [`Form`] is one syntax line of the PTX ISA as data: an opcode, an ordered list of modifier [`Slot`]s and an
//! ordered list of [`OperandSlot`]s. An opcode has as many forms as it has syntax lines. The printer doesn't need
//! the table, the parser doesn't consult it: they take any tree. [`check()`] says whether an instruction is PTX.
//!
//! ```
//! # use girih_ptx::{Module, Statement, Item, forms};
//! # fn inst(text: &str) -> girih_ptx::Inst {
//! #     let text = format!(".version 8.0 .target sm_80 .address_size 64 .entry k() {{ {text} }}");
//! #     let Item::Kernel(mut kernel) = Module::parse(&text).unwrap().items.remove(0) else { panic!() };
//! #     let Statement::Inst(inst) = kernel.body.remove(0) else { panic!() };
//! #     inst
//! # }
//! let form = forms::check(&inst("cp.async.cg.shared.global [%r1], [%rd1], 16;"))?;
//! assert_eq!((form.since, form.sm), ((7, 0), 80));
//! let error = forms::check(&inst("cp.async.cg.shared.global [%r1], [%rd1], 8;")).unwrap_err();
//! assert!(error.to_string().ends_with("operand 3 must be 16, found `8`"), "{error}");
//! # Ok::<(), girih_ptx::Error>(())
//! ```

mod asynchronous;
mod barrier;
mod check;
mod compare;
mod control;
mod convert;
mod float;
mod integer;
mod matrix;
mod memory;
mod needs;
mod operand;
mod order;
mod show;
mod sparse;
mod tensor;
mod tensormap;
mod video;
mod warp;
mod wmma;

pub use check::{Filled, check, operand_slots};
pub(crate) use check::{Names, Symbol, accessed, resolve};
pub use needs::Needs;
pub use order::ordered;

use std::sync::LazyLock;

use crate::{Modifier, Opcode, Type, Word};

/// One form of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The opcode.
    pub opcode: Opcode,
    /// Its modifiers, in order.
    pub slots: &'static [Slot],
    /// Its operands, in order.
    pub operands: &'static [OperandSlot],
    /// The `.version` that introduced the form; 6.0 for every form that is older.
    pub since: (u8, u8),
    /// The architecture that introduced the form, 80 for sm_80; 70 for every form that is older.
    pub sm: u32,
    /// Whether only this architecture has the form (`sm_90a`), not its successors.
    pub specific: bool,
}

/// A place for one modifier.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The modifiers that may be here.
    pub choices: Choices,
    /// Whether the place may stay empty.
    pub optional: bool,
}

/// The modifiers that a slot accepts.
#[derive(Clone, Copy, Debug)]
pub enum Choices {
    /// One of these types.
    Types(&'static [Type]),
    /// One of these words.
    Words(&'static [Word]),
}

/// A place for one operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandSlot {
    /// The operands that may be here.
    pub kind: Kind,
    /// When an operand must be here.
    pub when: When,
}

/// When an instruction has an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// The instruction may have the operand or not.
    Optional,
    /// If and only if the modifier slot of this index is filled.
    Slot(usize),
}

/// The type of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    /// This type.
    Is(Type),
    /// The type in the modifier slot of this index.
    Slot(usize),
    /// Like `Slot`, but a register may be wider than the type (PTX ISA, "Operand Size Exceeding Instruction-Type
    /// Size").
    Wider(usize),
    /// The type twice as wide as the type in the slot, as of `mul.wide`'s destination.
    Double(usize),
    /// The type in the slot; for `.f16` a 32-bit register with two elements. Accumulators of `wgmma` are such.
    Packed(usize),
}

/// How many parts a vector operand has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// This number of parts.
    Is(usize),
    /// The number that the modifier in this slot states, as `.v4` or `.x2`; without a modifier the operand is a scalar.
    Slot(usize),
    /// The offsets of an im2col copy: two fewer than the dimensions in this slot.
    Offsets(usize),
    /// The accumulators of `wgmma` in one thread: 64 x N elements of the type in slot `ty`, shared out among 128
    /// threads, in 32-bit registers.
    Accumulators {
        /// Slot of the shape.
        shape: usize,
        /// Slot of the accumulators' type.
        ty: usize,
    },
}

/// The state space of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The state space in the modifier slot of this index. If the slot is empty, a generic address, or a variable,
    /// whose own state space is meant then.
    Slot(usize),
    /// This state space.
    Is(Word),
    /// Any: a generic address.
    Generic,
}

/// The kind of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A register that is written.
    Def(Ty),
    /// A register that is written, or `_`.
    DefOrSink(Ty),
    /// `_`: nothing is written.
    Sink,
    /// A predicate that is written, or two of them as `p|q`.
    DefPreds,
    /// `d|p`: a register and a predicate that are written. Without `both`, `d` alone will do.
    DefWithPred {
        /// The type of `d`.
        ty: Ty,
        /// Whether the predicate must be there.
        both: bool,
    },
    /// A register or a constant that is read.
    Use(Ty),
    /// A register, a constant or a special register that is read.
    UseOrSpecial(Ty),
    /// A register that is read.
    UseReg(Ty),
    /// A predicate that is read, or its negation.
    UsePred,
    /// `{a, b}`: registers that are written.
    DefVec(Count, Ty),
    /// `{a, b}`: registers or constants that are read.
    UseVec(Count, Ty),
    /// The source of `mov`: a register, a constant, a special register, or a variable, whose address is read.
    Source(Ty),
    /// `{a, b}`: equal parts that together have the width of the type in the slot; `mov` packs and unpacks them.
    Parts {
        /// Slot of the type.
        ty: usize,
        /// Whether the parts are written.
        written: bool,
    },
    /// A register that holds an address, or a variable.
    Pointer(Ty),
    /// `[a+b]`
    Address(Space),
    /// `[map, {x, y}]`, with as many coordinates as the modifier in this slot says: `.2d`.
    Tensor(usize),
    /// An integer constant: one of these, or any if the list is empty.
    Constant(&'static [i64]),
    /// The number of a barrier: a register or 0 to 15.
    Barrier,
    /// A label of the kernel.
    Label,
    /// The label before a `.branchtargets`.
    Table,
}

impl Kind {
    /// Whether the instruction writes the registers of this operand.
    pub(crate) const fn is_written(self) -> bool {
        matches!(
            self,
            Kind::Def(_)
                | Kind::DefOrSink(_)
                | Kind::DefPreds
                | Kind::DefWithPred { .. }
                | Kind::DefVec(..)
                | Kind::Parts { written: true, .. }
        )
    }
}

/// All forms of `opcode`.
pub fn forms(opcode: Opcode) -> impl Iterator<Item = &'static Form> {
    static OF: LazyLock<Vec<Vec<&'static Form>>> = LazyLock::new(|| {
        let mut of = vec![Vec::new(); Opcode::ALL.len()];
        all().for_each(|form| of[form.opcode as usize].push(form));
        of
    });
    OF[opcode as usize].iter().copied()
}

/// The whole table.
pub fn all() -> impl Iterator<Item = &'static Form> {
    [
        integer::FORMS,
        float::FORMS,
        float::SUMS.as_flattened(),
        float::EXTREMA.as_flattened(),
        float::ROOTS.as_flattened(),
        compare::COMPARISONS.as_flattened(),
        compare::FORMS,
        convert::FORMS,
        memory::LOADS.as_flattened(),
        memory::STORES.as_flattened(),
        memory::REDUCTIONS.as_flattened(),
        memory::ATOMICS.as_flattened(),
        memory::VECTORS.as_flattened(),
        memory::WIDE.as_flattened(),
        memory::FORMS,
        asynchronous::FORMS,
        tensor::FORMS,
        tensormap::FORMS,
        matrix::FORMS,
        matrix::WGMMA.as_flattened(),
        sparse::FORMS,
        sparse::WGMMA.as_flattened(),
        wmma::FORMS,
        video::FORMS.as_flattened(),
        warp::FORMS,
        barrier::FORMS,
        barrier::ARRIVALS.as_flattened(),
        barrier::WAITS.as_flattened(),
        control::FORMS,
    ]
    .into_iter()
    .flatten()
}

impl Choices {
    /// Whether `modifier` is one of the choices.
    pub fn accept(self, modifier: Modifier) -> bool {
        match (self, modifier) {
            (Choices::Types(types), Modifier::Type(ty)) => types.contains(&ty),
            (Choices::Words(words), Modifier::Word(word)) => words.contains(&word),
            _ => false,
        }
    }

    /// The modifiers, in the table's order.
    pub fn modifiers(self) -> Vec<Modifier> {
        match self {
            Choices::Types(types) => types.iter().map(|&ty| ty.into()).collect(),
            Choices::Words(words) => words.iter().map(|&word| word.into()).collect(),
        }
    }
}

/// The functions that the tables are written with.
mod row {
    use super::{Choices, Count, Form, Kind, OperandSlot, Slot, Ty, When};
    use crate::{Opcode, Type, Word};

    pub(super) const fn row(
        opcode: Opcode,
        slots: &'static [Slot],
        operands: &'static [OperandSlot],
    ) -> Form {
        Form { opcode, slots, operands, since: (6, 0), sm: 70, specific: false }
    }

    impl Form {
        /// The form, introduced by PTX ISA `major.minor` for `sm`.
        pub(super) const fn since(mut self, major: u8, minor: u8, sm: u32) -> Form {
            self.since = (major, minor);
            self.sm = sm;
            self
        }

        /// The form, for one architecture without its successors: `sm_90a`.
        pub(super) const fn specific(mut self) -> Form {
            self.specific = true;
            self
        }
    }

    /// One of these words.
    pub(super) const fn one(words: &'static [Word]) -> Slot {
        Slot { choices: Choices::Words(words), optional: false }
    }

    /// One of these words, or nothing.
    pub(super) const fn maybe(words: &'static [Word]) -> Slot {
        Slot { choices: Choices::Words(words), optional: true }
    }

    /// One of these types.
    pub(super) const fn of(types: &'static [Type]) -> Slot {
        Slot { choices: Choices::Types(types), optional: false }
    }

    pub(super) const fn operand(kind: Kind) -> OperandSlot {
        OperandSlot { kind, when: When::Always }
    }

    impl OperandSlot {
        pub(super) const fn optional(mut self) -> OperandSlot {
            self.when = When::Optional;
            self
        }

        /// The operand, present if and only if modifier slot `slot` is filled.
        pub(super) const fn with(mut self, slot: usize) -> OperandSlot {
            self.when = When::Slot(slot);
            self
        }
    }

    /// A destination of the type in `slot`.
    pub(super) const fn d(slot: usize) -> OperandSlot {
        operand(Kind::Def(Ty::Slot(slot)))
    }

    /// A source of the type in `slot`.
    pub(super) const fn s(slot: usize) -> OperandSlot {
        operand(Kind::Use(Ty::Slot(slot)))
    }

    /// A destination of type `ty`.
    pub(super) const fn def(ty: Type) -> OperandSlot {
        operand(Kind::Def(Ty::Is(ty)))
    }

    /// A source of type `ty`.
    pub(super) const fn read(ty: Type) -> OperandSlot {
        operand(Kind::Use(Ty::Is(ty)))
    }

    /// `count` destinations in braces.
    pub(super) const fn defs(count: usize, ty: Type) -> OperandSlot {
        operand(Kind::DefVec(Count::Is(count), Ty::Is(ty)))
    }

    /// `count` sources in braces.
    pub(super) const fn reads(count: usize, ty: Type) -> OperandSlot {
        operand(Kind::UseVec(Count::Is(count), Ty::Is(ty)))
    }

    /// A predicate that is read.
    pub(super) const PRED: OperandSlot = operand(Kind::UsePred);
    /// One predicate that is written, or two.
    pub(super) const DEF_PREDS: OperandSlot = operand(Kind::DefPreds);
    /// Any integer constant.
    pub(super) const CONSTANT: OperandSlot = operand(Kind::Constant(&[]));
}
