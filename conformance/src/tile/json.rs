//! Dtypes, constants and elements as records have them.

use girih_tensor::DType;
use girih_tile::dtype::{Category, Const, category};
use girih_tile::ops::number::encode;
use girih_tile_reference::{integer, number};
use serde_json::{Value, json};

use super::Stop;

const NAMES: &[(&str, DType)] = &[
    ("bool", DType::Bool),
    ("i8", DType::S8),
    ("i16", DType::S16),
    ("i32", DType::S32),
    ("i64", DType::S64),
    ("u8", DType::U8),
    ("u16", DType::U16),
    ("u32", DType::U32),
    ("u64", DType::U64),
    ("f16", DType::F16),
    ("bf16", DType::Bf16),
    ("f32", DType::F32),
    ("f64", DType::F64),
    ("tf32", DType::Tf32),
    ("f8e4m3fn", DType::E4m3),
    ("f8e5m2", DType::E5m2),
    ("f4e2m1fn", DType::E2m1),
    ("f8e8m0fnu", DType::E8m0),
    ("i4", DType::S4),
    ("u4", DType::U4),
];

/// The dtype of a record's name for it.
pub fn dtype(name: &str) -> Option<DType> {
    NAMES.iter().find(|(own, _)| *own == name).map(|&(_, dtype)| dtype)
}

/// A record's name of a dtype.
pub(super) fn name(dtype: DType) -> &'static str {
    NAMES.iter().find(|&&(_, own)| own == dtype).map_or("", |&(name, _)| name)
}

/// A number as records write it.
pub(super) fn constant(value: &Value) -> Result<Const, Stop> {
    let float = match value {
        Value::Bool(truth) => return Ok(Const::Bool(*truth)),
        Value::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(n), _) => return Ok(Const::Int(n.into())),
            (_, Some(n)) => return Ok(Const::Int(n.into())),
            _ => n.as_f64(),
        },
        Value::String(text) => match text.as_str() {
            "nan" => Some(f64::NAN),
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            "-0.0" => Some(-0.0),
            _ => None,
        },
        _ => None,
    };
    float.map(Const::Float).ok_or_else(|| Stop::Record(format!("{value} is no number of a record")))
}

/// The bits of an element.
pub(super) fn element(dtype: DType, value: &Value) -> Result<u64, Stop> {
    Ok(encode(dtype, constant(value)?))
}

/// An element from its bits.
pub(super) fn shown(dtype: DType, bits: u64) -> Value {
    match category(dtype) {
        Category::Bool => json!(bits != 0),
        Category::Integer => {
            let n = integer(dtype, bits);
            i64::try_from(n).map_or_else(|_| json!(u64::try_from(n).unwrap_or(u64::MAX)), |n| json!(n))
        }
        Category::Float => match number(dtype, bits) {
            x if x.is_nan() => json!("nan"),
            x if x.is_infinite() => json!(if x > 0.0 { "inf" } else { "-inf" }),
            x if x == 0.0 && x.is_sign_negative() => json!("-0.0"),
            x => json!(x),
        },
    }
}
