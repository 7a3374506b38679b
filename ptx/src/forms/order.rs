//! The orders of modifiers that the assembler accepts.
//!
//! The table has the modifiers of a form in one order, that of the PTX ISA. `ptxas` reads the words that belong to an instruction's
//! name first, as in `cp.async` and `mul.lo`, and the other modifiers in any order, as in `ldmatrix.sync.aligned.x4.m8n8.shared.b16`.
//! Modifiers that only their position distinguishes keep their order: types, state spaces, the layouts of two matrices.

use std::borrow::Cow;

use super::check::{Filled, resolve};
use super::{Form, forms};
use crate::{Inst, Modifier, Opcode, Word};

/// The modifiers of `inst` in the order of its form, which is the order that [`Filled`] and the printer have. An instruction
/// that no form accepts keeps its order.
///
/// # Examples
/// ```
/// use girih_ptx::{Statement, forms};
///
/// let statements = Statement::parse_all("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];")?;
/// let Statement::Inst(inst) = &statements[0] else { panic!("an instruction") };
/// let words: Vec<String> = forms::ordered(inst).iter().map(|modifier| modifier.to_string()).collect();
/// assert_eq!(words, ["sync", "aligned", "m8n8", "x4", "shared", "b16"]);
/// # Ok::<(), girih_ptx::Error>(())
/// ```
pub fn ordered(inst: &Inst) -> Cow<'_, [Modifier]> {
    let mut filled = Vec::new();
    if forms(inst.opcode).any(|form| fill_in_order(form, &inst.modifiers, &mut filled)) {
        return Cow::Borrowed(&inst.modifiers);
    }
    match resolve(inst, None) {
        Ok((_, filled)) => Cow::Owned(filled.into_iter().flatten().collect()),
        Err(_) => Cow::Borrowed(&inst.modifiers),
    }
}

/// Whether the modifiers fill the slots of `form` in the table's order.
pub(super) fn fill_in_order(form: &Form, modifiers: &[Modifier], filled: &mut Filled) -> bool {
    Filling::new(form, modifiers, filled, modifiers.len()).fill(0, 0)
}

/// Whether the modifiers fill the slots of `form` in an order that the assembler accepts.
pub(super) fn fill_in_any_order(form: &Form, modifiers: &[Modifier], filled: &mut Filled) -> bool {
    let of_name = |modifier: &Modifier| matches!(modifier, Modifier::Word(word) if name_words(form.opcode).contains(word));
    let fixed = modifiers.iter().take_while(|modifier| of_name(modifier)).count();
    !modifiers[fixed..].iter().any(of_name) && Filling::new(form, modifiers, filled, fixed).fill(0, 0)
}

/// A search for the modifier of each slot.
struct Filling<'a> {
    form: &'a Form,
    modifiers: &'a [Modifier],
    filled: &'a mut Filled,
    /// The number of modifiers, from the first on, that keep their places.
    fixed: usize,
}

impl<'a> Filling<'a> {
    fn new(form: &'a Form, modifiers: &'a [Modifier], filled: &'a mut Filled, fixed: usize) -> Filling<'a> {
        filled.clear();
        filled.resize(form.slots.len(), None);
        Filling { form, modifiers, filled, fixed }
    }

    /// Fills the slots from `slot` on. Bit `i` of `used` is set for each modifier `i` that has a slot.
    fn fill(&mut self, slot: usize, used: u32) -> bool {
        let count = self.modifiers.len();
        let Some(here) = self.form.slots.get(slot) else { return used.count_ones() as usize == count };
        let next = used.trailing_ones() as usize;
        let last = if next < self.fixed { next + 1 } else { count.min(u32::BITS as usize) };
        for place in next..last {
            let modifier = self.modifiers[place];
            let is_free = |at: usize| used & 1 << at == 0;
            let is_first = (next..place).all(|at| !is_free(at) || !keeps_order(self.modifiers[at], modifier));
            if is_free(place) && is_first && here.choices.accept(modifier) {
                self.filled[slot] = Some(modifier);
                if self.fill(slot + 1, used | 1 << place) {
                    return true;
                }
                self.filled[slot] = None;
            }
        }
        here.optional && self.fill(slot + 1, used)
    }
}

/// The words that belong to an instruction's name where it has them: they come first, in the table's order.
fn name_words(opcode: Opcode) -> &'static [Word] {
    match opcode {
        Opcode::Mul | Opcode::Mad | Opcode::Madc | Opcode::Mul24 | Opcode::Mad24 | Opcode::Dp2a => {
            &[Word::Lo, Word::Hi, Word::Wide]
        }
        Opcode::Shf => &[Word::Left, Word::Right],
        Opcode::Cvt => &[Word::Pack],
        Opcode::Cvta => &[Word::To],
        Opcode::Brx => &[Word::Idx],
        Opcode::Bar | Opcode::Barrier => {
            &[Word::Warp, Word::Cta, Word::Cluster, Word::Arrive, Word::Red, Word::Wait]
        }
        Opcode::Membar | Opcode::Fence => &[Word::Proxy],
        Opcode::St | Opcode::Red => &[Word::Async],
        Opcode::Setmaxnreg => &[Word::Inc, Word::Dec],
        Opcode::Createpolicy => &[Word::Fractional, Word::Range, Word::Cvt],
        Opcode::Tensormap => &[Word::Replace, Word::CpFenceproxy],
        Opcode::Wgmma => &[Word::MmaAsync, Word::Fence, Word::CommitGroup, Word::WaitGroup],
        Opcode::Wmma => &[Word::Load, Word::Store, Word::Mma, Word::A, Word::B, Word::C, Word::D],
        Opcode::Mbarrier => &[
            Word::Init,
            Word::Inval,
            Word::Arrive,
            Word::ArriveDrop,
            Word::ExpectTx,
            Word::CompleteTx,
            Word::TestWait,
            Word::TryWait,
            Word::Parity,
            Word::PendingCount,
        ],
        Opcode::Cp => &[
            Word::Reduce,
            Word::Async,
            Word::Bulk,
            Word::Prefetch,
            Word::Tensor,
            Word::CommitGroup,
            Word::WaitGroup,
            Word::WaitAll,
            Word::Mbarrier,
            Word::Arrive,
        ],
        _ => &[],
    }
}

/// Whether two modifiers must come in the table's order, since their place tells what they mean.
fn keeps_order(first: Modifier, second: Modifier) -> bool {
    match (first, second) {
        (Modifier::Type(_), Modifier::Type(_)) => true,
        (Modifier::Word(first), Modifier::Word(second)) => {
            [is_space, is_layout, is_operation, is_priority].iter().any(|is| is(first) && is(second))
        }
        _ => false,
    }
}

fn is_space(word: Word) -> bool {
    matches!(
        word,
        Word::Global
            | Word::Shared
            | Word::SharedCta
            | Word::SharedCluster
            | Word::Const
            | Word::Local
            | Word::Param
            | Word::ParamEntry
            | Word::ParamFunc
    )
}

fn is_layout(word: Word) -> bool {
    matches!(word, Word::Row | Word::Col)
}

fn is_operation(word: Word) -> bool {
    matches!(word, Word::And | Word::Or | Word::Xor | Word::Popc)
}

fn is_priority(word: Word) -> bool {
    matches!(word, Word::L2EvictFirst | Word::L2EvictLast | Word::L2EvictNormal | Word::L2EvictUnchanged)
}
