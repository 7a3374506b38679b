//! The order of modifiers that the assembler leaves open.

use girih_ptx::forms::{self, ordered};
use girih_ptx::{Modifier, Opcode, Type, Word};

#[test]
fn fences_and_extrema_come_in_other_orders_too() {
    let word = |words: &[Word]| words.iter().map(|&word| Modifier::Word(word)).collect::<Vec<_>>();
    let fence = |words: &[Word]| ordered(Opcode::Fence, &word(words)).into_owned();
    assert_eq!(fence(&[Word::Cta, Word::Sc]), word(&[Word::Sc, Word::Cta]));
    let proxied = [Word::Proxy, Word::TensormapGeneric, Word::Release, Word::Gpu];
    assert_eq!(fence(&[Word::Proxy, Word::TensormapGeneric, Word::Gpu, Word::Release]), word(&proxied));
    let (relu, ty) = (Modifier::Word(Word::Relu), Modifier::Type(Type::S32));
    assert_eq!(*ordered(Opcode::Max, &[ty, relu]), [relu, ty]);
}

/// Every form is in order already, and comes back to it from the reverse.
#[test]
fn the_table_is_in_order() {
    const FREE: [Opcode; 5] = [Opcode::Atom, Opcode::Red, Opcode::Ld, Opcode::St, Opcode::Cvt];
    let mut count = 0;
    for form in forms::all().filter(|form| FREE.contains(&form.opcode)) {
        let first: Vec<Modifier> = form.slots.iter().map(|slot| slot.choices.modifiers()[0]).collect();
        assert_eq!(*ordered(form.opcode, &first), *first, "{form}");
        let is_type = |modifier: &Modifier| matches!(modifier, Modifier::Type(_));
        let (types, words): (Vec<_>, Vec<_>) = first.iter().partition(|modifier| is_type(modifier));
        let backwards: Vec<Modifier> = types.into_iter().chain(words.into_iter().rev()).collect();
        assert_eq!(*ordered(form.opcode, &backwards), *first, "{form}");
        count += 1;
    }
    assert!(count > 100, "{count}");
}
