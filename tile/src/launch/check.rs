//! The checks of a launch.

use girih_device::Device;
use girih_tensor::DType;

use super::beyond::{Beyond, beyond};
use super::cache::Ready;
use super::request::ArrayArgument;
use super::{Launch, LaunchError, is_injective};
use crate::error::{Warning, Warnings};
use crate::facts::{Concrete, Condition, GridAxis, Report, Short, integer, short};
use crate::ir::{Array, ArrayId, Func};

impl Launch<'_> {
    /// A parameter's name for messages.
    fn array_name(&self, func: &Func, at: usize) -> String {
        match func.arrays().get(at) {
            Some(Array::Param(param)) => param.name.clone(),
            _ => format!("argument {at}"),
        }
    }

    /// Whether the arguments are those of the program's parameters.
    pub(super) fn check_arguments(&self, func: &Func) -> Result<(), LaunchError> {
        let params = || func.params().map(|(_, param)| (param.mutable, param.dtype, param.extents.len()));
        let arrays = || self.arrays.iter().map(|of| (of.mutable, of.array.dtype(), of.array.extents().len()));
        let scalars = func.scalars().iter().map(|scalar| scalar.dtype);
        if params().eq(arrays()) && scalars.eq(self.scalars.iter().map(|scalar| scalar.0)) {
            return Ok(());
        }
        let name =
            |(mutable, dtype, rank)| format!("{}Array<{dtype}, {rank}>", if mutable { "&mut " } else { "&" });
        let wanted = params().map(name).chain(func.scalars().iter().map(|scalar| scalar.dtype.to_string()));
        let given = arrays().map(name).chain(self.scalars.iter().map(|scalar| scalar.0.to_string()));
        let [wanted, given] =
            [wanted.collect::<Vec<_>>(), given.collect()].map(|names| format!("({})", names.join(", ")));
        Err(LaunchError::Arguments { kernel: self.name.into(), wanted, given })
    }

    /// Checks what addresses decide: that all arrays are on the device, and that none that is written overlaps another argument.
    pub(super) fn check_places(&self, func: &Func, device: &Device) -> Result<(), LaunchError> {
        for (at, of) in self.arrays.iter().enumerate() {
            if !of.array.device().is_same(device) {
                let array = self.array_name(func, at);
                return Err(LaunchError::OtherDevice { kernel: self.name.into(), array });
            }
            if !of.mutable {
                continue;
            }
            let own = of.array.bytes();
            for (beside, other) in self.arrays.iter().enumerate().filter(|&(beside, _)| beside != at) {
                let other = other.array.bytes();
                let bytes = own.end.min(other.end).saturating_sub(own.start.max(other.start));
                if bytes > 0 {
                    return Err(LaunchError::Alias {
                        kernel: self.name.into(),
                        array: self.array_name(func, at),
                        other: self.array_name(func, beside),
                        bytes,
                    });
                }
            }
        }
        Ok(())
    }

    /// Checks that no array that is written overlaps itself.
    pub(super) fn check_strides(&self, func: &Func) -> Result<(), LaunchError> {
        for (at, of) in self.arrays.iter().enumerate().filter(|(_, of)| of.mutable) {
            if !is_injective(of.array.extents(), of.array.strides()) {
                return Err(LaunchError::OverlappingStrides {
                    kernel: self.name.into(),
                    array: self.array_name(func, at),
                    extents: of.array.extents().to_vec(),
                    strides: of.array.strides().to_vec(),
                });
            }
        }
        Ok(())
    }

    /// The grid, as it was given or follows from the stores, by axes.
    pub(super) fn grid_of(
        &self,
        axes: &Result<[Option<GridAxis>; 3], String>,
    ) -> Result<[u32; 3], LaunchError> {
        match (self.grid, axes) {
            (Some(grid), _) => Ok(grid),
            (None, Err(why)) => Err(LaunchError::NoGrid { kernel: self.name.into(), why: why.clone() }),
            (None, Ok(axes)) => Ok(axes.map(|axis| {
                axis.map_or(1, |axis| {
                    let extent = self.arrays[axis.array.index()].array.extents()[usize::from(axis.along)];
                    // What 32 bits do not hold is beyond every device's grid.
                    u32::try_from(extent.div_ceil(axis.step as usize)).unwrap_or(u32::MAX)
                })
            })),
        }
    }

    /// The grid; `None` for one without blocks.
    pub(super) fn blocks(&self, ready: &Ready, device: &Device) -> Result<Option<[u32; 3]>, LaunchError> {
        let kernel = || self.name.to_string();
        let grid = self.grid_of(&ready.grid)?;
        if self.grid.is_none() && grid.contains(&0) {
            return Ok(None);
        }
        let limits = device.limits().grid;
        if let Some(axis) = (0..3).find(|&axis| grid[axis] == 0 || grid[axis] > limits[axis]) {
            return Err(LaunchError::GridExtent { kernel: kernel(), grid, axis, limit: limits[axis] });
        }
        Ok(Some(grid))
    }

    /// Checks a grid against the number of tiles.
    pub(super) fn check_grid(&self, ready: &Ready, grid: [u32; 3]) -> Result<(), LaunchError> {
        let kernel = || self.name.to_string();
        let extent = |array: ArrayId, axis: u8| self.arrays[array.index()].array.extents()[usize::from(axis)];
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
        Ok(())
    }

    /// Numbers as proofs take them; without the scalars, what holds of them holds for all scalars.
    fn concrete(&self, grid: [u32; 3], scalars: bool) -> Concrete {
        let extents = |of: &ArrayArgument<'_>| of.array.extents().iter().map(|&n| n as i64).collect();
        let known =
            |&(dtype, bits): &(DType, u64)| integer(dtype, bits).filter(|_| scalars && dtype.is_integer());
        Concrete {
            grid: grid.map(i64::from),
            extents: self.arrays.iter().map(extents).collect(),
            scalars: self.scalars.iter().map(known).collect(),
        }
    }

    /// Whether what proofs rest on holds whatever the scalars are.
    pub(super) fn is_sure(&self, ready: &Ready, grid: [u32; 3]) -> bool {
        let by_scalars =
            |condition: &Condition| matches!(condition, Condition::Step { by_scalars: true, .. });
        !ready.report.conditions.iter().any(by_scalars)
            && ready.report.broken(&ready.func, &self.concrete(grid, false)).is_none()
    }

    /// What is accepted and hardly meant; an error for what is certain to have no meaning.
    pub(super) fn check_meaning(&self, ready: &Ready, grid: [u32; 3]) -> Result<Warnings, LaunchError> {
        let (func, with) = (&ready.func, self.concrete(grid, false));
        let kernel = || self.name.to_string();
        let name = |array: ArrayId| self.array_name(func, array.index());
        let mut found = Vec::new();
        for Beyond { site, array, axis, tile, extent, is_certain } in beyond(func, &with) {
            let (kernel, array, axis) = (kernel(), name(array), axis.into());
            let site = site.map(|site| format!(" at {site}")).unwrap_or_default();
            if is_certain {
                return Err(LaunchError::Padding { kernel, array, site, axis, tile, extent });
            }
            found.push(Warning::Padding { kernel, array, site, axis, tile, extent });
        }
        let short = short(func, &with).into_iter().filter(|short| !self.is_scratch(short.array.index()));
        found.extend(short.map(|Short { array, axis, covered, extent }| {
            let (kernel, array, axis) = (kernel(), name(array), axis.into());
            Warning::Short { kernel, array, axis, grid, covered, extent }
        }));
        Ok(Warnings::new(found))
    }

    /// Checks what proofs rest on.
    pub(super) fn check_conditions(&self, ready: &Ready, grid: [u32; 3]) -> Result<(), LaunchError> {
        let found = ready.report.broken(&ready.func, &self.concrete(grid, true));
        let Some(broken) = found else { return Ok(()) };
        let kernel = self.name.into();
        let array = match broken {
            Condition::OneBlock { array, .. }
            | Condition::Positive { array, .. }
            | Condition::NoWrap { array, .. } => array,
            Condition::Step { site, .. } => {
                let condition = Report::text(&ready.func, broken);
                let site = site.map(|site| format!(" at {site}")).unwrap_or_default();
                return Err(LaunchError::Step { kernel, site, condition });
            }
        };
        let mut condition = Report::text(&ready.func, broken);
        if let Condition::OneBlock { axis, .. } = broken {
            condition += &format!(", and not {}", grid[usize::from(*axis)]);
        }
        let array = self.array_name(&ready.func, array.index());
        Err(LaunchError::Condition { kernel, array, condition })
    }
}
