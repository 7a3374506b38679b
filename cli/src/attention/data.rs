//! The tensors of `girih attention` on the host.

use std::path::Path;

use girih_device::Pod;
use girih_device::sizes::{rounded, wide};
use girih_kernels::attention::{Host, Order, Problem, Tensor4};
use girih_notation::Array;
use girih_tensor::{DType, Element};
use npyz::TypeStr;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::options::Extras;
use crate::Error;
use crate::gemm::random;
use crate::run::{Peak, bytes, checks};

/// The inputs of attention, on the host.
pub(crate) struct Inputs<T> {
    pub(crate) q: Vec<T>,
    pub(crate) k: Vec<T>,
    pub(crate) v: Vec<T>,
    pub(crate) extras: Extras,
}

impl<T: Element> Inputs<T> {
    /// Random tensors.
    pub(crate) fn random(problem: &Problem, seed: u64) -> Inputs<T> {
        let mut rng = StdRng::seed_from_u64(seed);
        let [q, k, v] =
            [Tensor4::Q, Tensor4::K, Tensor4::V].map(|tensor| random(&mut rng, problem.array(tensor).span()));
        Inputs { q, k, v, extras: Extras::random::<T>(problem, &mut rng) }
    }

    pub(crate) fn host(&self) -> Host<'_, T> {
        self.extras.host([&self.q, &self.k, &self.v])
    }
}

/// Where random sequences of this many rows begin, and where the last one ends.
pub(crate) fn begins(seed: u64, rows: i64, sequences: u32) -> Vec<u32> {
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = u32::try_from(rows).unwrap_or(0);
    let mut begins: Vec<u32> = (1..sequences.max(1)).map(|_| rng.random_range(0..=rows)).collect();
    begins.extend([0, rows]);
    begins.sort_unstable();
    begins
}

/// The peak memory of a command: the tensors, and the bias in both dtypes; on the host also a mark for each element of O, and the reference's state
/// for the keys of a head.
pub(crate) fn peak(problem: &Problem) -> Peak {
    let tensors = Tensor4::ALL.map(|tensor| bytes(problem.array(tensor).span(), problem.dtype()));
    let extras = Extras::bytes(problem);
    let of_lse = bytes(problem.lse_len(), DType::F32);
    let device = tensors.into_iter().chain(extras).chain([of_lse]).fold(0, u64::saturating_add);
    let marks = bytes(problem.array(Tensor4::O).span(), DType::U8).saturating_add(of_lse);
    let head = bytes(
        problem.keys().saturating_mul(problem.columns(Tensor4::K) + problem.columns(Tensor4::V) + 8),
        DType::F64,
    );
    let of = |tensor| {
        let array = problem.array(tensor);
        let elements = array.extents().into_iter().fold(1, |size, n| wide(n).saturating_mul(size));
        checks(bytes(array.span(), problem.dtype()), elements, problem.dtype())
    };
    let remembered =
        Tensor4::ALL.map(of).into_iter().fold(checks(of_lse, u64::MAX, DType::F32), u64::saturating_add);
    let remembered = remembered.saturating_add(checks(extras[1], u64::MAX, problem.dtype()));
    Peak { device, host: device.saturating_add(marks).saturating_add(head), checks: remembered }
}

/// The element type of a file.
pub(crate) fn element(dtype: DType) -> Result<TypeStr, Error> {
    // numpy has no bf16: a file holds its bits.
    let text = match dtype {
        DType::F32 => "<f4",
        DType::F16 => "<f2",
        _ => "<u2",
    };
    let refused = |_| Error::Argument { text: text.into(), expected: "a type that numpy has".into() };
    text.parse().map_err(refused)
}

/// O as a file has it, in the order of the problem.
pub(crate) fn array<T: Element + Pod>(problem: &Problem, o: &[T]) -> Result<Array, Error> {
    let [rows, columns, heads, batches] = problem.array(Tensor4::O).extents();
    let shape = match problem.order() {
        _ if problem.is_packed() && problem.order() == Order::Bshd => vec![rows, heads, columns],
        Order::Bshd => vec![batches, rows, heads, columns],
        Order::Bhsd => vec![batches, heads, rows, columns],
    };
    let shape = shape.into_iter().map(wide).collect();
    let (element, bytes) = (element(problem.dtype())?, bytemuck::cast_slice(o).to_vec());
    Ok(Array { element, shape, fortran: false, bytes })
}

/// The files of Q, K, V, a bias, and of where packed sequences begin.
pub(crate) struct Files {
    tensors: [(String, Array); 3],
    bias: Option<(String, Array)>,
    begins: Option<[Vec<u32>; 2]>,
}

/// An error about a file.
pub(super) fn refuse<T>(name: &str, found: impl Into<String>, accepted: &str) -> Result<T, Error> {
    Err(Error::Argument { text: format!("{name}: {}", found.into()), expected: accepted.into() })
}

/// Reads a file in C order.
pub(super) fn open(path: &Path) -> Result<(String, Array), Error> {
    let (name, array) = (path.display().to_string(), Array::read(path)?);
    if array.fortran && array.shape.len() > 1 {
        return refuse(&name, "Fortran order", "C order (numpy: numpy.ascontiguousarray(a))");
    }
    Ok((name, array))
}

impl Files {
    pub(crate) fn open(
        tensors: [&Path; 3],
        bias: Option<&Path>,
        begins: [Option<&Path>; 2],
    ) -> Result<Files, Error> {
        let [q, k, v] = tensors.map(open);
        let [of_queries, of_keys] = begins.map(|path| path.map(|path| integers(&open(path)?)).transpose());
        let (of_queries, of_keys) = (of_queries?, of_keys?);
        let begins = of_queries.map(|of_queries| [of_queries.clone(), of_keys.unwrap_or(of_queries)]);
        Ok(Files { tensors: [q?, k?, v?], bias: bias.map(open).transpose()?, begins })
    }

    /// The files of Q, K and V, for the report.
    pub(crate) fn origin(&self) -> String {
        self.tensors.each_ref().map(|(name, _)| name.as_str()).join(", ")
    }

    /// The attention that the files describe, whose axes have this order.
    pub(crate) fn problem(&self, order: Order) -> Result<Problem, Box<dyn std::error::Error>> {
        let [q, k, v] = self.tensors.each_ref().map(|file| extents(file, order, self.begins.is_some()));
        let ([batches, queries, heads, dim], of_k, of_v) = (q?, k?, v?);
        let [k_batches, keys, kv_heads, k_dim] = of_k;
        let [(name, first), (of_k_name, second), (of_v_name, third)] = &self.tensors;
        if of_k != of_v || (k_batches, k_dim) != (batches, dim) {
            let found = format!("{:?}, {of_v_name}: {:?}", second.shape, third.shape);
            refuse(
                of_k_name,
                found,
                &format!("equal extents, with the batches and the last axis of {name}, {:?}", first.shape),
            )?;
        }
        let dtype = dtype(name, first)?;
        for (name, array) in &self.tensors[1..] {
            if self::dtype(name, array)? != dtype {
                refuse(name, array.element.to_string(), &format!("the type of Q, {}", first.element))?;
            }
        }
        let mut problem =
            Problem::new(dtype, order, [batches, heads, queries, keys, dim])?.with_kv_heads(kv_heads)?;
        if let Some([of_queries, of_keys]) = &self.begins {
            problem = problem.packed(of_queries, of_keys)?;
        }
        if let Some((name, bias)) = &self.bias {
            let extents = bias.shape.iter().map(|&extent| i64::try_from(extent).unwrap_or(i64::MAX));
            match extents.collect::<Vec<_>>()[..] {
                [batches, heads, queries, of_keys] if of_keys == keys => {
                    problem = problem.with_bias(self::dtype(name, bias)?, [batches, heads, queries])?;
                }
                _ => refuse(
                    name,
                    format!("{:?}", bias.shape),
                    &format!("(batch, head, query, key) with {keys} keys"),
                )?,
            }
        }
        Ok(problem)
    }

    /// The elements.
    pub(crate) fn inputs<T: Element + Pod>(self, problem: &Problem) -> Result<Inputs<T>, Error> {
        let [q, k, v] = self.tensors.map(|(_, array)| elements::<T>(&array));
        let bias = match (self.bias, problem.bias()) {
            (Some((_, array)), Some(bias)) if bias.dtype() == DType::F32 => elements::<f32>(&array),
            (Some((_, array)), _) => elements::<T>(&array).into_iter().map(|x| rounded(x.to_f64())).collect(),
            (None, _) => Vec::new(),
        };
        Ok(Inputs { q, k, v, extras: Extras::of_bias(bias) })
    }
}

/// The elements of a file, which are of `T`.
pub(super) fn elements<T: Pod>(array: &Array) -> Vec<T> {
    let mut elements = vec![T::zeroed(); array.bytes.len() / size_of::<T>()];
    bytemuck::cast_slice_mut(&mut elements).copy_from_slice(&array.bytes);
    elements
}

/// Batches, rows, heads and columns of a file.
fn extents((name, array): &(String, Array), order: Order, packed: bool) -> Result<[i64; 4], Error> {
    let shape: Vec<i64> =
        array.shape.iter().map(|&extent| i64::try_from(extent).unwrap_or(i64::MAX)).collect();
    match (order, &shape[..]) {
        (Order::Bshd, &[rows, heads, columns]) if packed => Ok([1, rows, heads, columns]),
        (Order::Bshd, &[batches, rows, heads, columns]) => Ok([batches, rows, heads, columns]),
        (Order::Bhsd, &[batches, heads, rows, columns]) => Ok([batches, rows, heads, columns]),
        _ => refuse(
            name,
            format!("{:?}", array.shape),
            "four axes, or three of packed sequences with --order bshd",
        ),
    }
}

pub(super) fn dtype(name: &str, array: &Array) -> Result<DType, Error> {
    match &*array.element.to_string() {
        "<f4" => Ok(DType::F32),
        "<f2" => Ok(DType::F16),
        "<u2" | "|V2" => Ok(DType::Bf16),
        other => refuse(name, other, "'<f4', '<f2', or '<u2' and '|V2' for the bits of bf16"),
    }
}

/// The numbers of a file of integers.
pub(super) fn integers((name, array): &(String, Array)) -> Result<Vec<u32>, Error> {
    let wide: Vec<i64> = match &*array.element.to_string() {
        "<i4" => elements::<i32>(array).into_iter().map(i64::from).collect(),
        "<u4" => elements::<u32>(array).into_iter().map(i64::from).collect(),
        "<i8" => elements(array),
        other => refuse(name, other, "'<i4', '<u4' or '<i8'")?,
    };
    let narrow = wide.iter().map(|&x| u32::try_from(x).ok()).collect::<Option<Vec<u32>>>();
    narrow.map_or_else(|| refuse(name, "a number below 0 or above 2^32", "rows"), Ok)
}
