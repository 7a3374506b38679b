//! The banks of a tile in shared memory under an access, and the swizzle with the fewest conflicts.

use girih_codegen::plan::{Access, best_swizzle, traffic};
use girih_layout::{Composed, Swizzle};
use girih_notation::{TrafficReport, marked};
use girih_picture::{Sheet, without_identity};
use serde::{Deserialize, Serialize};

use super::super::cells::{Picture, pictures};
use super::{bounded, dtype, given, layout, parsed};
use crate::Fault;

/// A tile in shared memory, and an access.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    /// The layout of the tile, coordinate -> element.
    memory: String,
    /// Bits, base and shift of a swizzle after the layout.
    #[serde(default)]
    swizzle: [i32; 3],
    dtype: String,
    /// (Thr,Val) -> number of the element in the tile, if there is an access.
    #[serde(default)]
    access: String,
    /// Elements that a thread accesses at a time.
    #[serde(default = "one")]
    vector: i64,
}

fn one() -> i64 {
    1
}

#[derive(Serialize)]
pub(super) struct Banks {
    /// The layout with its swizzle.
    layout: String,
    notes: Vec<String>,
    keys: Vec<(String, String)>,
    pictures: Vec<Picture>,
    /// What `girih plan access` says, where there is an access.
    counts: Option<TrafficReport>,
}

fn swizzled(memory: &Composed, [bits, base, shift]: [i32; 3]) -> Result<Composed, Fault> {
    if bits == 0 {
        return Ok(*memory);
    }
    if memory.swizzle() != Swizzle::NONE {
        let message = "the layout has a swizzle of its own: one is accepted, here or there";
        return Err(Fault::new("swizzle", message).in_field("swizzle"));
    }
    let refuse = |error: girih_layout::Error| Fault::from(error).in_field("swizzle");
    let swizzle = Swizzle::new(bits.unsigned_abs(), base.unsigned_abs(), shift).map_err(refuse)?;
    Ok(Composed::new(swizzle, memory.offset(), *memory.layout()))
}

pub(super) fn banks(request: Request) -> Result<Banks, Fault> {
    let memory = parsed(&request.memory, "memory", marked::composed)?;
    bounded(&memory, "memory")?;
    let memory = swizzled(&memory, request.swizzle)?;
    let dtype = dtype(&request.dtype)?;
    let access = given(&request.access).map(|text| layout(text, "access")).transpose()?;
    let of_access =
        |error: &dyn std::fmt::Display| Fault::new("access", error.to_string()).in_field("access");
    let sheet =
        Sheet::banks(&memory, dtype, access.as_ref(), request.vector).map_err(|error| of_access(&error))?;
    let counts = match &access {
        Some(tv) => {
            let traffic = traffic(&memory, tv, dtype.bits().into(), Some(request.vector));
            Some(TrafficReport::from(&traffic.map_err(|error| of_access(&error))?))
        }
        None => None,
    };
    Ok(Banks {
        layout: without_identity(&memory),
        keys: sheet.keys.iter().map(|key| (format!("#{:06x}", key.fill), key.text.clone())).collect(),
        pictures: pictures(&sheet),
        notes: sheet.notes,
        counts,
    })
}

/// The swizzle of a tile for which accesses have the fewest conflicts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    memory: String,
    dtype: String,
    access: String,
    vector: i64,
}

#[derive(Serialize)]
pub(super) struct Planned {
    /// Bits, base and shift.
    swizzle: (u32, u32, i32),
    text: String,
    /// Wavefronts that the access takes, and the fewest that any could take.
    taken: i64,
    least: i64,
}

pub(super) fn plan_swizzle(plan: Plan) -> Result<Planned, Fault> {
    let memory = layout(&plan.memory, "memory")?;
    let tv = layout(&plan.access, "access")?;
    let bits = i64::from(dtype(&plan.dtype)?.bits());
    let access = Access { tv, vector: plan.vector };
    let (swizzle, pieces) =
        best_swizzle(&memory, bits, &[access]).map_err(|error| Fault::from(error).in_field("access"))?;
    let parts = (swizzle.bits(), swizzle.base(), swizzle.shift());
    Ok(Planned { swizzle: parts, text: swizzle.to_string(), taken: pieces.taken, least: pieces.least })
}
