//! Products, attention and programs over tiles, on arrays that girih._memory describes.

use girih::kernels::attention::{self, Diagonal, Mask, Tensor4};
use girih::kernels::gemm::{self, Given, Order};
use girih::programs::{ENTRIES, Role};
use girih::tensor::DType;
use girih::tile::launch::AnyArray;
use girih::tile::tune::Point;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::{Described, OnDevice};
use crate::device::Device;
use crate::error::Result;
use crate::kept::Activation;
use girih::device::sizes::size;

/// How a matrix is laid out: whether its first mode is contiguous, and the other stride.
fn order(array: &OnDevice) -> Result<(bool, i64)> {
    let name = &array.name;
    let (&[rows, columns], &[down, across]) = (&array.shape[..], &array.strides[..]) else {
        return Err(
            PyValueError::new_err(format!("{name} must have two axes, not {}", array.shape.len())).into()
        );
    };
    // A stride of an axis of one element has no effect.
    let empty = rows == 0 || columns == 0;
    let row_major = (across == 1 || columns <= 1) && (down >= columns || rows <= 1) || empty;
    let column_major = (down == 1 || rows <= 1) && (across >= rows || columns <= 1);
    match (row_major, column_major) {
        (true, _) => Ok((false, down)),
        (_, true) => Ok((true, across)),
        _ => Err(PyValueError::new_err(format!(
            "{name} has the strides ({down}, {across}): its rows or its columns must be contiguous, and must not overlap"
        ))
        .into()),
    }
}

/// c = activation(a @ b + bias)
#[pyfunction]
#[pyo3(signature = (device, a, b, c, bias, activation, tf32))]
#[allow(clippy::too_many_arguments, reason = "girih.kernels calls it, by position")]
fn _gemm(
    py: Python<'_>,
    device: &Device,
    a: Described<'_>,
    b: Described<'_>,
    c: Described<'_>,
    bias: Option<Described<'_>>,
    activation: Option<&str>,
    tf32: bool,
) -> Result<()> {
    let a = OnDevice::new(device, "a", a)?;
    let b = OnDevice::new(device, "b", b)?;
    let c = OnDevice::new(device, "out", c)?;
    let bias = bias.map(|bias| OnDevice::new(device, "bias", bias)).transpose()?;
    c.is_written([&a, &b].into_iter().chain(&bias))?;
    let ((a_columns, lda), (b_columns, ldb), (c_columns, ldc)) = (order(&a)?, order(&b)?, order(&c)?);
    let [m, k] = [a.shape[0], a.shape[1]];
    let n = b.shape[1];
    if b.shape[0] != k || c.shape != [m, n] {
        return Err(PyValueError::new_err(format!(
            "a is {m} x {k}, b is {} x {n} and out is {} x {}: a of M x K, b of K x N and out of M x N are accepted",
            b.shape[0], c.shape[0], c.shape[1]
        ))
        .into());
    }
    let layout = match (a_columns, b_columns) {
        (false, true) => gemm::Layout::Tn,
        (false, false) => gemm::Layout::Tt,
        (true, true) => gemm::Layout::Nn,
        (true, false) => gemm::Layout::Nt,
    };
    let dtype = if tf32 && a.dtype == DType::F32 { DType::Tf32 } else { a.dtype };
    let problem = gemm::Problem::new(dtype, [m, n, k], layout)?
        .with_output(c.dtype)?
        .with_order(if c_columns { Order::Column } else { Order::Row })
        .with_pitches(Some(lda), Some(ldb), Some(ldc))?
        .with_alignments(Some(a.alignment()), Some(b.alignment()), Some(c.alignment()))?;
    if let Some(bias) = &bias
        && (bias.shape != [n] || bias.strides != [1] && n > 1)
    {
        return Err(PyValueError::new_err(format!(
            "bias must be a contiguous vector of {n}, not of {:?} with the strides {:?}",
            bias.shape, bias.strides
        ))
        .into());
    }
    let activation = activation.map(Activation::named).transpose()?;
    device.work(py, || {
        let of_bias = bias.as_ref().map(|bias| (bias.dtype, bias.alignment() == 16));
        let kernel = device.products.gemm((problem, of_bias, activation))?;
        let given = bias.as_ref().map(|bias| ("bias", Given::from(bias.untyped())));
        Ok(kernel.run_untyped([&a, &b, &c].map(OnDevice::untyped), given.as_slice())?)
    })?;
    c.back(py)
}

/// o = softmax(scale q k^T + mask) v
#[pyfunction]
#[pyo3(signature = (device, tensors, bshd, causal, window, scale, softcap, sinks))]
#[allow(clippy::too_many_arguments, reason = "girih.kernels calls it, by position")]
fn _attention(
    py: Python<'_>,
    device: &Device,
    tensors: [Described<'_>; 4],
    bshd: bool,
    causal: Option<&str>,
    window: Option<i64>,
    scale: Option<f32>,
    softcap: Option<f32>,
    sinks: Option<Described<'_>>,
) -> Result<()> {
    let named = ["q", "k", "v", "out"].into_iter().zip(tensors);
    let arrays = named.map(|(name, array)| OnDevice::new(device, name, array)).collect::<Result<Vec<_>>>()?;
    let [q, k, v, o] = &arrays[..] else { return Ok(()) };
    let sinks = sinks.map(|sinks| OnDevice::new(device, "sinks", sinks)).transpose()?;
    o.is_written([q, k, v].into_iter().chain(&sinks))?;
    // batches, heads, rows, head dim; strides of rows, heads, batches
    let mut shapes = [[0; 4]; 4];
    let mut strides = [[0; 3]; 4];
    for (array, (shape, stride)) in arrays.iter().zip(shapes.iter_mut().zip(&mut strides)) {
        let name = &array.name;
        let (&[b, first, second, d], &[sb, s1, s2, sd]) = (&array.shape[..], &array.strides[..]) else {
            return Err(PyValueError::new_err(format!(
                "{name} must have four axes, not {}",
                array.shape.len()
            ))
            .into());
        };
        if sd != 1 && d > 1 {
            return Err(PyValueError::new_err(format!(
                "{name}: the elements of a head must follow each other, they stand {sd} apart"
            ))
            .into());
        }
        (*shape, *stride) =
            if bshd { ([b, second, first, d], [s1, s2, sb]) } else { ([b, first, second, d], [s2, s1, sb]) };
    }
    let [[batches, heads, queries, dim], [_, kv_heads, keys, _], ..] = shapes;
    let wanted = [
        [batches, heads, queries, dim],
        [batches, kv_heads, keys, dim],
        [batches, kv_heads, keys, dim],
        [batches, heads, queries, dim],
    ];
    if let Some(i) = (0..4).find(|&i| shapes[i] != wanted[i]) {
        return Err(PyValueError::new_err(format!(
            "{} has (batch, heads, rows, dim) = {:?}; q and k ask for {:?}",
            arrays[i].name, shapes[i], wanted[i]
        ))
        .into());
    }
    let own = if bshd { attention::Order::Bshd } else { attention::Order::Bhsd };
    let mut problem = attention::Problem::new(arrays[0].dtype, own, [batches, heads, queries, keys, dim])?
        .with_kv_heads(kv_heads)?;
    for ((tensor, array), stride) in Tensor4::ALL.into_iter().zip(&arrays).zip(strides) {
        problem = problem.with_strides(tensor, stride)?.with_alignment(tensor, array.alignment())?;
    }
    let diagonal = match causal {
        Some("top_left") => Diagonal::TopLeft,
        _ => Diagonal::BottomRight,
    };
    problem = match (causal, window) {
        (None, None) => problem,
        (Some(_), None) => problem.with_mask(Mask::causal(diagonal))?,
        (causal, Some(left)) => problem.with_mask(Mask::window(Some(left), causal.map(|_| 0), diagonal))?,
    };
    if let Some(scale) = scale {
        problem = problem.with_scale(scale)?;
    }
    if let Some(cap) = softcap {
        problem = problem.with_softcap(cap)?;
    }
    if let Some(sinks) = &sinks
        && (sinks.dtype != DType::F32 || sinks.shape != [heads] || sinks.strides != [1] && heads > 1)
    {
        return Err(PyValueError::new_err(format!(
            "sinks must be a contiguous vector of {heads} f32, not of {:?} {} with the strides {:?}",
            sinks.shape, sinks.dtype, sinks.strides
        ))
        .into());
    }
    problem = problem.with_sinks(sinks.is_some());
    device.work(py, || {
        let kernel = device.products.attention(problem)?;
        let given = sinks.as_ref().map(|sinks| ("sinks", Given::from(sinks.untyped())));
        Ok(kernel.run_untyped([q, k, v, o].map(OnDevice::untyped), given.as_slice())?)
    })?;
    o.back(py)
}

/// A program's name, its arrays and the names of its sizes.
type Listed = (&'static str, Vec<(&'static str, Vec<usize>, &'static str)>, Vec<&'static str>);

/// The programs over tiles: name, then dtype, extents and role of each array at small sizes, and the names of the sizes.
#[pyfunction]
fn _programs() -> Vec<Listed> {
    let arrays = |entry: &girih::programs::Entry| {
        let samples = entry.samples(&entry.small()).into_iter();
        samples
            .filter_map(|of| {
                let role = match of.role {
                    Role::Input => "in",
                    Role::Output => "out",
                    Role::Scratch => return None,
                };
                Some((of.dtype.name(), of.extents, role))
            })
            .collect()
    };
    ENTRIES
        .iter()
        .map(|entry| (entry.name, arrays(entry), entry.sizes().iter().map(|size| size.name).collect()))
        .collect()
}

/// Runs a program over tiles on arrays, in the order of its parameters.
#[pyfunction]
#[pyo3(signature = (device, name, arrays, sizes))]
#[allow(unsafe_code, reason = "arrays on memory that others keep")]
fn _program(
    py: Python<'_>,
    device: &Device,
    name: &str,
    arrays: Vec<Described<'_>>,
    sizes: Vec<(String, usize)>,
) -> Result<()> {
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
        return Err(PyValueError::new_err(format!("no program {name}; girih.programs() lists them")).into());
    };
    let arrays = arrays.into_iter().enumerate();
    let arrays = arrays
        .map(|(i, array)| OnDevice::new(device, format!("array {i}"), array))
        .collect::<Result<Vec<_>>>()?;
    let is_output = |(i, role): (usize, Role)| (role == Role::Output).then_some(i);
    let written: Vec<usize> = entry.roles().enumerate().filter_map(is_output).collect();
    let written = || written.iter().filter_map(|&i| Some((i, arrays.get(i)?)));
    for (i, array) in written() {
        array.is_written(arrays[..i].iter().chain(&arrays[i + 1..]))?;
    }
    let named: Vec<(&str, usize)> = sizes.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    device.work(py, || {
        let borrowed = arrays.iter().map(|array| {
            // A stride that is negative belongs to an axis of one element.
            let [extents, strides] = [&array.shape, &array.strides]
                .map(|all| all.iter().map(|&n| size(n.max(0))).collect::<Vec<_>>());
            // SAFETY: `arrays` keeps the memory, or the caller does, until the call returns.
            unsafe {
                AnyArray::borrow(&device.device, array.dtype, array.buffer.address(), &extents, &strides)
            }
        });
        let borrowed = borrowed.collect::<std::result::Result<Vec<_>, _>>()?;
        let mut arguments = entry.arguments_of(&device.device, borrowed, &named)?;
        entry.launch(&mut arguments, &Point::default()).run()?;
        Ok(())
    })?;
    written().try_for_each(|(_, array)| array.back(py))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_gemm, module)?)?;
    module.add_function(wrap_pyfunction!(_attention, module)?)?;
    module.add_function(wrap_pyfunction!(_programs, module)?)?;
    module.add_function(wrap_pyfunction!(_program, module)?)
}
