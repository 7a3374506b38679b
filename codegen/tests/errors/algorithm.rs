//! Functions and combinations of elements that do not exist.

use girih_codegen::algorithm::distributed::{Combine, Scan, ThreadBlock, Tile, reduce, scan};
use girih_codegen::algorithm::element::{Each, How, Nan, Rounding, convert_element};
use girih_codegen::algorithm::math;
use girih_codegen::plan::Dist;
use girih_codegen::{AlgorithmError, Builder, Error, Reg};
use girih_ptx::Type;
use girih_tensor::DType;

use super::complete;

type Call = fn(&mut Builder, &Reg, &Dist) -> Result<(), Error>;

/// Calls, each with a register of f32 and the distribution of 32 elements, one a lane.
const CALLS: [Call; 4] = [
    |b, x, _| math::compute(b, Each::Erf, How::default(), DType::F32, &[x, x]).map(drop),
    |b, x, dist| {
        let two = vec![(DType::F32, vec![x.clone()]), (DType::F32, vec![x.clone()])];
        let tile = Tile::new(dist, &[32], two)?;
        reduce(&mut ThreadBlock::new(b), &tile, 0, &Combine::Sum).map(drop)
    },
    |b, x, dist| {
        let tile = Tile::new(dist, &[32], vec![(DType::F32, vec![x.clone()])])?;
        let index = Combine::ArgMax(Nan::default());
        scan(&mut ThreadBlock::new(b), &tile, 0, &index, Scan { reverse: false, exclusive: false }).map(drop)
    },
    |b, x, _| convert_element(b, DType::F32, DType::E4m3, Rounding::Zero, x).map(drop),
];

#[test]
fn every_error_of_algorithms_is_provoked() {
    let start = || {
        let mut b = Builder::new("k", 90, 32);
        let x = b.regs(Type::F32, 1).swap_remove(0);
        (b, x, Dist::blocked(&[32], &[0], 1, 32))
    };
    complete(
        "algorithm",
        AlgorithmError::KINDS,
        CALLS.map(|call| {
            let (mut b, x, dist) = start();
            call(&mut b, &x, &dist).err().unwrap_or_else(|| panic!("not refused"))
        }),
    );
}
