//! Templates: launches whose arguments are encoded once and patched at each run.

use std::fmt;

use crate::{Arg, Error, Launch, args::refused_name, prepared::Place};

/// A prepared launch with open parameters, whose arguments each run is given ([`Launch::open`]).
///
/// A run checks and encodes the open arguments alone, and of a tensor map that is given another buffer the address alone
/// (`cuTensorMapReplaceAddress`); an address that is there already costs a comparison. Unlike a [`Launch`], a template keeps only the
/// memory of the parameters that are not open: the buffers of a run may be dropped after it, and are freed after the run's work.
///
/// ```
/// use girih_device::{Arg, Device, LaunchConfig, Select, args};
/// # let text = ".version 7.0 .target sm_80 .address_size 64
/// #     .visible .entry add(.param .u64 x, .param .u32 by) {
/// #       .reg .b32 %r<4>; .reg .b64 %rd<4>;
/// #       ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [by]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4;
/// #       add.u64 %rd0, %rd0, %rd1; ld.global.u32 %r2, [%rd0]; add.u32 %r2, %r2, %r0; st.global.u32 [%rd0], %r2; ret;
/// #     }";
/// let device = Device::open(Select::Sim)?;
/// let kernel = device.load(&girih_ptx::Module::parse(text)?)?.kernel("add")?; // x[tid] += by
/// let (x, y) = (device.upload(&[1u32, 2])?, device.upload(&[10u32, 20])?);
/// let args = kernel.arguments(&args![x, by = 5u32])?;
/// let mut add = kernel.prepare(&LaunchConfig::linear(2, 2), &args)?.open(&["x"])?;
/// for buffer in [&x, &y] {
///     // SAFETY: the kernel reads and writes x[tid] alone, and tid < 2, which is the length of both buffers.
///     unsafe { add.run(&[Arg::from(buffer)])? };
/// }
/// assert_eq!((x.download()?, y.download()?), (vec![6, 7], vec![15, 25]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Template {
    launch: Launch,
    open: Box<[Place]>,
}

impl Launch {
    /// The same launch with these parameters open. The template keeps the encoding of their arguments, and not their memory.
    ///
    /// # Errors
    /// [`Error::ArgumentName`] for a name that no parameter has, or that is there twice.
    pub fn open(self, parameters: &[&str]) -> Result<Template, Error> {
        let mut launch = self;
        let mut open: Vec<Place> = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let place = launch.place(parameter)?;
            if open.iter().any(|other| other.index == place.index) {
                return Err(refused_name(&launch.kernel().info, parameter, "is opened twice"));
            }
            launch.release(place);
            open.push(place);
        }
        Ok(Template { launch, open: open.into() })
    }
}

impl Template {
    /// Puts the launch with these arguments of the open parameters, in the order in which these were opened, into the stream of the kernel;
    /// in a capture ([`Device::capture`](crate::Device::capture)) into the graph, which then keeps the memory. A parameter that holds a
    /// tensor map accepts a buffer, as [`Launch::set`] says.
    ///
    /// # Errors
    /// [`Error::OpenArguments`] unless there is one argument for each open parameter; for each argument as [`Launch::set`]; as
    /// [`Launch::run`]. When this fails, nothing is launched.
    ///
    /// # Safety
    /// As for [`Launch::run`].
    #[allow(unsafe_code, reason = "launching arbitrary PTX is unsafe: the contract is the caller's")]
    pub unsafe fn run(&mut self, args: &[Arg<'_>]) -> Result<(), Error> {
        if args.len() != self.open.len() {
            let params = &self.launch.kernel().info.params;
            let open = self.open.iter().map(|place| params[place.index].name.to_string()).collect();
            return Err(Error::OpenArguments { given: args.len(), open });
        }
        for (place, arg) in self.open.iter().zip(args) {
            self.launch.put(*place, arg)?;
        }
        let memory = || self.launch.memory().chain(args.iter().flat_map(Arg::memory));
        let others = self.launch.device().sequence.others(memory());
        // SAFETY: the caller's promise is passed on.
        unsafe { self.launch.enqueue("Template::run", memory(), &others) }
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = &self.launch.kernel().info.params;
        let open: Vec<_> = self.open.iter().map(|place| &params[place.index].name).collect();
        write!(f, "Template({:?}, open: {open:?})", self.launch)
    }
}

#[cfg(all(test, feature = "cuda", feature = "sim"))]
mod tests;
