//! Modules that the driver compiles and loads, and their kernels.

use std::{
    ffi::c_void,
    ptr,
    sync::{Arc, Mutex, PoisonError},
};

use cudarc::driver::{DriverError, result, sys};
use girih_ptx::{self as ptx, KernelInfo};
use sys::{CUfunction_attribute as FunctionAttribute, CUjit_option as Jit};

use super::{context::Context, describe, failed, log};
use crate::sizes::{size, word};
use crate::{
    Assembled, Assembler, DriverVersion, Error, LaunchConfig, Limits, Optimization, Resources,
    assembler::{first_line, target},
    backend::{Backend, Code, Entry, each_argument},
    store::{Store, build},
};

/// The most blocks of a cluster that the driver launches without being told beforehand.
const PORTABLE_CLUSTER: u32 = 8;
/// The most arguments that a launch passes without an allocation on the host.
const FEW: usize = 32;
/// Bytes for each of the compiler's two logs.
const LOG_BYTES: usize = 1 << 18;

/// A loaded module and the log of its compiler.
pub(super) struct Library {
    image: Arc<Image>,
    log: String,
}

/// A module in the driver. It is unloaded when the image is dropped; `module::Loaded` waits for its launches before that.
struct Image {
    context: Arc<Context>,
    module: sys::CUmodule,
}

// SAFETY: the handle is only passed to the driver, which is thread-safe.
unsafe impl Send for Image {}
// SAFETY: as above; nothing is mutated through the handle on the host.
unsafe impl Sync for Image {}

impl Drop for Image {
    fn drop(&mut self) {
        let Ok(_current) = self.context.enter() else { return };
        // SAFETY: the module is loaded, no function of it is left, since each holds this image, and no launch of it runs.
        let _ = unsafe { result::module::unload(self.module) };
    }
}

impl Library {
    /// Loads what was built ahead of time.
    pub(super) fn built(context: &Arc<Context>, built: &Assembled) -> Result<Library, Error> {
        let _current = context.enter()?;
        let module = load_assembled(built)?;
        Ok(Library { image: Arc::new(Image { context: context.clone(), module }), log: built.log.clone() })
    }

    pub(super) fn compile(
        context: &Arc<Context>,
        module: &ptx::Module,
        optimization: Optimization,
        limits: &Limits,
    ) -> Result<Library, Error> {
        let _current = context.enter()?;
        let text = module.to_string();
        let (handle, log) = match Assembler::from_env()? {
            Some(assembler) => {
                let target = target(module, limits.sm);
                let built = build(Store::from_env().as_ref(), &assembler, &text, &target, optimization)?;
                (load_assembled(&built)?, built.log)
            }
            None => {
                let mut logs = Logs::new();
                let handle = load(&text, optimization, &mut logs).map_err(|error| {
                    compile_error(error, &text, &logs, module.version, limits.driver_version)
                })?;
                (handle, Logs::text(&logs.info))
            }
        };
        Ok(Library { image: Arc::new(Image { context: context.clone(), module: handle }), log })
    }
}

fn compile_error(
    error: DriverError,
    text: &str,
    logs: &Logs,
    version: (u8, u8),
    driver: Option<DriverVersion>,
) -> Error {
    use sys::CUresult::*;
    match (error.0, driver) {
        (CUDA_ERROR_UNSUPPORTED_PTX_VERSION, Some(driver)) => {
            Error::DriverTooOld { driver, what: format!("a module of PTX {}.{}", version.0, version.1) }
        }
        _ if logs.error[0] != 0 => {
            let log = Logs::text(&logs.error);
            let (code, line) = (describe(error).0, first_line(&log, text));
            Error::Jit { compiler: "the driver's PTX compiler", code, line, log }
        }
        _ => failed("cuModuleLoadDataEx")(error),
    }
}

/// Buffers that the compiler writes its logs into.
struct Logs {
    info: Vec<u8>,
    error: Vec<u8>,
}

impl Logs {
    fn new() -> Logs {
        Logs { info: vec![0; LOG_BYTES], error: vec![0; LOG_BYTES] }
    }

    fn text(bytes: &[u8]) -> String {
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).trim_end().to_string()
    }
}

/// Compiles PTX text for the current context and loads the result. The driver's linker (`cuLinkAddData`) must not be used: it
/// compiles code that can be linked with other code, in which it ignores `setmaxnreg`. The logs stay empty where the driver finds
/// the code in its cache on disk.
fn load(text: &str, optimization: Optimization, logs: &mut Logs) -> Result<sys::CUmodule, DriverError> {
    let mut keys = [
        Jit::CU_JIT_INFO_LOG_BUFFER,
        Jit::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        Jit::CU_JIT_ERROR_LOG_BUFFER,
        Jit::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        Jit::CU_JIT_LOG_VERBOSE,
        Jit::CU_JIT_OPTIMIZATION_LEVEL,
    ];
    // The driver takes integers as the values of pointers. It is given one byte less than each log has, so that a zero ends the log.
    let size = ptr::without_provenance_mut::<c_void>(LOG_BYTES - 1);
    let on = ptr::without_provenance_mut::<c_void>(1);
    let level = ptr::without_provenance_mut::<c_void>(match optimization {
        Optimization::None => 0,
        Optimization::Full => 4,
    });
    let (info, error) = (logs.info.as_mut_ptr().cast(), logs.error.as_mut_ptr().cast());
    let mut values = [info, size, error, size, on, level];
    let source: Vec<u8> = text.bytes().chain([0]).collect();
    let mut module = ptr::null_mut();
    // SAFETY: the options, their values, the logs and the source outlive the call, and a zero ends the source.
    unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            source.as_ptr().cast(),
            word(keys.len()),
            keys.as_mut_ptr(),
            values.as_mut_ptr(),
        )
        .result()?;
    }
    Ok(module)
}

/// Loads machine code into the current context.
fn load_assembled(built: &Assembled) -> Result<sys::CUmodule, Error> {
    let mut module = ptr::null_mut();
    // SAFETY: the driver reads an ELF file, which says itself how long it is, and which is not freed before the call has returned. It
    // comes from the assembler, or from the store or a bundle, whose checksum it has passed.
    unsafe { sys::cuModuleLoadData(&mut module, built.code.as_ptr().cast()) }
        .result()
        .map_err(failed("cuModuleLoadData"))?;
    Ok(module)
}

impl Code for Library {
    fn log(&self) -> &str {
        &self.log
    }

    fn kernel(&self, info: &Arc<KernelInfo>) -> Result<Arc<dyn Entry>, Error> {
        let _current = self.image.context.enter()?;
        let name = std::ffi::CString::new(&*info.name).map_err(|_| no_such(info))?;
        // SAFETY: the module is loaded as long as the image lives, and the result holds the image.
        let function = unsafe { result::module::get_function(self.image.module, name) };
        let function = function.map_err(failed("cuModuleGetFunction"))?;
        let get = |attribute| {
            // SAFETY: `function` belongs to the loaded module.
            let value = unsafe { result::function::get_function_attribute(function, attribute) };
            value.map(i32::unsigned_abs).map_err(failed("cuFuncGetAttribute"))
        };
        let resources = Resources {
            registers: Some(get(FunctionAttribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?),
            local_bytes: Some(get(FunctionAttribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?),
            spill_bytes: log::spill_bytes(&self.log, &info.name),
            static_shared: get(FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            max_threads: get(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            instructions: info.instructions,
        };
        Ok(Arc::new(Function {
            image: self.image.clone(),
            function,
            info: info.clone(),
            resources,
            opted_in: Mutex::new(0),
        }))
    }
}

fn no_such(info: &KernelInfo) -> Error {
    Error::NoSuchKernel { kernel: info.name.to_string(), available: Vec::new() }
}

/// A kernel of a loaded module. `module::Loaded` makes one for each kernel, which knows what the driver has been told of the kernel.
struct Function {
    image: Arc<Image>,
    function: sys::CUfunction,
    info: Arc<KernelInfo>,
    resources: Resources,
    /// The most bytes of dynamic shared memory that the driver has been told to allow.
    opted_in: Mutex<u32>,
}

// SAFETY: the handle is only passed to the driver, which is thread-safe.
unsafe impl Send for Function {}
// SAFETY: as above; the attribute that is set through the handle is guarded by the mutex.
unsafe impl Sync for Function {}

impl Function {
    /// Allows launches with clusters of this many blocks. The driver must be told of clusters that some GPUs have no room for.
    fn allow_cluster(&self, cluster: Option<[u32; 3]>) -> Result<(), Error> {
        if cluster.is_some_and(|cluster| cluster.iter().product::<u32>() > PORTABLE_CLUSTER) {
            let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
            // SAFETY: the function belongs to a loaded module.
            unsafe { result::function::set_function_attribute(self.function, attribute, 1) }
                .map_err(failed("cuFuncSetAttribute"))?;
        }
        Ok(())
    }

    /// Allows launches with this many bytes of dynamic shared memory. Without being told, the driver allows 48 KiB.
    fn opt_in(&self, bytes: u32) -> Result<(), Error> {
        let mut opted_in = self.opted_in.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes > *opted_in {
            let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // The driver refuses the largest number as it would refuse a larger one.
            let value = i32::try_from(bytes).unwrap_or(i32::MAX);
            // SAFETY: the function belongs to a loaded module.
            unsafe { result::function::set_function_attribute(self.function, attribute, value) }
                .map_err(failed("cuFuncSetAttribute"))?;
            *opted_in = bytes;
        }
        Ok(())
    }
}

impl Entry for Function {
    fn resources(&self) -> Resources {
        self.resources
    }

    fn function(&self) -> Option<u64> {
        Some(self.function.expose_provenance() as u64)
    }

    fn allow(&self, config: &LaunchConfig) -> Result<(), Error> {
        let _current = self.image.context.enter()?;
        self.opt_in(config.dynamic_shared)?;
        self.allow_cluster(config.cluster.or(self.info.required_cluster))
    }

    unsafe fn launch(&self, on: &dyn Backend, config: &LaunchConfig, args: &[u8]) -> Result<(), Error> {
        let _current = self.image.context.enter()?;
        let (mut few, mut many) = ([ptr::null_mut(); FEW], Vec::new());
        let count = self.info.params.len();
        let pointers: &mut [*mut c_void] = match few.get_mut(..count) {
            Some(few) => few,
            None => {
                many.resize(count, ptr::null_mut());
                &mut many
            }
        };
        for (pointer, argument) in pointers.iter_mut().zip(each_argument(&self.info, args)) {
            *pointer = argument.as_ptr().cast_mut().cast();
        }
        let mut attributes = [cooperative(); 3];
        let mut attribute_count = 0;
        let asked = config.cluster.map(cluster_of).into_iter();
        let asked = asked.chain(config.cooperative.then(cooperative));
        for attribute in asked.chain(config.programmatic.then(programmatic)) {
            attributes[attribute_count] = attribute;
            attribute_count += 1;
        }
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (config.grid, config.block);
        let launch = sys::CUlaunchConfig {
            gridDimX: grid_x,
            gridDimY: grid_y,
            gridDimZ: grid_z,
            blockDimX: block_x,
            blockDimY: block_y,
            blockDimZ: block_z,
            sharedMemBytes: config.dynamic_shared,
            hStream: ptr::with_exposed_provenance_mut(size(on.stream().unwrap_or(0))),
            attrs: attributes.as_mut_ptr(),
            numAttrs: word(attribute_count),
        };
        // SAFETY: there is one pointer for each parameter, to as many bytes as the parameter has, and there are as many attributes
        // as are counted. The driver copies all of them before it returns, and writes none. The stream belongs to the module's
        // context, since the typed layer launches a kernel on the kernel's own device only. The caller of `Kernel::launch` promises
        // that the kernel may run.
        unsafe { sys::cuLaunchKernelEx(&launch, self.function, pointers.as_mut_ptr(), ptr::null_mut()) }
            .result()
            .map_err(failed("cuLaunchKernelEx"))
    }
}

/// The attribute of a launch in clusters.
fn cluster_of([x, y, z]: [u32; 3]) -> sys::CUlaunchAttribute {
    sys::CUlaunchAttribute {
        id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        pad: [0; 4],
        value: sys::CUlaunchAttributeValue {
            clusterDim: sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z },
        },
    }
}

/// The attribute of a launch whose blocks all run at the same time.
fn cooperative() -> sys::CUlaunchAttribute {
    sys::CUlaunchAttribute {
        id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        pad: [0; 4],
        value: sys::CUlaunchAttributeValue { cooperative: 1 },
    }
}

/// The attribute of a launch that may begin before the kernel before it has ended.
fn programmatic() -> sys::CUlaunchAttribute {
    sys::CUlaunchAttribute {
        id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        pad: [0; 4],
        value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
    }
}
