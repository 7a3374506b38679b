//! The typed layer's own promises: its arithmetic, coordinates, slices, storage, limits, and what it refuses when it runs.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_layout::{Error, Lay, Shape, lay, tiler};
use girih_typed::{
    __, All, ArrayOf, Check, Coalesced, Composition, Int, IntTuple, Layout, Left, Lt, Modes, ModesOf, Nat,
    Neg, RightInverse, S, Storage, Sw, Swizzled, Tiler, ZippedDivide, int, int_tuple, int_tuple_type,
    int_type, layout, layout_type,
};

/// Every pair of numbers, `check::<A, B>()`.
macro_rules! pairs {
    ($check:ident: $($n:literal)*) => { $(pairs!(@ $check $n: 0 1 2 3 4 5 6 7 9 12 16 100 1536);)* };
    (@ $check:ident $m:literal: $($n:literal)*) => { $($check::<int_type!($m), int_type!($n)>();)* };
}

fn known<N: Int>() -> i64 {
    N::KNOWN.unwrap()
}

fn arithmetic<A: Nat, B: Nat>() {
    let (a, b) = (A::N as i64, B::N as i64);
    assert_eq!(known::<A::Mul<B>>(), a * b);
    assert_eq!(known::<A::Add<B>>(), a + b);
    assert_eq!(known::<A::Min<B>>(), a.min(b), "{a} {b}");
    assert_eq!(known::<A::Pred>(), (a - 1).max(0));
    if b > 0 {
        assert_eq!(known::<A::CDiv<B>>(), (a + b - 1) / b, "{a} {b}");
        assert_eq!(known::<Neg<B>>(), -b);
        assert_eq!(known::<<Neg<B> as Int>::Mul<A>>(), -a * b);
        assert_eq!(known::<A::Mul<Neg<B>>>(), -a * b);
    }
    // The dynamic forms agree on what does not depend on the value.
    assert_eq!(<usize as Int>::Mul::<A>::KNOWN, (a == 0).then_some(0));
    assert_eq!(<A as Int>::Mul::<i64>::KNOWN, (a == 0).then_some(0));
}

#[test]
fn arithmetic_is_that_of_integers() {
    pairs!(arithmetic: 0 1 2 3 4 5 6 7 9 12 16 100 1536);
    assert_eq!(int!(0xffff_ffff).get(), 0xffff_ffff);
    assert_eq!(int!(1 << 20).get(), 1 << 20);
    assert_eq!(known::<S<1000>>(), 1000);
}

fn storage<N: Int>(n: usize) {
    type A<N> = <N as Int>::Array<u16>;
    let mut a = A::<N>::filled(7);
    assert_eq!((A::<N>::LEN, size_of::<A<N>>(), a.get(n)), (n, 2 * n, None));
    for i in 0..n {
        assert_eq!(a.get(i), Some(&7));
        *a.get_mut(i).unwrap() = i as u16;
    }
    // One after another in memory: addresses go up by one element.
    for i in 0..n {
        let (first, here) =
            (a.get(0).unwrap() as *const u16 as usize, a.get(i).unwrap() as *const u16 as usize);
        assert_eq!((*a.get(i).unwrap(), here - first), (i as u16, 2 * i));
    }
}

#[test]
fn storage_is_an_array() {
    macro_rules! lengths { ($($n:literal)*) => { $(storage::<S<$n>>($n);)* } }
    lengths!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 31 32 33 100);
    let padded = layout!((4, 3) : (1, 8)).array(0u64);
    assert_eq!(size_of_val(&padded), 20 * 8);
}

#[test]
fn long_flat_layouts_stay_below_the_recursion_limit() {
    let l = layout!((2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
        : (1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600));
    assert_eq!(l.coalesce().lay(), l.lay().coalesce());
    assert_eq!(l.right_inverse().lay(), l.lay().right_inverse().unwrap());
    assert_eq!(l.composition(layout!(720 : 7)).lay(), l.lay().composition(&lay!("720:7")).unwrap());
    // Nothing merges: strides from the right.
    let r = layout!((2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 2)
        : (479001600, 159667200, 39916800, 7983360, 1330560, 190080, 23760, 2640, 264, 24, 2, 1));
    assert_eq!(r.coalesce().lay(), r.lay().coalesce());
    assert_eq!(r.right_inverse().lay(), r.lay().right_inverse().unwrap());
    assert_eq!(
        r.complement(int!(2_000_000_000)).lay(),
        r.lay().complement(girih_layout::Int::fixed(2_000_000_000)).unwrap()
    );
    assert_eq!(r.composition(int!(5040)).lay(), r.lay().composition(&lay!("5040:1")).unwrap());
}

#[test]
fn negative_strides_go_through() {
    let l = layout!((4, 3) : (-1, -4));
    assert_eq!(l.coalesce(), layout!(12 : -1));
    let r = l.composition(layout!((2, 2) : (3, 6)));
    assert_eq!(r.lay(), l.lay().composition(&lay!("(2,2):(3,6)")).unwrap());
    assert_eq!(layout!(8 : -2).composition(layout!(4 : -1)).lay(), lay!("4:2"));
    let back: i64 = -5;
    let r = layout!((4, 6) : (back, 1)).try_composition((int!(2), int!(3))).unwrap();
    assert_eq!(format!("{r:#}"), "(_2,_3):(-5,_1)");
}

#[test]
fn static_parts_stay_static() {
    let (m, n, ld): (usize, usize, usize) = (1000, 70, 4096);
    let a = layout!((m, n) : (ld, 1));
    let shown = |l: Result<String, Error>| l.unwrap();
    let tile = (int!(128), int!(32));
    assert_eq!(
        shown(a.try_zipped_divide(tile).map(|l| format!("{l:#}"))),
        "((_128,_32),(8,3)):((4096,_1),(524288,_32))"
    );
    assert_eq!(
        shown(a.try_tiled_divide((int!(128), __)).map(|l| format!("{l:#}"))),
        "((_128,70),8,_1):((4096,_1),524288,_0)"
    );
    assert_eq!(shown(layout!((4, 8, n) : (1, 4, 32)).try_coalesce().map(|l| format!("{l:#}"))), "2240:_1");
    assert_eq!(
        shown(layout!((4, 8, n) : (1, 4, ld)).try_coalesce().map(|l| format!("{l:#}"))),
        "(_32,70):(_1,4096)"
    );
    assert_eq!(
        shown(layout!((2, 2) : (1, 6)).try_complement(n).map(|l| format!("{l:#}"))),
        "(_3,6):(_2,_12)"
    );
    assert_eq!(
        shown(layout!((8, n) : (1, ld)).try_composition(layout!((4, 2) : (2, 1))).map(|l| format!("{l:#}"))),
        "(_4,_2):(_2,_1)"
    );
}

#[test]
fn what_has_no_answer_is_refused() {
    let n = |n: usize| std::hint::black_box(n);
    // Not a layout, whoever asks.
    let (l, r) = (layout!(({n(6)}, 2) : (8, 2)), layout!({n(6)} : {n(4)}));
    assert!(matches!(l.try_composition(r), Err(Error::NoLayout { .. })));
    assert!(matches!(
        layout!((2, 2) : (1, {n(3)})).try_complement(int!(12)),
        Err(Error::NotTractable { .. })
    ));
    // Empty.
    assert!(matches!(layout!({n(0)} : 1).erase(), Err(Error::NonPositiveShape { .. })));
    assert!(matches!(layout!((4, {n(0)}) : (1, 4)).try_coalesce(), Err(Error::NonPositiveShape { .. })));
    assert!(matches!(layout!(4 : 1).try_zipped_divide(n(0)), Err(Error::NonPositiveShape { .. })));
    // Too large for an index.
    let huge = layout!(({n(1 << 40)}, {n(1 << 40)}) : (1, {n(1 << 40)}));
    assert!(matches!(huge.try_size(), Err(Error::Overflow { .. })));
    assert!(huge.try_composition(layout!((2, 2) : (1, 2))).is_ok());
    // A layout, but of another structure: the dynamic stride belongs below the static one.
    assert!(matches!(
        layout!((2, 3) : (12, {n(4)})).try_complement(int!(48)),
        Err(Error::Unsupported { .. })
    ));
    assert!(layout!((2, 3) : (1, {n(4)})).try_complement(int!(48)).is_ok());
}

/// No where clauses.
fn accumulator<M: Modes, V: Modes>(
    tile: Layout<M>,
    values: Layout<V>,
) -> ArrayOf<f32, Coalesced<Composition<M, Layout<V>>>> {
    tile.composition(values).coalesce().array(0.0)
}

fn tiles<M: Modes, X: Tiler>(l: Layout<M>, tiler: X) -> Result<usize, Error> {
    l.try_zipped_divide(tiler)?.slice((0, __)).0.try_size()
}

#[test]
fn generic_code_needs_no_bounds() {
    let values = accumulator(layout!((16, 8) : (1, 16)), layout!((2, 2) : (1, 8)));
    assert_eq!(size_of_val(&values), 10 * 4);
    let n: usize = 100;
    assert_eq!(tiles(layout!((n, 64) : (64, 1)), (int!(32), All)).unwrap(), 4);
    assert_eq!(tiles(layout!((128, 64) : (64, 1)), (int!(32), int!(16))).unwrap(), 16);
    let typed: Lt<(S<128>, usize), (S<1>, S<128>)> = layout!((128, n) : (1, 128));
    assert_eq!((typed.try_size().unwrap(), size_of_val(&typed)), (12800, 8));
    assert_eq!((typed.shape(), typed.stride()), ((S::<128>::new(), 100), (S::<1>::new(), S::<128>::new())));
}

#[test]
fn typenums_signed_integers_are_strides() {
    use typenum::{N1, N64, P1, P64, Z0};
    type L<D> = Lt<(S<4>, S<8>), (S<1>, D)>;
    let same = |a: String, b: &str| assert_eq!(a, b);
    same(format!("{:#}", <L<N64>>::default()), "(_4,_8):(_1,_-64)");
    same(format!("{:#}", <L<P64>>::default()), "(_4,_8):(_1,_64)");
    same(format!("{:#}", <L<Z0>>::default()), "(_4,_8):(_1,_0)");
    // One type for one layout, however it was written.
    let (neg, one): (L<Neg<S<1>>>, L<S<1>>) = (<L<N1>>::default(), <L<P1>>::default());
    assert_eq!((neg, one), (layout!((4, 8) : (1, -1)), layout!((4, 8) : (1, 1))));
}

#[test]
fn a_right_inverse_is_whole_or_refused() {
    let n = |n: usize| std::hint::black_box(n);
    // The types don't see that the second mode follows, but there is room for all of it.
    let whole = layout!(({n(4)}, {n(8)}) : (1, {n(4)})).try_right_inverse().unwrap();
    assert_eq!(whole.erase().unwrap(), lay!("32:1"));
    // Here there is not: 0..4 are in mode 0, and the rest in mode 2.
    let apart = layout!((4, {n(3)}, {n(8)}) : (1, {n(100)}, {n(4)})).try_right_inverse();
    assert!(matches!(apart, Err(Error::Unsupported { .. })));
}

#[test]
fn workers_keep_their_strides() {
    let n = |n: usize| std::hint::black_box(n);
    assert_eq!(
        Layout::domain_distribute(girih_typed::int_tuple!((15, 14)), int!(6)),
        layout!((3, 2) : (1, 15))
    );
    let open =
        Layout::try_domain_distribute(girih_typed::int_tuple!(({ n(15) }, { n(14) })), int!(6)).unwrap();
    assert_eq!(open.erase().unwrap().coalesce(), lay!("(3,2):(1,15)"));
}

#[test]
fn exactly_takes_what_fits_when_it_runs() {
    type Wanted = Lt<(S<4>, S<8>), (S<64>, usize)>;
    let (ld, one): (usize, usize) = (64, 1);
    let fits: Result<Wanted, _> = layout!((4, 8) : (ld, one)).try_exactly();
    assert_eq!(fits.map(|layout| layout.to_string()).as_deref(), Ok("(4,8):(64,1)"));
    let ld: usize = 65;
    let other: Result<Wanted, _> = layout!((4, 8) : (ld, one)).try_exactly();
    assert!(matches!(other, Err(Error::Unsupported { op: "try_exactly", .. })));
}

#[test]
fn orders_have_keys_of_whole_modes() {
    fn check<Sh: IntTuple, O: IntTuple>(shape: Sh, order: O, texts: [&str; 2]) {
        let [extents, keys] = texts.map(|text| Shape::parse(text).unwrap());
        let expected = Lay::ordered(&extents, &keys).unwrap();
        let made = Layout::try_ordered(shape, order).unwrap().erase().unwrap();
        // The typed layer has stride 0 at extents of 1.
        assert!((0..expected.size().unwrap().get().unwrap()).all(|i| made.at(i) == expected.at(i)), "{made}");
        assert_eq!(made.shape(), expected.shape());
    }
    let n: usize = 4;
    check(int_tuple!(((2, 4), 3)), int_tuple!((1, 0)), ["((2,4),3)", "(1,0)"]);
    check(((int!(2), n), int!(3)), int_tuple!((1, 0)), ["((2,4),3)", "(1,0)"]);
    check(int_tuple!((5, (2, (4, 3)), 7)), int_tuple!((2, (1, 0), 2)), ["(5,(2,(4,3)),7)", "(2,(1,0),2)"]);
    check(int_tuple!((5, (2, (4, 3)), 7)), int_tuple!((2, 1, 0)), ["(5,(2,(4,3)),7)", "(2,1,0)"]);
    check(int_tuple!(((2, 4), (3, 5))), int!(3), ["((2,4),(3,5))", "3"]);
    check(int_tuple!((1, (2, 1), 3)), int_tuple!((0, 2, 1)), ["(1,(2,1),3)", "(0,2,1)"]);
    assert_eq!(
        Layout::ordered(int_tuple!(((2, 4), 3)), int_tuple!((1, 0))),
        layout!(((2, 4), 3) : ((3, 6), 1))
    );
}

/// What a type says of its layout, and what the layout's value says when the program runs.
fn constants<M: Modes, const RANK: usize, const SIZE: usize, const COSIZE: usize>(l: Layout<M>) {
    let run = l.erase().unwrap();
    let cosize = run.max_index().unwrap() + 1;
    assert_eq!((Layout::<M>::RANK, run.rank()), (RANK, RANK), "{l}");
    assert_eq!((Layout::<M>::SIZE, l.size(), run.size().unwrap().get()), (SIZE, SIZE, Some(SIZE as i64)));
    assert_eq!((Layout::<M>::COSIZE, l.cosize(), cosize), (COSIZE, COSIZE, COSIZE as i64), "{l}");
    assert_eq!((Layout::<M>::LAY, Layout::<M>::LAY.is_static(), l.lay()), (run, true, run));
}

type Padded = layout_type!((128, (8, 4)) : (40, (1, 8)));
type Parts = Layout<ZippedDivide<ModesOf<Padded>, (S<32>, S<8>)>>;
type Inverse = Layout<RightInverse<ModesOf<layout_type!((4, 8) : (8, 1))>>>;
type Atom = Swizzled<Sw<3, 3, 3>, ModesOf<layout_type!((8, 64) : (64, 1))>>;

const _: () = Check::<Padded>::zipped_divide::<(S<32>, S<8>)>();
const PARTS: Lay = Parts::LAY;
static ROOM: [u16; Padded::COSIZE] = [1; Padded::COSIZE];

struct Shared {
    rows: [f32; Padded::COSIZE],
    ranks: [u8; Parts::RANK],
    swizzled: [u8; Atom::COSIZE],
}

#[test]
fn layouts_are_known_in_constants() {
    constants::<_, 2, 4096, 5112>(Padded::default());
    constants::<_, 2, 4096, 5112>(Parts::default());
    constants::<_, 2, 32, 32>(Inverse::default());
    constants::<_, 1, 12, 34>(<layout_type!(12 : 3)>::default());
    constants::<_, 1, 4, 1>(<layout_type!((4) : (0))>::default());
    constants::<_, 2, 1536, 1536>(Layout::<Left<int_tuple_type!((3, 512))>>::default());
    assert_eq!(PARTS, lay!("((32,8),(4,4)):((40,1),(1280,8))"));
    let shared = Shared { rows: [0.5; Padded::COSIZE], ranks: [0; Parts::RANK], swizzled: [0; Atom::COSIZE] };
    let last = Padded::default().at((127, (7, 3)));
    assert_eq!((shared.rows[last], ROOM[last], shared.rows.len()), (0.5, 1, last + 1));
    assert_eq!((shared.ranks.len(), shared.swizzled.len(), Atom::COSIZE), (2, 512, Atom::default().cosize()));
    // The run-time layout of a constant is computed with in constants.
    const DIVIDED: Result<Lay, Error> = Padded::LAY.zipped_divide(&tiler!("<32,8>"));
    assert_eq!(DIVIDED, Ok(PARTS));
}

/// The type of a literal is the type of the value, integer for integer.
#[test]
fn types_are_written_as_values_are() {
    let (n, back): (usize, i64) = (6, -3);
    let _: layout_type!((4, 8) : (1, 4)) = layout!((4, 8) : (1, 4));
    let _: layout_type!(1536 : -2) = layout!(1536 : -2);
    let _: layout_type!(((4, 2), (8, usize)) : ((-1, 64), (4, i64))) =
        layout!(((4, 2), (8, n)) : ((-1, 64), (4, back)));
    let _: layout_type!((4, 8, 2) : (2@1, 1@0, 3@1@0)) = layout!((4, 8, 2) : (2@1, 1@0, 3@1@0));
    let _: layout_type!((4, 2) : (1@2@1@0, 0)) = layout!((4, 2) : (1@2@1@0, 0));
    let _: int_tuple_type!((4, (usize, -2), 7)) = int_tuple!((4, (n, -2), 7));
    assert_eq!(<layout_type!((4, usize) : (1, i64))>::RANK, 2);
}
