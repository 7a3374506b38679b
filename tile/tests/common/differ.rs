//! The simulator against the reference evaluator: one program, one set of inputs, two runs.

use girih_device::{Device, Select, SimOptions};
use girih_tensor::DType;
use girih_tile::compile;
use girih_tile::ir::Func;
use girih_tile::launch::run::{Given, run};
use girih_tile_reference::{self as reference, ArrayData, float};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// How much results of floats may differ, relative to the greater one: none for equal bits (NaN equals NaN, and -0 equals 0).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance(pub(crate) f64);

impl Tolerance {
    /// Equal numbers.
    pub(crate) const EXACT: Tolerance = Tolerance(0.0);

    /// What functions without an exact value are allowed in a dtype.
    pub(crate) fn of(dtype: DType) -> Tolerance {
        Tolerance(match dtype {
            DType::F64 => 1e-12,
            DType::F32 => 5e-6,
            DType::F16 => 2e-3,
            DType::Bf16 => 1.6e-2,
            _ => 0.0,
        })
    }

    /// Whether two elements are equal enough.
    pub(crate) fn accepts(self, dtype: DType, got: u64, want: u64) -> bool {
        if got == want || !dtype.is_float() {
            return got == want;
        }
        let (got, want) = (float::decode(dtype, got), float::decode(dtype, want));
        if got.is_nan() || want.is_nan() {
            return got.is_nan() && want.is_nan();
        }
        got == want || (got - want).abs() <= self.0 * got.abs().max(want.abs())
    }
}

/// The simulator with all checks; warnings of races count as well.
pub(crate) fn simulator() -> Device {
    let options = SimOptions { threads: Some(1), steps: Some(4_000_000), ..SimOptions::checked() };
    Device::open_sim(options).unwrap()
}

/// The GPU, if `GIRIH_DEVICE` is `cuda`: then it runs what the simulator runs otherwise.
fn gpu() -> Option<Device> {
    thread_local! {
        static GPU: Option<Device> = (std::env::var("GIRIH_DEVICE").as_deref() == Ok("cuda"))
            .then(|| Device::open(Select::Cuda(0)).expect("the GPU that GIRIH_DEVICE asks for"));
    }
    GPU.with(Clone::clone)
}

/// Whether a GPU runs what the simulator runs otherwise.
pub(crate) fn on_gpu() -> bool {
    gpu().is_some()
}

/// Runs a program on the simulator for sm_`sm`, or on a GPU, and returns the arrays.
pub(crate) fn simulate(
    func: &Func,
    sm: u32,
    grid: [u32; 3],
    arrays: &[ArrayData],
    scalars: &[u64],
) -> Result<Vec<ArrayData>, String> {
    simulate_on(&gpu().unwrap_or_else(simulator), func, sm, grid, arrays, scalars)
}

/// Runs a program on a device, for sm_`sm`.
pub(crate) fn simulate_on(
    device: &Device,
    func: &Func,
    sm: u32,
    grid: [u32; 3],
    arrays: &[ArrayData],
    scalars: &[u64],
) -> Result<Vec<ArrayData>, String> {
    let compiled = compile(func, sm).map_err(|error| error.to_string())?;
    let buffers: Vec<_> = arrays.iter().map(|array| device.upload(&array.bytes).unwrap()).collect();
    let given: Vec<Given<'_>> = arrays
        .iter()
        .zip(&buffers)
        .map(|(array, buffer)| Given {
            buffer: buffer.into(),
            extents: array.extents.clone(),
            strides: array.strides.clone(),
        })
        .collect();
    // SAFETY: on the simulator a wrong kernel is an error.
    #[allow(unsafe_code, reason = "on the simulator a wrong kernel is an error")]
    let ran = unsafe { run(device, &compiled, grid, &given, scalars) };
    ran.map_err(|error| format!("{error}\n{}", compiled.kernel.module()))?;
    if let Some(finding) = device.sim_findings().first() {
        return Err(format!("{finding:?}\n{}", compiled.kernel.module()));
    }
    Ok(arrays
        .iter()
        .zip(&buffers)
        .map(|(array, buffer)| ArrayData { bytes: buffer.download().unwrap(), ..array.clone() })
        .collect())
}

/// Runs a program on both and compares all arrays.
pub(crate) fn differ(
    func: &Func,
    grid: [u32; 3],
    arrays: &[ArrayData],
    scalars: &[u64],
    tolerance: impl Fn(DType) -> Tolerance,
) -> Result<(), String> {
    let mut wanted = arrays.to_vec();
    reference::run(func, grid, &mut wanted, scalars).map_err(|error| format!("reference: {error}"))?;
    let architectures = gpu().map_or(vec![90, 80], |gpu| vec![gpu.limits().sm]);
    for sm in architectures {
        let got = simulate(func, sm, grid, arrays, scalars).map_err(|error| format!("sm_{sm}: {error}"))?;
        for (i, (got, want)) in got.iter().zip(&wanted).enumerate() {
            let (bits, expected) = (got.elements().unwrap(), want.elements().unwrap());
            let wrong = bits.iter().zip(&expected).position(|(&got, &want)| {
                !tolerance(want_dtype(arrays, i)).accepts(want_dtype(arrays, i), got, want)
            });
            if let Some(at) = wrong {
                let dtype = want_dtype(arrays, i);
                let show = |bits: u64| {
                    let number = if dtype.is_float() { float::decode(dtype, bits) } else { f64::NAN };
                    format!("{bits:#x} ({number})")
                };
                return Err(format!(
                    "sm_{sm}: array {i} of {dtype} {:?}: element {at} is {}, reference has {}",
                    want.extents,
                    show(bits[at]),
                    show(expected[at])
                ));
            }
        }
    }
    Ok(())
}

fn want_dtype(arrays: &[ArrayData], i: usize) -> DType {
    arrays[i].dtype
}

/// The number of cases: `GIRIH_CASES`, or a few.
pub(crate) fn cases(few: usize) -> usize {
    std::env::var("GIRIH_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Random numbers that are the same at every run.
pub(crate) fn random(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// The bits of a random element: small numbers mostly, with the special ones of the dtype among them.
pub(crate) fn element(rng: &mut StdRng, dtype: DType) -> u64 {
    let mask = reference::mask(dtype);
    if dtype == DType::Bool {
        return u64::from(rng.random::<bool>());
    }
    if !dtype.is_float() {
        return match rng.random_range(0..8) {
            0 => rng.random::<u64>() & mask,
            1 => mask,
            2 => 1 << (dtype.bits() - 1),
            3 => (1 << (dtype.bits() - 1)) - 1,
            _ => (rng.random_range(-9i64..10) as u64) & mask,
        };
    }
    let x = match rng.random_range(0..24) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => -0.0,
        4 => 0.0,
        5..10 => rng.random_range(-8i32..9).into(),
        _ => rng.random_range(-4.0..4.0),
    };
    float::encode(dtype, x, girih_tile::ir::Rounding::Nearest)
}

/// A dense array of random elements.
pub(crate) fn array(rng: &mut StdRng, dtype: DType, extents: &[i64]) -> ArrayData {
    let bits: Vec<u64> = (0..extents.iter().product()).map(|_| element(rng, dtype)).collect();
    ArrayData::dense(dtype, extents, &bits)
}

/// A dense array of zeros.
pub(crate) fn zeros(dtype: DType, extents: &[i64]) -> ArrayData {
    ArrayData::dense(dtype, extents, &vec![0; extents.iter().product::<i64>() as usize])
}
