//! The algebra on the domain of swizzled layouts: operations on the layout inside.

use crate::{Composed, Error, F2Matrix, Int, IntTuple, Lay, Profile, Residue, Shape, Swizzle, Tiler};

/// Operations on the domain: they change the layout inside, and keep the swizzle and the offset.
macro_rules! inside {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*);)*) => {
        impl Composed {$(
            $(#[$doc])*
            ///
            /// # Errors
            #[doc = concat!("As [`Lay::", stringify!($name), "`].")]
            pub const fn $name(&self, $($arg: $type),*) -> Result<Composed, Error> {
                Ok(Composed { layout: tri!(self.layout.$name($($arg),*)), ..*self })
            }
        )*}
    };
}

inside! {
    /// `(swizzle o offset o layout) o right`, with a layout.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.composition(&lay!("(4,8):(1,8)"))?.layout(), &tile.layout().composition(&lay!("(4,8):(1,8)"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    composition(right: &Lay);
    /// `(swizzle o offset o layout) o right`, with a layout or with one tile for each mode.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay, tiler};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.compose(&tiler!("<4,8>"))?.layout(), &tile.layout().compose(&tiler!("<4,8>"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    compose(right: &Tiler);
    /// [`Composed::composition`] that refuses a right-hand side which goes past the end.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.compose_in_bounds(&lay!("(4,8):(1,8)"))?.layout(), &tile.layout().compose_in_bounds(&lay!("(4,8):(1,8)"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    compose_in_bounds(right: &Lay);
    /// [`Composed::composition`] without a limit of rules: the result whenever it is a layout.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.compose_general(&lay!("(4,8):(1,8)"))?.layout(), &tile.layout().compose_general(&lay!("(4,8):(1,8)"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    compose_general(right: &Lay);
    /// The layout inside, divided: `((TileM,RestM),(TileN,RestN),L)`.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay, tiler};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.logical_divide(&tiler!("<4,8>"))?.layout(), &tile.layout().logical_divide(&tiler!("<4,8>"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    logical_divide(tiler: &Tiler);
    /// The layout inside, divided and zipped: `((TileM,TileN),(RestM,RestN,L))`.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay, tiler};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.zipped_divide(&tiler!("<4,8>"))?.layout(), &tile.layout().zipped_divide(&tiler!("<4,8>"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    zipped_divide(tiler: &Tiler);
    /// The layout inside, divided: `((TileM,TileN),RestM,RestN,L)`.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay, tiler};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.tiled_divide(&tiler!("<4,8>"))?.layout(), &tile.layout().tiled_divide(&tiler!("<4,8>"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    tiled_divide(tiler: &Tiler);
    /// The layout inside, divided: `(TileM,TileN,RestM,RestN,L)`.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay, tiler};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.flat_divide(&tiler!("<4,8>"))?.layout(), &tile.layout().flat_divide(&tiler!("<4,8>"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    flat_divide(tiler: &Tiler);
    /// Copies of the layout inside. A copy that begins at a multiple of the swizzle's period is swizzled like the first.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay, tiler};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.logical_product(&tiler!("<2,2>"))?.layout(), &tile.layout().logical_product(&tiler!("<2,2>"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    logical_product(tiler: &Tiler);
    /// Copies of the layout inside, zipped.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay, tiler};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.zipped_product(&tiler!("<2,2>"))?.layout(), &tile.layout().zipped_product(&tiler!("<2,2>"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    zipped_product(tiler: &Tiler);
    /// Copies of the layout inside, their modes side by side.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay, tiler};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.tiled_product(&tiler!("<2,2>"))?.layout(), &tile.layout().tiled_product(&tiler!("<2,2>"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    tiled_product(tiler: &Tiler);
    /// Copies of the layout inside, all modes side by side.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay, tiler};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.flat_product(&tiler!("<2,2>"))?.layout(), &tile.layout().flat_product(&tiler!("<2,2>"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    flat_product(tiler: &Tiler);
    /// Copies of the layout inside, side by side.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.blocked_product(&lay!("(2,2)"))?.layout(), &tile.layout().blocked_product(&lay!("(2,2)"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    blocked_product(tile: &Lay);
    /// Copies of the layout inside, interleaved.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.raked_product(&lay!("(2,2)"))?.layout(), &tile.layout().raked_product(&lay!("(2,2)"))?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    raked_product(tile: &Lay);
    /// Copies of the layout inside that fill a shape: how a swizzled atom becomes a shared-memory tile.
    ///
    /// ```
    /// use girih_layout::{Composed, Shape, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.tile_to_shape(&Shape::parse("(16,128)")?, None)?.layout(), &tile.layout().tile_to_shape(&Shape::parse("(16,128)")?, None)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    tile_to_shape(target: &Shape, order: Option<&IntTuple>);
    /// The layout inside, coalesced mode by mode.
    ///
    /// ```
    /// use girih_layout::{Composed, Shape, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.coalesce_by(&Shape::parse("(1,1)")?)?.layout(), &tile.layout().coalesce_by(&Shape::parse("(1,1)")?)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    coalesce_by(profile: &IntTuple);
    /// Mode `mode`.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.mode(1)?.layout(), &tile.layout().mode(1)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    mode(mode: usize);
    /// The modes of the given numbers.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.select(&[1, 0])?.layout(), &tile.layout().select(&[1, 0])?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    select(modes: &[usize]);
    /// The modes from `begin` up to `end`.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.take(0, 1)?.layout(), &tile.layout().take(0, 1)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    take(begin: usize, end: usize);
    /// The modes from `begin` up to `end` grouped into one.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.group(0, 2)?.layout(), &tile.layout().group(0, 2)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    group(begin: usize, end: usize);
    /// The same leaves under another tree.
    ///
    /// ```
    /// use girih_layout::{Composed, Shape, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.unflatten(&Shape::parse("(1,1)")?.profile())?.layout(), &tile.layout().unflatten(&Shape::parse("(1,1)")?.profile())?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    unflatten(profile: &Profile);
    /// The same function over another shape of the same size.
    ///
    /// ```
    /// use girih_layout::{Composed, Shape, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// assert_eq!(tile.with_shape(&Shape::parse("(8,(8,8))")?)?.layout(), &tile.layout().with_shape(&Shape::parse("(8,(8,8))")?)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    with_shape(shape: &Shape);
}

impl Composed {
    /// The layout without modes of extent 1 or stride 0, coalesced ([`Lay::filter`]): the image is the same.
    ///
    /// ```
    /// use girih_layout::Composed;
    /// let every = Composed::parse("Sw<1,0,1> o 0 o (32,(2,2)):(0,(1,2))")?; // 32 threads read the same
    /// assert_eq!(every.filter().to_string(), "Sw<1,0,1> o 0 o 4:1");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn filter(&self) -> Composed {
        Composed { layout: self.layout.filter(), ..*self }
    }

    /// The coordinates that all have the index of coordinate 0 ([`Lay::nullspace`]).
    ///
    /// ```
    /// use girih_layout::{Composed, lay};
    /// let every = Composed::parse("Sw<1,0,1> o 0 o (32,(2,2)):(0,(1,2))")?;
    /// assert_eq!(every.nullspace()?, lay!("32:1"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::nullspace`].
    pub const fn nullspace(&self) -> Result<Lay, Error> {
        self.layout.nullspace()
    }

    /// The complement of the layout inside: `swizzle o offset o (layout, complement)` meets each index of the cotarget
    /// once, if the cotarget is whole periods of the swizzle and the offset is 0.
    ///
    /// ```
    /// use girih_layout::{Composed, Int, lay};
    /// let row = Composed::parse("Sw<2,0,2> o 0 o 4:4")?;
    /// assert_eq!(row.complement(Int::fixed(64))?, lay!("(4,4):(1,16)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::complement`].
    pub const fn complement(&self, cotarget: Int) -> Result<Lay, Error> {
        self.layout.complement(cotarget)
    }

    /// [`Composed::logical_divide`] together with the predicate that guards the elements past the end
    /// ([`Lay::divide_with_residue`]).
    ///
    /// ```
    /// use girih_layout::{Composed, tiler};
    /// let (tiles, residue) = Composed::parse("Sw<1,0,1> o 0 o 6:1")?.divide_with_residue(&tiler!("4:1"))?;
    /// assert_eq!(tiles.to_string(), "Sw<1,0,1> o 0 o (4,2):(1,4)");
    /// assert_eq!((residue.is_inside(5)?, residue.is_inside(6)?), (true, false));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::divide_with_residue`].
    pub const fn divide_with_residue(&self, tiler: &Tiler) -> Result<(Composed, Residue), Error> {
        let (layout, residue) = tri!(self.layout.divide_with_residue(tiler));
        Ok((Composed { layout, ..*self }, residue))
    }

    /// The layout inside, coalesced.
    ///
    /// ```
    /// use girih_layout::{Composed, lay};
    /// assert_eq!(Composed::parse("Sw<1,0,1> o 0 o (2,2):(1,2)")?.coalesce().layout(), &lay!("4:1"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn coalesce(&self) -> Composed {
        Composed { layout: self.layout.coalesce(), ..*self }
    }

    /// All leaves in one flat tuple.
    ///
    /// ```
    /// use girih_layout::Composed;
    /// assert_eq!(Composed::parse("Sw<1,0,1> o 0 o ((2,2),3):((1,2),4)")?.flatten().layout().depth(), 1);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn flatten(&self) -> Composed {
        Composed { layout: self.layout.flatten(), ..*self }
    }

    /// Another swizzle after this one, if both together are a swizzle; other combinations are an [`F2Matrix`].
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle};
    /// let (once, swizzle) = (Composed::parse("Sw<1,0,1> o 0 o 4:1")?, Swizzle::new(1, 0, 1)?);
    /// assert_eq!(once.swizzled(swizzle)?.at(2)?, 2); // twice is not at all
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub const fn swizzled(&self, by: Swizzle) -> Result<Composed, Error> {
        let first = tri!(F2Matrix::of_swizzle(self.swizzle, 62));
        let both = tri!(tri!(F2Matrix::of_swizzle(by, 62)).after(&first));
        match both.swizzle() {
            Some(swizzle) => Ok(Composed { swizzle, ..*self }),
            None => Err(Error::Unsupported {
                op: "a swizzle of a swizzle",
                what: "bits that are no swizzle together",
            }),
        }
    }
}
