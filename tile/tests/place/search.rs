use girih_codegen::plan::{Dist, Exchange, exactly_once, run, sectors, warp_accesses};
use girih_layout::{Composed, Lay, Shape, Swizzle};
use girih_tensor::DType;
use girih_tile::compile;
use girih_tile::explain::explain;
use girih_tile::ir::{Build, Func, Kind, OpId, Pin, Value};
use girih_tile::ops::table::Each;
use girih_tile::pass::expand;
use girih_tile::place::{Plan, access, place};

use super::programs::{array, dims, each, load, looped, softmax, store, transpose};
use crate::common::differ::{self, Tolerance, differ};

fn placed(func: &Func) -> Plan {
    let plan = place(&expand(func), 90).unwrap();
    plan.verify().unwrap();
    plan
}

fn ops(plan: &Plan, wanted: impl Fn(&Kind) -> bool) -> Vec<OpId> {
    let mut found = Vec::new();
    plan.func.walk(plan.func.body(), &mut |id, op| {
        if wanted(&op.kind) {
            found.push(id);
        }
    });
    found
}

/// Bytes of the accesses of every load and store, and whether each takes the fewest sectors; by enumeration of a row-major array.
fn accesses(plan: &Plan, pitch: impl Fn(&Kind) -> i64) -> Vec<(i64, bool)> {
    let of = |id: OpId| {
        let op = plan.func.op(id);
        let (value, view, at) = match &op.kind {
            Kind::Load(view) => (op.results[0], view, &op.operands[..]),
            Kind::Store(view) => (op.operands[0], view, &op.operands[1..]),
            _ => unreachable!("loads and stores"),
        };
        let ty = plan.func.ty(value);
        let width = access::width(&plan.func, view, at);
        let mut dist: Dist = plan.dist(value).clone();
        let order = access::order(&plan.func, view);
        dist.vals.sort_by_key(|leaf| (order.iter().position(|&mode| mode == leaf.mode), leaf.scale));
        let vector = run(&dist, order[0]).min(width.most);
        let padded = dist.padded(ty.dims.rank());
        let tv = dist.lay(&padded).unwrap();
        let memory = match ty.dims.rank() {
            1 => Lay::parse(&format!("{}:1", padded[0])).unwrap(),
            _ => Lay::parse(&format!("({},{}):({},1)", padded[0], padded[1], pitch(&op.kind))).unwrap(),
        };
        let bits = i64::from(ty.dtype.bits());
        let all = warp_accesses(&Composed::new(Swizzle::NONE, 0, memory), &tv, bits, vector).unwrap();
        let sectors = sectors(&dist, width.contiguous, vector, bits / 8);
        all.iter()
            .for_each(|access| assert_eq!(access.sectors().taken, sectors, "the closed formula of {dist}"));
        (vector * bits / 8, all.iter().all(|access| access.sectors().is_least()))
    };
    ops(plan, |kind| matches!(kind, Kind::Load(_) | Kind::Store(_))).into_iter().map(of).collect()
}

fn conversions(plan: &Plan) -> Vec<&Exchange> {
    let moves = |exchange: &&Exchange| !matches!(exchange, Exchange::Rename(_));
    plan.exchanges.values().filter(moves).collect()
}

/// Bits of lanes and of warps along the axes of reductions.
fn butterflies(plan: &Plan) -> Vec<(usize, usize)> {
    let reductions = ops(plan, |kind| matches!(kind, Kind::Reduce { .. }));
    let of = |id: OpId| {
        let op = plan.func.op(id);
        let Kind::Reduce { axis, .. } = op.kind else { unreachable!("reductions") };
        let dist = plan.dist(op.operands[0]);
        let along = |bits: &[Option<(usize, i64)>]| {
            bits.iter().flatten().filter(|(mode, _)| *mode == usize::from(axis)).count()
        };
        (along(&dist.bits[..5]), along(&dist.bits[5..]))
    };
    reductions.into_iter().map(of).collect()
}

#[test]
fn softmax_takes_a_row_a_warp() {
    for func in [softmax(16, 1024, DType::Bf16), softmax(4, 1000, DType::Bf16)] {
        let plan = placed(&func);
        assert!(plan.exchanges.is_empty(), "{:?}", plan.exchanges);
        assert_eq!(butterflies(&plan), [(5, 0), (5, 0)]);
        assert_eq!(accesses(&plan, |_| 1024), [(16, true), (16, true)]);
    }
}

#[test]
fn a_row_of_a_block_takes_warps_by_its_width() {
    let warps = |width| placed(&softmax(1, width, DType::Bf16)).threads / 32;
    assert_eq!([1024, 4096, 8192, 16384, 65536].map(warps), [4, 4, 8, 16, 32]);
    for width in [1024, 8192, 65536] {
        let plan = placed(&softmax(1, width, DType::Bf16));
        assert!(plan.exchanges.is_empty());
        assert_eq!(accesses(&plan, |_| i64::from(width)), [(16, true), (16, true)]);
    }
}

#[test]
fn a_transpose_converts_once() {
    let plan = placed(&transpose(64, 64, DType::Bf16, false));
    assert_eq!(accesses(&plan, |_| 64), [(16, true), (16, true)]);
    let [Exchange::Shared(shared)] = conversions(&plan)[..] else { panic!("{:?}", plan.exchanges) };
    assert_eq!(shared.wavefronts[0], shared.wavefronts[1]);
    assert_ne!(shared.swizzle, Swizzle::NONE);
}

#[test]
fn a_transpose_of_words_keeps_sectors_whole_without_a_conversion() {
    let plan = placed(&transpose(96, 40, DType::F32, true));
    assert!(conversions(&plan).is_empty(), "{:?}", plan.exchanges);
    let pitch = |kind: &Kind| if matches!(kind, Kind::Store(_)) { 96 } else { 40 };
    assert!(accesses(&plan, pitch).iter().all(|(_, least)| *least), "{:?}", accesses(&plan, pitch));
}

#[test]
fn loops_carry_what_they_reduce() {
    let plan = placed(&looped(8, 128));
    let mut inside = 0;
    for id in ops(&plan, |kind| matches!(kind, Kind::For)) {
        for &region in &plan.func.op(id).regions {
            plan.func.walk(region, &mut |_, op| inside += usize::from(matches!(op.kind, Kind::Convert)));
        }
    }
    assert_eq!(inside, 0);
}

#[test]
fn a_pin_is_kept_or_refused() {
    // Rows over warps, 4 elements in a row: not what the search takes.
    let pinned = |lay: &str| {
        let mut b = Build::new("copy");
        let (x, y) = (array(&mut b, "x", DType::F32, 2, false), array(&mut b, "y", DType::F32, 2, true));
        let value = load(&mut b, x, dims(&[8, 64]));
        let dist = Dist::of(&Lay::parse(lay).unwrap(), &[8, 64]);
        b.pin(value, Pin { dist, swizzle: None });
        store(&mut b, y, value);
        (value, b.finish())
    };
    let (value, func) = pinned("((16,8),4):((32,1),8)");
    let plan = place(&func, 90).unwrap();
    assert_eq!(plan.dist(value).to_string(), "lanes[4@1 8@1 16@1 32@1 1@0] warps[2@0 4@0] vals[2:1@1 2:2@1]");
    let (value, func) = pinned("((2,64),4):((1,8),2)");
    assert_eq!(
        placed(&func).dist(value).to_string(),
        "lanes[1@0 1@1 2@1 4@1 8@1] warps[16@1 32@1] vals[2:2@0 2:4@0]"
    );
    // Without the last element of every row, or for fewer threads than a warp has.
    for lay in ["((16,8),2):((32,1),8)", "(16,(4,8)):(32,(8,1))"] {
        let why = place(&pinned(lay).1, 90).unwrap_err().to_string();
        assert!(why.contains("accepted"), "{why}");
    }
}

/// A transpose whose conversion has a swizzle.
fn swizzled(swizzle: Swizzle) -> Func {
    let mut b = Build::new("transpose");
    let (x, y) = (array(&mut b, "x", DType::Bf16, 2, false), array(&mut b, "y", DType::Bf16, 2, true));
    let tile = dims(&[64, 64]);
    let value = load(&mut b, x, tile);
    let turned = b.permute(value, &[1, 0]).unwrap();
    b.pin(turned, Pin { dist: None, swizzle: Some(swizzle) });
    store(&mut b, y, turned);
    b.finish()
}

#[test]
fn a_pinned_swizzle_is_taken() {
    let swizzle = Swizzle::new(2, 3, 6).unwrap();
    let plan = placed(&swizzled(swizzle));
    let [Exchange::Shared(shared)] = conversions(&plan)[..] else { panic!("{:?}", plan.exchanges) };
    assert_eq!(shared.swizzle, swizzle);
    assert!(shared.wavefronts[0] > shared.wavefronts[1], "worse than the one that is found");
    // It is the kernel's as well.
    let kernel = |func: &Func| compile(func, 90).unwrap().kernel.module().to_string();
    let other = swizzled(Swizzle::new(1, 3, 6).unwrap());
    assert_ne!(kernel(&swizzled(swizzle)), kernel(&other));
}

#[test]
fn lanes_of_a_warp_exchange_by_shuffles() {
    let program = |dtype, swizzle| {
        let mut b = Build::new("lanes");
        let (x, y) = (array(&mut b, "x", dtype, 2, false), array(&mut b, "y", dtype, 2, true));
        let value = load(&mut b, x, dims(&[8, 64]));
        let dist = |lay: &str| Dist::of(&Lay::parse(lay).unwrap(), &[8, 64]);
        b.pin(value, Pin { dist: dist("((16,8),4):((32,1),8)"), swizzle });
        let turned = each(&mut b, Each::Neg, &[value]);
        b.pin(turned, Pin { dist: dist("((4,4,8),4):((8,128,1),32)"), swizzle: None });
        store(&mut b, y, turned);
        b.finish()
    };
    let func = program(DType::F32, None);
    let plan = placed(&func);
    // There, and back for a store of whole vectors.
    let all = conversions(&plan);
    assert_eq!(all.len(), 2, "{all:?}");
    for exchange in all {
        let Exchange::Shuffles(shuffles) = exchange else { panic!("{exchange:?}") };
        assert_eq!((shuffles.count(), exchange.cost()), ([3, 16], 31.0));
    }
    let text = explain(&func, 90).unwrap().to_string();
    assert!(text.contains("between the lanes of a warp: 3 shuffles, 16 selections"), "{text}");
    assert!(text.contains("conversions: 0 by new names, 2 by shuffles, 0 through shared memory"), "{text}");
    let kernel = compile(&func, 90).unwrap().kernel.module().to_string();
    assert!(!kernel.contains("bar.") && kernel.matches("shfl.sync.bfly").count() == 6, "{kernel}");
    // Who says how shared memory is swizzled wants it.
    let swizzle = Swizzle::new(1, 2, 3).unwrap();
    let plan = placed(&program(DType::F32, Some(swizzle)));
    let all = conversions(&plan);
    let [Exchange::Shared(shared), Exchange::Shuffles(_)] = all[..] else { panic!("{all:?}") };
    assert_eq!(shared.swizzle, swizzle);

    let mut rng = differ::random(74);
    for dtype in [DType::F32, DType::F16, DType::S8, DType::S64] {
        for swizzle in [None, Some(swizzle)] {
            let arrays = [differ::array(&mut rng, dtype, &[16, 64]), differ::zeros(dtype, &[16, 64])];
            differ(&program(dtype, swizzle), [2, 1, 1], &arrays, &[], |_| Tolerance::EXACT).unwrap();
        }
    }
}

#[test]
fn every_element_is_held_once() {
    for func in [
        softmax(16, 1024, DType::Bf16),
        transpose(64, 64, DType::F16, false),
        transpose(96, 40, DType::F32, true),
    ] {
        let plan = placed(&func);
        for (dist, value) in plan.dists.iter().zip(0..) {
            let rank = plan.func.ty(Value(value)).dims.rank();
            if rank > 0 && !dist.is_replicated() {
                let padded = dist.padded(rank);
                let tile: Vec<String> = padded.iter().map(i64::to_string).collect();
                exactly_once(
                    &dist.lay(&padded).unwrap(),
                    &Shape::parse(&format!("({})", tile.join(","))).unwrap(),
                )
                .unwrap();
            }
        }
    }
}

#[test]
fn placing_takes_little_time() {
    let programs = [
        softmax(16, 1024, DType::Bf16),
        softmax(4, 1000, DType::Bf16),
        transpose(64, 64, DType::Bf16, false),
    ];
    for func in programs {
        let func = expand(&func);
        let least = (0..5).map(|_| {
            let begin = std::time::Instant::now();
            place(&func, 90).unwrap();
            begin.elapsed()
        });
        let least = least.min().unwrap();
        println!("{}: {} values, {least:?}", func.name, func.value_count());
        // A millisecond where the compiler optimises; these tests are compiled without.
        assert!(least.as_millis() < 50, "{least:?}");
    }
}

#[test]
fn the_same_comes_of_the_same() {
    let func = transpose(96, 40, DType::F32, true);
    let text = |plan: &Plan| format!("{:?} {:?}", plan.dists, plan.func.region(plan.func.body()));
    assert_eq!(text(&placed(&func)), text(&placed(&func)));
}
