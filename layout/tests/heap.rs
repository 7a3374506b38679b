//! No operation allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use girih_layout::{Coord, Error, F2Matrix, Int, Lay, Product, Tiler};

thread_local! {
    static ALLOCATIONS: Cell<u32> = const { Cell::new(0) };
}

struct Counting;

#[expect(unsafe_code, reason = "an allocator is the only way to see allocations")]
// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn operations() -> Result<(), Error> {
    let (a, b) = (Lay::parse("((8,16),(4,16)):((1,8),(128,512))")?, Lay::parse("(32,4):(1,128)")?);
    let tiler = Tiler::parse("<16,8>")?;
    a.composition(&b)?;
    a.compose_general(&b)?;
    b.complement(Int::value(8192))?;
    a.coalesce();
    a.logical_divide(&tiler)?;
    a.divide_with_residue(&tiler)?;
    a.blocked_product(&b)?;
    a.logical_product_with(&Tiler::Lay(b), Product::Outer)?;
    a.right_inverse()?;
    a.left_inverse()?;
    a.crd2idx(&Coord::parse("((1,2),(3,4))")?)?;
    a.preimage(77)?;
    a.is_injective()?;
    a.overlap(0, &b, 8)?;
    F2Matrix::of_layout(&a)?.inverse()?.layout(a.shape())?;
    a.indices()?.count();
    Ok(())
}

#[test]
fn nothing_allocates() {
    let before = ALLOCATIONS.with(Cell::get);
    assert_eq!(operations(), Ok(()));
    assert_eq!(ALLOCATIONS.with(Cell::get), before);
    drop(vec![1]);
    assert!(ALLOCATIONS.with(Cell::get) > before, "the allocator counts");
}
