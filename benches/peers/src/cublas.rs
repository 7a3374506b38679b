//! cuBLASLt, the peer: matrix products, planned once and enqueued into the device's own stream, so that the same timer measures
//! both sides in alternation.
#![allow(unsafe_code, reason = "the peer's interface is C; each block says why it holds")]

mod error;
mod problem;

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;
use std::rc::Rc;

use cudarc::cublaslt::{
    result::{self, CublasError},
    sys,
};
use girih_device::{Buffer, Device, Pod};

pub use error::Error;
pub use problem::Problem;
use problem::{One, Types};

/// The bytes of workspace that every algorithm may use.
const WORKSPACE: usize = 64 << 20;

/// Algorithms asked for: the heuristic has never listed more than eight.
const LISTED: usize = 32;

/// The library, opened for a device. Opening it takes a second or more.
pub struct CublasLt {
    device: Device,
    handle: sys::cublasLtHandle_t,
    workspace: Buffer<u8>,
}

impl CublasLt {
    /// Opens the library.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::NoGpu`]; cuBLASLt's.
    pub fn open(device: &Device) -> Result<Rc<CublasLt>, Error> {
        if device.cuda_stream().is_none() {
            return Err(Error::NoGpu(device.name().into()));
        }
        // SAFETY: loading the library runs nothing but its own initialisers.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::Missing);
        }
        device.synchronize()?; // makes the device's context current on this thread
        let workspace = device.alloc(WORKSPACE)?;
        Ok(Rc::new(CublasLt { device: device.clone(), handle: result::create_handle()?, workspace }))
    }
}

impl Drop for CublasLt {
    fn drop(&mut self) {
        // SAFETY: made by `open`, used by nothing any more: plans keep the library.
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}

/// A vector with an element for each row of a column-major C, which is added before the GELU.
#[derive(Clone, Copy)]
pub struct Bias<'a> {
    address: u64,
    bytes: u64,
    buffer: PhantomData<&'a ()>,
}

impl<'a, T: Pod> From<&'a Buffer<T>> for Bias<'a> {
    fn from(buffer: &'a Buffer<T>) -> Bias<'a> {
        Bias { address: buffer.address(), bytes: buffer.bytes() as u64, buffer: PhantomData }
    }
}

/// A problem with the algorithms that cuBLASLt's own heuristic lists for it.
pub struct Plan<'a> {
    library: Rc<CublasLt>,
    problem: Problem,
    one: One,
    descriptor: sys::cublasLtMatmulDesc_t,
    layouts: [sys::cublasLtMatrixLayout_t; 3],
    /// The heuristic's list, its favourite first.
    algorithms: Vec<sys::cublasLtMatmulAlgo_t>,
    bias: PhantomData<Bias<'a>>,
}

impl<'a> Plan<'a> {
    /// Plans `C = A B`, or with a bias `C = gelu(A B + residual + bias)`.
    ///
    /// # Errors
    /// [`Error::NoTypes`], [`Error::TooSmall`] for the bias, [`Error::NoAnswer`]; cuBLASLt's.
    pub fn new(library: &Rc<CublasLt>, problem: Problem, bias: Option<Bias<'a>>) -> Result<Plan<'a>, Error> {
        let (inputs, output) = (problem.inputs, problem.output);
        let types = Types::of(&problem).ok_or(Error::NoTypes { inputs, output })?;
        library.device.synchronize()?; // makes the device's context current on this thread
        let mut plan = Plan {
            library: library.clone(),
            problem,
            one: types.one,
            descriptor: result::create_matmul_desc(types.compute, types.scale)?,
            layouts: [ptr::null_mut(); 3],
            algorithms: Vec::new(),
            bias: PhantomData,
        };
        plan.describe(bias)?;
        plan.arrange(&types)?;
        plan.choose()?;
        Ok(plan)
    }

    /// Sets a field of the descriptor.
    fn set<V>(&self, attribute: sys::cublasLtMatmulDescAttributes_t, value: V) -> Result<(), CublasError> {
        let from = ptr::from_ref(&value).cast();
        // SAFETY: the descriptor is this plan's; the value is copied during the call and has the size given.
        unsafe { result::set_matmul_desc_attribute(self.descriptor, attribute, from, size_of::<V>()) }
    }

    fn describe(&self, bias: Option<Bias<'a>>) -> Result<(), Error> {
        use sys::cublasLtMatmulDescAttributes_t as Attribute;
        let Problem { a_transposed, b_transposed, fast, .. } = self.problem;
        // CUBLAS_OP_N = 0, CUBLAS_OP_T = 1
        self.set(Attribute::CUBLASLT_MATMUL_DESC_TRANSA, i32::from(a_transposed))?;
        self.set(Attribute::CUBLASLT_MATMUL_DESC_TRANSB, i32::from(b_transposed))?;
        if fast {
            self.set(Attribute::CUBLASLT_MATMUL_DESC_FAST_ACCUM, 1i8)?;
        }
        if let Some(Bias { address, bytes, .. }) = bias {
            let needed = self.problem.m * u64::from(self.problem.output.bits()) / 8;
            if bytes < needed {
                return Err(Error::TooSmall { matrix: 'C', needed, bytes });
            }
            let epilogue = sys::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_GELU_BIAS;
            self.set(Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue as u32)?;
            self.set(Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, address)?;
        }
        Ok(())
    }

    fn arrange(&mut self, types: &Types) -> Result<(), CublasError> {
        use sys::cublasLtMatrixLayoutAttribute_t as Attribute;
        for (i, stored) in self.problem.stored().into_iter().enumerate() {
            let [rows, cols, ld] = [stored.rows, stored.cols, stored.ld];
            self.layouts[i] = result::create_matrix_layout(types.data[i], rows, cols, ld as i64)?;
            let (count, stride) = (self.problem.batch as i32, stored.span() as i64);
            let set = |attribute, value: *const c_void, bytes| {
                // SAFETY: the layout was made above; the value is copied during the call and has the size given.
                unsafe { result::set_matrix_layout_attribute(self.layouts[i], attribute, value, bytes) }
            };
            if self.problem.batch != 1 {
                let [to_count, to_stride] = [ptr::from_ref(&count).cast(), ptr::from_ref(&stride).cast()];
                set(Attribute::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, to_count, size_of::<i32>())?;
                set(Attribute::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, to_stride, size_of::<i64>())?;
            }
        }
        Ok(())
    }

    fn choose(&mut self) -> Result<(), Error> {
        let preference = result::create_matmul_pref()?;
        let attribute = sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
        let [a, b, c] = self.layouts;
        let mut found = [MaybeUninit::<sys::cublasLtMatmulHeuristicResult_t>::uninit(); LISTED];
        let mut count = 0;
        // SAFETY: everything passed was made by this plan and lives; the value has the size given; the list has room for
        // as many results as are asked for.
        let listed = unsafe {
            let bytes = ptr::from_ref(&WORKSPACE).cast();
            result::set_matmul_pref_attribute(preference, attribute, bytes, size_of::<usize>()).and_then(
                |()| {
                    let first = found.as_mut_ptr().cast();
                    let (handle, descriptor, asked) = (self.library.handle, self.descriptor, LISTED as i32);
                    sys::cublasLtMatmulAlgoGetHeuristic(
                        handle, descriptor, a, b, c, c, preference, asked, first, &mut count,
                    )
                    .result()
                },
            )
        };
        // SAFETY: made above, used by nothing any more.
        unsafe { result::destroy_matmul_pref(preference)? };
        listed.map_err(Error::NoAnswer)?;
        for result in found.iter().take(usize::try_from(count).unwrap_or(0)) {
            // SAFETY: the library wrote the first `count` results.
            let result = unsafe { result.assume_init_ref() };
            if result.state == sys::cublasStatus_t::CUBLAS_STATUS_SUCCESS && result.workspaceSize <= WORKSPACE
            {
                self.algorithms.push(result.algo);
            }
        }
        if self.algorithms.is_empty() {
            return Err(Error::NoAnswer(CublasError(sys::cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED)));
        }
        Ok(())
    }

    /// How many algorithms the heuristic lists, its favourite first.
    pub fn algorithms(&self) -> usize {
        self.algorithms.len()
    }

    /// An algorithm by its place in the list, with what cuBLASLt tells of it: numbers of its own.
    pub fn name(&self, index: usize) -> String {
        use sys::cublasLtMatmulAlgoConfigAttributes_t as Attribute;
        let told = |attribute| {
            let (mut value, mut written) = (0u32, 0);
            let algorithm = ptr::from_ref(self.algorithms.get(index)?);
            let (to, bytes) = (ptr::from_mut(&mut value).cast(), size_of::<u32>());
            // SAFETY: the algorithm is one of this plan; the value has room for the bytes given.
            let asked = unsafe {
                sys::cublasLtMatmulAlgoConfigGetAttribute(algorithm, attribute, to, bytes, &mut written)
            };
            asked.result().is_ok().then_some(value)
        };
        let fields = [
            ("id", Attribute::CUBLASLT_ALGO_CONFIG_ID),
            ("tile", Attribute::CUBLASLT_ALGO_CONFIG_TILE_ID),
            ("stages", Attribute::CUBLASLT_ALGO_CONFIG_STAGES_ID),
            ("split", Attribute::CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
        ];
        let fields = fields.into_iter().filter_map(|(name, field)| Some(format!(" {name} {}", told(field)?)));
        format!("cublaslt {index} of {}:{}", self.algorithms(), fields.collect::<String>())
    }

    /// Enqueues the product into the device's stream, by one algorithm of the heuristic's list.
    ///
    /// # Errors
    /// [`Error::NoAlgorithm`] past the list's end; [`Error::TooSmall`]; cuBLASLt's.
    pub fn run<T: Pod, C: Pod>(
        &self,
        index: usize,
        [a, b]: [&Buffer<T>; 2],
        c: &Buffer<C>,
    ) -> Result<(), Error> {
        self.run_with(index, [a, b], None, c)
    }

    /// The same with a residual, which is laid out as C is.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_with<T: Pod, C: Pod>(
        &self,
        index: usize,
        [a, b]: [&Buffer<T>; 2],
        residual: Option<&Buffer<C>>,
        c: &Buffer<C>,
    ) -> Result<(), Error> {
        let listed = self.algorithms.len();
        let algorithm = self.algorithms.get(index).ok_or(Error::NoAlgorithm { index, listed })?;
        let read = residual.unwrap_or(c);
        let needed = self.problem.bytes();
        let buffers = [a.bytes(), b.bytes(), c.bytes().min(read.bytes())];
        for ((matrix, needed), bytes) in "ABC".chars().zip(needed).zip(buffers) {
            if needed > bytes as u64 {
                return Err(Error::TooSmall { matrix, needed, bytes: bytes as u64 });
            }
        }
        let beta = if residual.is_some() { self.one } else { self.one.zero() };
        let [a, b, read, c] = [a.address(), b.address(), read.address(), c.address()].map(address);
        let [a_layout, b_layout, c_layout] = self.layouts;
        let stream = address(self.library.device.cuda_stream().unwrap_or_default());
        // SAFETY: the buffers hold the matrices, as checked above; descriptors, buffers and stream live as long as this
        // plan, and buffers are freed after the work of their stream; the scalars are read during the call.
        unsafe {
            result::matmul(
                self.library.handle,
                self.descriptor,
                self.one.pointer(),
                beta.pointer(),
                a,
                a_layout,
                b,
                b_layout,
                read,
                c_layout,
                c,
                c_layout,
                algorithm,
                address(self.library.workspace.address()),
                WORKSPACE,
                stream.cast(),
            )?;
        }
        Ok(())
    }
}

impl Drop for Plan<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, null where it stopped early, used by nothing any more.
        unsafe {
            for layout in self.layouts.into_iter().filter(|layout| !layout.is_null()) {
                let _ = result::destroy_matrix_layout(layout);
            }
            let _ = result::destroy_matmul_desc(self.descriptor);
        }
    }
}

fn address(device: u64) -> *mut c_void {
    ptr::without_provenance_mut(device as usize)
}
