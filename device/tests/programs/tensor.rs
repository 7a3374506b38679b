//! Tensor copies, stores and reductions of random boxes and columns of pixels, with maps from the host, with maps that are moved
//! from another buffer, and with maps that a kernel makes of other maps. Their results are shared and global memory afterwards.

mod kernel;

use girih_device::{Arg, Buffer, Device, Launch, LaunchConfig, Module, SimOptions, TensorMap};
use girih_ptx::{Columns, OobFill, TensorElement, TensorSwizzle, Tiled};

use super::Random;
pub use kernel::module;
use kernel::{HEAD, kernel, kernel_name, made};

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

/// Checks that random copies have the same results on the GPU and on the simulator.
pub fn copies_agree(gpu: &Device, count: u64, copy: impl Fn(&mut Random) -> Copy) {
    let sim = Device::open_sim(SimOptions::checked()).unwrap();
    let module = girih_ptx::Module::parse(&module()).unwrap();
    let (on_gpu, on_sim) = (gpu.load(&module).unwrap(), sim.load(&module).unwrap());
    let mut random = Random::new(11);
    let mut differ = Vec::new();
    for seed in 1..=count {
        let copy = copy(&mut random);
        let (found, wanted) = (copy.run(gpu, &on_gpu, seed), copy.run(&sim, &on_sim, seed));
        if found != wanted {
            let at =
                |a: &[u32], b: &[u32]| a.iter().zip(b).position(|(a, b)| a != b).map(|i| (i, a[i], b[i]));
            let at = (at(&found.0, &wanted.0), at(&found.1, &wanted.1));
            differ.push(format!("{copy:?} seed {seed}: first at {at:x?}"));
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}
