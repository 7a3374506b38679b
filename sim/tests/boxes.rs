//! Boxes of random tensors, compared with the definition of tiled copies byte by byte: the contents of shared memory
//! after a load, those of the tensor after a store, and that nothing else changes.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{download, launch, load, module, shape, u32_arg, u64_arg, upload};
use girih_ptx::{OobFill, TensorElement, TensorMap, TensorSwizzle, Tiled};
use girih_sim::{Error, Launch, Memory, Options, Program};

/// The bytes of the buffer in which tensors lie, and where in the buffer a tensor begins.
const IMAGE: usize = 60 << 10;
const BASE: usize = 4096;
/// The bytes of shared memory of the largest box.
const WINDOW: usize = 180 << 10;

/// Kernels `load1` to `store5`, by rank: shared memory is filled, a box is loaded or stored, and shared memory is copied out.
fn kernels() -> String {
    let mut text = String::from(".extern .shared .align 1024 .b8 mem[];\n");
    for rank in 1..=5 {
        let coordinates: String = (0..rank).map(|i| format!(", .param .s32 c{i}")).collect();
        let loads: String = (0..rank).map(|i| format!("ld.param.s32 %c{i}, [c{i}];")).collect();
        let at = (0..rank).map(|i| format!("%c{i}")).collect::<Vec<_>>().join(", ");
        let wait = |name: &str, parity: u32| {
            format!("{name}: mbarrier.try_wait.parity.shared::cta.b64 %p, [%b], {parity}; @!%p bra {name};")
        };
        let expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b],";
        let (first, second) = (wait("FILLED", 0), wait("LOADED", 1));
        let load = format!(
            "{expect} %n; cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
             [%s], [%m, {{{at}}}], [%b]; {second}"
        );
        let store = format!(
            "cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%m, {{{at}}}], [%s];
             cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
        );
        for (name, moves) in [("load", load), ("store", store)] {
            text += &format!(
                ".visible .entry {name}{rank}(.param .align 64 .b8 map[128], .param .u64 before, .param .u64 after,
                   .param .u32 window, .param .u32 at, .param .u32 bytes{coordinates}) {{
                 .shared .align 8 .b64 bar; .reg .b64 %m, %f, %o; .reg .b32 %s, %b, %d, %w, %n, %c<5>; .reg .pred %p;
                 mov.b64 %m, map; cvta.param.u64 %m, %m; ld.param.u64 %f, [before]; ld.param.u64 %o, [after];
                 ld.param.u32 %w, [window]; ld.param.u32 %s, [at]; ld.param.u32 %n, [bytes]; {loads}
                 mov.u32 %d, mem; add.u32 %s, %s, %d; mov.u32 %b, bar;
                 mbarrier.init.shared::cta.b64 [%b], 1; fence.mbarrier_init.release.cluster; {expect} %w;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d], [%f], %w, [%b]; {first}
                 {moves}
                 cp.async.bulk.global.shared::cta.bulk_group [%o], [%d], %w;
                 cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }}\n"
            );
        }
    }
    module(&text)
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % n
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }

    /// A map, and where a box begins: on all sides of the tensor.
    fn map(&mut self, address: u64) -> (TensorMap, Vec<i32>) {
        let element = TensorElement::ALL[self.below(13) as usize];
        let swizzle = TensorSwizzle::ALL[self.below(4) as usize];
        let (rank, size) = (1 + self.below(5) as usize, u64::from(element.bytes()));
        let each = 16 / size;
        let width = swizzle.span().map_or(8, |span| u64::from(span) / 16);
        let mut extents = vec![(each * (1 + self.below(width))) as u32];
        let mut dims = vec![1 + self.below(3 * u64::from(extents[0]))];
        let mut start = vec![(each as i64 * (self.below(24) as i64 - 10)) as i32];
        let (mut strides, mut element_strides) = (Vec::new(), vec![1 + self.below(8) as u32]);
        for _ in 1..rank {
            extents.push(1 + self.below(6) as u32);
            dims.push(1 + self.below(9));
            start.push(self.below(14) as i32 - 5);
            strides.push(16 * self.below(100));
            element_strides.push(1 + self.below(3) as u32);
        }
        let tiled = Tiled::new(element, &dims, &extents).with_strides(&strides);
        let tiled = tiled.with_element_strides(&element_strides).with_swizzle(swizzle);
        // Integers have no NaN.
        let filled = tiled.clone().with_fill(OobFill::Nan).at(address).ok();
        let filled = filled.filter(|_| self.below(2) == 0);
        (filled.unwrap_or_else(|| tiled.at(address).unwrap()), start)
    }
}

/// For each element in order: its place in shared memory, and its place in global memory if it has one.
fn definition(map: &TensorMap, start: &[i32], shared: u64, store: bool) -> Vec<(u64, Option<u64>)> {
    let tiled = map.tiled();
    let size = u64::from(tiled.element.bytes());
    let counts: Vec<u64> = (0..map.rank())
        .map(|i| if i == 0 { 1 } else { tiled.element_strides[i] })
        .zip(&tiled.extents)
        .map(|(stride, extent)| u64::from(extent.div_ceil(stride)))
        .collect();
    let (width, mask) = match tiled.swizzle {
        TensorSwizzle::None => (counts[0] * size, 0),
        TensorSwizzle::B32 => (32, 1),
        TensorSwizzle::B64 => (64, 3),
        TensorSwizzle::B128 => (128, 7),
    };
    let mut elements = Vec::new();
    for number in 0..counts.iter().product::<u64>() {
        let mut rest = number;
        let mut place = [0u64; 5];
        for (place, count) in place.iter_mut().zip(&counts) {
            *place = rest % count;
            rest /= count;
        }
        let row = number / counts[0];
        let mut global = Some(map.address());
        for i in 0..map.rank() {
            let step = if i == 0 { 1 } else { i64::from(tiled.element_strides[i]) };
            let coordinate = i64::from(start[i]) + place[i] as i64 * step;
            let stride = if i == 0 { size } else { tiled.strides[i - 1] };
            // Whole 16 bytes of a row are stored.
            let each = if store && i == 0 { 16 / size } else { 1 };
            let inside = coordinate >= 0 && (coordinate as u64) < tiled.dims[i].next_multiple_of(each);
            global = global.filter(|_| inside).map(|g| g + coordinate as u64 * stride);
        }
        let address = shared + row * width + place[0] * size;
        let (line, chunk) = (address / 128, address / 16 % 8);
        elements.push((line * 128 + (chunk ^ line & mask) * 16 + address % 16, global));
    }
    elements
}

/// The nearest tf32, of two equally near ones the even one; all NaNs become the same NaN.
fn to_tf32(bits: u32) -> u32 {
    let (down, rest) = (bits & !0x1fff, bits & 0x1fff);
    match rest.cmp(&0x1000) {
        _ if f32::from_bits(bits).is_nan() => 0x7fff_e000,
        std::cmp::Ordering::Less => down,
        std::cmp::Ordering::Equal => down + (down & 0x2000),
        std::cmp::Ordering::Greater => down + 0x2000,
    }
}

/// The value that a load gives for an element inside of the tensor.
fn loaded(element: TensorElement, bytes: &[u8]) -> Vec<u8> {
    match element {
        TensorElement::Tf32 | TensorElement::Tf32Ftz => {
            to_tf32(u32::from_le_bytes(bytes.try_into().unwrap())).to_le_bytes().into()
        }
        _ => bytes.into(),
    }
}

/// The buffers that the kernels work on.
struct Bench {
    program: Program,
    memory: Memory,
    image: u64,
    before: u64,
    after: u64,
}

impl Bench {
    fn run(&self, name: &str, map: &TensorMap, start: &[i32], at: usize) -> Result<usize, Error> {
        let window = at + (map.shared_bytes() as usize).next_multiple_of(1024);
        let mut args = vec![map.to_bytes().into(), u64_arg(self.before), u64_arg(self.after)];
        args.extend([window, at, map.box_bytes() as usize].map(|n| u32_arg(n as u32)));
        args.extend(start.iter().map(|&c| u32_arg(c as u32)));
        let shape = Launch { args, dynamic_shared: window as u32, ..shape(1, 1) };
        let kernel = self.program.kernel(&format!("{name}{}", map.rank())).unwrap();
        girih_sim::run(kernel, &self.memory, &shape, &Options::default()).map(|_| window)
    }

    fn bytes(&self, address: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.memory.read(address, &mut bytes).unwrap();
        bytes
    }
}

fn bench(image: &[u8], before: &[u8]) -> Bench {
    let memory = Memory::new();
    let [a, b, c] = [image.len(), before.len(), before.len()].map(|bytes| memory.alloc(bytes).unwrap());
    memory.write(a, image).unwrap();
    memory.write(b, before).unwrap();
    Bench { program: load(&kernels()).unwrap(), memory, image: a, before: b, after: c }
}

/// Every rank, element, swizzle and fill; ragged tensors whose rows may overlap, coordinates on all sides of them.
#[test]
fn boxes_move_as_they_are_defined() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut image, before) = (random.bytes(IMAGE), random.bytes(WINDOW));
    let bench = bench(&image, &before);
    let (mut inside, mut outside) = (0, 0);
    for _ in 0..2000 {
        let (map, mut start) = random.map(bench.image + BASE as u64);
        let at = 1024 + 128 * random.below(20) as usize;
        let store = random.below(2) == 1;
        if store {
            start.iter_mut().for_each(|c| *c = (*c).max(0));
        }
        let window = bench.run(if store { "store" } else { "load" }, &map, &start, at).unwrap();
        let size = map.tiled().element.bytes() as usize;
        let mut shared = before[..window].to_vec();
        for (place, global) in definition(&map, &start, at as u64, store) {
            let (place, from) = (place as usize, global.map(|g| (g - bench.image) as usize));
            match from {
                Some(to) if store => image[to..to + size].copy_from_slice(&shared[place..place + size]),
                None if store => {}
                Some(from) => {
                    let element = loaded(map.tiled().element, &image[from..from + size]);
                    shared[place..place + size].copy_from_slice(&element);
                }
                None => shared[place..place + size].iter_mut().enumerate().for_each(|(i, byte)| {
                    let nan = map.tiled().fill == OobFill::Nan;
                    *byte = if nan { [0xf7, 0x7f][i % 2] } else { 0 };
                }),
            }
            *if from.is_some() { &mut inside } else { &mut outside } += size;
        }
        let case = || format!("{map:?} at {start:?}, stored: {store}");
        assert!(bench.bytes(bench.after, window) == shared, "shared memory: {}", case());
        assert!(bench.bytes(bench.image, IMAGE) == image, "global memory: {}", case());
    }
    assert!(inside > 10_000 && outside > 10_000, "{inside} {outside}");
}

/// A row that is not in memory is told as a whole if it lies in one piece, and else as its first 16 bytes.
#[test]
fn rows_stay_whole() {
    for (swizzle, bytes) in [(TensorSwizzle::None, 128), (TensorSwizzle::B128, 16)] {
        for (rows, start) in (0..8u64).map(|rows| (rows, 100 - 8)).chain([(0, 96), (3, 96)]) {
            let bench = bench(&vec![1; (start + rows).max(1) as usize * 128], &[0; 4096]);
            let tiled = Tiled::new(TensorElement::Bf16, &[64, 100], &[64, 8]).with_swizzle(swizzle);
            let map = tiled.at(bench.image).unwrap();
            match bench.run("load", &map, &[0, start as i32], 1024) {
                Err(Error::OutOfBounds { bytes: told, address, .. }) => {
                    assert_eq!((told, address), (bytes, bench.image + (start + rows) * 128), "{swizzle:?}");
                }
                other => panic!("{swizzle:?} {rows}: {other:?}"),
            }
        }
    }
}

#[test]
fn what_the_hardware_refuses_is_refused() {
    let bench = bench(&[0; 8192], &[0; 8192]);
    let map = Tiled::new(TensorElement::Bf16, &[64, 64], &[64, 8]).at(bench.image).unwrap();
    let what = |name, start: &[i32], at| match bench.run(name, &map, start, at) {
        Err(Error::BadValue { what, .. }) => what,
        other => panic!("{name} {start:?} {at}: {other:?}"),
    };
    for name in ["load", "store"] {
        assert_eq!(what(name, &[0, 0], 1024 + 64), "the shared address of the box");
        for x in [-9, -1, 1, 4, 7, 20] {
            assert_eq!(what(name, &[x, 0], 1024), "the innermost coordinate");
        }
    }
    for start in [[-8, -1], [i32::MIN, i32::MAX]] {
        assert!(bench.run("load", &map, &start, 1152).is_ok());
        assert_eq!(what("store", &start, 1152), "a coordinate of the store");
    }
    // Of a kernel for another rank.
    let text =
        kernels().replace("load1", "unused").replace("load2", "load1").replace("tensor.2d", "tensor.3d");
    let text = text.replace("[%m, {%c0, %c1}]", "[%m, {%c0, %c1, %c1}]").replace("load1", "k");
    let args = vec![map.to_bytes().into(), u64_arg(bench.before), u64_arg(bench.after)];
    let args = [args, [2048, 1024, 1024, 0, 0].map(u32_arg).into()].concat();
    let shape = Launch { args, dynamic_shared: 4096, ..shape(1, 1) };
    let found = launch(&text, &bench.memory, &shape, &Options::default());
    assert!(matches!(found, Err(Error::BadValue { what: "the tensor map's rank", .. })), "{found:?}");
}

/// The words that an H100 makes of these words.
#[test]
fn tf32_is_rounded_as_the_hardware_does() {
    let pairs = [
        (0x0000_0001, 0),
        (0x8000_0001, 0x8000_0000),
        (0x007f_ffff, 0x0080_0000),
        (0x3f80_0fff, 0x3f80_0000),
        (0x3f80_1000, 0x3f80_0000),
        (0x3f80_1001, 0x3f80_2000),
        (0x3f80_3000, 0x3f80_4000),
        (0xbf80_1000, 0xbf80_0000),
        (0x7f7f_ffff, 0x7f80_0000),
        (0x7f80_0000, 0x7f80_0000),
        (0xffc1_2345, 0x7fff_e000),
    ];
    let words = pairs.map(|(from, _)| from);
    let bench = bench(&[0], &[0; 4096]);
    let data = upload(&bench.memory, &words);
    for element in [TensorElement::Tf32, TensorElement::Tf32Ftz] {
        let tiled = Tiled::new(element, &[words.len() as u64], &[16]).with_fill(OobFill::Nan);
        bench.run("load", &tiled.at(data).unwrap(), &[0], 1024).unwrap();
        let shared = download(&bench.memory, bench.after + 1024, 16);
        for ((from, to), found) in pairs.iter().zip(&shared) {
            assert_eq!((found, to_tf32(*from)), (to, *to), "{from:#x}: {found:#x}");
        }
        assert!(shared[pairs.len()..].iter().all(|&outside| f32::from_bits(outside).is_nan()), "{shared:x?}");
    }
}
