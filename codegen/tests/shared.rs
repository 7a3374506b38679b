//! The allocator of shared memory: allocations do not overlap, are aligned, and are free again after their scope.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::{Builder, Error, Memory, Smem};
use girih_layout::{Lay, Swizzle, lay};
use girih_tensor::{DType, Tensor};
use proptest::prelude::*;

/// The 227 KiB of the largest block.
const MOST: i64 = 232_448;

fn builder() -> Builder {
    Builder::new("k", 80, 32)
}

/// A step in which a kernel uses shared memory.
#[derive(Clone, Debug)]
enum Step {
    /// An allocation of bytes, at a multiple of a power of two.
    Bytes(i64, u32),
    /// An allocation of a tensor of rows and columns, perhaps swizzled.
    Tensor(DType, [i64; 2], Option<(u32, u32, i32)>),
    /// A scope, after which its allocations are free again.
    Scope(Vec<Step>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let swizzle = proptest::option::of((0..4u32, 0..5u32, 3..5i32));
    let dtype = proptest::sample::select(DType::ALL.to_vec());
    let step = prop_oneof![
        (0..3000i64, 0..11u32).prop_map(|(bytes, align)| Step::Bytes(bytes, align)),
        (dtype, [1..40i64, 1..20i64], swizzle)
            .prop_map(|(dtype, extents, swizzle)| Step::Tensor(dtype, extents, swizzle)),
    ];
    let steps = |of| proptest::collection::vec(of, 0..5);
    let nested = step.prop_recursive(3, 20, 5, move |step| steps(step.boxed()).prop_map(Step::Scope));
    proptest::collection::vec(nested, 0..6)
}

/// The first byte of a range, and the byte after the range.
type Bytes = (i64, i64);

fn disjoint(a: Bytes, b: Bytes) -> bool {
    a.1 <= b.0 || b.1 <= a.0
}

/// The range of the elements of a tensor, from the address of each element.
fn span(tensor: &Tensor<Smem>, dtype: DType) -> Bytes {
    let places = tensor.layout().indices().unwrap().map(|offset| {
        let moved = tensor.engine().swizzle().map_or(offset, |swizzle| swizzle.apply(offset));
        moved * i64::from(dtype.bits())
    });
    let start = tensor.engine().address().unwrap().constant();
    let (mut first, mut end) = (i64::MAX, 0);
    for bit in places {
        (first, end) = (first.min(bit), end.max(bit + i64::from(dtype.bits())));
    }
    (start + first / 8, start + (end + 7) / 8)
}

/// Runs the steps beside the allocations that are alive, and returns the greatest end of an allocation.
fn run(b: &mut Builder, steps: &[Step], alive: &mut Vec<Bytes>) -> Result<i64, Error> {
    let (outer, mut most) = (alive.len(), 0);
    for step in steps {
        let own = match step {
            Step::Bytes(bytes, align) => {
                let at = b.alloc_shared(*bytes, 1 << align)?;
                assert_eq!(at.multiple() % (1 << align), 0, "{at}");
                (at.constant(), at.constant() + bytes)
            }
            Step::Tensor(dtype, extents, swizzle) => {
                let swizzle =
                    swizzle.map(|(bits, base, shift)| Swizzle::new(bits, base, shift)).transpose()?;
                let tensor = Smem::alloc(b, *dtype, swizzle, &Lay::col_major(*extents)?)?;
                assert_eq!(tensor.engine().swizzle().copied(), swizzle);
                assert_eq!(tensor.engine().address()?.multiple() % 128, 0);
                span(&tensor, *dtype)
            }
            Step::Scope(steps) => {
                most = most.max(b.shared_scope(|b| run(b, steps, alive))?);
                continue;
            }
        };
        assert!(alive.iter().all(|&other| disjoint(own, other)), "{own:?} {alive:?}");
        alive.push(own);
        most = most.max(own.1);
    }
    alive.truncate(outer);
    Ok(most)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn nobody_has_what_another_has(steps in steps()) {
        let mut b = builder();
        let most = run(&mut b, &steps, &mut Vec::new()).unwrap();
        let bytes = i64::from(b.finish().unwrap().shared_bytes());
        prop_assert!((most..=MOST).contains(&bytes), "{most} {bytes}");
    }
}

/// The second of two scopes begins where the first one did, and allocations outside of both stay.
#[test]
fn scopes_give_back_what_they_took() {
    let mut b = builder();
    let kept = b.alloc_shared(48, 16).unwrap();
    let scope = |b: &mut Builder, bytes| b.shared_scope(|b| b.alloc_shared(bytes, 16)).unwrap();
    let [first, second] = [scope(&mut b, 4096), scope(&mut b, 1024)];
    assert_eq!((&first - &kept).as_constant(), Some(48));
    assert_eq!(first, second);
    // The same holds after a scope that fails.
    assert!(b.shared_scope(|b| b.alloc_shared(16, 16).and_then(|_| b.alloc_shared(1, 3))).is_err());
    assert_eq!(b.alloc_shared(16, 16).unwrap(), first);
    assert_eq!(b.finish().unwrap().shared_bytes(), 48 + 4096);
}

#[test]
fn what_no_block_has_is_refused() {
    for (bytes, align) in [(1, 0), (1, 3), (1, -16), (1, 2048), (-1, 1), (MOST + 1, 1)] {
        let found = builder().alloc_shared(bytes, align);
        assert!(matches!(found, Err(Error::Builder(_))), "{bytes} {align}: {found:?}");
    }
    let mut b = builder();
    b.alloc_shared(MOST, 1).unwrap();
    assert!(b.alloc_shared(0, 1).is_ok());
    let full = b.alloc_shared(1, 1).unwrap_err().to_string();
    assert!(full.contains("after the 232448 in use: 0 to 0 are accepted"), "{full}");
    // Refused allocations take nothing.
    assert_eq!(b.finish().unwrap().shared_bytes(), MOST as u32);
}

#[test]
fn layouts_that_no_memory_holds_are_refused() {
    let symbolic = lay!("s0:1");
    let swizzle = Swizzle::new(2, 0, 2).unwrap();
    let refused = |layout: &Lay, swizzle: Option<Swizzle>| {
        Smem::alloc(&mut builder(), DType::F64, swizzle, layout).unwrap_err()
    };
    assert!(matches!(refused(&symbolic, None), Error::NotStatic { .. }));
    assert!(matches!(refused(&lay!("(8,8):(-1,8)"), None), Error::Layout(_)));
    assert!(matches!(refused(&lay!("(4,4):(^1,^5)"), Some(swizzle)), Error::Mismatch { .. }));
    // This tensor has more bits than an i64 counts.
    let huge = refused(&lay!("(2,2):(1,4611686018427387904)"), None).to_string();
    assert!(huge.contains("36893488147419103248"), "{huge}");
}

/// Elements smaller than a byte take every byte in which they lie.
#[test]
fn a_part_of_a_byte_is_a_byte() {
    for (dtype, elements, bytes) in
        [(DType::B1, 12, 2), (DType::U4, 3, 2), (DType::B1, 8, 1), (DType::F16, 3, 6)]
    {
        let mut b = builder();
        Smem::alloc(&mut b, dtype, None, &Lay::col_major([elements]).unwrap()).unwrap();
        assert_eq!(b.finish().unwrap().shared_bytes(), bytes, "{dtype} {elements}");
    }
}

/// A tensor with F2 columns takes all bytes to which its map moves elements.
#[test]
fn columns_have_their_whole_image() {
    let mut b = builder();
    let layout = lay!("(4,4):(^1,^6)");
    let tile = Smem::alloc(&mut b, DType::F32, None, &layout).unwrap();
    let next = b.alloc_shared(4, 4).unwrap();
    let base = tile.engine().address().unwrap();
    assert_eq!((&next - &base).as_constant(), Some(4 * 16));
}
