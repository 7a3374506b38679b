//! The program that a record becomes, and what is asked of its run.

use girih_device::host_fits;
use girih_device::sizes::{wide, word};
use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{ArrayId, ArrayParam, Build, Dims, Func, Known, ScalarParam, Type, Value};
use girih_tile::ops::Arg;
use girih_tile::ops::memory::Tiles;
use girih_tile_reference::ArrayData;
use serde_json::{Value as Json, json};

use super::record::Record;
use super::{Runner, Stop, array, json as names};

/// A program in the making, with its arguments.
pub(super) struct Case {
    pub(super) b: Build,
    pub(super) grid: [u32; 3],
    arrays: Vec<ArrayData>,
    scalars: Vec<u64>,
    typed_only: bool,
    /// An array that has elements after its end, which must stay as they are.
    guard: Option<(ArrayId, usize)>,
}

/// What a record asks for.
pub(super) enum Asked {
    /// That it is accepted.
    Accepted,
    /// A tile.
    Tile(Value),
    /// Several.
    Tiles(Vec<Value>),
    /// What an array holds at the end.
    Array(ArrayId),
    /// What an array holds at the end, and what atomic operations have returned.
    Returned(ArrayId, Value),
    /// The elements of an array at the end and of what was returned, sorted.
    Multiset(ArrayId, Value),
    /// Scalars that the program computes.
    Integers(Vec<Value>),
    /// Numbers that are known without a program.
    Known(Vec<Option<i64>>),
}

/// The word that elements after an array are filled with.
const SENTINEL: u8 = 0xa5;

impl Case {
    pub(super) fn new(record: &Record<'_>) -> Case {
        let mut b = Build::new("record");
        b.dialect = record.dialect;
        // The records are those of a language whose extents are powers of two.
        b.strict_pow2 = true;
        Case {
            b,
            grid: [1; 3],
            arrays: Vec::new(),
            scalars: Vec::new(),
            typed_only: record.typed_only(),
            guard: None,
        }
    }

    /// Declares an array.
    pub(super) fn array(&mut self, data: ArrayData, mutable: bool) -> ArrayId {
        let known = |&stride: &i64| if stride == 1 { Known::Is(1) } else { Known::MultipleOf(1) };
        let param = ArrayParam {
            name: format!("a{}", self.arrays.len()),
            dtype: data.dtype,
            mutable,
            extents: vec![Known::MultipleOf(1); data.extents.len()],
            strides: data.strides.iter().map(known).collect(),
            align: data.dtype.bits().div_ceil(8),
            assume_disjoint: None,
        };
        self.arrays.push(data);
        self.b.array(param)
    }

    /// Declares an array parameter for an input that is an array.
    pub(super) fn input_array(
        &mut self,
        record: &Record<'_>,
        i: usize,
        mutable: bool,
    ) -> Result<ArrayId, Stop> {
        Ok(self.array(array::data(record.input(i)?)?, mutable))
    }

    /// Declares an array for results, with elements after its end that are watched.
    pub(super) fn guarded(&mut self, dtype: DType, shape: &[i64], guard: i64) -> Result<ArrayId, Stop> {
        let mut data = array::zeros(dtype, shape)?;
        let guard = array::zeros(dtype, &[guard])?.bytes.len();
        data.bytes.resize(data.bytes.len() + guard, SENTINEL);
        let id = self.array(data, true);
        self.guard = Some((id, guard));
        Ok(id)
    }

    /// Declares a scalar parameter.
    pub(super) fn scalar(&mut self, dtype: DType, bits: u64) -> Value {
        let name = format!("s{}", self.scalars.len());
        self.scalars.push(bits);
        self.b.scalar(ScalarParam { name, dtype, known: Known::MultipleOf(1) })
    }

    /// An operand: a tile that is loaded from an array, or a constant.
    pub(super) fn operand(&mut self, record: &Record<'_>, i: usize) -> Result<Arg, Stop> {
        let input = record.input(i)?;
        if let Some(value) = input.get("const") {
            let value = names::constant(value)?;
            return Ok(match (value, input.get("kind").and_then(Json::as_str)) {
                (Const::Int(n), Some("float")) => Arg::Loose(Const::Float(n as f64)),
                (value, _) => Arg::Loose(value),
            });
        }
        if let Some(value) = input.get("strict_const") {
            let dtype = input.get("dtype").and_then(Json::as_str).and_then(names::dtype);
            let dtype = dtype.ok_or_else(|| Stop::Record(format!("{input} has no dtype")))?;
            return Ok(Arg::Strict(dtype, names::constant(value)?));
        }
        let (_, shape) = array::typed(input)?;
        let array = self.input_array(record, i, false)?;
        let zero = Arg::Loose(Const::Int(0));
        let rank = shape.len().max(1);
        let tiles = Tiles::new(array, dims(&shape)?);
        // Inputs may have any shape.
        let strict = std::mem::replace(&mut self.b.strict_pow2, false);
        let loaded = self.b.load(&tiles, &vec![zero; rank]);
        self.b.strict_pow2 = strict;
        Ok(loaded?.into())
    }

    /// An operand as a value.
    pub(super) fn value(&mut self, record: &Record<'_>, i: usize) -> Result<Value, Stop> {
        let arg = self.operand(record, i)?;
        Ok(self.b.value(arg)?)
    }

    /// All operands from one on.
    pub(super) fn operands(&mut self, record: &Record<'_>, from: usize) -> Result<Vec<Arg>, Stop> {
        (from..record.inputs.len()).map(|i| self.operand(record, i)).collect()
    }

    /// Stores a result to an array of its own.
    fn keep(&mut self, value: Value) -> Result<(ArrayId, Type), Stop> {
        let ty = self.b.ty(value);
        let mut shape: Vec<i64> = ty.dims.iter().map(|&n| n.into()).collect();
        if shape.is_empty() {
            shape = vec![1];
        }
        let array = self.array(array::zeros(ty.dtype, &shape)?, true);
        let zero = Arg::Loose(Const::Int(0));
        let strict = std::mem::replace(&mut self.b.strict_pow2, false);
        let stored = self.b.store(&Tiles::new(array, ty.dims), &vec![zero; shape.len()], value.into());
        self.b.strict_pow2 = strict;
        stored?;
        Ok((array, ty))
    }

    /// Runs the program and shows what is asked for.
    pub(super) fn finish(mut self, asked: Asked, runner: &Runner) -> Result<(Json, Option<Vec<Json>>), Stop> {
        let kept: Vec<Value> = match &asked {
            Asked::Tile(value) | Asked::Returned(_, value) | Asked::Multiset(_, value) => vec![*value],
            Asked::Tiles(values) | Asked::Integers(values) => values.clone(),
            Asked::Accepted | Asked::Array(_) | Asked::Known(_) => Vec::new(),
        };
        let kept = kept.into_iter().map(|value| self.keep(value)).collect::<Result<Vec<_>, _>>()?;
        let Case { b, grid, mut arrays, scalars, typed_only, guard } = self;
        let runs = !matches!(asked, Asked::Known(_)) && !arrays.is_empty();
        let func = b.finish();
        let shown = match &asked {
            Asked::Accepted | Asked::Known(_) => 0,
            Asked::Array(array) => count(&arrays[array.index()]),
            Asked::Returned(array, _) | Asked::Multiset(array, _) => {
                count(&arrays[array.index()]).saturating_add(counts(&kept, &arrays))
            }
            Asked::Tile(_) | Asked::Tiles(_) if typed_only => 0,
            Asked::Tile(_) | Asked::Tiles(_) | Asked::Integers(_) => counts(&kept, &arrays),
        };
        if runs {
            host_fits(peak(&func, &arrays, runner, shown))?;
            runner.run(&func, grid, &mut arrays, &scalars).map_err(Stop::Run)?;
        }
        if let Some((array, bytes)) = guard {
            let all = &arrays[array.index()].bytes;
            if all[all.len() - bytes..].iter().any(|&byte| byte != SENTINEL) {
                return Err(Stop::Run("elements behind the end of the array were written".into()));
            }
        }
        let elements = |array: ArrayId| {
            let data = &arrays[array.index()];
            let bits =
                data.elements().ok_or_else(|| Stop::Run("an array reaches beyond its memory".into()))?;
            Ok::<Vec<Json>, Stop>(bits.into_iter().map(|bits| names::shown(data.dtype, bits)).collect())
        };
        let tile = |&(array, ty): &(ArrayId, Type)| {
            let (dtype, shape) = (names::name(ty.dtype), ty.dims.to_vec());
            if typed_only {
                return Ok(json!({ "kind": "type", "dtype": dtype, "shape": shape }));
            }
            Ok::<Json, Stop>(
                json!({ "kind": "value", "dtype": dtype, "shape": shape, "data": elements(array)? }),
            )
        };
        let whole = |array: ArrayId| {
            let data = &arrays[array.index()];
            let dtype = names::name(data.dtype);
            Ok::<Json, Stop>(
                json!({ "kind": "value", "dtype": dtype, "shape": data.extents, "data": elements(array)? }),
            )
        };
        let result = match asked {
            Asked::Accepted => json!({ "kind": "ok" }),
            Asked::Known(numbers) => json!({ "kind": "ints", "data": numbers }),
            Asked::Tile(_) => tile(&kept[0])?,
            Asked::Tiles(_) => {
                let items = kept.iter().map(tile).collect::<Result<Vec<_>, _>>()?;
                json!({ "kind": "values", "items": items })
            }
            Asked::Integers(_) => {
                let parts = kept.iter().map(|&(array, _)| elements(array)).collect::<Result<Vec<_>, _>>()?;
                json!({ "kind": "ints", "data": parts.concat() })
            }
            Asked::Array(array) => whole(array)?,
            Asked::Returned(array, _) => return Ok((whole(array)?, Some(elements(kept[0].0)?))),
            Asked::Multiset(array, _) => {
                let data = &arrays[array.index()];
                let mut all = elements(array)?;
                all.extend(elements(kept[0].0)?);
                all.sort_by(|a, b| {
                    let number = |value: &Json| value.as_f64().unwrap_or(f64::NAN);
                    number(a).total_cmp(&number(b))
                });
                json!({ "kind": "multiset", "dtype": names::name(data.dtype), "data": all })
            }
        };
        Ok((result, None))
    }
}

/// The elements of an array.
fn count(data: &ArrayData) -> u64 {
    data.extents.iter().fold(1, |size, &n| size.saturating_mul(wide(n)))
}

/// The elements of results.
fn counts(kept: &[(ArrayId, Type)], arrays: &[ArrayData]) -> u64 {
    kept.iter().map(|(array, _)| count(&arrays[array.index()])).fold(0, u64::saturating_add)
}

/// What a run holds at once besides the arrays, which are there: the reference evaluator all values, or a device the arrays; and an answer of
/// this many elements.
fn peak(func: &Func, arrays: &[ArrayData], runner: &Runner, shown: u64) -> u64 {
    /// Of an element of a value: its bits, and while it is computed the same again, each with whether it is determined.
    const OF_VALUE: u64 = 8;
    const COMPUTED: u64 = 2 * (OF_VALUE + 1);
    /// Of an element of an answer: its bits, two values of JSON, and its text.
    const OF_ANSWER: u64 = 2 * size_of::<Json>() as u64 + 32;
    let run = match runner {
        Runner::Reference => {
            let sizes = || (0..func.value_count()).map(|i| func.ty(Value(word(i))).dims.size());
            let all = sizes().fold(0, u64::saturating_add).saturating_mul(OF_VALUE);
            all.saturating_add(sizes().max().unwrap_or(0).saturating_mul(COMPUTED))
        }
        // The simulator's memory, and what its checks remember of each byte.
        Runner::Sim(_) => {
            arrays.iter().map(|array| wide(array.bytes.len())).fold(0, u64::saturating_add).saturating_mul(3)
        }
        Runner::Gpu(_) => arrays.iter().map(|array| wide(array.bytes.len())).max().unwrap_or(0),
    };
    run.max(shown.saturating_mul(OF_ANSWER))
}

/// A shape of up to 8 extents.
pub(super) fn dims(shape: &[i64]) -> Result<Dims, Stop> {
    let extents = shape.iter().map(|&n| u32::try_from(n).ok()).collect::<Option<Vec<u32>>>();
    let dims = extents.and_then(|extents| Dims::new(&extents));
    dims.ok_or_else(|| {
        Stop::Record(format!("{shape:?} is no shape: at most 8 extents of 0 or more are accepted"))
    })
}
