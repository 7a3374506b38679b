//! A tile program: values in static single assignment, operations, and the regions that they are in.

use std::collections::{BTreeMap, HashSet};

use girih_codegen::plan::Dist;
use girih_layout::Swizzle;
use girih_tensor::DType;

use super::{Kind, Order, Type};
use crate::dtype::integer;
use crate::error::Site;

macro_rules! id {
    ($($name:ident $doc:literal),*) => {
        $(
            #[doc = $doc]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub u32);

            impl $name {
                /// The position in its list.
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

id!(
    Value "A value of a [`Func`].",
    OpId "An operation of a [`Func`].",
    RegionId "A region of a [`Func`].",
    ArrayId "An array of a [`Func`]: a parameter or a part of one."
);

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Def {
    /// The result of an operation, by position.
    Result(OpId, u32),
    /// The argument of a region, by position.
    Argument(RegionId, u32),
}

/// A value's type and origin.
#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    /// Its dtype and shape.
    pub ty: Type,
    /// Where it comes from.
    pub def: Def,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Op {
    /// The operation's kind.
    pub kind: Kind,
    /// The operands.
    pub operands: Vec<Value>,
    /// The results.
    pub results: Vec<Value>,
    /// Regions: the body of a loop, the two sides of a condition, a combination.
    pub regions: Vec<RegionId>,
    /// Where the user wrote it.
    pub site: Option<Site>,
}

/// How a region ends. Depths count the loops around, the innermost is 0.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum End {
    /// Gives the values to the operation that the region belongs to: a condition's results, or those of a combination.
    Yield(Vec<Value>),
    /// The loop goes on with these values.
    Continue(u32, Vec<Value>),
    /// The loop ends with these values.
    Break(u32, Vec<Value>),
    /// Not closed yet, or never reached.
    #[default]
    Unreachable,
}

impl End {
    /// The values that the end passes on.
    pub fn values(&self) -> &[Value] {
        match self {
            End::Yield(values) | End::Continue(_, values) | End::Break(_, values) => values,
            End::Unreachable => &[],
        }
    }

    /// The target of the values that the end passes on: the operation that owns the region, or one of the loops around it.
    pub(crate) fn target<'a, T>(&self, own: &'a T, loops: &'a [T]) -> Option<&'a T> {
        match self {
            End::Yield(_) => Some(own),
            End::Continue(depth, _) | End::Break(depth, _) => loops.iter().rev().nth(*depth as usize),
            End::Unreachable => None,
        }
    }
}

/// A sequence of operations.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Values that the region is entered with.
    pub args: Vec<Value>,
    /// Its operations in order.
    pub ops: Vec<OpId>,
    /// How it ends.
    pub end: End,
}

/// A fact about an extent, a stride (both in elements) or a scalar before a kernel is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Known {
    /// The value.
    Is(i64),
    /// A multiple of this number, 1 or more.
    MultipleOf(i64),
}

/// Goes on from values to those that `next` adds, each once.
pub(crate) fn follow(mut open: Vec<Value>, mut next: impl FnMut(Value, &mut Vec<Value>)) {
    let mut seen = HashSet::new();
    while let Some(value) = open.pop() {
        if seen.insert(value) {
            next(value, &mut open);
        }
    }
}

impl Known {
    /// The value, if it is known.
    pub fn number(self) -> Option<i64> {
        if let Known::Is(n) = self { Some(n) } else { None }
    }
}

/// An array of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Array {
    /// A parameter of the kernel.
    Param(ArrayParam),
    /// The elements `start..stop` of another array along an axis; `start` and `stop` are integer scalars.
    Slice {
        /// The other array.
        of: ArrayId,
        /// The axis.
        axis: u8,
        /// The first element.
        start: Value,
        /// The end.
        stop: Value,
    },
}

/// An array that a kernel is called with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayParam {
    /// The parameter's name.
    pub name: String,
    /// The dtype of its elements.
    pub dtype: DType,
    /// Whether the kernel may write it (`&mut`).
    pub mutable: bool,
    /// The facts about its extents; their number is the rank.
    pub extents: Vec<Known>,
    /// The facts about its strides.
    pub strides: Vec<Known>,
    /// The alignment of the pointer's address, in bytes.
    pub align: u32,
    /// The reason that the user gives for stores that are not proved disjoint.
    pub assume_disjoint: Option<String>,
}

/// A scalar that a kernel is called with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalarParam {
    /// The parameter's name.
    pub name: String,
    /// Its dtype.
    pub dtype: DType,
    /// The fact about it.
    pub known: Known,
}

/// A user's constraint on a value's placement.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Pin {
    /// Which thread holds which element; of a `(Thr,Val)` layout by [`Dist::of`].
    pub dist: Option<Dist>,
    /// The swizzle of exchanges of the value through shared memory.
    pub swizzle: Option<Swizzle>,
}

/// A tile program.
#[derive(Clone, Debug)]
pub struct Func {
    /// The kernel's name.
    pub name: String,
    pub(crate) values: Vec<ValueData>,
    pub(crate) ops: Vec<Op>,
    pub(crate) regions: Vec<Region>,
    pub(crate) arrays: Vec<Array>,
    pub(crate) scalars: Vec<ScalarParam>,
    pub(crate) body: RegionId,
    pub(crate) pins: BTreeMap<Value, Pin>,
    /// The user's hints for placement and launch.
    pub hints: crate::hints::Hints,
    /// Whether bounds that the kernel would have to check are an error.
    pub deny_in_kernel_checks: bool,
}

impl Func {
    /// Whether each block that runs takes one block of the grid after the other.
    pub fn is_persistent(&self) -> bool {
        self.region(self.body).ops.iter().any(|&id| self.op(id).kind == Kind::Workers)
    }

    /// Whether an operation is the loop over the blocks of the grid that a block takes.
    pub fn is_of_blocks(&self, op: &Op) -> bool {
        let first = op.operands.first().and_then(|&first| self.op_of(first));
        op.kind == Kind::For && first.is_some_and(|first| first.kind == Kind::Worker)
    }

    /// The region that a block runs.
    pub fn body(&self) -> RegionId {
        self.body
    }

    /// A value's data.
    pub fn value(&self, value: Value) -> &ValueData {
        &self.values[value.index()]
    }

    /// A value's type.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()].ty
    }

    /// Number of values; every [`Value`] is below.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// An operation.
    pub fn op(&self, op: OpId) -> &Op {
        &self.ops[op.index()]
    }

    /// The operation whose result a value is.
    pub fn maker(&self, value: Value) -> Option<OpId> {
        match self.value(value).def {
            Def::Result(id, _) => Some(id),
            Def::Argument(..) => None,
        }
    }

    /// [`Func::maker`], as an operation.
    pub fn op_of(&self, value: Value) -> Option<&Op> {
        self.maker(value).map(|id| self.op(id))
    }

    /// A region.
    pub fn region(&self, region: RegionId) -> &Region {
        &self.regions[region.index()]
    }

    /// The kernel's arrays: parameters first, in their order, then parts.
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// The kernel's array parameters, in their order.
    pub fn params(&self) -> impl Iterator<Item = (ArrayId, &ArrayParam)> + Clone {
        self.arrays.iter().zip(0..).filter_map(|(array, at)| match array {
            Array::Param(param) => Some((ArrayId(at), param)),
            Array::Slice { .. } => None,
        })
    }

    /// The kernel's scalar parameters, in their order.
    pub fn scalars(&self) -> &[ScalarParam] {
        &self.scalars
    }

    /// The user's constraints on the placement of values.
    pub fn pins(&self) -> &BTreeMap<Value, Pin> {
        &self.pins
    }

    /// The parameter that an array is, or is a part of.
    pub fn param_of(&self, mut array: ArrayId) -> (ArrayId, &ArrayParam) {
        loop {
            match &self.arrays[array.index()] {
                Array::Param(param) => return (array, param),
                Array::Slice { of, .. } => array = *of,
            }
        }
    }

    /// The parts that an array is one of, from itself on: along which axis each is, where it begins and where it ends.
    pub fn slices(&self, mut array: ArrayId) -> impl Iterator<Item = (usize, [Value; 2])> {
        std::iter::from_fn(move || match self.arrays[array.index()] {
            Array::Slice { of, axis, start, stop } => {
                array = of;
                Some((usize::from(axis), [start, stop]))
            }
            Array::Param(_) => None,
        })
    }

    /// The integer that a value is, of which this is known.
    pub(crate) fn number(&self, value: Value) -> Option<i64> {
        match self.op_of(value)?.kind {
            Kind::Full(bits) => integer(self.ty(value).dtype, bits),
            _ => None,
        }
    }

    /// The values that an operation itself reads: its operands, and what bounds the part of an array that it names.
    pub(crate) fn reads<'a>(&'a self, op: &'a Op) -> impl Iterator<Item = Value> + 'a {
        let slices = op.kind.names().into_iter().flat_map(|array| self.slices(array));
        op.operands.iter().copied().chain(slices.flat_map(|(_, bounds)| bounds))
    }

    /// The value that another one is made of by operations that let it through.
    pub(crate) fn within(&self, mut value: Value, through: impl Fn(Value, &Kind) -> bool) -> Value {
        while let Some(op) = self.op_of(value).filter(|op| through(value, &op.kind)) {
            value = op.operands[0];
        }
        value
    }

    /// Whether an operation has no effect and depends on its operands alone. A load of an array that the kernel does not write is.
    pub fn is_pure(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Load(view) => view.order == Order::Weak && !self.param_of(view.array).1.mutable,
            Kind::Gather(at) => at.order == Order::Weak && !self.param_of(at.array).1.mutable,
            other => other.is_pure(),
        }
    }

    /// Calls `f` with every operation of a region and of the regions below, in order; an operation comes before its regions.
    pub fn walk(&self, region: RegionId, f: &mut impl FnMut(OpId, &Op)) {
        for &id in &self.region(region).ops {
            let op = self.op(id);
            f(id, op);
            op.regions.iter().for_each(|&region| self.walk(region, f));
        }
    }

    /// Whether something within the body of a loop ends an iteration or the loop before the body's end.
    pub fn leaves(&self, body: RegionId) -> bool {
        self.leaves_from(body, 0)
    }

    /// The same of a region with this many loops between it and the body.
    fn leaves_from(&self, region: RegionId, loops: u32) -> bool {
        self.region(region).ops.iter().any(|&id| {
            let op = self.op(id);
            let loops = loops + u32::from(matches!(op.kind, Kind::For | Kind::Loop));
            let ends = |&region: &RegionId| match self.region(region).end {
                End::Break(depth, _) | End::Continue(depth, _) => depth >= loops,
                End::Yield(_) | End::Unreachable => false,
            };
            op.regions.iter().any(|region| ends(region) || self.leaves_from(*region, loops))
        })
    }
}
