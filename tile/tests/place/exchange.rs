use std::collections::BTreeSet;

use girih_codegen::plan::{Access, Dist, Exchange, Leaf, Shared, Vectors, best_swizzle};
use girih_layout::Lay;
use girih_tensor::DType;

use super::programs::dims;

fn coordinate(dist: &Dist, thread: i64, value: usize, rank: usize) -> Vec<i64> {
    dist.origin(thread, rank).iter().zip(dist.offset(value, rank)).map(|(a, b)| a + b).collect()
}

/// Every way of an exchange gives each thread its elements of the result, by enumeration of the memory.
fn check(extents: &[u32], dtype: DType, from: &Dist, to: &Dist) -> Exchange {
    let (dims, rank) = (dims(extents), extents.len());
    let exchange = Exchange::new(&dims, dtype, from, to);
    let inside = |at: &[i64]| at.iter().zip(extents).all(|(x, n)| *x < i64::from(*n));
    let shared = match &exchange {
        Exchange::Rename(values) => {
            for thread in 0..from.threads() {
                for (value, &by) in values.iter().enumerate() {
                    let at = coordinate(to, thread, value, rank);
                    assert!(!inside(&at) || at == coordinate(from, thread, by, rank));
                }
            }
            return exchange;
        }
        // By another test.
        Exchange::Shuffles(_) => return exchange,
        Exchange::Shared(shared) => shared,
    };
    for shared in [shared, &Shared::plain(&dims, dtype, from, to)] {
        let mut memory: Vec<Option<Vec<i64>>> = vec![None; shared.size as usize];
        let address =
            |at: &[i64]| shared.swizzle.apply(at.iter().zip(&shared.strides).map(|(x, d)| x * d).sum());
        let whole = |dist: &Dist, vectors: &Vectors, visit: &mut dyn FnMut(&[i64], i64)| {
            assert_eq!(vectors.values.iter().collect::<BTreeSet<_>>().len(), dist.size());
            for thread in 0..dist.threads() {
                for access in vectors.iter() {
                    let first = coordinate(dist, thread, access[0], rank);
                    if first.iter().zip(&shared.extents).any(|(x, n)| x >= n) {
                        continue;
                    }
                    assert_eq!(address(&first) % vectors.vector, 0, "{shared:?}");
                    for (i, &value) in access.iter().enumerate() {
                        visit(&coordinate(dist, thread, value, rank), address(&first) + i as i64);
                    }
                }
            }
        };
        whole(from, &shared.store, &mut |at, address| memory[address as usize] = Some(at.to_vec()));
        whole(to, &shared.load, &mut |at, address| {
            assert!(!inside(at) || memory[address as usize].as_deref() == Some(at), "{at:?} {shared:?}");
        });
    }
    exchange
}

#[test]
fn a_transpose_goes_by_the_best_swizzle() {
    let (from, to) = (Dist::blocked(&[64, 64], &[1, 0], 8, 128), Dist::blocked(&[64, 64], &[0, 1], 8, 128));
    let Exchange::Shared(shared) = check(&[64, 64], DType::Bf16, &from, &to) else {
        panic!("nothing to rename")
    };
    assert_eq!(shared.wavefronts[0], shared.wavefronts[1], "{shared:?}");
    // Vectors lie along one of the modes, the other side goes element by element.
    assert_eq!([shared.store.vector, shared.load.vector].into_iter().max(), Some(8));
    // The search over swizzles by enumeration of all accesses finds none better.
    let strides = |d: &[i64]| Lay::parse(&format!("(64,64):({},{})", d[0], d[1])).unwrap();
    let access = |dist: &Dist, vectors: &Vectors| {
        let mut dist = dist.clone();
        dist.vals.sort_by_key(|leaf: &Leaf| leaf.scale * shared.strides[leaf.mode]);
        Access { tv: dist.lay(&[64, 64]).unwrap(), vector: vectors.vector }
    };
    let accesses = [access(&from, &shared.store), access(&to, &shared.load)];
    let (_, pieces) = best_swizzle(&strides(&shared.strides), 16, &accesses).unwrap();
    assert_eq!(pieces.taken, 4 * shared.wavefronts[0]);
}

#[test]
fn elements_arrive_where_they_belong() {
    let d = |extents: &[i64], order: &[usize], vector| Dist::blocked(extents, order, vector, 128);
    check(&[96, 40], DType::F32, &d(&[96, 40], &[1, 0], 4), &d(&[96, 40], &[0, 1], 4));
    check(&[33, 65], DType::F16, &d(&[33, 65], &[1, 0], 1), &d(&[33, 65], &[0, 1], 1));
    check(&[33, 65], DType::F64, &d(&[33, 65], &[1, 0], 2), &d(&[33, 65], &[0, 1], 2));
    check(&[1000], DType::Bool, &d(&[1000], &[0], 8), &d(&[1000], &[0], 1));
    check(&[5, 6, 7], DType::U8, &d(&[5, 6, 7], &[2, 1, 0], 1), &d(&[5, 6, 7], &[0, 1, 2], 1));
    check(&[16], DType::F32, &d(&[16], &[0], 1), &d(&[16], &[0], 4));
    check(&[1], DType::F32, &Dist::scalar(128), &Dist::scalar(128).distinct(0));
}

#[test]
fn what_threads_have_is_renamed() {
    let (a, mut b) = (Dist::blocked(&[8, 64], &[1, 0], 4, 32), Dist::blocked(&[8, 64], &[1, 0], 4, 32));
    b.vals.reverse();
    assert!(matches!(check(&[8, 64], DType::F32, &a, &b), Exchange::Rename(_)));
    let spread = Dist::blocked(&[16], &[0], 1, 128);
    assert!(matches!(check(&[16], DType::F32, &spread, &spread.distinct(0)), Exchange::Rename(_)));
    // The way back gives copies to threads that have padding.
    assert!(matches!(check(&[16], DType::F32, &spread.distinct(0), &spread), Exchange::Shared(_)));
}
