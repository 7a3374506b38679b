//! Arguments that a program is launched with when nothing else is given: to be tuned, to be looked at.

use girih_device::Device;
use girih_tensor::DType;
use girih_tile::error::Error;
use girih_tile::launch::AnyArray;

/// What a program does with an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It reads it.
    Input,
    /// It writes results to it.
    Output,
    /// Its blocks leave something in it for one another.
    Scratch,
}

/// What is in an array before a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Random numbers from -1 to 1; of integers, all that 8 bits hold.
    Random,
    /// Random numbers from -0.5 to 0.
    Negative,
    /// Zeros.
    Zero,
    /// Random numbers from 0 on that are below this one.
    Below(usize),
    /// Where parts of this many elements end: random numbers that do not fall, the last of which is this one.
    Ends(usize),
    /// Where parts of this many elements begin, and the last one ends: a zero, then as [`Fill::Ends`].
    Offsets(usize),
}

/// An array among the arguments. The extents are in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The dtype.
    pub dtype: DType,
    /// The extents of the array, which is row-major.
    pub extents: Vec<usize>,
    /// What the program does with it.
    pub role: Role,
    /// What is in it.
    pub fill: Fill,
}

/// Random numbers: SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number from 0 on that is below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Sample {
    pub(super) fn new(dtype: DType, role: Role, extents: Vec<usize>) -> Sample {
        let fill = if role == Role::Input { Fill::Random } else { Fill::Zero };
        Sample { dtype, extents, role, fill }
    }

    pub(super) fn filled(self, fill: Fill) -> Sample {
        Sample { fill, ..self }
    }

    /// The array in the memory of a device.
    pub(super) fn on(&self, device: &Device, seed: u64) -> Result<AnyArray, Error> {
        if self.fill == Fill::Zero {
            return AnyArray::zeros(device, self.dtype, &self.extents);
        }
        let mut rng = Random(seed);
        let count: usize = self.extents.iter().product();
        let sorted = |last: usize, rng: &mut Random| {
            let mut all: Vec<usize> = (0..count).map(|_| rng.below(last + 1)).collect();
            all.sort_unstable();
            all.last_mut().into_iter().for_each(|end| *end = last);
            all
        };
        let places = match self.fill {
            Fill::Ends(last) | Fill::Offsets(last) => sorted(last, &mut rng),
            _ => Vec::new(),
        };
        let (least, most) = match self.fill {
            Fill::Random if !self.dtype.is_integer() => (-1.0, 1.0),
            Fill::Random if self.dtype.is_signed() => (-127.0, 127.0),
            Fill::Random => (0.0, 255.0),
            _ => (-0.5, 0.0),
        };
        AnyArray::filled(device, self.dtype, &self.extents, |at| match self.fill {
            Fill::Below(end) => rng.below(end) as f64,
            Fill::Offsets(_) if at == 0 => 0.0,
            Fill::Ends(_) | Fill::Offsets(_) => places[at] as f64,
            Fill::Random | Fill::Negative | Fill::Zero => rng.between(least, most),
        })
    }
}

/// The arguments of a program in the memory of a device.
#[derive(Debug)]
pub struct Arguments {
    pub(super) sizes: Vec<usize>,
    pub(super) arrays: Vec<(Role, AnyArray)>,
}

impl Arguments {
    /// The sizes that the extents are made of.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The arrays, in the order of the program's parameters.
    pub fn arrays(&self) -> impl Iterator<Item = (Role, &AnyArray)> {
        self.arrays.iter().map(|(role, array)| (*role, array))
    }
}
