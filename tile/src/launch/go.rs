//! From a request to a launch: facts, the kernel, checks, the grid.

use girih_device::{Device, LaunchConfig};

use super::cache::{self, Key, Ready};
use super::run::{Given, arguments};
use super::{Launch, LaunchError};
use crate::dtype::is_integer;
use crate::error::Error;
use crate::facts::{ArrayFacts, Concrete, Condition, Facts, Report};
use crate::ir::{Array, ArrayId, Func, Known};

/// The greatest power of two up to `most` that divides a number.
fn power_of_two(n: u64, most: u64) -> u64 {
    if n == 0 { most } else { (1 << n.trailing_zeros().min(63)).min(most) }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Launch<'_> {
    /// Puts the launch into its stream. On the simulator it has run when this returns. A grid without blocks, as that of an empty array,
    /// launches nothing.
    ///
    /// # Errors
    /// [`Error::Build`] for a kernel that is wrong, [`Error::Launch`] for arguments and a grid that do not fit it, [`Error::Place`],
    /// [`Error::Lower`], [`Error::Codegen`], [`Error::Device`].
    #[allow(unsafe_code, reason = "what a launch must promise is checked here")]
    pub fn run(self) -> Result<(), Error> {
        let device = match (&self.stream, self.arrays.first()) {
            (Some(stream), _) => stream.clone(),
            (None, Some(array)) => array.device.clone(),
            (None, None) => return Err(LaunchError::NoDevice { kernel: self.name.into() }.into()),
        };
        let ready = self.ready(device.limits().sm)?;
        self.check_memory(&ready.func, &device)?;
        let Some(grid) = self.blocks(&ready, &device)? else { return Ok(()) };
        self.check_grid(&ready, grid)?;
        let kernel = ready.kernel(&device)?;
        let config = LaunchConfig::new(grid, [ready.compiled.plan.threads, 1, 1])
            .with_dynamic_shared(ready.compiled.kernel.shared_bytes());
        let given: Vec<Given<'_>> = self
            .arrays
            .iter()
            .map(|array| Given {
                buffer: array.buffer,
                extents: array.extents.iter().map(|&n| n as i64).collect(),
                strides: array.strides.iter().map(|&n| n as i64).collect(),
            })
            .collect();
        let scalars: Vec<u64> = self.scalars.iter().map(|&(_, bits)| bits).collect();
        let args = arguments(&ready.compiled, &given, &scalars);
        // SAFETY: every access is in bounds, proved, compared with the grid above, or compared in the kernel; arrays that are written
        // overlap neither themselves nor others, and blocks keep to elements of their own, proved on conditions that were found to hold, or
        // promised by a waiver that is unsafe to give. The arguments are those of the signature that the kernel was built for.
        unsafe { kernel.launch(&config, &args)? };
        Ok(())
    }

    /// Builds the kernel for these arguments, or finds it, without launching it.
    pub(super) fn ready(&self, sm: u32) -> Result<std::sync::Arc<Ready>, Error> {
        let plain = || (self.source)(&self.unknown());
        let tiles = cache::tiles(self.kernel, &self.constants, &plain)?;
        let key =
            Key { kernel: self.kernel, constants: self.constants.clone(), facts: self.facts(&tiles), sm };
        let ready = cache::ready(&key, &|facts| (self.source)(facts))?;
        self.check_arguments(&ready.func)?;
        Ok(ready)
    }

    /// What is known of arguments of which nothing is known but their ranks.
    fn unknown(&self) -> Facts {
        let arrays = self.arrays.iter().map(|array| ArrayFacts {
            extents: vec![Known::MultipleOf(1); array.extents.len()],
            strides: vec![Known::MultipleOf(1); array.strides.len()],
            align: array.dtype.bits().div_ceil(8),
        });
        Facts { arrays: arrays.collect(), scalars: vec![Known::MultipleOf(1); self.scalars.len()] }
    }

    /// What kernels are built for: which strides are 0 and 1, alignment up to 16 bytes, and which tiles divide which extents. Sizes are not
    /// among it.
    fn facts(&self, tiles: &[Vec<Vec<u32>>]) -> Facts {
        let mut facts = self.unknown();
        for (at, array) in self.arrays.iter().enumerate() {
            let bytes = u64::from(array.dtype.bits().div_ceil(8));
            let vector = (16 / bytes).max(1);
            let known = &mut facts.arrays[at];
            known.align = power_of_two(array.bytes.start, 16).max(bytes) as u32;
            for (stride, &n) in known.strides.iter_mut().zip(&array.strides) {
                *stride = match n {
                    0 | 1 => Known::Is(n as i64),
                    n => Known::MultipleOf(power_of_two(n as u64, vector) as i64),
                };
            }
            for (axis, (extent, &n)) in known.extents.iter_mut().zip(&array.extents).enumerate() {
                let n = n as i64;
                let dividing = tiles.get(at).and_then(|axes| axes.get(axis)).into_iter().flatten();
                let dividing = dividing.map(|&tile| i64::from(tile)).filter(|tile| n % tile == 0);
                let vector = power_of_two(n as u64, vector) as i64;
                *extent = Known::MultipleOf(dividing.fold(vector, |all, tile| all / gcd(all, tile) * tile));
            }
        }
        facts
    }

    /// Whether the arguments are those of the kernel's parameters.
    fn check_arguments(&self, func: &Func) -> Result<(), LaunchError> {
        let wanted: Vec<String> = func
            .arrays()
            .iter()
            .filter_map(|array| match array {
                Array::Param(param) => Some(format!(
                    "{}Array<{}, {}>",
                    if param.mutable { "&mut " } else { "&" },
                    param.dtype,
                    param.extents.len()
                )),
                Array::Slice { .. } => None,
            })
            .chain(func.scalars().iter().map(|scalar| scalar.dtype.to_string()))
            .collect();
        let given: Vec<String> = self
            .arrays
            .iter()
            .map(|array| {
                let borrow = if array.mutable { "&mut " } else { "&" };
                format!("{borrow}Array<{}, {}>", array.dtype, array.extents.len())
            })
            .chain(self.scalars.iter().map(|(dtype, _)| dtype.to_string()))
            .collect();
        if wanted == given {
            return Ok(());
        }
        let list = |names: Vec<String>| format!("({})", names.join(", "));
        Err(LaunchError::Arguments { kernel: self.name.into(), wanted: list(wanted), given: list(given) })
    }

    /// The grid, as it was given or follows from the stores; `None` for one without blocks.
    fn blocks(&self, ready: &Ready, device: &Device) -> Result<Option<[u32; 3]>, LaunchError> {
        let kernel = || self.name.to_string();
        let grid = match (self.grid, &ready.grid) {
            (Some(grid), _) => grid,
            (None, Err(why)) => return Err(LaunchError::NoGrid { kernel: kernel(), why: why.clone() }),
            (None, Ok(axes)) => axes.map(|axis| {
                axis.map_or(1, |axis| {
                    let extent = self.arrays[axis.array.index()].extents[usize::from(axis.along)];
                    extent.div_ceil(axis.step as usize) as u32
                })
            }),
        };
        if self.grid.is_none() && grid.contains(&0) {
            return Ok(None);
        }
        let limits = device.limits().grid;
        if let Some(axis) = (0..3).find(|&axis| grid[axis] == 0 || grid[axis] > limits[axis]) {
            return Err(LaunchError::GridExtent { kernel: kernel(), grid, axis, limit: limits[axis] });
        }
        Ok(Some(grid))
    }

    /// Checks a grid against what was proved and against the number of tiles.
    fn check_grid(&self, ready: &Ready, grid: [u32; 3]) -> Result<(), LaunchError> {
        let kernel = || self.name.to_string();
        let extent = |array: ArrayId, axis: u8| self.arrays[array.index()].extents[usize::from(axis)];
        for check in &ready.report.bounds.checks {
            let blocks = grid[usize::from(check.axis)];
            let tiles = extent(check.array, check.along).div_ceil(check.step as usize) as u64;
            if u64::from(blocks) > tiles {
                return Err(LaunchError::GridBeyond {
                    kernel: kernel(),
                    axis: check.axis.into(),
                    blocks,
                    array: self.array_name(&ready.func, check.array.index()),
                    along: check.along.into(),
                    tiles,
                });
            }
        }
        if let Some(&(array, axis)) =
            ready.report.bounds.nonempty.iter().find(|&&(array, axis)| extent(array, axis) == 0)
        {
            let array = self.array_name(&ready.func, array.index());
            return Err(LaunchError::Empty { kernel: kernel(), array, axis: axis.into() });
        }
        let concrete = Concrete {
            grid: grid.map(i64::from),
            extents: self
                .arrays
                .iter()
                .map(|array| array.extents.iter().map(|&n| n as i64).collect())
                .collect(),
            scalars: self
                .scalars
                .iter()
                .map(|&(dtype, bits)| crate::facts::integer(dtype, bits).filter(|_| is_integer(dtype)))
                .collect(),
        };
        let Some(broken) = ready.report.broken(&ready.func, &concrete) else { return Ok(()) };
        let (Condition::OneBlock { array, .. }
        | Condition::Positive { array, .. }
        | Condition::NoWrap { array, .. }) = broken;
        let mut condition = Report::text(&ready.func, broken);
        if let Condition::OneBlock { axis, .. } = broken {
            condition += &format!(", and not {}", grid[usize::from(*axis)]);
        }
        let array = self.array_name(&ready.func, array.index());
        Err(LaunchError::Condition { kernel: kernel(), array, condition })
    }

    /// What tells the kernel apart from others for these arguments on an architecture, such as 90: two launches with equal keys share a
    /// kernel.
    ///
    /// # Errors
    /// Those of building the kernel.
    pub fn key(&self, sm: u32) -> Result<String, Error> {
        let plain = || (self.source)(&self.unknown());
        let tiles = cache::tiles(self.kernel, &self.constants, &plain)?;
        Ok(format!("{:?} {} {:?} sm_{sm}", self.kernel, self.constants, self.facts(&tiles)))
    }

    /// The number of kernels that launches have built so far in this process.
    pub fn kernels_built() -> usize {
        cache::built()
    }
}
