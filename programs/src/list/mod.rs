//! The kernels by name, each for some dtype and tile, with arguments to launch them with and other tiles to choose among.

mod sample;
mod source;
mod table;

use girih_device::Device;
use girih_tile::error::Error;
use girih_tile::facts::{Facts, Uses};
use girih_tile::ir::Func;
use girih_tile::launch::Launch;
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

    /// Arguments of some sizes, the same each time.
    ///
    /// # Errors
    /// The device's.
    pub fn arguments(&self, device: &Device, sizes: &[usize]) -> Result<Arguments, Error> {
        let samples = self.samples(sizes).into_iter().enumerate();
        let arrays = samples.map(|(at, of)| Ok((of.role, of.on(device, at as u64)?)));
        Ok(Arguments { sizes: sizes.to_vec(), arrays: arrays.collect::<Result<_, Error>>()? })
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
