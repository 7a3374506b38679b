//! What lies in the gaps between the rows of a matrix in memory. A right kernel never reads a gap, so that no output of girih shows what
//! the gaps hold: the source file that fills the gaps is part of these tests.

#[path = "../../src/gemm/pitch.rs"]
mod pitch;

use girih_kernels::gemm::{Layout, Matrix, Problem};
use girih_tensor::DType;
use pitch::{gather, scatter};

#[test]
fn scatter_puts_each_element_at_its_offset_and_gather_takes_it_back() {
    for mnk in [[3, 4, 5], [1, 1, 1], [5, 0, 2], [2, 3, 0], [7, 1, 3]] {
        for (layout, pad) in Layout::ALL.into_iter().flat_map(|l| [0, 1, 6].map(|pad| (l, pad))) {
            let tight = Problem::new(DType::F32, mnk, layout).expect("small");
            let lda = Some(tight.a().ld() + pad);
            let matrix = tight.with_pitches(lda, None, None).expect("not too small").a();
            let values: Vec<f32> = (0..matrix.extents().iter().product()).map(|i| i as f32).collect();
            let placed = scatter(values.clone(), &matrix);
            assert_eq!(placed.len() as i64, matrix.span());
            for x in 0..matrix.extents()[0] {
                for y in 0..matrix.extents()[1] {
                    let at = |m: &Matrix| m.offset(x, y) as usize;
                    assert_eq!(placed[at(&matrix)], values[at(&tight.a())]);
                }
            }
            assert_eq!(placed.iter().filter(|x| !x.is_nan()).count(), values.len());
            assert_eq!(gather(&placed, &matrix), values);
        }
    }
}
