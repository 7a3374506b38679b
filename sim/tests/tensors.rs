//! Bulk tensor copies: kernels that move boxes, with swizzles, multicast, borders, stores and reductions.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{download, launch, module, u32_arg, u64_arg, upload};
use girih_ptx::{OobFill, TensorElement, TensorSwizzle, Tiled};
use girih_sim::{Error, Launch, Memory, Options};

/// Loads a box, copies shared memory as it is to the output, and stores the box from there through a second map: at the
/// same coordinates, or 0 for negative ones, which a store does not take.
const ROUND: &str = ".visible .entry k(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u64 out,
      .param .s32 x, .param .s32 y, .param .u32 bytes) {
    .shared .align 1024 .b8 s[8192]; .shared .align 8 .b64 bar;
    .reg .b32 %i, %s, %b, %x, %y, %u, %v, %n, %r<9>; .reg .b64 %from, %to, %o, %p; .reg .pred %first, %p<3>;
    ld.param.u64 %o, [out]; ld.param.s32 %x, [x]; ld.param.s32 %y, [y]; ld.param.u32 %n, [bytes];
    mov.b64 %from, from; cvta.param.u64 %from, %from; mov.b64 %to, to; cvta.param.u64 %to, %to;
    mov.u32 %i, %tid.x; mov.u32 %s, s; mov.u32 %b, bar; setp.eq.u32 %first, %i, 0;
    @!%first bra INITED;
    prefetch.tensormap [%from];
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%from, {%x, %y}];
    mbarrier.init.shared::cta.b64 [%b], 1; fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], %n;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%from, {%x, %y}], [%b];
    INITED: bar.sync 0;
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT;
    shl.b32 %r0, %i, 2;
    COPY: add.u32 %r1, %s, %r0; ld.shared.u32 %r2, [%r1]; cvt.u64.u32 %p, %r0; add.s64 %p, %p, %o; st.global.u32 [%p], %r2;
    add.u32 %r0, %r0, 512; setp.lt.u32 %p1, %r0, %n; @%p1 bra COPY;
    bar.sync 0;
    @!%first bra END;
    max.s32 %u, %x, 0; max.s32 %v, %y, 0;
    STORE
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    END: ret; }";
const STORE: &str = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%to, {%u, %v}], [%s];";
const REDUCE: &str =
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%to, {%u, %v}], [%s];";

const ROWS: i64 = 40;
const COLUMNS: i64 = 72;

/// Elements of 16 bits by row and column of the tensor; what is outside is `fill`.
fn element(row: i64, column: i64, fill: u16) -> u16 {
    let inside = (0..ROWS).contains(&row) && (0..COLUMNS).contains(&column);
    if inside { (row * COLUMNS + column + 1) as u16 } else { fill }
}

#[test]
fn boxes_go_through_shared_memory_and_back() {
    let places = [(0, 0), (8, 3), (24, 30), (-16, -5), (56, 36), (-64, 0), (0, 40)];
    let modes = [
        (TensorSwizzle::None, 3),
        (TensorSwizzle::B32, 1),
        (TensorSwizzle::B64, 2),
        (TensorSwizzle::B128, 3),
    ];
    for (swizzle, log) in modes {
        let (width, height) = (8 << log, 16);
        for (i, &(x, y)) in places.iter().enumerate() {
            for reduce in [false, true] {
                let fill = if i % 2 == 0 { OobFill::Zero } else { OobFill::Nan };
                round_trip(swizzle, (width, height), (x, y), fill, reduce, i as u64);
            }
        }
    }
}

fn round_trip(
    swizzle: TensorSwizzle,
    (width, height): (i64, i64),
    (x, y): (i32, i32),
    fill: OobFill,
    reduce: bool,
    seed: u64,
) {
    let memory = Memory::new();
    let words = (ROWS * COLUMNS / 2) as usize;
    let pairs: Vec<u32> = (0..words as u32).map(|w| (2 * w + 1) | (2 * w + 2) << 16).collect();
    let (from, to) = (upload(&memory, &pairs), upload(&memory, &vec![0x0100_0100; words]));
    let out = upload(&memory, &vec![0; 2048]);
    // As integers sums are exact.
    let kind = if reduce { TensorElement::Bf16 } else { TensorElement::U16 };
    let tiled = |kind| {
        let dims = [COLUMNS as u64, ROWS as u64];
        Tiled::new(kind, &dims, &[width as u32, height as u32]).with_swizzle(swizzle)
    };
    let source = if fill == OobFill::Nan { TensorElement::Bf16 } else { TensorElement::U16 };
    let from = tiled(source).with_fill(fill).at(from).unwrap();
    let map = tiled(kind).at(to).unwrap();
    let shape = Launch {
        grid: [1; 3],
        block: [128, 1, 1],
        args: vec![
            from.to_bytes().into(),
            map.to_bytes().into(),
            u64_arg(out),
            u32_arg(x as u32),
            u32_arg(y as u32),
            u32_arg(from.box_bytes() as u32),
        ],
        ..Launch::default()
    };
    let text = module(&ROUND.replace("STORE", if reduce { REDUCE } else { STORE }));
    let options = Options { seed, ..Options::checked() };
    launch(&text, &memory, &shape, &options).unwrap_or_else(|e| panic!("{swizzle:?} {x} {y}: {e}"));

    let outside = if fill == OobFill::Nan { 0x7ff7 } else { 0 };
    let shared = download(&memory, out, 2048);
    let half = |words: &[u32], i: i64| (words[i as usize / 2] >> (16 * (i % 2))) as u16;
    for r in 0..height {
        for c in 0..width {
            let linear = 2 * (r * width + c);
            let mask = match swizzle {
                TensorSwizzle::None => 0,
                TensorSwizzle::B32 => 1,
                TensorSwizzle::B64 => 3,
                TensorSwizzle::B128 => 7,
            };
            let at = linear ^ (linear >> 7 & mask) << 4;
            let want = element(r + i64::from(y), c + i64::from(x), outside);
            assert_eq!(half(&shared, at / 2), want, "{swizzle:?} ({x}, {y}) {r} {c}");
        }
    }
    let stored = download(&memory, to, words);
    let (u, v) = (i64::from(x.max(0)), i64::from(y.max(0)));
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            let inside = (v..v + height).contains(&row) && (u..u + width).contains(&column);
            let loaded = element(row - v + i64::from(y), column - u + i64::from(x), outside);
            let bf16 = |bits: u16| f64::from(f32::from_bits(u32::from(bits) << 16));
            let want = match (inside, reduce) {
                (false, _) => 0x100,
                (true, false) => loaded,
                (true, true) if loaded == 0x7ff7 => 0x7fff,
                (true, true) => half::bf16::from_f64(bf16(0x100) + bf16(loaded)).to_bits(),
            };
            assert_eq!(half(&stored, row * COLUMNS + column), want, "{swizzle:?} ({x}, {y}) {row} {column}");
        }
    }
}

#[test]
fn a_map_that_is_none_and_operands_that_do_not_fit_are_told() {
    let memory = Memory::new();
    let data = upload(&memory, &[0; 1024]);
    let map = Tiled::new(TensorElement::U16, &[64, 16], &[64, 8]).at(data).unwrap().to_bytes();
    let run = |from: [u8; 128], x: i32, text: &str| {
        let args = vec![from.into(), map.into(), u64_arg(data), u32_arg(x as u32), u32_arg(0), u32_arg(1024)];
        let shape = Launch { grid: [1; 3], block: [128, 1, 1], args, ..Launch::default() };
        launch(&module(text), &memory, &shape, &Options::default()).map(|_| ())
    };
    let text = ROUND.replace("STORE", STORE);
    assert_eq!(run(map, 0, &text), Ok(()));
    let mut other = map;
    other[0] ^= 1;
    assert!(matches!(run(other, 0, &text), Err(Error::TensorMap { .. })));
    assert!(matches!(run(map, 3, &text), Err(Error::BadValue { what: "the innermost coordinate", .. })));
    let shifted = text.replace("[%s], [%from", "[%s+64], [%from");
    assert!(matches!(
        run(map, 0, &shifted),
        Err(Error::BadValue { what: "the shared address of the box", .. })
    ));
    let rank = text
        .replace("tensor.2d.shared::cluster", "tensor.1d.shared::cluster")
        .replace("[%s], [%from, {%x, %y}]", "[%s], [%from, {%x}]");
    assert!(matches!(run(map, 0, &rank), Err(Error::BadValue { what: "the tensor map's rank", .. })));
    let sums = text.replace(STORE, REDUCE);
    assert!(matches!(
        run(map, 0, &sums),
        Err(Error::BadValue { what: "element type of the tensor map", .. })
    ));
    let before = text.replace("[%to, {%u, %v}]", "[%to, {%x, -1}]");
    let outcome = run(map, 0, &before);
    assert!(matches!(outcome, Err(Error::BadValue { what: "a coordinate of the store", .. })), "{outcome:?}");
    // A map of more memory than there is.
    let long = Tiled::new(TensorElement::U16, &[64, 64], &[64, 8]).at(data + 3072).unwrap().to_bytes();
    let below = text.replace("ld.param.s32 %y, [y];", "mov.u32 %y, 8;");
    assert!(matches!(run(long, 0, &below), Err(Error::OutOfBounds { .. })));
}

/// A map may lie in global memory as well, at an address that is a multiple of 64.
#[test]
fn maps_are_read_from_global_memory() {
    let memory = Memory::new();
    let words: Vec<u32> = (0..256).collect();
    let (data, out) = (upload(&memory, &words), upload(&memory, &[0; 256]));
    let map = |address| Tiled::new(TensorElement::U32, &[16, 16], &[16, 16]).at(address).unwrap().to_bytes();
    let maps = memory.alloc(256).unwrap();
    memory.write(maps, &[map(data), map(out)].concat()).unwrap();
    let text = ROUND
        .replace(
            ".param .align 64 .b8 from[128], .param .align 64 .b8 to[128]",
            ".param .u64 from, .param .u64 to",
        )
        .replace(
            "mov.b64 %from, from; cvta.param.u64 %from, %from; mov.b64 %to, to; cvta.param.u64 %to, %to;",
            "ld.param.u64 %from, [from]; ld.param.u64 %to, [to];",
        )
        .replace("STORE", STORE);
    let run = |from: u64, to: u64| {
        let dump = upload(&memory, &[0; 2048]);
        let args = vec![u64_arg(from), u64_arg(to), u64_arg(dump), u32_arg(0), u32_arg(0), u32_arg(1024)];
        let shape = Launch { grid: [1; 3], block: [128, 1, 1], args, ..Launch::default() };
        launch(&module(&text), &memory, &shape, &Options::checked()).map(|_| ())
    };
    assert_eq!(run(maps, maps + 128), Ok(()));
    assert_eq!(download(&memory, out, 256), words);
    assert!(matches!(run(maps + 32, maps + 128), Err(Error::Misaligned { alignment: 64, .. })));
    assert!(matches!(run(maps + 64, maps + 128), Err(Error::TensorMap { .. })));
    assert!(matches!(run(maps + 192, maps), Err(Error::OutOfBounds { .. })));
}
