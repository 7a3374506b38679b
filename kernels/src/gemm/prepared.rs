//! Prepared launches of a GEMM.

use std::sync::{Arc, Mutex, PoisonError};

use girih_device::{Arg, Launch};

use super::bind::Need;
use super::passes::Opened;
use super::workspace::Workspace;
use crate::Error;

/// The launches of a GEMM on certain buffers, checked and encoded once ([`Gemm::prepare`](super::Gemm::prepare)).
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The launches of the passes before the product, each with its parameters that are A or B.
    pub(super) copies: Vec<Opened>,
    pub(super) product: Launch,
    /// Whether the kernel's A is the caller's B.
    pub(super) transposed: bool,
    /// Whether zeros stand for the kernel's A or B, whatever buffer is given.
    pub(super) fixed: [bool; 2],
    /// Held over both launches: all that are prepared of one GEMM copy A and B to the same memory.
    pub(super) turn: Option<Arc<Mutex<()>>>,
    pub(super) workspace: Option<Arc<Workspace>>,
    /// What buffers must be, except for those of addresses.
    pub(super) needs: Arc<[Need]>,
}

impl Prepared {
    /// Puts the launches into the stream of their kernels, as often as it is called.
    ///
    /// # Errors
    /// As [`Launch::run`].
    ///
    /// # Safety
    /// As for [`Launch::run`]: memory that girih has not allocated must still be allocated, and hold the problem's matrices. What
    /// [`set`](Prepared::set) has exchanged has the dtype that it had, and what is written shares no memory with anything else, except that an
    /// input that is a matrix may be C itself.
    #[expect(unsafe_code, reason = "launching PTX is unsafe: the contract is the caller's")]
    pub unsafe fn run(&self) -> Result<(), Error> {
        let turn = self.turn.as_ref().map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner));
        // SAFETY: the caller's promise is passed on.
        let launched = self.launches().try_for_each(|launch| unsafe { launch.run() });
        drop(turn);
        if let (Err(_), Some(workspace)) = (&launched, &self.workspace) {
            workspace.reset()?;
        }
        Ok(launched?)
    }

    /// The launches in their order, for engines that call the driver themselves: the copies of A and B, if the kernel does not take these as
    /// they are, and the product. All that are prepared of one GEMM share the memory of the copies, and the GEMMs of one set the workspace: nothing else of that
    /// GEMM may run between these launches, or at the same time.
    pub fn launches(&self) -> impl Iterator<Item = &Launch> {
        self.copies.iter().map(|(launch, _)| launch).chain([&self.product])
    }

    /// Gives `a`, `b` or `c`, or an input or an output of the epilogue by its name, another buffer or number, for later runs. Sizes and
    /// pitches stay. A buffer must hold as many elements as are accessed, may hold more, and must begin where the kernel can access it; both
    /// are checked, as [`Gemm::run_with`](super::Gemm::run_with) does, but not of a GEMM whose matrices are given by their addresses
    /// ([`Problem::by_pointers`](super::Problem::by_pointers)). Whether its dtype is the same is not checked, nor whether it shares memory with
    /// another one: [`run`](Prepared::run) says so.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], [`Error::Address`], [`Error::Input`]; as [`Launch::set`]. Then the launches stay as they were.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let problem = Problem::new(DType::F32, [4, 4, 4], Layout::Tn)?;
    /// let (whole, c) = (device.zeros::<f32>(17)?, device.zeros::<f32>(16)?);
    /// let gemm = Gemms::new(&device).get(&problem, KernelKind::Simt)?;
    /// let mut launch = gemm.prepare(&whole, &whole, &c, &[])?.ok_or("C is not empty")?;
    /// let (odd, short) = (whole.slice(1..)?, whole.slice(..15)?);
    /// assert!(launch.set("a", &odd).is_err_and(|error| error.to_string().contains("multiples of 16 bytes")));
    /// assert!(launch.set("a", &short).is_err_and(|error| error.to_string() == "A needs 16 elements, its buffer has 15"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set<'a>(&mut self, name: &str, value: impl Into<Arg<'a>>) -> Result<(), Error> {
        let value = value.into();
        if let (Arg::Buffer(buffer), Some(need)) = (&value, self.needs.iter().find(|need| need.is_of(name))) {
            need.check(buffer)?;
        }
        let name = match name {
            "a" if self.transposed => "b",
            "b" if self.transposed => "a",
            same => same,
        };
        if name == "a" && self.fixed[0] || name == "b" && self.fixed[1] {
            return Ok(());
        }
        let mut is_copied = false;
        for (launch, open) in &mut self.copies {
            for open in open.iter().filter(|open| ["a", "b"][open.operand] == name) {
                launch.set(&open.name, open.arg(value))?;
                is_copied = true;
            }
        }
        if is_copied {
            return Ok(());
        }
        let has =
            |launch: &Launch, name: &str| launch.kernel().info().params.iter().any(|p| &*p.name == name);
        let map = format!("map_{name}");
        let name = if has(&self.product, &map) { &map } else { name };
        Ok(self.product.set(name, value)?)
    }
}
