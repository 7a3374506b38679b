//! Algorithms on distributed tiles, against what they say of whole tiles.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]
#![expect(clippy::type_complexity, reason = "a result is one of four parts")]

use girih_codegen::algorithm::distributed::{
    By, Combine, Group, Key, Order, Piece, Scan, ThreadBlock, Tile, histogram, rearrange, redistribute,
    reduce, scan, sort,
};
use girih_codegen::algorithm::element::{Each, How, Nan, apply, exact};
use girih_codegen::algorithm::{load_elements, store_elements};
use girih_codegen::plan::{Dist, Line};
use girih_codegen::{Builder, Cond, Error, Expr, Reg};
use girih_tensor::{DType, Space};

use crate::simulator::{addresses, block, checked, download, ones, upload};

/// Distributions of tiles: several values of a thread, lanes, warps, copies, padding.
fn tiles() -> Vec<(Vec<i64>, Dist)> {
    let mut all = Vec::new();
    for (extents, order, vector, threads) in [
        (vec![64], vec![0], 1, 32),
        (vec![37], vec![0], 2, 32),
        (vec![1000], vec![0], 4, 128),
        (vec![8, 64], vec![1, 0], 4, 64),
        (vec![32, 24], vec![0, 1], 2, 256),
        (vec![3, 5], vec![1, 0], 1, 64),
        (vec![4, 3, 16], vec![2, 0, 1], 8, 32),
    ] {
        all.push((extents.clone(), Dist::blocked(&extents, &order, vector, threads)));
    }
    // The slowest digit of mode 0 is a value, between lanes and warps of the other mode.
    let striped = Dist::blocked(&[64, 4], &[0, 1], 1, 32);
    all.push((vec![64, 4], striped));
    all
}

fn row_major(extents: &[i64]) -> Vec<i64> {
    Line::row_major(extents).strides
}

/// The address of each value of a thread in a dense array, and where the value is no padding.
fn places(
    group: &mut ThreadBlock<'_>,
    base: &Expr,
    dist: &Dist,
    extents: &[i64],
    bytes: i64,
) -> Vec<(Expr, Cond)> {
    let origin = group.origin(dist, extents.len()).unwrap();
    let strides = row_major(extents);
    let place = |value| {
        let offset = dist.offset(value, extents.len());
        let at: Vec<Expr> = origin.iter().zip(&offset).map(|(at, by)| at + *by).collect();
        let address = at.iter().zip(&strides).fold(base.clone(), |sum, (at, by)| &sum + &(at * (by * bytes)));
        let inside = at.iter().zip(extents).map(|(at, &n)| Cond::less(at, &Expr::from(n)));
        (address, Cond::all(inside))
    };
    (0..dist.size()).map(place).collect()
}

/// Results of a kernel: dtype, distribution, extents, a thread's registers.
type Results = Vec<(DType, Dist, Vec<i64>, Vec<Reg>)>;

/// Runs a kernel on tiles in memory: `body` gets the registers of the tiles that are laid out as `dist` says, and gives the
/// registers of results with their distributions and extents. Returns the results' elements.
fn run(
    extents: &[i64],
    dist: &Dist,
    inputs: &[(DType, Vec<u64>)],
    body: impl Fn(&mut ThreadBlock<'_>, Vec<(DType, Vec<Reg>)>) -> Result<Results, Error>,
) -> Vec<Vec<u64>> {
    let threads = dist.threads() as u32;
    let mut b = Builder::new("k", 90, threads);
    let from: Vec<Expr> = (0..inputs.len()).map(|i| b.pointer(&format!("x{i}"), 16)).collect();
    let to: Vec<Expr> = (0..4).map(|i| b.pointer(&format!("y{i}"), 16)).collect();
    let mut group = ThreadBlock::new(&mut b);
    let mut operands = Vec::new();
    for (base, (dtype, _)) in from.iter().zip(inputs) {
        let mut regs = Vec::new();
        for (address, inside) in places(&mut group, base, dist, extents, dtype.bytes()) {
            let (b, pad) = (group.builder(), Some(0));
            regs.extend(load_elements(b, Space::Gmem, *dtype, 1, &address, &inside, pad).unwrap());
        }
        operands.push((*dtype, regs));
    }
    let results = body(&mut group, operands).unwrap();
    for (base, (dtype, dist, extents, regs)) in to.iter().zip(&results) {
        let owner = dist.owner(&group.thread()).unwrap();
        for ((address, inside), reg) in
            places(&mut group, base, dist, extents, dtype.bytes()).into_iter().zip(regs)
        {
            let cond = Cond::all([owner.clone(), inside]);
            let reg = std::slice::from_ref(reg);
            store_elements(group.builder(), Space::Gmem, *dtype, &address, &cond, reg).unwrap();
        }
    }
    let kernel = b.finish().unwrap();
    let shared = kernel.shared_bytes();
    let memory = girih_sim::Memory::new();
    let bytes_of = |dtype: DType, bits: &[u64]| -> Vec<u8> {
        bits.iter().flat_map(|bits| bits.to_le_bytes()[..dtype.bytes() as usize].to_vec()).collect()
    };
    let mut pointers: Vec<u64> =
        inputs.iter().map(|(dtype, bits)| upload(&memory, &bytes_of(*dtype, bits))).collect();
    let sizes: Vec<usize> = results
        .iter()
        .map(|(dtype, _, extents, _)| (extents.iter().product::<i64>() * dtype.bytes()) as usize)
        .collect();
    let outputs: Vec<u64> = (0..4).map(|i| ones(&memory, sizes.get(i).copied().unwrap_or(16))).collect();
    pointers.extend(&outputs);
    let module = kernel.into_module();
    let launch = block(threads, shared, addresses(&pointers));
    checked(&module, &memory, &launch).unwrap_or_else(|e| panic!("{dist}: {e}\n{module}"));
    let read = |((dtype, ..), (&at, &size)): (&(DType, Dist, Vec<i64>, Vec<Reg>), (&u64, &usize))| {
        let bytes = download(&memory, at, size);
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        bytes.chunks(dtype.bytes() as usize).map(word).collect()
    };
    results.iter().zip(outputs.iter().zip(&sizes)).map(read).collect()
}

/// The lines of a tile along a mode, each the positions of its elements in the dense array.
fn lines(extents: &[i64], mode: usize) -> Vec<Vec<usize>> {
    let strides = row_major(extents);
    let size = extents.iter().product::<i64>();
    let first = |at: &i64| at / strides[mode] % extents[mode] == 0;
    let line = |at: i64| (0..extents[mode]).map(|i| (at + i * strides[mode]) as usize).collect();
    (0..size).filter(first).map(line).collect()
}

/// Numbers with repetitions.
fn numbers(size: i64, seed: u64) -> Vec<u64> {
    (0..size as u64).map(|i| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 57).collect()
}

fn size(extents: &[i64]) -> i64 {
    extents.iter().product()
}

/// The dense array of one element a line, in the order of [`lines`].
fn reduced(extents: &[i64], mode: usize) -> Vec<i64> {
    let mut extents = extents.to_vec();
    extents[mode] = 1;
    extents
}

#[test]
fn reductions_combine_each_line() {
    for (extents, dist) in tiles() {
        let bits = numbers(size(&extents), 1);
        for mode in 0..extents.len() {
            let found = run(&extents, &dist, &[(DType::S32, bits.clone())], |group, operands| {
                let tile = Tile::new(&dist, &extents, operands)?;
                let (small, rest) = (dist.slice(mode), reduced(&extents, mode));
                let mut results = Vec::new();
                for combine in
                    [Combine::Sum, Combine::Max(Nan::Ignored), Combine::ArgMin(Nan::Ignored), Combine::Xor]
                {
                    let regs = reduce(group, &tile, mode, &combine)?.swap_remove(0);
                    results.push((DType::S32, small.clone(), rest.clone(), regs));
                }
                Ok(results)
            });
            for (at, line) in lines(&extents, mode).into_iter().enumerate() {
                let line: Vec<u64> = line.into_iter().map(|i| bits[i]).collect();
                let least = line.iter().min().unwrap();
                let wanted = [
                    line.iter().sum(),
                    *line.iter().max().unwrap(),
                    line.iter().position(|x| x == least).unwrap() as u64,
                    line.iter().fold(0, |sum, x| sum ^ x),
                ];
                let got = [0, 1, 2, 3].map(|i: usize| found[i][at]);
                assert_eq!(got, wanted, "{dist} along {mode} of {extents:?}");
            }
        }
    }
}

/// `x -> a x + b` after `x -> c x + d`, of u32 that wrap: an order that matters.
fn after(first: [u64; 2], then: [u64; 2]) -> [u64; 2] {
    let wrap = |x: u64| x & 0xffff_ffff;
    [wrap(first[0].wrapping_mul(then[0])), wrap(wrap(first[1].wrapping_mul(then[0])) + then[1])]
}

fn affine<G: Group<Error = Error>>(group: &mut G, left: &[Reg], right: &[Reg]) -> Result<Vec<Reg>, Error> {
    let b = group.builder();
    let mut of = |op, x: &Reg, y: &Reg| {
        apply(b, op, How::default(), DType::U32, &[x, y]).map(|found| found.expect("an instruction"))
    };
    let factor = of(Each::Mul, &left[0], &right[0])?;
    let scaled = of(Each::Mul, &left[1], &right[0])?;
    Ok(vec![factor, of(Each::Add, &scaled, &right[1])?])
}

#[test]
fn functions_are_applied_in_order() {
    for (extents, dist) in tiles() {
        let [a, b] = [3, 4].map(|seed| numbers(size(&extents), seed));
        let a: Vec<u64> = a.iter().map(|a| a * 2 + 1).collect();
        for mode in 0..extents.len() {
            let inputs = [(DType::U32, a.clone()), (DType::U32, b.clone())];
            let found = run(&extents, &dist, &inputs, |group, operands| {
                let tile = Tile::new(&dist, &extents, operands)?;
                let by =
                    || Combine::By(By::Function { function: &affine, identity: &[1, 0], branches: false });
                let mut results = Vec::new();
                for regs in reduce(group, &tile, mode, &by())? {
                    results.push((DType::U32, dist.slice(mode), reduced(&extents, mode), regs));
                }
                for regs in scan(group, &tile, mode, &by(), Scan::default())? {
                    results.push((DType::U32, dist.clone(), extents.clone(), regs));
                }
                Ok(results)
            });
            for (at, line) in lines(&extents, mode).into_iter().enumerate() {
                let mut so_far = [1, 0];
                for place in line {
                    so_far = after(so_far, [a[place], b[place]]);
                    let got = [found[2][place], found[3][place]];
                    assert_eq!(got, so_far, "scan at {place} along {mode} of {extents:?} in {dist}");
                }
                assert_eq!([found[0][at], found[1][at]], so_far, "{dist} along {mode} of {extents:?}");
            }
        }
    }
}

#[test]
fn scans_go_both_ways_and_leave_out_the_element() {
    for (extents, dist) in tiles() {
        let bits = numbers(size(&extents), 7);
        let ways = [(false, false), (false, true), (true, false), (true, true)];
        for mode in 0..extents.len() {
            let found = run(&extents, &dist, &[(DType::S32, bits.clone())], |group, operands| {
                let tile = Tile::new(&dist, &extents, operands)?;
                let one = |(reverse, exclusive)| {
                    let regs = scan(group, &tile, mode, &Combine::Sum, Scan { reverse, exclusive })?;
                    Ok((DType::S32, dist.clone(), extents.clone(), regs[0].clone()))
                };
                ways.map(one).into_iter().collect()
            });
            for line in lines(&extents, mode) {
                for (got, (reverse, exclusive)) in found.iter().zip(ways) {
                    let mut sum = 0;
                    let order: Vec<usize> =
                        if reverse { line.iter().rev().copied().collect() } else { line.clone() };
                    for place in order {
                        let wanted = if exclusive { sum } else { sum + bits[place] };
                        sum += bits[place];
                        assert_eq!(
                            got[place], wanted,
                            "{dist} along {mode} of {extents:?}, reverse {reverse}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn sorts_are_stable_and_what_follows_follows() {
    for (extents, dist) in tiles() {
        // Floats with repetitions, both zeros and NaN.
        let key = |x: &u64| match x {
            0..9 => f32::NAN.to_bits(),
            9..20 => (-0.0f32).to_bits(),
            _ => (*x as f32 - 40.0).to_bits(),
        };
        let keys: Vec<u64> = numbers(size(&extents), 5).iter().map(|x| key(x).into()).collect();
        let numbers: Vec<u64> = (0..size(&extents) as u64).collect();
        for (mode, descending) in (0..extents.len()).flat_map(|mode| [(mode, false), (mode, true)]) {
            let inputs = [(DType::F32, keys.clone()), (DType::S32, numbers.clone())];
            let found = run(&extents, &dist, &inputs, |group, operands| {
                let tile = Tile::new(&dist, &extents, operands)?;
                let dtypes = [DType::F32, DType::S32];
                let sorted = sort(group, &tile, mode, descending)?;
                Ok(dtypes
                    .into_iter()
                    .zip(sorted)
                    .map(|(d, regs)| (d, dist.clone(), extents.clone(), regs))
                    .collect())
            });
            for line in lines(&extents, mode) {
                let mut order = line.clone();
                let value = |place: usize| f32::from_bits(keys[place] as u32);
                order.sort_by(|&x, &y| match value(x).partial_cmp(&value(y)) {
                    Some(order) if descending => order.reverse(),
                    Some(order) => order,
                    None => value(x).is_nan().cmp(&value(y).is_nan()),
                });
                for (place, from) in line.into_iter().zip(order) {
                    let got = (found[0][place], found[1][place]);
                    assert_eq!(got, (keys[from], from as u64), "{dist} along {mode} of {extents:?}");
                }
            }
        }
    }
}

#[test]
fn histograms_count_what_is_in_range() {
    for (extents, dist) in tiles() {
        // Of numbers up to 127 those from 100 on count nowhere.
        let bits = numbers(size(&extents), 11);
        let counts = Dist::blocked(&[100], &[0], 1, dist.threads());
        let found = run(&extents, &dist, &[(DType::U8, bits.clone())], |group, operands| {
            let tile = Tile::new(&dist, &extents, operands)?;
            Ok(vec![(DType::S32, counts.clone(), vec![100], histogram(group, &tile, 100, &counts)?)])
        });
        for (number, &count) in (0..).zip(&found[0]) {
            assert_eq!(count, bits.iter().filter(|&&x| x == number).count() as u64, "{number} in {dist}");
        }
    }
}

#[test]
fn tiles_come_into_other_distributions_whole() {
    for (extents, from) in tiles() {
        let bits = numbers(size(&extents), 13);
        let orders: Vec<Vec<usize>> = vec![(0..extents.len()).collect(), (0..extents.len()).rev().collect()];
        for (order, vector) in orders.iter().flat_map(|order| [(order, 1), (order, 4)]) {
            let to = Dist::blocked(&extents, order, vector, from.threads());
            for dtype in [DType::U8, DType::S16, DType::S32, DType::S64] {
                let found = run(&extents, &from, &[(dtype, bits.clone())], |group, operands| {
                    let dims: Vec<u32> = extents.iter().map(|&n| n as u32).collect();
                    let moved = redistribute(group, dtype, &dims, [&from, &to], &operands[0].1)?;
                    // Once more, the elements in reverse order.
                    let last = size(&extents) - 1;
                    let strides: Vec<i64> = row_major(&extents).iter().map(|by| -by).collect();
                    let turned = Line { extents: extents.clone(), base: last, strides };
                    let pieces = [(Piece::new(dtype, &to, turned), moved.clone())];
                    let straight = Piece::new(dtype, &from, Line::row_major(&extents));
                    let turned = rearrange(group, &pieces, &straight)?;
                    let as_from = (dtype, from.clone(), extents.clone(), turned);
                    Ok(vec![(dtype, to.clone(), extents.clone(), moved), as_from])
                });
                assert_eq!(found[0], bits, "{dtype} from {from} to {to}");
                let turned: Vec<u64> = bits.iter().rev().copied().collect();
                assert_eq!(found[1], turned, "{dtype} from {to} to {from}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut b = Builder::new("k", 90, 64);
    let dist = Dist::blocked(&[256], &[0], 4, 64);
    let regs = b.regs(girih_ptx::Type::S32, 4);
    let operand = || vec![(DType::S32, regs.clone())];
    assert!(matches!(Tile::new(&dist, &[512], operand()), Err(Error::Mismatch { .. })));
    assert!(matches!(
        Tile::new(&dist, &[256], vec![(DType::S32, regs[1..].to_vec())]),
        Err(Error::Mismatch { .. })
    ));
    let other = Dist::blocked(&[128], &[0], 4, 32);
    let mut group = ThreadBlock::new(&mut b);
    let tile = Tile::new(&dist, &[256], operand()).unwrap();
    let two = Tile::new(&dist, &[256], [operand(), operand()].concat()).unwrap();
    let few = Tile::new(&other, &[128], operand()).unwrap();
    let none = Tile::new(&dist, &[256], Vec::new()).unwrap();
    let mismatch =
        |found: Result<Vec<Vec<Reg>>, Error>| assert!(matches!(found, Err(Error::Mismatch { .. })));
    mismatch(reduce(&mut group, &tile, 1, &Combine::Sum));
    mismatch(reduce(&mut group, &few, 0, &Combine::Sum));
    mismatch(scan(&mut group, &none, 0, &Combine::Sum, Scan::default()));
    mismatch(sort(&mut group, &few, 0, false));
    let config = |found: Result<Vec<Vec<Reg>>, Error>| assert!(matches!(found, Err(Error::Algorithm(_))));
    config(reduce(&mut group, &two, 0, &Combine::Sum));
    config(scan(&mut group, &tile, 0, &Combine::ArgMax(Nan::Ignored), Scan::default()));
    let order = || Order { keys: vec![Key::new(0, false)], turned: true, or_equal: false };
    let first = Combine::By(By::First { order: order(), in_a_row: order(), identity: &[0, 0] });
    config(reduce(&mut group, &tile, 0, &first));
}

/// The exact functions are those of integers of 128 bits.
#[test]
fn exact_integers_wrap() {
    for dtype in [DType::U8, DType::S8, DType::S16, DType::U32, DType::S64] {
        for (x, y) in numbers(50, 17).into_iter().zip(numbers(50, 18)) {
            let number = |bits| exact::integer(dtype, bits & exact::mask(dtype));
            let of = |op| exact::apply(op, How::default(), dtype, [x, y, 0]).unwrap();
            let wrapped = |n: i128| n as u64 & exact::mask(dtype);
            assert_eq!(of(Each::Sub), wrapped(number(x) - number(y)), "{x} - {y} of {dtype}");
            assert_eq!(of(Each::Mul), wrapped(number(x) * number(y)), "{x} {y} of {dtype}");
            assert_eq!(of(Each::Less), u64::from(number(x) < number(y)), "{x} < {y} of {dtype}");
        }
    }
}
