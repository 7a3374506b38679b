//! The epilogue of a recognised program: the operations between the loop and the store.

use std::collections::HashMap;
use std::sync::Arc;

use girih_codegen::gemm::{Epilogue, Input, InputKind};
use girih_codegen::scalar::computed;
use girih_tensor::DType;

use super::loops::Sketch;
use super::operand::{Role, permuted, reshaped};
use super::program::{Program, Step};
use super::refused;
use crate::error::Refusal;
use crate::fit;
use crate::ir::{Array, ArrayId, Def, Func, Kind, Known, Op, Order, Rounding, Value};

/// What an input of an epilogue is to a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// An array: the axes of its modes along M and N, where it has them, and of one that counts products.
    Array {
        /// The array, a parameter.
        array: ArrayId,
        /// The axes along M and N.
        modes: [Option<u8>; 2],
        /// The axis that counts products.
        batch: Option<u8>,
    },
    /// A scalar parameter, by its position.
    Scalar(u16),
}

/// The epilogue.
#[derive(Clone, Debug)]
pub struct Fused {
    /// The epilogue; the empty one where accumulators are stored as they are, or rounded.
    pub epilogue: Epilogue,
    /// What its inputs are, by their names.
    pub inputs: Vec<(Input, Source)>,
}

/// Names that parameters of a product's kernel have.
const TAKEN: &[&str] = &[
    "a",
    "b",
    "c",
    "m",
    "n",
    "k",
    "lda",
    "ldb",
    "ldc",
    "map_a",
    "map_b",
    "map_c",
    "map_scales",
    "map_scales_b",
    "order",
    "tiles",
    "pieces",
    "workspace",
    "semaphores",
    "batches",
    "offsets",
    "groups",
    "scales",
    "scales_a",
    "scales_b",
];

/// The most bytes that are read together.
const WIDEST: i64 = 16;

struct Slice<'a> {
    sketch: &'a Sketch<'a>,
    func: &'a Func,
    program: Program,
    inputs: Vec<(Input, Source)>,
    known: HashMap<(Value, Vec<Role>), usize>,
}

/// The slice from the accumulators to the store.
pub(super) fn fused(sketch: &Sketch<'_>) -> Result<Fused, Refusal> {
    let func = sketch.func;
    let c_type = func.param_of(sketch.matrices[2].array).1.dtype;
    let sums = func.ty(sketch.sums).dtype;
    let computed = if sums == DType::F64 { DType::F64 } else { DType::F32 };
    let op_of = |value: Value| match func.value(value).def {
        Def::Result(id, _) => Some(func.op(id)),
        Def::Argument(..) => None,
    };
    // The last conversion is the epilogue's own, from what it computes in.
    let last = op_of(sketch.stored).filter(|op| op.kind == Kind::Cast(Rounding::Nearest));
    let last = last.filter(|op| {
        func.ty(op.operands[0]).dtype == computed || op.operands[0] == sketch.sums && sums == DType::F16
    });
    let value = last.map_or(sketch.stored, |op| op.operands[0]);
    let converted = op_of(value)
        .filter(|op| matches!(op.kind, Kind::Cast(Rounding::Nearest)) && func.ty(value).dtype == computed);
    let own = value == sketch.sums && (last.is_some() || sums == c_type);
    let as_float =
        converted.is_some_and(|op| op.operands[0] == sketch.sums) && (last.is_some() || computed == c_type);
    if own || as_float {
        return Ok(Fused { epilogue: Epilogue::new(), inputs: Vec::new() });
    }
    let mut slice =
        Slice { sketch, func, program: Program::default(), inputs: Vec::new(), known: HashMap::new() };
    let result = slice.value(value, &sketch.stored_roles)?;
    let Slice { mut program, inputs, .. } = slice;
    program.finish(result, func.ty(value).dtype);
    let (key, given) =
        (program.to_string(), inputs.iter().map(|(input, _)| input.clone()).collect::<Vec<_>>());
    let program = Arc::new(program);
    let node = move |b: &mut girih_codegen::Builder, element: &girih_codegen::gemm::Element<'_>| {
        program.run(b, element)
    };
    Ok(Fused { epilogue: Epilogue::new().node_of_values(key, given, node), inputs })
}

impl Slice<'_> {
    /// The step of a value at an element, where the value's axes have these roles.
    fn value(&mut self, value: Value, roles: &[Role]) -> Result<usize, Refusal> {
        let key = (value, roles.to_vec());
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let step = self.step(value, roles)?;
        let number = self.program.push(step);
        self.known.insert(key, number);
        Ok(number)
    }

    fn step(&mut self, value: Value, roles: &[Role]) -> Result<Step, Refusal> {
        let func = self.func;
        let ty = func.ty(value);
        if value == self.sketch.sums {
            if roles != self.sketch.roles {
                return Err(refused(self.sketch.store, "the sums are used as they lie and permuted"));
            }
            return Ok(Step::Sum);
        }
        let Def::Result(id, _) = func.value(value).def else {
            return Err(refused(self.sketch.store, "what is stored depends on the iteration of a loop"));
        };
        let op = func.op(id);
        let first = |slice: &mut Self, roles: &[Role]| slice.value(op.operands[0], roles);
        let shape = |at: usize| func.ty(op.operands[at]).dims;
        Ok(match &op.kind {
            Kind::Full(bits) => Step::Bits(ty.dtype, *bits),
            Kind::Param(at) => self.scalar(*at)?,
            Kind::Each { op: each, rounding, ftz, nan, .. } => {
                let args = op.operands.iter().map(|&operand| self.value(operand, roles));
                let dtype = func.ty(op.operands[op.operands.len() - 1]).dtype;
                let how = crate::lower::How { rounding: *rounding, ftz: *ftz, nan: *nan };
                Step::Each(*each, how, dtype, args.collect::<Result<_, _>>()?)
            }
            Kind::Cast(rounding) => {
                let from = func.ty(op.operands[0]).dtype;
                Step::Cast { from, to: ty.dtype, rounding: *rounding, of: first(self, roles)? }
            }
            Kind::Bitcast => {
                let from = func.ty(op.operands[0]).dtype;
                Step::Bitcast { from, to: ty.dtype, of: first(self, roles)? }
            }
            Kind::Broadcast => {
                let dims = shape(0);
                let role = |(role, &n): (&Role, &u32)| if n == 1 { Role::One } else { *role };
                let before: Vec<Role> = roles.iter().zip(dims.iter()).map(role).collect();
                return self.same(op.operands[0], &before);
            }
            Kind::Permute(axes) => return self.same(op.operands[0], &permuted(roles, axes)),
            Kind::Reshape => {
                let before = reshaped(roles, &shape(0), &ty.dims).ok_or_else(|| {
                    refused(op, "behind the loop, a reshape may add and remove axes of one element alone")
                })?;
                return self.same(op.operands[0], &before);
            }
            Kind::Load(_) => self.load(op, roles)?,
            Kind::Bid(_) | Kind::NumBlocks(_) | Kind::Iota => {
                return Err(refused(op, "what is stored depends on coordinates"));
            }
            _ => return Err(refused(op, "behind the loop, functions of elements alone are accepted")),
        })
    }

    /// The step of a value that another one stands for.
    fn same(&mut self, value: Value, roles: &[Role]) -> Result<Step, Refusal> {
        self.value(value, roles).map(Step::Same)
    }

    /// A name for an input that no other parameter of the kernel has.
    fn named(&self, name: &str) -> String {
        let mut name = name.to_string();
        let all = |name: &str| [name.into(), format!("ld{name}"), format!("batch_{name}")];
        let taken = |name: &str| {
            let known = self.inputs.iter().flat_map(|(input, _)| all(&input.name)).collect::<Vec<_>>();
            all(name).iter().any(|name| TAKEN.contains(&&**name) || known.contains(name))
        };
        while taken(&name) {
            name.push('_');
        }
        name
    }

    /// The number of an input, which is declared if it is new.
    fn input(
        &mut self,
        source: Source,
        name: &str,
        kind: InputKind,
        dtype: DType,
        vector: Option<i64>,
    ) -> String {
        if let Some((input, _)) =
            self.inputs.iter().find(|(input, known)| *known == source && input.kind == kind)
        {
            return input.name.clone();
        }
        let name = self.named(name);
        self.inputs.push((Input { name: name.clone(), kind, dtype, vector }, source));
        name
    }

    fn scalar(&mut self, at: u16) -> Result<Step, Refusal> {
        let param = &self.func.scalars()[usize::from(at)];
        let (name, dtype) = (param.name.clone(), param.dtype);
        // Parameters have 32 bits or 64; narrower ones are passed as what their registers hold.
        let passed = passed(dtype);
        let name = self.input(Source::Scalar(at), &name, InputKind::Scalar, passed, None);
        Ok(Step::Input { name, dtype, passed })
    }

    /// An access to an array beside C: a matrix, a row or a column.
    fn load(&mut self, op: &Op, roles: &[Role]) -> Result<Step, Refusal> {
        let func = self.func;
        let Kind::Load(view) = &op.kind else { return Err(refused(op, "no load")) };
        let sketch = self.sketch;
        let Array::Param(param) = &func.arrays()[view.array.index()] else {
            return Err(refused(op, "behind the loop, a part of an array is loaded"));
        };
        if view.order != Order::Weak || view.steps != view.tile {
            return Err(refused(op, "behind the loop, a load has an order, or tiles overlap or leave gaps"));
        }
        if op.operands.iter().any(|&at| sketch.index.narrows(at)) {
            return Err(refused(op, "behind the loop, an index is computed in fewer bits than are there"));
        }
        let (mut modes, mut batch) = ([None; 2], None);
        for (axis, role) in roles.iter().enumerate() {
            let at = sketch.index.poly(op.operands[axis]);
            let mode = match role {
                Role::M => 0,
                Role::N => 1,
                Role::K => return Err(refused(op, "behind the loop, an axis along K is loaded")),
                Role::One => {
                    let is_first = at.as_number() == Some(0);
                    if !is_first && (sketch.batch_at.as_ref() != Some(&at) || batch.is_some()) {
                        return Err(refused(op, "behind the loop, an index is neither 0 nor that of C"));
                    }
                    if !is_first {
                        batch = Some(fit::axis(axis));
                    }
                    continue;
                }
            };
            if at != sketch.at[mode] || i64::from(view.tile[axis]) != sketch.tile[mode] {
                return Err(refused(op, "behind the loop, another tile is loaded than that of C"));
            }
            modes[mode] = Some(fit::axis(axis));
        }
        let c = &sketch.matrices[2];
        if param.mutable && (view.array != c.array || modes != c.modes.map(Some) || batch != c.batch) {
            return Err(refused(op, "behind the loop, an array is loaded that the kernel writes elsewhere"));
        }
        let c_param = func.param_of(c.array).1;
        let along = |mode: usize| c_param.strides[usize::from(c.modes[mode])] == Known::Is(1);
        let contiguous = if along(1) { 1 } else { 0 };
        let kind = match modes {
            [Some(_), Some(_)] => InputKind::Matrix,
            [None, Some(_)] => InputKind::Row,
            [Some(_), None] => InputKind::Column,
            [None, None] => return Err(refused(op, "behind the loop, one element is loaded")),
        };
        if sketch.groups.is_some() && kind != InputKind::Row {
            return Err(refused(op, "behind the loop, of groups only rows are loaded"));
        }
        let inner = match kind {
            InputKind::Matrix => modes[contiguous],
            _ => modes[0].or(modes[1]),
        };
        let stride = |axis: u8| param.strides[usize::from(axis)];
        if inner.is_some_and(|axis| stride(axis) != Known::Is(1)) {
            return Err(refused(op, "behind the loop, a load does not lie as C does"));
        }
        let bytes = param.dtype.bytes();
        let others = modes.into_iter().flatten().chain(batch).filter(|axis| Some(*axis) != inner);
        let mut vector = WIDEST.min(i64::from(param.align)) / bytes;
        for axis in others {
            vector = dividing(vector, stride(axis));
        }
        let source = Source::Array { array: view.array, modes, batch };
        let name = self.input(source, &param.name, kind, param.dtype, Some(vector.max(1)));
        Ok(Step::Input { name, dtype: param.dtype, passed: param.dtype })
    }
}

/// The greatest power of two up to `most` that divides what is known.
pub(super) fn dividing(most: i64, known: Known) -> i64 {
    let (Known::Is(n) | Known::MultipleOf(n)) = known;
    let mut vector = most.max(1);
    while n % vector != 0 {
        vector /= 2;
    }
    vector
}

/// The dtype as which a scalar is passed.
pub(crate) fn passed(dtype: DType) -> DType {
    match computed(dtype) {
        DType::F16 | DType::Bf16 => DType::F32,
        same => same,
    }
}
