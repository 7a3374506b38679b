//! Products and configurations as data: what a model of the choice is fitted to.

use girih_codegen::gemm::{GemmConfig, Mainloop, Major, Schedule, Store};
use serde_json::{Value, json};

use crate::rows::Product;

/// The fields of a product.
pub(crate) fn product(product: &Product) -> Value {
    json!({
        "dtype": product.dtype.name(), "out": product.output.name(), "mnk": product.mnk,
        "layout": product.layout.to_string(), "ld": product.pitches(), "batch": product.batch,
        "grouped": product.grouped,
    })
}

/// The fields of a configuration.
pub(crate) fn config(config: &GemmConfig) -> Value {
    let mut fields = json!({
        "kernel": config.name, "tile": config.tile, "early": config.programmatic,
        "columns": config.c_major == Major::Mn,
    });
    match &config.mainloop {
        Mainloop::WarpSpecialized(parts) => {
            fields["consumers"] = (i64::from(parts.threads().unwrap_or(0)) / 128 - 1).into();
            fields["teams"] = parts.teams.into();
            fields["stages"] = parts.stages.into();
            fields["multicast"] = parts.multicast.into();
        }
        Mainloop::Multistage(parts) => {
            fields["stages"] = parts.stages.into();
            fields["fragments"] = parts.fragments.into();
            fields["blocks"] = parts.min_blocks.into();
        }
    }
    let schedule = match config.schedule {
        Schedule::Raster { group } => json!({"raster": group}),
        Schedule::SplitK { parts, cluster } => json!({"parts": parts, "cluster": cluster}),
        Schedule::Persistent { .. } => json!("persistent"),
        Schedule::StreamK { .. } => json!("stream-k"),
    };
    fields["schedule"] = schedule;
    fields["store"] = match config.store {
        Store::Tma { tile, stages } => json!({"tma": tile, "stages": stages}),
        Store::Coalesced { tile, vector } => json!({"coalesced": tile, "vector": vector}),
        Store::Direct { vector } => json!({"vector": vector}),
    };
    fields
}
