//! Building a [`Func`]: a stack of open regions, into which operations are pushed.

use std::collections::HashMap;

use super::{
    Array, ArrayId, ArrayParam, Def, End, Func, Kind, Op, OpId, Pin, Region, RegionId, ScalarParam, Type,
    Value, ValueData,
};
use crate::error::Site;
use crate::fit;

/// The rules of typing that a program follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// NumPy's: reductions drop their axis, constants promote.
    #[default]
    Python,
    /// Those of CUDA C++ tiles: reductions keep the axis, narrowing constants are refused.
    Cxx,
}

#[derive(Debug, Default)]
struct Open {
    region: Option<RegionId>,
    /// Pure operations by kind, operands and type, so that the same one twice is one value.
    known: HashMap<(Kind, Vec<Value>, Vec<Type>), Vec<Value>>,
}

/// A function in the making.
#[derive(Debug)]
pub struct Build {
    func: Func,
    open: Vec<Open>,
    /// The position in `open` of the region where each value is defined; [`CLOSED`] once that region is closed.
    depth: Vec<usize>,
    site: Option<Site>,
    /// The rules of typing.
    pub dialect: Dialect,
    /// Whether extents of tiles must be powers of two.
    pub strict_pow2: bool,
}

/// The depth of values that have gone out of scope.
const CLOSED: usize = usize::MAX;

impl Build {
    /// An empty function.
    pub fn new(name: &str) -> Build {
        let func = Func {
            name: name.to_string(),
            values: Vec::new(),
            ops: Vec::new(),
            regions: vec![Region::default()],
            arrays: Vec::new(),
            scalars: Vec::new(),
            body: RegionId(0),
            pins: std::collections::BTreeMap::new(),
            hints: crate::hints::Hints::default(),
            deny_in_kernel_checks: false,
        };
        let open = vec![Open { region: Some(RegionId(0)), ..Open::default() }];
        Build { func, open, depth: Vec::new(), site: None, dialect: Dialect::default(), strict_pow2: false }
    }

    /// The function as it is so far.
    pub fn func(&self) -> &Func {
        &self.func
    }

    /// The hints, to be set.
    pub fn hints_mut(&mut self) -> &mut crate::hints::Hints {
        &mut self.func.hints
    }

    /// Makes bounds that the kernel would have to check an error.
    pub fn deny_in_kernel_checks(&mut self) {
        self.func.deny_in_kernel_checks = true;
    }

    /// The parameters, so that facts and waivers can be added while building.
    pub fn arrays_mut(&mut self) -> &mut [Array] {
        &mut self.func.arrays
    }

    /// Demands a placement of a tile; what was demanded before and is not now stays.
    pub fn pin(&mut self, value: Value, pin: Pin) {
        let all = self.func.pins.entry(value).or_default();
        all.dist = pin.dist.or_else(|| all.dist.take());
        all.swizzle = pin.swizzle.or(all.swizzle);
    }

    /// The place that operations from now on are said to be at.
    pub fn at(&mut self, site: Option<Site>) {
        self.site = site;
    }

    /// Declares an array parameter. Parameters come before parts.
    pub fn array(&mut self, param: ArrayParam) -> ArrayId {
        self.func.arrays.push(Array::Param(param));
        ArrayId(fit::item(self.func.arrays.len()) - 1)
    }

    /// Declares a part of an array, or finds the equal one.
    pub fn slice(&mut self, of: ArrayId, axis: u8, start: Value, stop: Value) -> ArrayId {
        let part = Array::Slice { of, axis, start, stop };
        let at = self.func.arrays.iter().position(|array| *array == part).unwrap_or_else(|| {
            self.func.arrays.push(part);
            self.func.arrays.len() - 1
        });
        ArrayId(fit::item(at))
    }

    /// Declares a scalar parameter and returns its value.
    pub fn scalar(&mut self, param: ScalarParam) -> Value {
        let ty = Type::scalar(param.dtype);
        self.func.scalars.push(param);
        self.push1(Kind::Param(fit::scalar(self.func.scalars.len() - 1)), &[], ty)
    }

    /// A value's type.
    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    /// Whether the region that defines a value is still open.
    pub fn in_scope(&self, value: Value) -> bool {
        self.depth[value.index()] != CLOSED
    }

    /// Number of open regions.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    fn new_value(&mut self, ty: Type, def: Def, depth: usize) -> Value {
        self.func.values.push(ValueData { ty, def });
        self.depth.push(depth);
        Value(fit::item(self.func.values.len()) - 1)
    }

    /// Appends an operation without regions and returns its results. Types are not inferred here: `results` are their types. A pure
    /// operation that was pushed before in an open region is found again; scalars and factories are as far out as their operands.
    pub fn push(&mut self, kind: Kind, operands: &[Value], results: &[Type]) -> Vec<Value> {
        let innermost = self.open.len() - 1;
        if !self.func.is_pure(&kind) {
            return self.append(innermost, kind, operands, results, Vec::new());
        }
        let key = (kind, operands.to_vec(), results.to_vec());
        if let Some(found) = self.open.iter().rev().find_map(|open| open.known.get(&key)) {
            return found.clone();
        }
        let cheap = operands.is_empty() || results.iter().all(|ty| ty.dims.rank() == 0);
        let hoisted = cheap && !matches!(key.0, Kind::Load(_) | Kind::Gather(_));
        let from = operands.iter().map(|value| self.depth[value.index()]).max().unwrap_or(0);
        let depth = if hoisted && from != CLOSED { from } else { innermost };
        self.append_known(depth, key)
    }

    fn append_known(&mut self, depth: usize, key: (Kind, Vec<Value>, Vec<Type>)) -> Vec<Value> {
        let values = self.append(depth, key.0.clone(), &key.1, &key.2, Vec::new());
        self.open[depth].known.insert(key, values.clone());
        values
    }

    /// [`Build::push`] for an operation with one result.
    pub fn push1(&mut self, kind: Kind, operands: &[Value], result: Type) -> Value {
        self.push(kind, operands, &[result])[0]
    }

    /// Declares a scalar parameter without its value.
    pub(crate) fn declare_scalar(&mut self, param: ScalarParam) {
        self.func.scalars.push(param);
    }

    /// The number of open regions around the one that defines a value, which is 0 in the body.
    pub(crate) fn depth_of(&self, value: Value) -> usize {
        self.depth[value.index()]
    }

    /// [`Build::push`] into an open region further out.
    pub(crate) fn push_at(
        &mut self,
        depth: usize,
        kind: Kind,
        operands: &[Value],
        results: &[Type],
    ) -> Vec<Value> {
        let key = (kind, operands.to_vec(), results.to_vec());
        if let Some(found) = self.open[..=depth].iter().rev().find_map(|open| open.known.get(&key)) {
            return found.clone();
        }
        self.append_known(depth, key)
    }

    /// Appends an operation at this place, whether or not it is known, with regions that are closed.
    pub fn push_regions(
        &mut self,
        kind: Kind,
        operands: &[Value],
        results: &[Type],
        regions: Vec<RegionId>,
    ) -> Vec<Value> {
        self.append(self.open.len() - 1, kind, operands, results, regions)
    }

    fn append(
        &mut self,
        depth: usize,
        kind: Kind,
        operands: &[Value],
        results: &[Type],
        regions: Vec<RegionId>,
    ) -> Vec<Value> {
        let id = OpId(fit::item(self.func.ops.len()));
        let results = results
            .iter()
            .enumerate()
            .map(|(i, &ty)| self.new_value(ty, Def::Result(id, fit::item(i)), depth));
        let results: Vec<Value> = results.collect();
        let op = Op { kind, operands: operands.to_vec(), results: results.clone(), regions, site: self.site };
        self.func.ops.push(op);
        if let Some(region) = self.open[depth].region {
            self.func.regions[region.index()].ops.push(id);
        }
        results
    }

    /// Opens a region with arguments of these types.
    pub fn open(&mut self, args: &[Type]) -> (RegionId, Vec<Value>) {
        let region = RegionId(fit::item(self.func.regions.len()));
        self.func.regions.push(Region::default());
        self.open.push(Open { region: Some(region), ..Open::default() });
        let depth = self.open.len() - 1;
        let args = args
            .iter()
            .enumerate()
            .map(|(i, &ty)| self.new_value(ty, Def::Argument(region, fit::item(i)), depth));
        let args: Vec<Value> = args.collect();
        self.func.regions[region.index()].args.clone_from(&args);
        (region, args)
    }

    /// Closes the innermost region. Its values go out of scope.
    pub fn close(&mut self, end: End) -> RegionId {
        let closed = self.open.len() - 1;
        let region = self.open.pop().and_then(|open| open.region).unwrap_or(RegionId(0));
        self.func.regions[region.index()].end = end;
        self.depth.iter_mut().filter(|depth| **depth == closed).for_each(|depth| *depth = CLOSED);
        region
    }

    /// The arguments of the innermost region.
    pub(crate) fn innermost_args(&self) -> &[Value] {
        let region = self.open.last().and_then(|open| open.region);
        region.map_or(&[], |region| &self.func.regions[region.index()].args)
    }

    /// Says how a region that is closed ends, once that is known.
    pub(crate) fn set_end(&mut self, region: RegionId, end: End) {
        self.func.regions[region.index()].end = end;
    }

    /// Closes the body and returns the function.
    pub fn finish(mut self) -> Func {
        self.close(End::Yield(Vec::new()));
        self.func
    }
}
