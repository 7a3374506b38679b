//! The kernels by name, each for some dtype and tile, with arguments to launch them with and other tiles to choose among.

mod sample;
mod source;
mod table;

use girih_device::Device;
use girih_tensor::DType;
use girih_tile::error::{Error, LaunchError};
use girih_tile::facts::{Facts, Uses};
use girih_tile::ir::Func;
use girih_tile::launch::{AnyArray, Launch};
use girih_tile::tune::{Budget, Point, Space, Tuned, tune};

pub use sample::{Arguments, Fill, Role, Sample};
pub use source::Source;
pub use table::ENTRIES;

/// A kernel for a dtype and a tile.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, dtype and tile.
    pub name: &'static str,
    /// The name of its function.
    pub kernel: &'static str,
    /// The names of the constants of its type.
    constants: &'static [&'static str],
    /// The kernel for its own tile, then for others that compute the same.
    tiles: &'static [Tile],
    /// The sizes that extents of arrays are made of.
    sizes: &'static [Size],
    samples: fn(&[usize]) -> Vec<Sample>,
    scalars: for<'a> fn(Launch<'a>, &[usize]) -> Launch<'a>,
    /// By sizes and constants; none where it follows from the stores.
    grid: fn(&[usize], &[usize]) -> Option<Vec<usize>>,
}

/// A kernel with certain constants.
#[derive(Clone, Copy, Debug)]
struct Tile {
    constants: &'static [i64],
    build: fn(&Facts) -> Result<Func, Error>,
    launch: fn() -> Launch<'static>,
}

/// A size of which extents are made, such as the rows of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Its name.
    pub name: &'static str,
    /// What it is where nothing else is said: enough to keep a GPU busy.
    pub usual: usize,
    /// A size that the simulator computes in a second, and that tiles do not divide.
    pub small: usize,
}

impl Entry {
    /// The kernel's program for what holds of arrays of the usual sizes.
    ///
    /// # Errors
    /// What is wrong with the program.
    pub fn build(&self) -> Result<Func, Error> {
        self.build_with(&self.facts()?)
    }

    /// The kernel's program for arrays of which these facts hold.
    ///
    /// # Errors
    /// What is wrong with the program.
    pub fn build_with(&self, facts: &Facts) -> Result<Func, Error> {
        (self.tiles[0].build)(facts)
    }

    /// What [`Entry::build`] takes for known: what a launch finds of row-major arrays of the usual sizes.
    ///
    /// # Errors
    /// What is wrong with the program.
    pub fn facts(&self) -> Result<Facts, Error> {
        let func = self.build_with(&Facts::default())?;
        let extents: Vec<Vec<usize>> = self.samples(&self.usual()).into_iter().map(|of| of.extents).collect();
        Ok(Uses::of(&func).row_major(&extents, func.scalars().len()))
    }

    /// Its function as it is written.
    ///
    /// ```
    /// for entry in girih_programs::ENTRIES {
    ///     let source = entry.source().ok_or(entry.name)?;
    ///     assert!(source.text.starts_with("///") && source.text.ends_with("\n}"), "{}", entry.name);
    ///     assert!(source.text.contains(&format!("pub fn {}", entry.kernel)));
    /// }
    /// # Ok::<(), &str>(())
    /// ```
    pub fn source(&self) -> Option<Source> {
        source::source(self.kernel)
    }

    /// The sizes that the extents of its arrays are made of.
    pub fn sizes(&self) -> &'static [Size] {
        self.sizes
    }

    /// The usual sizes.
    pub fn usual(&self) -> Vec<usize> {
        self.sizes.iter().map(|size| size.usual).collect()
    }

    /// The small sizes.
    pub fn small(&self) -> Vec<usize> {
        self.sizes.iter().map(|size| size.small).collect()
    }

    /// Its arrays for some sizes, in the order of its parameters.
    pub fn samples(&self, sizes: &[usize]) -> Vec<Sample> {
        (self.samples)(sizes)
    }

    /// What it does with the arrays that a caller gives, in the order of its parameters: all but what its blocks leave for one another.
    pub fn roles(&self) -> impl Iterator<Item = Role> {
        let samples = self.samples(&self.small()).into_iter();
        samples.map(|sample| sample.role).filter(|role| *role != Role::Scratch)
    }

    /// Arguments of some sizes, the same each time.
    ///
    /// # Errors
    /// The device's.
    pub fn arguments(&self, device: &Device, sizes: &[usize]) -> Result<Arguments, Error> {
        let samples = self.samples(sizes).into_iter().enumerate();
        let arrays = samples.map(|(at, of)| Ok((of.role, of.on(device, at as u64)?)));
        Ok(Arguments { sizes: sizes.to_vec(), arrays: arrays.collect::<Result<_, Error>>()? })
    }

    /// Arguments on arrays of the caller's: those that the kernel reads, then those that it writes, in the order of its parameters; what its
    /// blocks leave for one another is allocated. Sizes follow from the extents, but those that are in no extent by themselves have to be named.
    ///
    /// # Errors
    /// [`LaunchError::Arguments`] for arrays of other dtypes or extents, for a size that does not follow, and for a named one that is none of
    /// its sizes or has more than 32 bits; the device's.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_programs::ENTRIES;
    /// use girih_tensor::DType;
    /// use girih_tile::launch::AnyArray;
    /// use girih_tile::tune::Point;
    ///
    /// let entry = ENTRIES.iter().find(|entry| entry.name == "sum_all_f32_4096").ok_or("listed")?;
    /// let device = Device::open(Select::Sim)?;
    /// let x = AnyArray::filled(&device, DType::F32, &[5000], |_| 1.0)?;
    /// let sum = AnyArray::filled(&device, DType::F32, &[1], |_| 0.0)?;
    /// let mut arguments = entry.arguments_of(&device, vec![x, sum], &[])?;
    /// entry.launch(&mut arguments, &Point::default()).run()?;
    /// let (_, sum) = arguments.arrays().nth(1).ok_or("an array")?;
    /// assert_eq!(sum.numbers()?, [5000.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn arguments_of(
        &self,
        device: &Device,
        arrays: Vec<AnyArray>,
        named: &[(&str, usize)],
    ) -> Result<Arguments, Error> {
        let given = || list(arrays.iter().map(|array| (array.dtype(), array.extents())));
        let refused = |wanted: String| {
            Err(LaunchError::Arguments { kernel: self.name.into(), wanted, given: given() }.into())
        };
        let is_size = |name: &str| self.sizes.iter().any(|size| size.name == name);
        if let Some((name, size)) =
            named.iter().find(|(name, size)| !is_size(name) || *size > u32::MAX as usize)
        {
            let sizes: Vec<&str> = self.sizes.iter().map(|size| size.name).collect();
            return refused(format!(
                "sizes of 32 bits among [{}], and not {name} = {size}",
                sizes.join(", ")
            ));
        }
        // Numbers that tell sizes apart: an extent that is one of them, or one more, is that size.
        let marks: Vec<usize> = (1..=self.sizes.len()).map(|i| i * 1_000_003).collect();
        let marked = self.samples(&marks);
        let own = |role| role != Role::Scratch;
        let extents = marked.iter().filter(|sample| own(sample.role)).zip(&arrays);
        let pairs = extents.flat_map(|(sample, array)| sample.extents.iter().zip(array.extents()));
        let pairs: Vec<(usize, usize)> = pairs.map(|(&mark, &extent)| (mark, extent)).collect();
        let mut sizes = Vec::new();
        for (size, &mark) in self.sizes.iter().zip(&marks) {
            let follows = |&(of, extent): &(usize, usize)| match of.checked_sub(mark) {
                Some(more @ 0..=1) => extent.checked_sub(more),
                _ => None,
            };
            let said = named.iter().find(|(name, _)| *name == size.name).map(|&(_, size)| size);
            match said.or_else(|| pairs.iter().find_map(follows)) {
                Some(size) => sizes.push(size),
                None => return refused(format!("the size `{}`, which has to be named", size.name)),
            }
        }
        let samples = self.samples(&sizes);
        let wanted: Vec<&Sample> = samples.iter().filter(|sample| own(sample.role)).collect();
        let fit = wanted.len() == arrays.len()
            && wanted
                .iter()
                .zip(&arrays)
                .all(|(sample, array)| sample.dtype == array.dtype() && sample.extents == array.extents());
        if !fit {
            return refused(list(wanted.iter().map(|sample| (sample.dtype, &sample.extents[..]))));
        }
        let mut arrays = arrays.into_iter();
        let all = samples.iter().map(|sample| {
            let given = if own(sample.role) { arrays.next() } else { None };
            Ok((sample.role, given.map_or_else(|| sample.on(device, 0), Ok)?))
        });
        Ok(Arguments { arrays: all.collect::<Result<_, Error>>()?, sizes })
    }

    /// The tiles that there are of it, as constants: its own is the usual one.
    pub fn space(&self) -> Space {
        let rows = self.tiles.iter().map(|tile| tile.constants.iter().copied());
        Space::new().constants(self.constants.iter().copied(), rows)
    }

    /// Its launch at a point of a space that begins as [`Entry::space`]; for constants of none of its tiles, that of its own.
    pub fn launch<'a>(&self, arguments: &'a mut Arguments, at: &Point) -> Launch<'a> {
        let is_at = |tile: &&Tile| {
            self.constants.iter().zip(tile.constants).all(|(name, &value)| at.constant(name) == Some(value))
        };
        let tile = self.tiles.iter().find(is_at).unwrap_or(&self.tiles[0]);
        let constants: Vec<usize> = tile.constants.iter().map(|&n| n as usize).collect();
        let Arguments { sizes, arrays } = arguments;
        let launch = arrays.iter_mut().fold((tile.launch)(), |launch, (role, array)| match role {
            Role::Input => launch.any(array),
            Role::Output => launch.any_mut(array),
            Role::Scratch => launch.any_mut(array).scratch(),
        });
        let launch = (self.scalars)(launch, sizes);
        let count = |n: Option<&usize>| n.map_or(1, |&n| u32::try_from(n).unwrap_or(u32::MAX));
        match (self.grid)(sizes, &constants) {
            Some(grid) => launch.grid([0, 1, 2].map(|axis| count(grid.get(axis)))),
            None => launch,
        }
    }

    /// Measures its tiles, and hints beside them, for arguments of some sizes: [`tune`].
    ///
    /// # Errors
    /// Those of [`tune`].
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_programs::ENTRIES;
    /// use girih_tile::tune::Budget;
    ///
    /// let entry = ENTRIES.iter().find(|entry| entry.name == "row_sum_1x4096").ok_or("listed")?;
    /// let device = Device::open(Select::Sim)?;
    /// let mut arguments = entry.arguments(&device, &entry.small())?;
    /// let tuned = entry.tune(&mut arguments, &entry.space(), &Budget::default())?;
    /// assert!(tuned.costs[0] <= tuned.costs[1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tune(&self, arguments: &mut Arguments, space: &Space, budget: &Budget) -> Result<Tuned, Error> {
        tune(arguments, space, budget, |arguments, at| self.launch(arguments, at))
    }
}

/// Arrays in words.
fn list<'a>(arrays: impl Iterator<Item = (DType, &'a [usize])>) -> String {
    let all: Vec<String> = arrays.map(|(dtype, extents)| format!("{} {extents:?}", dtype.name())).collect();
    if all.is_empty() { "no arrays".into() } else { all.join(", ") }
}
