//! The colours of the page, which are those of girih's pictures.

use girih_picture::Palette;
use serde::Serialize;

use super::{Call, Nothing, calls};
use crate::Fault;

pub(super) const CALLS: &[Call] = calls! { "palettes" => palettes };

/// Fills as `#rrggbb`; a number has the fill at the number modulo the length of the list.
#[derive(Serialize)]
struct Palettes {
    /// Of indices, modes, banks and sectors.
    numbers: Vec<String>,
    /// Of threads.
    threads: Vec<String>,
}

fn palettes(_: Nothing) -> Result<Palettes, Fault> {
    let fills = |count: i64| {
        let palette = Palette::of_threads(count);
        (0..count).map(|number| format!("#{:06x}", palette.thread(number))).collect()
    };
    Ok(Palettes { numbers: fills(8), threads: fills(256) })
}
