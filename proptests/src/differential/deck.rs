//! What is dealt: every form of the families in its fillings, shuffled, each once before any comes again.

use girih_ptx::forms::{self, Filled, Form, Kind, Ty};
use girih_ptx::{Modifier, Opcode, Word};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::draft::Card;

/// Fillings of a form that are dealt; of forms that have more, as many that are spread evenly.
const FILLINGS: usize = 60;

/// How a form is exercised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// From registers to registers.
    Lane,
    /// `ldmatrix`, `stmatrix`.
    Matrix,
    /// `mma.sync`.
    Product,
    /// `ld`, `st`.
    Access,
    /// `atom`, `red`.
    Atomic,
}

/// The family of an opcode; none for what has no value that a register-sized test could compare (barriers, fences,
/// asynchronous copies, hints), for `wgmma`, and for addresses, which differ from machine to machine.
pub(super) fn family(opcode: Opcode) -> Option<Family> {
    use Opcode as O;
    Some(match opcode {
        O::Ld | O::St => Family::Access,
        O::Atom | O::Red => Family::Atomic,
        O::Mma => Family::Product,
        O::Ldmatrix | O::Stmatrix => Family::Matrix,
        O::Abs
        | O::Activemask
        | O::Add
        | O::Addc
        | O::And
        | O::Bfe
        | O::Bfi
        | O::Bfind
        | O::Brev
        | O::Clz => Family::Lane,
        O::Copysign | O::Cos | O::Cvt | O::Div | O::Dp2a | O::Dp4a | O::Ex2 | O::Fma | O::Lg2 | O::Lop3 => {
            Family::Lane
        }
        O::Mad | O::Mad24 | O::Madc | O::Match | O::Max | O::Min | O::Mov | O::Movmatrix | O::Mul => {
            Family::Lane
        }
        O::Mul24 | O::Neg | O::Not | O::Or | O::Popc | O::Prmt | O::Rcp | O::Redux | O::Rem | O::Rsqrt => {
            Family::Lane
        }
        O::Sad | O::Selp | O::Set | O::Setp | O::Shf | O::Shfl | O::Shl | O::Shr | O::Sin | O::Slct => {
            Family::Lane
        }
        O::Sqrt | O::Sub | O::Subc | O::Szext | O::Tanh | O::Testp | O::Vote | O::Xor | O::Fns => {
            Family::Lane
        }
        _ => return None,
    })
}

/// All cards, in the table's order.
pub(super) fn cards() -> Vec<Card> {
    let runs = |form: &&Form| form.sm <= 90 && !form.specific && family(form.opcode).is_some();
    let fill = |form: &'static Form| fillings(form).into_iter().map(move |filled| (form, filled));
    forms::all()
        .filter(runs)
        .flat_map(fill)
        .filter(|(_, filled)| filled.iter().flatten().all(|m| usable(*m)))
        .collect()
}

/// What is asynchronous is left out, and the parameters of calls, which calls have.
fn usable(modifier: Modifier) -> bool {
    !matches!(modifier, Modifier::Word(Word::Async | Word::ParamFunc))
}

/// The ways to fill the slots of `form`.
fn fillings(form: &Form) -> Vec<Filled> {
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
        let digit = |slot: &Vec<Option<Modifier>>| {
            let choice = slot[index % slot.len()];
            index /= slot.len();
            choice
        };
        choices.iter().map(digit).collect()
    };
    match total <= FILLINGS {
        true => (0..total).map(filling).collect(),
        // A stride that shares no factor with the total visits different fillings in every slot.
        false => (0..FILLINGS).map(|i| filling(i * 7919 % total)).collect(),
    }
}

/// The cards that go from 32-bit registers to one 32-bit register and have nothing but values.
pub(super) fn words(cards: &[Card]) -> Vec<Card> {
    let word = |ty: Ty, filled: &Filled| {
        matches!(ty, Ty::Slot(_))
            && ty.of(filled).is_some_and(|ty| ty.bits() == Some(32) && (ty.is_int() || ty.is_bits()))
    };
    let plain = |(form, filled): &&Card| {
        use Opcode as O;
        let opcode =
            matches!(form.opcode, O::Add | O::Sub | O::Mul | O::Mad | O::And | O::Or | O::Xor | O::Not)
                || matches!(
                    form.opcode,
                    O::Min | O::Max | O::Abs | O::Neg | O::Lop3 | O::Prmt | O::Sad | O::Brev
                );
        opcode
            && !filled.contains(&Some(Modifier::Word(Word::Cc)))
            // ptxas 13.0 makes y of sub.sat (x + y), x, whatever the sum.
            && !filled.contains(&Some(Modifier::Word(Word::Sat)))
            && form.operands.iter().all(|slot| match slot.kind {
                Kind::Def(ty) | Kind::Use(ty) => word(ty, filled),
                Kind::Constant(_) => true,
                _ => false,
            })
    };
    cards.iter().filter(plain).cloned().collect()
}

/// Deals the cards one after the other, shuffled anew when all are dealt.
pub(super) struct Deck {
    cards: Vec<Card>,
    next: usize,
}

impl Deck {
    pub(super) fn new(cards: Vec<Card>) -> Deck {
        Deck { next: cards.len(), cards }
    }

    pub(super) fn cards(&self) -> &[Card] {
        &self.cards
    }

    pub(super) fn deal(&mut self, rng: &mut StdRng) -> Card {
        if self.next == self.cards.len() {
            self.cards.shuffle(rng);
            self.next = 0;
        }
        self.next += 1;
        self.cards[self.next - 1].clone()
    }
}
