//! Tensor copies, stores and reductions of random boxes: what they leave in shared and in global memory.

use std::fmt::Write;

use girih_device::{Arg, Buffer, Device, LaunchConfig, Module, TensorMap};
use girih_ptx::{OobFill, TensorElement, TensorSwizzle, Tiled};

use super::Random;

/// Bytes of shared memory for a box, without its mbarrier.
const BOX: usize = 16 << 10;
/// Bytes of the tensor's buffer.
const BUFFER: usize = 64 << 10;

/// Reductions and the element types that each has for certain.
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

/// A box of a tensor and what is done with it.
#[derive(Clone, Debug)]
pub struct Copy {
    kernel: String,
    tiled: Tiled,
    start: [i32; 5],
    /// Of the box in shared memory.
    offset: u32,
}

/// Kernels `load1` to `load5`, `store1` to `store5`, and a reduction of each kind and rank.
pub fn module() -> String {
    let mut text = String::from(
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 1024 .b8 mem[];\n",
    );
    for rank in 1..=5 {
        let tile = format!("cp.async.bulk.tensor.{rank}d");
        let load = format!("{tile}.shared::cluster.global.tile.mbarrier::complete_tx::bytes");
        kernel(&mut text, &format!("load{rank}"), rank, &load);
        kernel(
            &mut text,
            &format!("store{rank}"),
            rank,
            &format!("{tile}.global.shared::cta.tile.bulk_group"),
        );
        for (reduction, _) in REDUCTIONS {
            let reduce =
                format!("cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{reduction}.tile.bulk_group");
            kernel(&mut text, &format!("{reduction}{rank}"), rank, &reduce);
        }
    }
    text
}

/// Fills the box's memory from `image`, copies, and for a load writes the memory to `image`.
fn kernel(text: &mut String, name: &str, rank: usize, copy: &str) {
    let coordinates: Vec<String> = (0..rank).map(|i| format!("%c{i}")).collect();
    let tensor = format!("[%m, {{{}}}]", coordinates.join(", "));
    let copy = if name.starts_with("load") {
        format!(
            "mbarrier.init.shared::cta.b64 [%b], 1; fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], %n; {copy} [%s], {tensor}, [%b];"
        )
    } else {
        format!("{copy} {tensor}, [%s]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;")
    };
    let wait = if name.starts_with("load") {
        "W: mbarrier.try_wait.parity.shared::cta.b64 %p, [%b], 0; @!%p bra W;"
    } else {
        ""
    };
    writeln!(
        text,
        ".visible .entry {name}(.param .align 64 .b8 map[128], .param .u64 image, .param .align 4 .b8 at[20], .param .u32 offset, .param .u32 bytes) .maxntid 128
{{
  .reg .b32 %s, %b, %t, %i, %x, %n, %c<5>; .reg .b64 %im, %m, %o; .reg .pred %p;
  ld.param.u64 %im, [image]; ld.param.u32 %i, [offset]; ld.param.u32 %n, [bytes];
  ld.param.s32 %c0, [at]; ld.param.s32 %c1, [at+4]; ld.param.s32 %c2, [at+8]; ld.param.s32 %c3, [at+12]; ld.param.s32 %c4, [at+16];
  mov.b64 %m, map; cvta.param.u64 %m, %m;
  mov.u32 %b, mem; add.u32 %s, %b, %i; add.u32 %b, %b, {BOX};
  mov.u32 %t, %tid.x; shl.b32 %t, %t, 2; mov.u32 %i, %t;
F: mov.u32 %x, mem; add.u32 %x, %x, %i; mul.wide.u32 %o, %i, 1; add.u64 %o, %o, %im; ld.global.u32 %t, [%o]; st.shared.u32 [%x], %t;
  add.u32 %i, %i, 512; setp.lt.u32 %p, %i, {BOX}; @%p bra F;
  fence.proxy.async.shared::cta; bar.sync 0;
  mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0; @%p bra D;
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

impl Copy {
    /// A random one: ragged tensors, boxes inside and on all sides of them (stores begin at no negative coordinates), every
    /// swizzle.
    pub fn random(random: &mut Random) -> Copy {
        loop {
            let rank = 1 + random.below(5) as usize;
            let (name, elements) = match random.below(4) {
                0 | 1 => ("load", TensorElement::ALL),
                2 => ("store", TensorElement::ALL),
                _ => REDUCTIONS[random.below(REDUCTIONS.len() as u64) as usize],
            };
            let element = elements[random.below(elements.len() as u64) as usize];
            let copy = Self::box_of(random, format!("{name}{rank}"), element, rank);
            let offset = u64::from(copy.offset);
            let small = copy.tiled.at(0).is_ok_and(|map| offset + map.shared_bytes() <= BOX as u64);
            if small && copy.tiled.tensor_bytes().is_some_and(|bytes| bytes <= BUFFER as u64) {
                return copy;
            }
        }
    }

    fn box_of(random: &mut Random, kernel: String, element: TensorElement, rank: usize) -> Copy {
        let each = 16 / u64::from(element.bytes());
        let swizzle = TensorSwizzle::ALL[random.below(4) as usize];
        let width = swizzle.span().map_or(12, |span| u64::from(span) / 16);
        let mut extents = vec![(each * (1 + random.below(width))) as u32];
        let mut dims = vec![1 + random.below(2 * u64::from(extents[0]))];
        let mut start = [0; 5];
        let load = kernel.starts_with("load");
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
        // Steps of stores and reductions are left at one: the texts speak of loads only.
        let tiled = if load { tiled.with_element_strides(&steps) } else { tiled };
        let tiled = tiled.with_swizzle(swizzle).with_fill(fill);
        Copy { kernel, tiled, start, offset: 128 * random.below(16) as u32 }
    }

    /// Shared and global memory after it.
    pub fn run(&self, device: &Device, module: &Module, seed: u64) -> (Vec<u32>, Vec<u32>) {
        let mut random = Random::new(seed);
        let element = self.tiled.element;
        let mut words = |n: usize| {
            device.upload(&(0..n).map(|_| word(element, &mut random)).collect::<Vec<_>>()).unwrap()
        };
        let (image, tensor): (Buffer<u32>, Buffer<u32>) = (words(BOX / 4), words(BUFFER / 4));
        let map = TensorMap::new(&tensor, &self.tiled).unwrap();
        let at: Vec<u8> = self.start.iter().flat_map(|c| c.to_le_bytes()).collect();
        let bytes = map.description().box_bytes() as u32;
        let args =
            [Arg::from(&map), Arg::from(&image), Arg::Bytes(&at), Arg::from(self.offset), Arg::from(bytes)];
        let config = LaunchConfig::new([1; 3], [128, 1, 1]).with_dynamic_shared(BOX as u32 + 8);
        // SAFETY: the box fits shared memory and the tensor its buffer.
        unsafe { module.kernel(&self.kernel).unwrap().launch(&config, &args) }
            .unwrap_or_else(|error| panic!("{self:?}: {error}"));
        (image.download().unwrap(), tensor.download().unwrap())
    }
}

/// Any bits of integers; floats of which sums are exact, but any bits where they are only copied.
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
