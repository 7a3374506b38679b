//! The sizes of static layouts, and layouts and tilers made from sizes.

use girih_layout::{Lay, Tile, Tiler, Tiles, lay};

use crate::Error;
use crate::misfit;

/// The layout with one value.
pub(crate) const ONE: Lay = lay!("1:0");

/// `n:1`
pub(crate) fn extent(n: i64) -> Result<Lay, Error> {
    Ok(misfit::extent(n)?)
}

/// `<n0:1,n1:1,...>`
pub(crate) fn shape_tiler(extents: &[i64]) -> Result<Tiler, Error> {
    let tiles = extents.iter().map(|&n| extent(n).map(Tile::Lay)).collect::<Result<Vec<_>, _>>()?;
    Ok(Tiler::Modes(Tiles::new(&tiles)?))
}

/// A constant layout's size.
pub(crate) fn static_size(what: &'static str, lay: &Lay) -> Result<i64, Error> {
    lay.size()?.get().ok_or_else(|| Error::NotStatic { what, layout: lay.to_string() })
}

/// Whether a constant layout is a bijection onto the indices below its size.
pub(crate) fn is_bijective(what: &'static str, lay: &Lay) -> Result<bool, Error> {
    Ok(static_size(what, &lay.right_inverse()?)? == static_size(what, lay)?)
}
