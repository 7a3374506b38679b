//! Why programs are no products: the reason, at the line that it stands in.

use girih_tile::ir::Func;
use girih_tile::prelude::*;
use girih_tile::product;

/// A product whose parts can be others: `$init`, `$x`, `$y`, `$next` of the loop, and what is done with the sums.
macro_rules! program {
    ($name:ident, |$a:ident, $b:ident, $c:ident, $acc:ident, $k:ident| $init:expr, $body:expr, $store:expr) => {
        #[kernel]
        fn $name($a: &Array<f32, 2>, $b: &Array<f32, 2>, $c: &mut Array<f32, 2>) {
            let mut $acc = $init;
            for $k in 0..cdiv($a.dim(1), 16) {
                $acc = $body;
            }
            $store;
        }
    };
}

program!(
    biased,
    |a, b, c, acc, k| ones::<f32>([32, 32]),
    mma(a.tiles([32, 16]).load((bid(0), k)), b.tiles([16, 32]).load((k, bid(1))), acc),
    c.tiles_mut([32, 32]).store((bid(0), bid(1)), acc)
);
program!(
    padded,
    |a, b, c, acc, k| zeros::<f32>([32, 32]),
    mma(a.tiles([32, 16]).padding(Padding::Nan).load((bid(0), k)), b.tiles([16, 32]).load((k, bid(1))), acc),
    c.tiles_mut([32, 32]).store((bid(0), bid(1)), acc)
);
program!(
    elsewhere,
    |a, b, c, acc, k| zeros::<f32>([32, 32]),
    mma(a.tiles([32, 16]).load((bid(1), k)), b.tiles([16, 32]).load((k, bid(1))), acc),
    c.tiles_mut([32, 32]).store((bid(0), bid(1)), acc)
);
program!(
    shifted,
    |a, b, c, acc, k| zeros::<f32>([32, 32]),
    mma(a.tiles([32, 16]).load((bid(0), k + 1)), b.tiles([16, 32]).load((k, bid(1))), acc),
    c.tiles_mut([32, 32]).store((bid(0), bid(1)), acc)
);
program!(
    computed,
    |a, b, c, acc, k| zeros::<f32>([32, 32]),
    mma(a.tiles([32, 16]).load((bid(0), k)) + 1.0, b.tiles([16, 32]).load((k, bid(1))), acc),
    c.tiles_mut([32, 32]).store((bid(0), bid(1)), acc)
);
program!(
    scaled,
    |a, b, c, acc, k| zeros::<f32>([32, 32]),
    mma(a.tiles([32, 16]).load((bid(0), k)), b.tiles([16, 32]).load((k, bid(1))), acc * 0.5),
    c.tiles_mut([32, 32]).store((bid(0), bid(1)), acc)
);
program!(
    summed,
    |a, b, c, acc, k| zeros::<f32>([32, 32]),
    mma(a.tiles([32, 16]).load((bid(0), k)), b.tiles([16, 32]).load((k, bid(1))), acc),
    c.tiles_mut([32, 32]).store((bid(0), bid(1)), acc - acc.max(keep(1)))
);
program!(
    twice,
    |a, b, c, acc, k| zeros::<f32>([32, 32]),
    mma(a.tiles([32, 16]).load((bid(0), k)), b.tiles([16, 32]).load((k, bid(1))), acc),
    {
        c.tiles_mut([32, 32]).store((2 * bid(0), bid(1)), acc);
        c.tiles_mut([32, 32]).store((2 * bid(0) + 1, bid(1)), acc)
    }
);
program!(
    many,
    |a, b, c, acc, k| zeros::<f32>([32, 32]),
    {
        let x = a.tiles([32, 16]).load((bid(0), k));
        mma(x, b.tiles([16, 32]).load((k, bid(1))), mma(x, b.tiles([16, 32]).load((k, bid(0))), acc))
    },
    c.tiles_mut([32, 32]).store((bid(0), bid(1)), acc)
);

#[test]
fn refusals_say_why_and_where() {
    let refusal = |func: Func| product::find(&func, 90, None).expect_err("no product");
    let all = [
        (biased::ir(), "the sums do not begin at zero"),
        (padded::ir(), "the first operand is padded with something else than zero"),
        (elsewhere::ir(), "the index bid(1) is not that of the tile of C that is stored"),
        (shifted::ir(), "the index along K is not the number of the loop's iteration"),
        (computed::ir(), "an operand of the product is computed, and not loaded"),
        (scaled::ir(), "what the loop carries is not the product added to what it has carried"),
        (summed::ir(), "functions of elements alone are accepted"),
        (twice::ir(), "the kernel stores 2 times, once is accepted"),
        (many::ir(), "the kernel has 2 products, one is accepted"),
    ];
    for (func, why) in all {
        let refusal = refusal(func.unwrap());
        let text = refusal.to_string();
        assert!(text.contains(why), "{text}, and not: {why}");
        let counted = why.contains("times") || why.contains("products");
        assert!(counted || text.contains("refused.rs:"), "{text}");
    }
}

/// What is explained is the kernel that a program has, or why it has none of these.
#[test]
fn explanations_say_which_product_it_is() {
    let text = girih_tile::explain::explain(&biased::ir().unwrap(), 90).unwrap().to_string();
    assert!(
        text.contains("no product of kernels::gemm: ") && text.contains("do not begin at zero"),
        "{text}"
    );
    let func = super::programs::relu::<128, 128, 64>::ir().unwrap();
    let text = girih_tile::explain::explain(&func, 80).unwrap().to_string();
    assert!(text.contains("product of kernels::gemm: relu 64x64x32, 4 stages"), "{text}");
    assert!(text.contains("epilogue: %0 = sum; "), "{text}");
}
