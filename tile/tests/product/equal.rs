//! The module of a program that is a product is the one that `kernels` has of the same configuration.

use std::collections::BTreeMap;

use expect_test::expect;
use girih_codegen::Operand;
use girih_codegen::gemm::{Batch, Epilogue, GemmConfig, Major, Schedule, Store, generate};
use girih_kernels::gemm::choose;
use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::facts::{ArrayFacts, Facts};
use girih_tile::ir::table::Each;
use girih_tile::ir::{
    Array, ArrayParam, Build, Dims, End, Func, Kind, Known, Padding, Rounding, Type, Value,
};
use girih_tile::ops::Arg;
use girih_tile::ops::memory::Tiles;
use girih_tile::prelude::bf16;
use girih_tile::product;

use super::programs::{plain, relu};

/// Configurations that this test looks at, of all that there are; all of them with `GIRIH_CASES=all`, which takes five minutes.
const SAMPLE: usize = 60;

fn dims(extents: &[u32]) -> Dims {
    Dims::new(extents).unwrap()
}

/// An array of a matrix of which the contiguous mode has so many elements at a time; the batch is its first axis.
fn array(
    b: &mut Build,
    name: &str,
    dtype: DType,
    (major, vector, batched): (Major, i64, bool),
    extents: [i64; 2],
) -> girih_tile::ir::ArrayId {
    let (one, pitch) = (Known::Is(1), Known::MultipleOf(vector));
    let strides = if major == Major::K { [pitch, one] } else { [one, pitch] };
    let batch = batched.then_some(Known::MultipleOf(1)).into_iter();
    let batch_stride = batched.then_some(pitch).into_iter();
    b.array(ArrayParam {
        name: name.into(),
        dtype,
        mutable: name == "z",
        extents: batch.chain(extents.map(Known::MultipleOf)).collect(),
        strides: batch_stride.chain(strides).collect(),
        align: (vector * i64::from(dtype.bits()) / 8) as u32,
        assume_disjoint: None,
    })
}

/// The program of which a configuration is a kernel, or why there is none.
pub(crate) fn program(config: &GemmConfig) -> Result<Func, &'static str> {
    match config.batch {
        Batch::Pointers => return Err("an array of addresses is no argument of a program"),
        Batch::Grouped { .. } => return Err("rows of groups whose ends stand in memory"),
        Batch::Single | Batch::Strided => {}
    }
    if config.mixed_input().is_some() {
        return Err("operands that are converted with scales");
    }
    if config.block_scales().is_some() {
        return Err("blocks with scales");
    }
    let batched = config.batch == Batch::Strided;
    let ([m, n, k], [a_major, b_major]) = (config.tile, config.majors());
    let mut b = Build::new("tiles");
    let memory = |dtype| if dtype == DType::Tf32 { DType::F32 } else { dtype };
    let (multiplied, sums) = (config.atom().a_type, config.atom().c_type);
    let aligned = |operand| config.aligned(operand).unwrap();
    let along_k = config.aligned_k().unwrap();
    let of_c = aligned(Operand::C);
    // Every second program permutes what it loads of an A that is contiguous along M.
    let permutes = a_major == Major::Mn && m % 128 == 0;
    let x = if permutes {
        array(&mut b, "x", memory(multiplied), (Major::K, aligned(Operand::A), batched), [along_k, 1])
    } else {
        array(&mut b, "x", memory(multiplied), (a_major, aligned(Operand::A), batched), [1, along_k])
    };
    // B is K x N in a program, and N x K in a configuration.
    let turned = if b_major == Major::K { Major::Mn } else { Major::K };
    let y = array(&mut b, "y", memory(multiplied), (turned, aligned(Operand::B), batched), [along_k, 1]);
    let (rows, columns) = if config.c_major == Major::K { (1, of_c) } else { (of_c, 1) };
    let z = array(&mut b, "z", config.c_type, (config.c_major, of_c, batched), [rows, columns]);

    let lead: &[u32] = if batched { &[1] } else { &[] };
    let shape = |x: i64, y: i64| dims(&[lead, &[x as u32, y as u32]].concat());
    let bids: Vec<Value> = (0..3).map(|axis| b.bid(axis).unwrap()).collect();
    let first = batched.then(|| Arg::from(bids[2])).into_iter().collect::<Vec<_>>();
    let at = |x: Value, y: Value| [first.clone(), vec![x.into(), y.into()]].concat();
    let init = b.full(sums, shape(m, n), Const::Int(0));
    let number = |b: &mut Build, n: i64| b.full(DType::S32, Dims::SCALAR, Const::Int(n.into()));
    let (zero, one) = (number(&mut b, 0), number(&mut b, 1));
    let extent = b.dim(y, if batched { 1 } else { 0 }).unwrap();
    let stop = b
        .each(Each::CeilDiv, &[extent.into(), Arg::Loose(Const::Int(k.into()))], Default::default())
        .unwrap();
    let ty = Type { dtype: sums, dims: shape(m, n) };
    let (region, args) = b.open(&[Type::scalar(DType::S32), ty]);
    let tiles = |array, tile| Tiles { padding: Padding::Zero, ..Tiles::new(array, tile) };
    let mut x_tile = if permutes {
        let loaded = b.load(&tiles(x, shape(k, m)), &at(args[0], bids[0])).unwrap();
        let axes: &[i64] = if batched { &[0, 2, 1] } else { &[1, 0] };
        b.permute(loaded, axes).unwrap()
    } else {
        b.load(&tiles(x, shape(m, k)), &at(bids[0], args[0])).unwrap()
    };
    let mut y_tile = b.load(&tiles(y, shape(k, n)), &at(args[0], bids[1])).unwrap();
    if multiplied == DType::Tf32 {
        x_tile = b.cast(x_tile, DType::Tf32, Rounding::Nearest).unwrap();
        y_tile = b.cast(y_tile, DType::Tf32, Rounding::Nearest).unwrap();
    }
    let next = b.mma(x_tile, y_tile, args[1]).unwrap();
    assert_eq!(b.close(End::Continue(0, vec![next])), region);
    let mut stored = b.push_regions(Kind::For, &[zero, stop, one, init], &[ty], vec![region])[0];
    // Integers become f32 before they become anything else.
    for dtype in [DType::F32, config.c_type] {
        if config.c_type != sums && (sums == DType::S32 || dtype == config.c_type) {
            stored = b.cast(stored, dtype, Rounding::Nearest).unwrap();
        }
    }
    b.store(&tiles(z, shape(m, n)), &at(bids[0], bids[1]), stored.into()).unwrap();
    Ok(b.finish())
}

/// The module of a configuration of the kernel layer, under the program's name.
fn expected(config: &GemmConfig) -> String {
    let named = GemmConfig { name: "tiles", ..*config };
    generate(&named, &Epilogue::new()).unwrap().kernel.module().to_string()
}

#[test]
fn modules_of_every_configuration_are_those_of_kernels() {
    let all: Vec<GemmConfig> = choose::all().collect();
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut written = Vec::new();
    for config in &all {
        match program(config) {
            Ok(func) => written.push((config, func)),
            Err(why) => *refused.entry(why).or_default() += 1,
        }
    }
    let refused: Vec<String> = refused.iter().map(|(why, count)| format!("{count}: {why}")).collect();
    expect![[r#"
        26034 of 42896
        5741: an array of addresses is no argument of a program
        1190: blocks with scales
        2488: operands that are converted with scales
        7443: rows of groups whose ends stand in memory
    "#]]
    .assert_eq(&format!("{} of {}\n{}\n", written.len(), all.len(), refused.join("\n")));
    let every = match std::env::var("GIRIH_CASES").as_deref() {
        Ok("all") => 1,
        _ => (written.len() / SAMPLE).max(1),
    };
    for (config, func) in written.iter().step_by(every) {
        let sm = if config.loads_by_maps() { 90 } else { config.atom().sm.max(89) };
        let found =
            product::find(func, sm, Some(**config)).unwrap_or_else(|why| panic!("{why}\n{config:?}\n{func}"));
        let own = found.kernel.kernel.module().to_string();
        assert!(own == expected(config), "{config:?}\n{func}");
    }
}

/// A configuration that does not fit the program is refused by what it asks for.
#[test]
fn a_configuration_that_does_not_fit_is_refused() {
    let of = |pick: &dyn Fn(&GemmConfig) -> bool| choose::all().find(|config| pick(config)).unwrap();
    let is_plain = |config: &GemmConfig| {
        config.name == "gemm_sm90_bf16"
            && config.tile == [128, 256, 64]
            && config.batch == Batch::Single
            && config.majors() == [Major::K; 2]
            && config.c_type == DType::Bf16
            && matches!(config.store, Store::Tma { .. })
            && matches!(config.schedule, Schedule::Persistent { .. })
    };
    let config = of(&is_plain);
    let func = program(&config).unwrap();
    let refusal = |other: GemmConfig| product::find(&func, 90, Some(other)).unwrap_err().to_string();
    assert!(product::find(&func, 90, Some(config)).is_ok());
    let alike = |other: &GemmConfig| other.tile == config.tile && other.batch == config.batch;
    let f16 = of(&|other| alike(other) && other.name == "gemm_sm90_f16" && other.majors() == config.majors());
    let turned = |other: &GemmConfig| alike(other) && other.majors() == [Major::K, Major::Mn];
    let turned = of(&|other| other.name == config.name && turned(other) && other.c_type == config.c_type);
    let wrong = [
        (GemmConfig { tile: [128, 128, 64], ..config }, "tile"),
        (f16, "f16"),
        (turned, "contiguous modes of A and B"),
        (GemmConfig { batch: Batch::Pointers, ..config }, "batch"),
    ];
    for (other, what) in wrong {
        let why = refusal(other);
        assert!(why.contains(what), "{why}");
    }
    assert!(product::find(&func, 80, Some(config)).unwrap_err().to_string().contains("sm_90 is accepted"));
    // An array that begins anywhere has no tensor map.
    let facts = func.arrays().iter().map(|array| {
        let Array::Param(param) = array else { panic!("a parameter") };
        ArrayFacts { extents: param.extents.clone(), strides: param.strides.clone(), align: 2 }
    });
    let anywhere = func.with_facts(&Facts { arrays: facts.collect(), scalars: Vec::new() });
    let why = product::find(&anywhere, 90, Some(config)).unwrap_err().to_string();
    assert!(why.contains("loads") && why.contains("2 bytes"), "{why}");
}

/// Instructions of a module by opcode and modifiers, of those that move data.
fn movements(module: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for word in module.split_whitespace() {
        let word = word.trim_end_matches(';');
        let moves = [
            "ld.global",
            "st.global",
            "ld.shared",
            "st.shared",
            "cp.async",
            "stmatrix",
            "ldmatrix",
            "red.",
            "atom.",
        ];
        if moves.iter().any(|begin| word.starts_with(begin)) {
            *found.entry(word.to_string()).or_default() += 1;
        }
    }
    found
}

/// A bias, a residual and ReLU add no movements of data but those of the two operands: the residual comes by tensor copies to where C is staged,
/// and is read from there; the bias is loaded.
#[test]
fn an_epilogue_moves_its_operands_alone() {
    let aligned = |rank: usize| ArrayFacts {
        extents: vec![Known::MultipleOf(8); rank],
        strides: [vec![Known::MultipleOf(8); rank - 1], vec![Known::Is(1)]].concat(),
        align: 16,
    };
    let module = |func: Func, ranks: &[usize]| {
        let arrays = ranks.iter().map(|&rank| aligned(rank)).collect();
        let func = func.with_facts(&Facts { arrays, scalars: Vec::new() });
        let found = product::find(&func, 90, None).unwrap();
        assert_eq!(found.config.tile, [128, 256, 64]);
        (found.config, movements(&found.kernel.kernel.module().to_string()))
    };
    let (config, alone) = module(plain::<bf16, f32, bf16, 128, 256, 64>::ir().unwrap(), &[2, 2, 2]);
    let (fused, with) = module(relu::<128, 256, 64>::ir().unwrap(), &[2, 2, 1, 2, 2]);
    assert_eq!(GemmConfig { name: config.name, ..fused }, config);
    let added: Vec<(&String, usize)> = with
        .iter()
        .map(|(word, count)| (word, count - alone.get(word).copied().unwrap_or(0).min(*count)))
        .filter(|(_, count)| *count > 0)
        .collect();
    // The warps that bring the residual read the order of tiles too.
    let text = added.iter().map(|(word, count)| format!("{count} {word}\n")).collect::<String>();
    expect![[r#"
        4 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint
        32 ld.global.b32
        2 ld.global.v2.u32
        16 ldmatrix.sync.aligned.m8n8.x4.shared.b16
    "#]]
    .assert_eq(&text);
    let kept = |(word, count): (&String, &usize)| {
        with.get(word).is_some_and(|more| more >= count) || word.contains("wait")
    };
    assert!(alone.iter().all(kept), "{alone:?} {with:?}");
}
