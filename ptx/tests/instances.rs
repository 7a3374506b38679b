//! Instructions built from the table of forms, for the tests that quantify over it.

use girih_ptx::forms::{Count, Filled, Form, Kind, Needs, Space, Ty, When, operand_slots};
use girih_ptx::{Address, Inst, Modifier, Name, Opcode, Operand, Span, Type, Word};

/// Declares what the instances name, but for `.b128 %q<64>`, which came with PTX 8.3.
pub(crate) const DECLARATIONS: &str = "\
.reg .pred %p<64>; .reg .b8 %b<64>; .reg .b16 %h<64>; .reg .b32 %r<400>; .reg .b64 %rd<64>; .reg .f32 %f<400>; \
.reg .f64 %fd<64>; .param .align 16 .b8 argument[32];";

/// The instruction of `form` with these modifiers and `optional` of the optional operands; register numbers start
/// at `first`.
pub(crate) fn instance(form: &'static Form, filled: &Filled, optional: bool, first: usize) -> Inst {
    let always = form.operands.iter().filter(|slot| match slot.when {
        When::Always => true,
        When::Slot(index) => filled[index].is_some(),
        When::Optional => optional,
    });
    let slots = operand_slots(form, filled, always.count()).expect("the count is the form's");
    // A kernel's own parameters are not written; arguments of calls are.
    let parameter = if form.opcode == Opcode::St { "argument" } else { "parameter" };
    let mut registers = Registers { next: first, parameter };
    Inst {
        guard: None,
        opcode: form.opcode,
        modifiers: filled.iter().flatten().copied().collect(),
        operands: slots.iter().map(|slot| registers.operand(slot.kind, filled)).collect(),
        span: Span::default(),
    }
}

/// What the instance needs to assemble.
pub(crate) fn needs(form: &Form, filled: &Filled) -> Needs {
    let needs = filled.iter().flatten().fold(form.needs(), |needs, modifier| needs.and(modifier.needs()));
    let version = needs.version.max(needs.target().version());
    Needs { version, ..needs }
}

/// All ways to fill the slots of `form`; of more than `limit`, `limit` that are spread evenly.
pub(crate) fn fillings(form: &Form, limit: usize) -> Vec<Filled> {
    let choices: Vec<Vec<Option<Modifier>>> = form
        .slots
        .iter()
        .map(|slot| {
            let none = slot.optional.then_some(None);
            none.into_iter().chain(slot.choices.modifiers().into_iter().map(Some)).collect()
        })
        .collect();
    let total: usize = choices.iter().map(Vec::len).product();
    let filling = |mut index: usize| {
        choices
            .iter()
            .map(|slot| {
                let choice = slot[index % slot.len()];
                index /= slot.len();
                choice
            })
            .collect()
    };
    match total <= limit {
        true => (0..total).map(filling).collect(),
        // A stride that shares no factor with the total visits different fillings in every slot.
        false => (0..limit).map(|i| filling(i * 7919 % total)).collect(),
    }
}

struct Registers {
    next: usize,
    parameter: &'static str,
}

impl Registers {
    fn named(&mut self, class: &str) -> Name {
        self.next += 1;
        format!("%{class}{}", self.next % 64).into()
    }

    fn register(&mut self, ty: Type) -> Name {
        let class = match (ty, ty.bits()) {
            (_, None) => "p",
            (Type::F32, _) => "f",
            (Type::F64, _) => "fd",
            (_, Some(..=16)) => "h",
            (_, Some(32)) => "r",
            (_, Some(64)) => "rd",
            _ => "q",
        };
        self.named(class)
    }

    fn value(&mut self, ty: Ty, filled: &Filled) -> Operand {
        // Where a register may not be wider than the type, it has 8 bits.
        if !matches!(ty, Ty::Wider(_)) && ty.of(filled).and_then(Type::bits) == Some(8) {
            return Operand::Name(self.named("b"));
        }
        Operand::Name(self.register(ty.of(filled).expect("the slot holds a type")))
    }

    fn vector(&mut self, count: Count, ty: Ty, filled: &Filled) -> Operand {
        match count.of(filled) {
            None => self.value(ty, filled),
            Some(count) => Operand::Vector((0..count).map(|_| self.value(ty, filled)).collect()),
        }
    }

    fn operand(&mut self, kind: Kind, filled: &Filled) -> Operand {
        match kind {
            Kind::Def(ty) | Kind::DefOrSink(ty) | Kind::Use(ty) | Kind::UseReg(ty) => self.value(ty, filled),
            Kind::UseOrSpecial(ty) | Kind::Source(ty) | Kind::Pointer(ty) => self.value(ty, filled),
            Kind::Sink => Operand::Sink,
            Kind::DefPreds => Operand::Pair(self.register(Type::Pred), self.register(Type::Pred)),
            Kind::DefWithPred { ty, .. } => {
                let ty = ty.of(filled).expect("the slot holds a type");
                Operand::Pair(self.register(ty), self.register(Type::Pred))
            }
            Kind::UsePred => Operand::Not(self.register(Type::Pred)),
            Kind::DefVec(count, ty) | Kind::UseVec(count, ty) => self.vector(count, ty, filled),
            Kind::Parts { ty, .. } => {
                let part = match Ty::Slot(ty).of(filled) {
                    Some(Type::B16) => Type::B8,
                    Some(Type::B32) => Type::B16,
                    Some(Type::B64) => Type::B32,
                    _ => Type::B64,
                };
                Operand::Vector(vec![Operand::Name(self.register(part)), Operand::Name(self.register(part))])
            }
            Kind::Address(space) => Operand::Address(self.address(space, filled)),
            Kind::Tensor(dims) => {
                let dims = filled[dims].map_or(0, |word| word.text().bytes().next().map_or(0, |n| n - b'0'));
                let coordinates = (0..dims).map(|_| Operand::Name(self.register(Type::B32))).collect();
                Operand::Address(Address { base: Some(self.register(Type::B64)), offset: 0, coordinates })
            }
            Kind::Constant(accepted) => Operand::Int(accepted.first().copied().unwrap_or(1)),
            Kind::Barrier => Operand::Int(self.next as i64 % 16),
            Kind::Label => Operand::Name("END".into()),
            Kind::Table => Operand::Name("TABLE".into()),
        }
    }

    fn address(&mut self, space: Space, filled: &Filled) -> Address {
        let word = match space {
            Space::Is(word) => Some(word),
            Space::Slot(slot) => filled[slot].map(|word| Word::parse(word.text()).expect("a word")),
            Space::Generic => None,
        };
        let shared = word.is_some_and(|word| word.text().starts_with("shared"));
        let base = if word.is_some_and(|word| word.text().starts_with("param")) {
            self.parameter.into()
        } else {
            self.register(if shared { Type::B32 } else { Type::B64 })
        };
        let offset = if word == Some(Word::Param) { 0 } else { 16 };
        Address { base: Some(base), offset, coordinates: Vec::new() }
    }
}
