//! Programs of loads, one operation and stores, on the reference evaluator and on a device.

use std::hash::{Hash, Hasher};

use girih_codegen::plan::Dist;
use girih_device::{Device, Select};
use girih_tensor::DType;
use girih_tile::Compiled;
use girih_tile::ir::{
    ArrayParam, Build, Dims, Func, Kind, Known, Order, Padding, RegionId, Type, Value, View,
};
use girih_tile::launch::run::{Given, run};
use girih_tile::lower::{Lowered, lower};
use girih_tile::place::Plan;
use girih_tile::resources::Resources;
use girih_tile_reference::{self as reference, ArrayData};
use rand::rngs::StdRng;

use crate::common::differ::simulator;
use crate::common::dists::random_dist;

pub(super) fn dims(extents: &[i64]) -> Dims {
    Dims::new(&extents.iter().map(|&n| n as u32).collect::<Vec<_>>()).unwrap()
}

/// An operand: its dtype, shape, and bits.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) dtype: DType,
    pub(super) extents: Vec<i64>,
    pub(super) bits: Vec<u64>,
}

/// A result's dtype and shape.
pub(super) type Shape = (DType, Vec<i64>);

/// A program that loads operands, applies an operation, and stores its results.
pub(super) fn program(
    kind: &Kind,
    operands: &[Operand],
    results: &[Shape],
    region: impl FnOnce(&mut Build, &[Value]) -> Option<RegionId>,
) -> Func {
    let mut b = Build::new("k");
    let array = |b: &mut Build, name: String, dtype: DType, extents: &[i64], mutable: bool| {
        let strides = reference::row_major(extents);
        b.array(ArrayParam {
            name,
            dtype,
            mutable,
            extents: extents.iter().map(|&n| Known::Is(n)).collect(),
            strides: strides.into_iter().map(Known::Is).collect(),
            align: 16,
            assume_disjoint: None,
        })
    };
    let view = |array, extents: &[i64]| View {
        array,
        tile: dims(extents),
        steps: dims(extents),
        padding: Padding::Undetermined,
        check: true,
        latency: None,
        tma: false,
        order: Order::Weak,
        scope: None,
    };
    let inputs: Vec<_> = operands
        .iter()
        .enumerate()
        .map(|(i, of)| array(&mut b, format!("x{i}"), of.dtype, &of.extents, false))
        .collect();
    let outputs: Vec<_> = results
        .iter()
        .enumerate()
        .map(|(i, (dtype, extents))| array(&mut b, format!("y{i}"), *dtype, extents, true))
        .collect();
    let zero = b.push1(Kind::Full(0), &[], Type::scalar(DType::S32));
    let values: Vec<Value> = operands
        .iter()
        .zip(&inputs)
        .map(|(of, &array)| {
            let ty = Type { dtype: of.dtype, dims: dims(&of.extents) };
            b.push1(Kind::Load(view(array, &of.extents)), &vec![zero; of.extents.len()], ty)
        })
        .collect();
    let types: Vec<Type> =
        results.iter().map(|(dtype, extents)| Type { dtype: *dtype, dims: dims(extents) }).collect();
    let made = match region(&mut b, &values) {
        Some(region) => b.push_regions(kind.clone(), &values, &types, vec![region]),
        None => b.push(kind.clone(), &values, &types),
    };
    for ((value, array), (_, extents)) in made.into_iter().zip(outputs).zip(results) {
        let operands: Vec<Value> = std::iter::once(value).chain(vec![zero; extents.len()]).collect();
        b.push(Kind::Store(view(array, extents)), &operands, &[]);
    }
    b.finish()
}

/// The program in random distributions.
pub(super) fn placed(func: Func, kind: &Kind, threads: i64, rng: &mut StdRng) -> Plan {
    let mut dists: Vec<Option<Dist>> = vec![None; func.value_count()];
    let extents = |value: Value| -> Vec<i64> { func.ty(value).dims.iter().map(|&n| i64::from(n)).collect() };
    func.walk(func.body(), &mut |_, op| {
        if std::mem::discriminant(&op.kind) != std::mem::discriminant(kind) || op.results.is_empty() {
            return;
        }
        let own = random_dist(rng, &extents(op.operands[0]), threads);
        let axis = match op.kind {
            Kind::Reduce { axis, .. } => Some(usize::from(axis)),
            _ => None,
        };
        let equal = matches!(op.kind, Kind::Reduce { .. } | Kind::Scan { .. } | Kind::Sort { .. });
        for &value in &op.operands {
            dists[value.index()] =
                Some(if equal { own.clone() } else { random_dist(rng, &extents(value), threads) });
        }
        for &value in &op.results {
            dists[value.index()] = Some(match axis {
                Some(axis) => own.slice(axis),
                None if equal => own.clone(),
                None => random_dist(rng, &extents(value), threads),
            });
        }
    });
    let dists = (0..func.value_count())
        .map(|i| dists[i].take().unwrap_or_else(|| random_dist(rng, &extents(Value(i as u32)), threads)));
    let dists = dists.collect();
    Plan { func, dists, threads: threads as u32, exchanges: Default::default(), products: Default::default() }
}

/// The bits of the results on the reference evaluator.
pub(super) fn expected(func: &Func, operands: &[Operand], results: &[Shape]) -> Vec<Vec<u64>> {
    let mut arrays: Vec<ArrayData> =
        operands.iter().map(|of| ArrayData::dense(of.dtype, &of.extents, &of.bits)).collect();
    for (dtype, extents) in results {
        let size = extents.iter().product::<i64>() as usize;
        arrays.push(ArrayData::dense(*dtype, extents, &vec![0; size]));
    }
    reference::run(func, [1; 3], &mut arrays, &[]).unwrap();
    arrays[operands.len()..].iter().map(|array| array.elements().unwrap()).collect()
}

/// The device that `GIRIH_DEVICE` names, or the simulator with all checks.
fn device() -> Device {
    match std::env::var("GIRIH_DEVICE") {
        Ok(_) => Device::open(Select::Auto).unwrap(),
        Err(_) => simulator(),
    }
}

/// The bits of the results on a device.
pub(super) fn ran(
    plan: &Plan,
    operands: &[Operand],
    results: &[Shape],
) -> Result<(Vec<Vec<u64>>, Compiled), String> {
    let lowered = lower(plan, 90).map_err(|e| e.to_string())?;
    let resources = Resources::of(&lowered.kernel, 90);
    let Lowered { kernel, params } = lowered;
    let compiled =
        Compiled { kernel, params, plan: plan.clone(), target: 90.into(), per_byte: Vec::new(), resources };
    let text = |e: &dyn std::fmt::Display| format!("{e}\n{}", compiled.kernel.module());
    if let Ok(folder) = std::env::var("GIRIH_PTX") {
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        compiled.kernel.module().to_string().hash(&mut hasher);
        let path = format!("{folder}/{:016x}.ptx", hasher.finish());
        std::fs::write(path, compiled.kernel.module().to_string()).unwrap();
    }
    let device = device();
    let data = |dtype: DType, extents: &[i64], bits: &[u64]| ArrayData::dense(dtype, extents, bits);
    let mut arrays: Vec<ArrayData> =
        operands.iter().map(|of| data(of.dtype, &of.extents, &of.bits)).collect();
    for (dtype, extents) in results {
        let size = extents.iter().product::<i64>() as usize;
        arrays.push(data(*dtype, extents, &vec![u64::MAX; size]));
    }
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
    // SAFETY: one block, and arrays of their own.
    #[allow(unsafe_code, reason = "the arrays are its own")]
    unsafe { run(&device, &compiled, [1; 3], &given, &[]) }.map_err(|e| text(&e))?;
    let mut found = Vec::new();
    for (array, buffer) in arrays.iter().zip(&buffers).skip(operands.len()) {
        let bytes = buffer.download().map_err(|e| text(&e))?;
        found.push(ArrayData { bytes, ..array.clone() }.elements().unwrap());
    }
    if let Some(finding) = device.sim_findings().first() {
        return Err(text(&format!("{finding:?}")));
    }
    Ok((found, compiled))
}

/// Checks a program on the simulator against the reference evaluator; all NaN are one.
pub(super) fn check(plan: &Plan, operands: &[Operand], results: &[Shape], what: &str) {
    let want = expected(&plan.func, operands, results);
    let (got, compiled) = ran(plan, operands, results).unwrap_or_else(|e| panic!("{what}: {e}"));
    for (i, (want, got)) in want.iter().zip(&got).enumerate() {
        let dtype = results[i].0;
        let same = |a: u64, b: u64| {
            let nan = |bits| dtype.is_float() && reference::float::decode(dtype, bits).is_nan();
            a == b || nan(a) && nan(b)
        };
        if let Some(at) = (0..want.len()).find(|&at| !same(want[at], got[at])) {
            panic!(
                "{what}: result {i}, element {at} of {:?} is {:#x}, not {:#x}\n{}",
                results[i],
                got[at],
                want[at],
                compiled.kernel.module()
            );
        }
    }
}
