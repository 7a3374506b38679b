//! Building, checking and running a launch.

use std::sync::Arc;

use girih_codegen::Kernel;
use girih_device::{Device, Limits};

use super::cache::{self, Program, Ready, Spec};
use super::entry::Work;
use super::passed::Written;
use super::request::ArrayArgument;
use super::words::stable_hash;
use super::{Launch, LaunchError};
use crate::error::{Error, Warning, Warnings};
use crate::explain::{Explanation, Sizes, explain_at};
use crate::facts::{Facts, Found, Uses};
use crate::lower::Target;
use crate::resources::Assembled;

impl Launch<'_> {
    /// Puts the launch into its stream. On the simulator it has run when this returns. A grid without blocks, as that of an empty array,
    /// launches nothing.
    ///
    /// While the stream is being captured ([`Device::capture`]) the launch goes into the graph. What is not built and prepared by then is
    /// refused: an equal launch that ran before the capture, or [`Launch::prepare`], sees to it.
    ///
    /// [`Launch::warnings`] reports probable mistakes, such as a grid that is too small for the array that is stored to.
    ///
    /// # Errors
    /// [`Error::Build`] for a kernel that is wrong, [`Error::Launch`] for arguments and a grid that do not fit it, [`Error::Place`],
    /// [`Error::Lower`], [`Error::Codegen`], [`Error::Device`].
    /// [`Error::Finding`] for what the simulator finds in the kernel.
    pub fn run(self) -> Result<(), Error> {
        self.entry(self.device()?)?.run(&self)
    }

    /// The warnings of the launch, such as a grid that is too small for the array that is stored to. The kernel is built and the launch checked, and
    /// nothing runs. If the environment variable `GIRIH_PTXAS` names NVIDIA's assembler, its warnings are included.
    ///
    /// # Errors
    /// As [`Launch::run`], and [`Error::Device`] for an assembler that does not run.
    pub fn warnings(&self) -> Result<Warnings, Error> {
        let device = self.device()?;
        let entry = self.entry(device)?;
        let Work::Params(_) = entry.work else { return Ok(entry.warnings.clone()) };
        let assembled = Assembled::from_env(&entry.ready.compiled.kernel, device.limits().sm)?;
        let bad = assembled.filter(|assembled| !assembled.is_clean());
        let bad = bad.map(|assembled| Warning::Assembled { kernel: self.name.into(), assembled });
        Ok(entry.warnings.with(bad))
    }

    /// The device, and the stream of it, that the launch goes to.
    pub(super) fn device(&self) -> Result<&Device, LaunchError> {
        let first = || self.arrays.first().map(|of| of.array.device());
        self.stream.as_ref().or_else(first).ok_or_else(|| LaunchError::NoDevice { kernel: self.name.into() })
    }

    /// Builds the kernel for these arguments, or finds it, without launching it.
    pub(super) fn ready(&self, sm: u32) -> Result<Arc<Ready>, Error> {
        let (program, spec) = self.spec(sm)?;
        program.ready(spec)
    }

    /// The launch's program, and what distinguishes the kernel from others of it.
    fn spec(&self, sm: u32) -> Result<(Arc<Program>, Spec), Error> {
        let program = self.program()?;
        self.check_arguments(&program.func)?;
        let (facts, hints) = (self.facts(&program.uses), self.hints.resolve(sm));
        let programmatic = self.programmatic && sm >= 90;
        Ok((program, Spec { facts, hints, target: Target { programmatic, ..Target::from(sm) } }))
    }

    /// The facts of the arguments that the program requests.
    fn facts(&self, uses: &Uses) -> Facts {
        let found = self.arrays.iter().map(|of| Found {
            extents: of.array.extents(),
            strides: of.array.strides(),
            address: of.array.bytes().start,
        });
        uses.facts(&found.collect::<Vec<_>>(), self.scalars.len())
    }

    /// The kernels that the launch runs on an architecture, such as 90, to be built ahead of time ([`Bundle::assemble`]): the device that is
    /// provided with the bundle ([`Device::provide`]) takes them, for launches of arguments with the same facts. Arrays of the simulator
    /// stand for those of a GPU.
    ///
    /// [`Bundle::assemble`]: girih_device::Bundle::assemble
    ///
    /// # Errors
    /// As building the kernel for a launch.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Assembler, Bundle, Device, Select};
    /// use girih_tile::launch::DeviceArray;
    /// use girih_tile::prelude::*;
    ///
    /// #[kernel]
    /// fn half(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    ///     y.tiles_mut([64]).store((bid(0),), x.tiles([64]).load((bid(0),)) * 0.5);
    /// }
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let (x, mut y) = (DeviceArray::zeros(&device, [640])?, DeviceArray::zeros(&device, [640])?);
    /// let kernels = half(&x, &mut y).kernels(90)?;
    /// assert!(kernels[0].module().to_string().contains(".entry half("));
    /// // In a program that runs before the other one is compiled; that one has `include_kernel!("half.bundle")`.
    /// if let Some(assembler) = Assembler::find("ptxas") {
    ///     let file = Bundle::assemble(&assembler, 90, &kernels)?.to_bytes();
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn kernels(&self, sm: u32) -> Result<Vec<Kernel>, Error> {
        Ok(vec![self.ready(sm)?.compiled.kernel.clone()])
    }

    /// Explains the kernel that the launch runs on an architecture, such as 90: how often its loops run, and what limits it, by the extents of its
    /// arrays and its grid.
    ///
    /// # Errors
    /// Those of building the kernel, and of arguments that are not the kernel's.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_tile::launch::DeviceArray;
    /// use girih_tile::prelude::*;
    ///
    /// #[kernel]
    /// fn row_sum(x: &Array<f32, 2>, y: &mut Array<f32, 1>) {
    ///     let mut sum = zeros::<f32>([256]);
    ///     for step in 0..cdiv(x.dim(1), 256) {
    ///         sum += x.tiles([1, 256]).padding(Padding::Zero).load((bid(0), step)).reshape([256]);
    ///     }
    ///     y.tiles_mut([1]).store((bid(0),), sum.sum(keep(0)));
    /// }
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let (x, mut y) = (DeviceArray::zeros(&device, [8, 1024])?, DeviceArray::zeros(&device, [8])?);
    /// let explanation = row_sum(&x, &mut y).explain(90)?;
    /// assert_eq!(explanation.bytes(), (4 * 1024 + 4, false));
    /// assert!(explanation.to_string().contains("// 4 iterations"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain(&self, sm: u32) -> Result<Explanation, Error> {
        let ready = self.ready(sm)?;
        let extents = self.arrays.iter().map(|of| {
            let extents = of.array.extents().iter();
            extents.map(|&extent| i64::try_from(extent).unwrap_or(i64::MAX)).collect()
        });
        let sizes = Sizes { extents: extents.collect(), grid: self.grid_of(&ready.grid).ok() };
        explain_at(&ready.func, sm, sizes)
    }

    /// The key of the kernel for these arguments on an architecture, such as 90: two launches with equal keys share a kernel.
    ///
    /// # Errors
    /// Those of building the kernel, and of arguments that are not the kernel's.
    pub fn key(&self, sm: u32) -> Result<String, Error> {
        let (_, spec) = self.spec(sm)?;
        Ok(format!("{:?} {:?} {spec:?}", self.kernel, &*self.constants.0))
    }

    /// The number of kernels that launches have built so far in this process.
    pub fn kernels_built() -> usize {
        cache::built()
    }

    /// The arrays that are written, as they are now.
    pub(crate) fn written(&self) -> Result<Vec<Written>, Error> {
        let all = self.arrays.iter().enumerate().filter(|(_, of)| of.mutable);
        all.map(|(at, of)| Written::new(of.array.any()?, !self.is_scratch(at))).collect()
    }

    /// The limits of the device that the launch goes to.
    pub(crate) fn limits(&self) -> Result<&Limits, Error> {
        Ok(self.device()?.limits())
    }

    /// A number that tells the program from others, the same in each process: that of its text.
    pub(crate) fn program_hash(&self) -> Result<u64, Error> {
        Ok(stable_hash(&self.program()?.func.to_string()))
    }

    /// The key of the program's kernels without hints.
    pub(crate) fn facts_text(&self, sm: u32) -> Result<String, Error> {
        let (_, Spec { facts, target, .. }) = self.spec(sm)?;
        Ok(format!("{facts:?} {target:?}"))
    }

    /// The kernel's name, and types, extents and strides of the arguments.
    pub(crate) fn described(&self) -> String {
        let array = |of: &ArrayArgument<'_>| {
            let (borrow, array) = (if of.mutable { "mut " } else { "" }, of.array);
            format!("{borrow}{} {:?}:{:?}", array.dtype(), array.extents(), array.strides())
        };
        let scalars = self.scalars.iter().map(|scalar| scalar.0.to_string());
        let arguments: Vec<String> = self.arrays.iter().map(array).chain(scalars).collect();
        let grid = self.grid.map(|grid| format!(" on {grid:?}")).unwrap_or_default();
        format!("{}({}){grid}", self.name, arguments.join(", "))
    }
}
