//! Tensor copies, stores and reductions of random boxes and columns of pixels, with maps from the host, with maps that are moved
//! from another buffer, and with maps that a kernel makes of other maps. Their results are shared and global memory afterwards.

use std::fmt::Write;

use girih_device::{Arg, Buffer, Device, Launch, LaunchConfig, Module, TensorMap};
use girih_ptx::{Columns, OobFill, TensorElement, TensorSwizzle, Tiled};

use super::Random;

/// Bytes of shared memory for a box, without its mbarrier.
const BOX: usize = 16 << 10;
/// The offset of a map that a kernel makes in shared memory, behind the box and its mbarrier; and the bytes of an image and a map.
const WORK: usize = BOX + 128;
/// Bytes of the tensor's buffer.
const BUFFER: usize = 64 << 10;

/// The reductions, and element types that each reduction has on every GPU of sm_90.
const REDUCTIONS: &[(&str, &[TensorElement])] = {
    use TensorElement::*;
    &[
        ("add", &[U32, S32, U64, F16, Bf16, F32]),
        ("min", &[U32, S32, U64, S64, F16, Bf16]),
        ("max", &[U32, S32, U64, S64, F16, Bf16]),
        ("inc", &[U32]),
        ("dec", &[U32]),
        ("and", &[U32, U64]),
        ("or", &[U32, U64]),
        ("xor", &[U32, U64]),
    ]
};

/// A box of a tensor, and the operation on the box.
#[derive(Clone, Debug)]
pub struct Copy {
    name: &'static str,
    kernel: String,
    tiled: Tiled,
    start: [i32; 5],
    /// For columns that are loaded, the offsets of the filter's element for which they are loaded.
    offsets: [u16; 3],
    /// The offset of the box in shared memory, in bytes.
    offset: u32,
}

const HEAD: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 mem[];\n";
/// Statements that take the address of a map that is an argument.
const GIVEN: &str = "mov.b64 %m, map; cvta.param.u64 %m, %m;";

/// A module with the kernels `load1` to `load5`, `store1` to `store5`, and one kernel for each reduction and rank; from rank 3 on also
/// with kernels for columns.
pub fn module() -> String {
    let mut text = String::from(HEAD);
    for rank in 1..=5 {
        for columns in [false, true].into_iter().take(if rank < 3 { 1 } else { 2 }) {
            for name in ["load", "store"].into_iter().chain(REDUCTIONS.iter().map(|(name, _)| *name)) {
                kernel(&mut text, name, rank, columns, (GIVEN, ""));
            }
        }
    }
    text
}

fn kernel_name(name: &str, rank: usize, columns: bool) -> String {
    format!("{name}{rank}{}", if columns { "columns" } else { "" })
}

/// Writes a kernel that fills the memory of the box from `image`, does the operation, and writes the memory of the box to `image`. The
/// statements `make` put the map's address into `%m`, and the thread that copies executes `acquire` first.
fn kernel(text: &mut String, name: &str, rank: usize, columns: bool, (make, acquire): (&str, &str)) {
    let list = |what: &str, n: usize| (0..n).map(|i| format!("{what}{i}")).collect::<Vec<_>>().join(", ");
    let tensor = format!("[%m, {{{}}}]", list("%c", rank));
    let tile = format!("cp.async.bulk.tensor.{rank}d");
    let to_global = if columns { "im2col_no_offs" } else { "tile" };
    let copy = match name {
        "load" => {
            let (mode, offsets) = match columns {
                true => ("im2col", format!(", {{{}}}", list("%h", rank - 2))),
                false => ("tile", String::new()),
            };
            format!(
                "mbarrier.init.shared::cta.b64 [%b], 1; fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], %n;
  {tile}.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes [%s], {tensor}, [%b]{offsets};"
            )
        }
        _ => {
            let (copy, operation) = match name {
                "store" => (tile, String::new()),
                reduction => (tile.replace("cp.", "cp.reduce."), format!("{reduction}.")),
            };
            format!(
                "{copy}.global.shared::cta.{operation}{to_global}.bulk_group {tensor}, [%s];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
            )
        }
    };
    let wait = match name {
        "load" => "W: mbarrier.try_wait.parity.shared::cta.b64 %p, [%b], 0; @!%p bra W;",
        _ => "",
    };
    let name = kernel_name(name, rank, columns);
    writeln!(
        text,
        ".visible .entry {name}(.param .align 64 .b8 map[128], .param .u64 image, .param .align 4 .b8 at[28], .param .u32 offset, .param .u32 bytes) .maxntid 128
{{
  .reg .b16 %h<3>; .reg .b32 %s, %b, %t, %i, %x, %n, %c<5>; .reg .b64 %im, %m, %o, %w<3>; .reg .pred %p;
  ld.param.u64 %im, [image]; ld.param.u32 %i, [offset]; ld.param.u32 %n, [bytes];
  ld.param.s32 %c0, [at]; ld.param.s32 %c1, [at+4]; ld.param.s32 %c2, [at+8]; ld.param.s32 %c3, [at+12]; ld.param.s32 %c4, [at+16];
  ld.param.u16 %h0, [at+20]; ld.param.u16 %h1, [at+22]; ld.param.u16 %h2, [at+24];
  mov.u32 %b, mem; add.u32 %s, %b, %i; add.u32 %b, %b, {BOX};
  mov.u32 %t, %tid.x; shl.b32 %t, %t, 2; mov.u32 %i, %t;
F: mov.u32 %x, mem; add.u32 %x, %x, %i; mul.wide.u32 %o, %i, 1; add.u64 %o, %o, %im; ld.global.u32 %t, [%o]; st.shared.u32 [%x], %t;
  add.u32 %i, %i, 512; setp.lt.u32 %p, %i, {BOX}; @%p bra F;
  {make}
  fence.proxy.async.shared::cta; bar.sync 0;
  mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0; @%p bra D;
  {acquire}
  {copy}
D: bar.sync 0;
  {wait}
  mov.u32 %t, %tid.x; shl.b32 %i, %t, 2;
L: mov.u32 %x, mem; add.u32 %x, %x, %i; mul.wide.u32 %o, %i, 1; add.u64 %o, %o, %im; ld.shared.u32 %t, [%x]; st.global.u32 [%o], %t;
  add.u32 %i, %i, 512; setp.lt.u32 %p, %i, {BOX}; @%p bra L;
  ret;
}}"
    )
    .unwrap();
}

/// The element types in the order of the numbers that `tensormap.replace` has for them (PTX ISA, the table of `.elemtype`).
const ELEMENTS: [TensorElement; 13] = {
    use TensorElement::*;
    [U8, U16, U32, S32, U64, S64, F16, F32, F32Ftz, F64, Bf16, Tf32, Tf32Ftz]
};

/// The instructions that replace all fields of the map at `[%w0]` in `space`: the rank first, the other fields in a random order.
fn replacements(tiled: &Tiled, address: u64, space: &str, random: &mut Random) -> String {
    let one = |field: &str, ty: &str, rest: String| {
        format!("tensormap.replace.tile.{field}{space}.b1024.{ty} [%w0], {rest};\n")
    };
    let (rank, element) = (tiled.dims.len(), ELEMENTS.iter().position(|&element| element == tiled.element));
    let mut all = vec![
        one("rank", "b32", (rank - 1).to_string()),
        one("global_address", "b64", address.to_string()),
        one("elemtype", "b32", element.unwrap().to_string()),
        one("interleave_layout", "b32", "0".into()),
        one("swizzle_mode", "b32", (tiled.swizzle as u8).to_string()),
        one("fill_mode", "b32", (tiled.fill as u8).to_string()),
    ];
    for i in 0..rank {
        all.push(one("box_dim", "b32", format!("{i}, {}", tiled.extents[i])));
        all.push(one("global_dim", "b32", format!("{i}, {}", tiled.dims[i])));
        all.push(one("element_stride", "b32", format!("{i}, {}", tiled.element_strides[i])));
        if i > 0 {
            all.push(one("global_stride", "b64", format!("{}, {}", i - 1, tiled.strides[i - 1])));
        }
    }
    for i in (2..all.len()).rev() {
        all.swap(i, 1 + random.below(i as u64) as usize);
    }
    all.concat()
}

/// Statements that make a map from the map that is an argument, in shared memory or in global memory behind the image, where it is
/// in the end; and the statements with which a thread acquires the map.
fn made(tiled: &Tiled, address: u64, random: &mut Random) -> (String, String) {
    let scope = ["cta", "cluster", "gpu", "sys"][random.below(4) as usize];
    let shared = random.below(2) == 0;
    let space = if shared { ".shared::cta" } else { ".global" };
    let (at, st) = match shared {
        true => (format!("mov.u32 %x, mem; add.u32 %x, %x, {WORK}; cvt.u64.u32 %w0, %x;"), "shared"),
        false => ("mov.u64 %w0, %m;".into(), "global"),
    };
    let words: String = (0..128)
        .step_by(16)
        .map(|i| {
            format!("ld.param.v2.b64 {{%w1, %w2}}, [map+{i}]; st.{st}.v2.b64 [%w0+{i}], {{%w1, %w2}};\n")
        })
        .collect();
    let release = match shared {
        true => format!(
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{scope}.sync.aligned [%m], [%w0], 128;"
        ),
        false => format!("fence.proxy.tensormap::generic.release.{scope};"),
    };
    let replaced = replacements(tiled, address, space, random);
    let make = format!(
        "add.u64 %m, %im, {BOX}; {at} mov.u32 %t, %tid.x; setp.gt.u32 %p, %t, 31; @%p bra MADE;
  setp.gt.u32 %p, %t, 0; @%p bra FILLED;
  {words}  {replaced}FILLED: bar.warp.sync 0xffffffff; {release}
MADE:"
    );
    (make, format!("fence.proxy.tensormap::generic.acquire.{scope} [%m], 128;"))
}

impl Copy {
    /// A random box: of ragged tensors, inside and on all sides of the tensor (stores begin at no negative coordinates), with every
    /// swizzle.
    pub fn random(random: &mut Random) -> Copy {
        Self::fitting(random, 1, Self::box_of)
    }

    /// A random column of pixels of ragged tensors, with borders inside and, except for stores, outside the tensor, for any element
    /// of a filter.
    pub fn columns(random: &mut Random) -> Copy {
        Self::fitting(random, 3, Self::column_of)
    }

    fn fitting(
        random: &mut Random,
        least: usize,
        make: impl Fn(&mut Random, &'static str, TensorElement, usize) -> Copy,
    ) -> Copy {
        loop {
            let rank = least + random.below(6 - least as u64) as usize;
            let (name, elements) = match random.below(4) {
                0 | 1 => ("load", TensorElement::ALL),
                2 => ("store", TensorElement::ALL),
                _ => REDUCTIONS[random.below(REDUCTIONS.len() as u64) as usize],
            };
            let element = elements[random.below(elements.len() as u64) as usize];
            let copy = make(random, name, element, rank);
            let offset = u64::from(copy.offset);
            let small = copy.tiled.at(0).is_ok_and(|map| offset + map.shared_bytes() <= BOX as u64);
            if small && copy.tiled.tensor_bytes().is_some_and(|bytes| bytes <= BUFFER as u64) {
                return copy;
            }
        }
    }

    fn box_of(random: &mut Random, name: &'static str, element: TensorElement, rank: usize) -> Copy {
        let each = 16 / u64::from(element.bytes());
        let swizzle = TensorSwizzle::ALL[random.below(4) as usize];
        let width = swizzle.span().map_or(12, |span| u64::from(span) / 16);
        let mut extents = vec![(each * (1 + random.below(width))) as u32];
        let mut dims = vec![1 + random.below(2 * u64::from(extents[0]))];
        let mut start = [0; 5];
        let load = name == "load";
        start[0] = (each as i64 * (random.below(14) as i64 - 6 * i64::from(load))) as i32;
        let (mut strides, mut steps) = (Vec::new(), vec![1]);
        let mut stride = (dims[0] * u64::from(element.bytes())).next_multiple_of(16);
        for at in &mut start[1..rank] {
            extents.push(1 + random.below(6) as u32);
            dims.push(1 + random.below(6));
            *at = random.below(9) as i32 - 3 * i32::from(load);
            strides.push(stride + 16 * random.below(2));
            stride = strides[strides.len() - 1] * dims[dims.len() - 1];
            steps.push(1 + random.below(3) as u32);
        }
        let tiled = Tiled::new(element, &dims, &extents).with_strides(&strides);
        let fill = if element.is_float() && random.below(2) == 0 { OobFill::Nan } else { OobFill::Zero };
        // The steps of stores and reductions are one, since the PTX ISA defines steps for loads only.
        let tiled = if load { tiled.with_element_strides(&steps) } else { tiled };
        let tiled = tiled.with_swizzle(swizzle).with_fill(fill);
        let (kernel, offset) = (kernel_name(name, rank, false), 128 * random.below(16) as u32);
        Copy { name, kernel, tiled, start, offsets: [0; 3], offset }
    }

    fn column_of(random: &mut Random, name: &'static str, element: TensorElement, rank: usize) -> Copy {
        let (size, pixels) = (u64::from(element.bytes()), rank - 2);
        let each = 16 / size;
        let swizzle = TensorSwizzle::ALL[random.below(4) as usize];
        let width = swizzle.span().map_or(12, |span| u64::from(span) / 16);
        let shape = [(each * (1 + random.below(width))) as u32, 1 + random.below(60) as u32];
        let load = name == "load";
        let mut dims = vec![1 + random.below(2 * u64::from(shape[0]))];
        let mut start = [0; 5];
        start[0] = (each as i64 * (random.below(8) as i64 - 2 * i64::from(load))) as i32;
        let (mut lower, mut upper, mut steps) = (Vec::new(), Vec::new(), vec![1]);
        let mut offsets = [0; 3];
        for i in 1..=pixels {
            dims.push(1 + random.below(7));
            let (low, high) = match load {
                true => (random.below(6) as i32 - 3, random.below(6) as i32 - 3),
                false => (random.below(dims[i]) as i32, -(random.below(4) as i32)),
            };
            // The last pixel is not before the first.
            let high = high.max(low + 1 - dims[i] as i32);
            let places = dims[i] as i32 + high - low;
            start[i] = low + random.below(places as u64) as i32;
            lower.push(low);
            upper.push(high);
            steps.push(1 + random.below(3) as u32);
            let most = (1u64 << Columns::bits(pixels)) - 1;
            offsets[i - 1] =
                if random.below(16) == 0 { random.below(most + 1) } else { random.below(4) } as u16;
        }
        dims.push(1 + random.below(4));
        steps.push(1);
        start[rank - 1] = random.below(4) as i32 - i32::from(load);
        let mut strides = Vec::new();
        let mut stride = (dims[0] * size).next_multiple_of(16);
        for dim in &dims[1..] {
            strides.push(stride + 16 * random.below(2));
            stride = strides[strides.len() - 1] * dim;
        }
        let fill = if element.is_float() && random.below(2) == 0 { OobFill::Nan } else { OobFill::Zero };
        let tiled = Tiled::im2col(element, &dims, shape, Columns { lower, upper }).with_strides(&strides);
        let tiled = if load { tiled.with_element_strides(&steps) } else { tiled };
        let tiled = tiled.with_swizzle(swizzle).with_fill(fill);
        let (kernel, offset) = (kernel_name(name, rank, true), 128 * random.below(16) as u32);
        Copy { name, kernel, tiled, start, offsets, offset }
    }

    /// Does the operation, and returns the shared memory of the box and the tensor afterwards.
    pub fn run(&self, device: &Device, module: &Module, seed: u64) -> (Vec<u32>, Vec<u32>) {
        let (image, tensor) = self.buffers(device, seed);
        let map = TensorMap::new(&tensor, &self.tiled).unwrap();
        self.launch(module, &map, &image);
        Self::results(&image, &tensor)
    }

    /// Does the same with a launch that is prepared with a map of another buffer, and moved to the tensor's buffer, or opened and given it.
    pub fn run_moved(&self, device: &Device, module: &Module, seed: u64) -> (Vec<u32>, Vec<u32>) {
        let (image, tensor) = self.buffers(device, seed);
        let elsewhere = device.zeros::<u32>(BUFFER / 4).unwrap();
        let map = TensorMap::new(&elsewhere, &self.tiled).unwrap();
        let mut launch = self.prepare(module, &map, &image);
        launch.set("map", &tensor).unwrap();
        let moved = map.with_buffer(&tensor).unwrap();
        let anew = TensorMap::new(&tensor, &self.tiled).unwrap();
        assert_eq!((moved.bytes(), moved.description()), (anew.bytes(), anew.description()), "{self:?}");
        assert_eq!(launch.arguments().next().unwrap(), anew.bytes(), "{self:?}");
        let mut template = self.prepare(module, &map, &image).open(&["map"]).unwrap();
        // SAFETY: the box fits shared memory and the tensor its buffer.
        let run = unsafe {
            if seed.is_multiple_of(2) { launch.run() } else { template.run(&[Arg::from(&tensor)]) }
        };
        run.unwrap_or_else(|error| panic!("{self:?}: {error}"));
        assert!(elsewhere.download().unwrap().iter().all(|&word| word == 0), "{self:?}");
        Self::results(&image, &tensor)
    }

    /// Does the same with a map that the kernel makes of the map of another copy.
    pub fn run_made(&self, device: &Device, other: &Copy, seed: u64) -> (Vec<u32>, Vec<u32>) {
        let (image, tensor) = self.buffers(device, seed);
        let map = TensorMap::new(&tensor, &other.tiled).unwrap();
        let (make, acquire) = made(&self.tiled, tensor.address(), &mut Random::new(seed));
        let mut text = String::from(HEAD);
        kernel(&mut text, self.name, self.tiled.dims.len(), false, (&make, &acquire));
        let module = device.load(&girih_ptx::Module::parse(&text).unwrap()).unwrap();
        self.launch(&module, &map, &image);
        Self::results(&image, &tensor)
    }

    /// The results, without the map that may be behind the box.
    fn results(image: &Buffer<u32>, tensor: &Buffer<u32>) -> (Vec<u32>, Vec<u32>) {
        let mut image = image.download().unwrap();
        image.truncate(BOX / 4);
        (image, tensor.download().unwrap())
    }

    /// Random contents of shared memory and of the tensor.
    fn buffers(&self, device: &Device, seed: u64) -> (Buffer<u32>, Buffer<u32>) {
        let mut random = Random::new(seed);
        let element = self.tiled.element;
        let mut words = |n: usize| {
            device.upload(&(0..n).map(|_| word(element, &mut random)).collect::<Vec<_>>()).unwrap()
        };
        (words(WORK / 4), words(BUFFER / 4))
    }

    fn launch(&self, module: &Module, map: &TensorMap<'_>, image: &Buffer<u32>) {
        // SAFETY: the box fits shared memory and the tensor its buffer.
        unsafe { self.prepare(module, map, image).run() }.unwrap_or_else(|error| panic!("{self:?}: {error}"));
    }

    fn prepare(&self, module: &Module, map: &TensorMap<'_>, image: &Buffer<u32>) -> Launch {
        let at = self.start.iter().flat_map(|c| c.to_le_bytes());
        let at: Vec<u8> = at.chain(self.offsets.iter().flat_map(|c| c.to_le_bytes())).chain([0; 2]).collect();
        let bytes = self.tiled.at(0).unwrap().box_bytes() as u32;
        let args =
            [Arg::from(map), Arg::from(image), Arg::Bytes(&at), Arg::from(self.offset), Arg::from(bytes)];
        let config = LaunchConfig::new([1; 3], [128, 1, 1]).with_dynamic_shared(WORK as u32 + 128);
        module.kernel(&self.kernel).unwrap().prepare(&config, &args).unwrap()
    }
}

/// Copies with a map that was moved to a buffer agree with copies with a map that was made for that buffer.
pub fn moved_maps_agree(device: &Device, copies: u64) {
    let module = device.load(&girih_ptx::Module::parse(&module()).unwrap()).unwrap();
    let mut random = Random::new(17);
    for seed in 1..=copies {
        let copy =
            if seed.is_multiple_of(2) { Copy::random(&mut random) } else { Copy::columns(&mut random) };
        let (found, wanted) = (copy.run_moved(device, &module, seed), copy.run(device, &module, seed));
        assert!(found == wanted, "{copy:?}, seed {seed}");
    }
}

/// Copies with a map that a kernel makes of another map agree with copies with the host's map of the same tensor.
pub fn made_maps_agree(device: &Device, copies: u64) {
    let module = device.load(&girih_ptx::Module::parse(&module()).unwrap()).unwrap();
    let mut random = Random::new(13);
    for seed in 1..=copies {
        let copy = Copy::random(&mut random);
        // A kernel can't change a map of tf32 into a map of another type.
        let tf32 = |copy: &Copy| matches!(copy.tiled.element, TensorElement::Tf32 | TensorElement::Tf32Ftz);
        let other = loop {
            let other = Copy::random(&mut random);
            if !tf32(&other) || tf32(&copy) {
                break other;
            }
        };
        let (found, wanted) = (copy.run_made(device, &other, seed), copy.run(device, &module, seed));
        assert!(found == wanted, "{copy:?} made of {:?}, seed {seed}", other.tiled);
    }
}

/// A random word of elements: small floats of the types that are added, so that sums are exact, and any bits of the other types.
fn word(element: TensorElement, random: &mut Random) -> u32 {
    let small = |random: &mut Random| random.below(64) as f32 - 32.0;
    match element {
        TensorElement::F16 => {
            let [low, high] = [(); 2].map(|()| u32::from(half::f16::from_f32(small(random)).to_bits()));
            low | high << 16
        }
        TensorElement::Bf16 => {
            let [low, high] = [(); 2].map(|()| u32::from(half::bf16::from_f32(small(random)).to_bits()));
            low | high << 16
        }
        TensorElement::F32 => small(random).to_bits(),
        _ => random.next() as u32,
    }
}
