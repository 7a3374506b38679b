//! Graphs: operations that are captured once and replayed any number of times.

use std::{fmt, mem, sync::Arc, thread};

use crate::{
    Device, Error,
    backend::Executable,
    stream::{Allocation, Capture, Loaded, Operation},
};

/// Operations of a stream, captured by [`Device::capture`], to be replayed as one operation of that stream.
///
/// A graph keeps the memory of girih's buffers that it uses, and the code of its kernels. A replay is ordered with the streams
/// of these buffers, as a launch is.
///
/// ```
/// use girih_device::{Device, Error, Select};
/// let device = Device::open(Select::Sim)?;
/// let (x, y) = (device.zeros::<u32>(2)?, device.upload(&[1u32, 2])?);
/// let graph = device.capture(|| {
///     x.copy_from(&y)?; // captured, not done
///     y.fill_bytes(0)
/// })?;
/// assert_eq!(x.download()?, [0, 0]);
/// // SAFETY: the graph keeps the memory of both buffers.
/// unsafe { graph.launch()? };
/// assert_eq!((x.download()?, y.download()?), (vec![1, 2], vec![0, 0]));
/// # Ok::<(), Error>(())
/// ```
pub struct Graph {
    // This is dropped before the memory and the code that the operations use.
    replay: Replay,
    memory: Vec<Arc<Allocation>>,
    _code: Vec<Arc<Loaded>>,
    device: Device,
}

enum Replay {
    Driver(Box<dyn Executable>),
    Recorded(Vec<Operation>),
}

impl Graph {
    /// Replays the operations, as one operation of the stream that they were captured from. On the simulator the operations have
    /// run when this returns.
    ///
    /// # Errors
    /// [`Error::NotCaptured`], [`Error::CapturedByOther`] and [`Error::CapturedApart`] while a stream is being captured; on the
    /// simulator [`Error::Sim`] for what a kernel does wrong, on a GPU the driver's.
    ///
    /// # Safety
    /// The contract of [`Kernel::launch`](crate::Kernel::launch) must hold for each captured launch at each replay. Memory that
    /// girih has not allocated (borrowed memory, addresses as numbers) must still be allocated, and nothing may race with the
    /// replay.
    #[allow(unsafe_code, reason = "a replay launches kernels: the contract is the caller's")]
    pub unsafe fn launch(&self) -> Result<(), Error> {
        let uses: Vec<_> = self.memory.iter().collect();
        self.device.sequence.submit("Graph::launch", &uses, |backend| match &self.replay {
            Replay::Driver(executable) => executable.launch(),
            Replay::Recorded(operations) => operations.iter().try_for_each(|operation| operation(backend)),
        })
    }

    /// The device whose stream the graph was captured from and is replayed in.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph(on {:?})", self.device)
    }
}

impl Device {
    /// Captures the operations that `work` puts into this device's sequence. They are not done until the graph is launched.
    ///
    /// Launches, [`Buffer::fill_bytes`](crate::Buffer::fill_bytes) and [`Buffer::copy_from`](crate::Buffer::copy_from) are captured,
    /// also those that use buffers of other streams; on a GPU so is what other libraries put into the stream
    /// ([`Device::cuda_stream`]). Calls on this stream that wait, allocate, load or record are refused, and so are all operations
    /// of other threads on this stream. Buffers may be dropped. Other streams go on as usual. When `work` fails, the capture ends
    /// and its operations are forgotten. The legacy default stream can't be captured.
    ///
    /// # Errors
    /// `work`'s own; [`Error::NotCaptured`] or [`Error::CapturedByOther`] if the stream is being captured already; the driver's.
    pub fn capture<E: From<Error>>(&self, work: impl FnOnce() -> Result<(), E>) -> Result<Graph, E> {
        self.sequence.catch_up();
        let mut turn = self.sequence.turn();
        turn.refuse(self.backend(), "Device::capture")?;
        let driver = self.backend().begin_capture()?;
        let recorded = (!driver).then(Vec::new);
        let thread = thread::current().id();
        turn.capture = Some(Capture { thread, recorded, memory: Vec::new(), code: Vec::new() });
        drop(turn);
        let capturing = Capturing { device: self };
        work()?;
        mem::forget(capturing);
        Ok(self.end_capture()?)
    }

    fn end_capture(&self) -> Result<Graph, Error> {
        let mut turn = self.sequence.turn();
        let Some(Capture { recorded, memory, code, .. }) = turn.capture.take() else {
            return Err(Error::NotCaptured { operation: "Device::capture" });
        };
        let replay = match recorded {
            Some(operations) => Ok(Replay::Recorded(operations)),
            None => self.backend().end_capture().map(Replay::Driver),
        };
        // If this fails, the captured memory and code are dropped, and their drops lock the stream.
        drop(turn);
        self.sequence.catch_up();
        Ok(Graph { replay: replay?, memory, _code: code, device: self.clone() })
    }
}

/// Ends the capture when its work fails or panics.
struct Capturing<'a> {
    device: &'a Device,
}

impl Drop for Capturing<'_> {
    fn drop(&mut self) {
        let _ = self.device.end_capture();
    }
}
