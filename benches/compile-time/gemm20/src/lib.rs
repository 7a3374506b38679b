//! The 20 static operations of a typical GEMM: 128x128x64 tiles, mma.m16n8k16 with 2x2 warps, 16-byte copies.

use girih_typed::{Layout, Modes, int, layout};

fn keep<M: Modes>(l: Layout<M>, out: &mut [usize; 20], k: usize) {
    out[k] = l.size() + l.at(k);
}

/// Something of each result, so that none goes unused.
pub fn gemm() -> [usize; 20] {
    let mut out = [0; 20];
    // Problem tiles: A (M,K), B (N,K), C (M,N).
    let (a, b, c) = (layout!((512, 256) : (256, 1)), layout!((512, 256) : (256, 1)), layout!((512, 512) : (512, 1)));
    let ga = a.zipped_divide((int!(128), int!(64)));
    keep(ga, &mut out, 0);
    let gb = b.zipped_divide((int!(128), int!(64)));
    keep(gb, &mut out, 1);
    let gc = c.zipped_divide((int!(128), int!(128)));
    keep(gc, &mut out, 2);
    // Shared memory: an 8x64 atom repeated.
    let sa = layout!((8, 64) : (64, 1)).blocked_product(layout!((16, 1) : (1, 16)));
    keep(sa, &mut out, 3);
    let sb = layout!((8, 64) : (64, 1)).blocked_product(layout!((16, 1, 3) : (1, 16, 16)));
    keep(sb, &mut out, 4);
    // Copies: 128 threads, 8 values each.
    let threads = layout!((16, 8) : (8, 1));
    let values = layout!((1, 8) : (0, 1));
    let tv = threads.raked_product(values);
    keep(tv, &mut out, 5);
    let inverse = tv.right_inverse();
    keep(inverse, &mut out, 6);
    let copy = inverse.composition(layout!((128, 8) : (1, 128)));
    keep(copy, &mut out, 7);
    let tiled = layout!((128, 64) : (64, 1)).zipped_divide((int!(16), int!(64)));
    keep(tiled, &mut out, 8);
    let part = Layout(tiled.0.0).composition(copy);
    keep(part, &mut out, 9);
    let vector = part.coalesce();
    keep(vector, &mut out, 10);
    // Fragments of mma.m16n8k16.
    let (fa, fb) = (layout!(((4, 8), (2, 2, 2)) : ((32, 1), (16, 8, 128))), layout!(((4, 8), (2, 2)) : ((16, 1), (8, 64))));
    let fc = layout!(((4, 8), (2, 2)) : ((32, 1), (16, 8)));
    let ta = layout!((128, 64) : (64, 1)).zipped_divide((int!(16), int!(16)));
    keep(ta, &mut out, 11);
    let tb = layout!((128, 64) : (64, 1)).zipped_divide((int!(8), int!(16)));
    keep(tb, &mut out, 12);
    let tc = layout!((128, 128) : (128, 1)).zipped_divide((int!(16), int!(8)));
    keep(tc, &mut out, 13);
    keep(Layout(ta.0.0).composition(fa), &mut out, 14);
    keep(Layout(tb.0.0).composition(fb), &mut out, 15);
    keep(Layout(tc.0.0).composition(fc), &mut out, 16);
    // Warps over the tiles, and what is left to each.
    let warps = Layout(tc.0.1).zipped_divide((int!(2), int!(2)));
    keep(warps, &mut out, 17);
    keep(layout!((2, 2) : (1, 2)).complement(int!(128)), &mut out, 18);
    keep(fc.logical_product(layout!((4, 8) : (1, 4))), &mut out, 19);
    out
}

