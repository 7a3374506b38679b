//! The colours of the page, which are those of girih's pictures.

use girih_picture::Palette;
use serde::Serialize;

#[cfg(feature = "server")]
pub(super) const CALLS: &[super::Call] = super::calls! { "palettes" => answer };

/// Fills as `#rrggbb`; a number has the fill at the number modulo the length of the list.
#[derive(Serialize)]
pub(super) struct Palettes {
    /// Of indices, modes, banks and sectors.
    numbers: Vec<String>,
    /// Of threads.
    threads: Vec<String>,
}

#[cfg(feature = "server")]
fn answer(_: super::Nothing) -> Result<Palettes, crate::Fault> {
    Ok(palettes())
}

pub(super) fn palettes() -> Palettes {
    let fills = |count: i64| {
        let palette = Palette::of_threads(count);
        (0..count).map(|number| format!("#{:06x}", palette.thread(number))).collect()
    };
    Palettes { numbers: fills(8), threads: fills(256) }
}
