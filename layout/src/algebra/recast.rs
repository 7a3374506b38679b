//! Recasts: the same bytes as elements of another size.

use crate::arith::ask;
use crate::leaf::symbol::gcd;
use crate::{Error, Int, Lay, Stride};

impl Lay {
    /// The layout in units of `n` old elements (CuTe's `upcast`): `n` consecutive elements become one.
    ///
    /// A stride that `n` divides is divided; a stride that divides `n` takes its extent along. The indices of the result are those of the layout
    /// divided by `n`, rounded down.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(32,4):(1,32)").upcast(4)?, lay!("(8,4):(1,8)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ShapeDivisibility`] where a mode ends inside a unit that it enters, [`Error::StrideDivisibility`] where `n` and a stride don't divide one another,
    /// [`Error::NonPositiveStride`] for a negative stride below a unit, [`Error::NotKnown`] where a symbol decides,
    /// [`Error::Unsupported`] for `n < 1`, for modes that overlap within a unit and for strides that are no integers.
    pub const fn upcast(&self, n: i64) -> Result<Lay, Error> {
        const OP: &str = "upcast";
        if n < 1 {
            return Err(Error::Unsupported { op: OP, what: "units of less than one element" });
        }
        let mut out = *self;
        // How far the leaves reach inside a unit: past the unit's end, they would carry into the next unit.
        let (mut inside, mut i) = (0i64, 0);
        while i < self.leaf_count() {
            let (s, d) = (self.extent(i), tri!(self.step(i).require_int(OP)));
            if let Some(quotient) = d.div_exact(Int::fixed(n)) {
                tri!(out.set_step(i, Stride::Int(quotient)));
            } else {
                tri!(out.set_step(i, Stride::Int(Int::ONE)));
                if !s.is(1) {
                    tri!(out.set_extent(i, tri!(units(s, d, n, &mut inside))));
                }
            }
            i += 1;
        }
        if inside >= n {
            return Err(Error::Unsupported { op: OP, what: "several modes that overlap within a unit" });
        }
        Ok(out)
    }

    /// The layout in `n`-ths of the old elements (CuTe's `downcast`): each element becomes `n` consecutive elements
    /// along the mode of stride 1.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(8,4):(1,8)").downcast(4)?, lay!("(32,4):(1,32)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for `n < 1`, and where there is no mode of stride 1 to take the parts, or several of
    /// extent above 1; [`Error::NeedsFact`] and [`Error::NotKnown`] where a symbol decides which mode has stride 1,
    /// [`Error::Overflow`].
    pub const fn downcast(&self, n: i64) -> Result<Lay, Error> {
        const OP: &str = "downcast";
        if n < 1 {
            return Err(Error::Unsupported { op: OP, what: "parts of less than one element" });
        }
        if n == 1 {
            return Ok(*self);
        }
        let mut out = *self;
        // The mode of stride 1; of several such modes, the one of extent above 1.
        let (mut unit, mut i) = (None, 0);
        while i < self.leaf_count() {
            let (extent, stride) = self.flat_leaf(i);
            let d = tri!(stride.require_int(OP));
            match ask::equal(d, Int::ONE) {
                Some(true) => match unit {
                    None => unit = Some(i),
                    Some(k) => match (tri!(self.is_wide(k)), tri!(ask::is_wide(OP, extent))) {
                        (true, true) => {
                            return Err(Error::Unsupported { op: OP, what: "several modes of stride 1" });
                        }
                        (false, true) => unit = Some(i),
                        (_, false) => {}
                    },
                },
                Some(false) => {}
                None => return Err(ask::at_least(OP, d, 2)),
            }
            tri!(out.set_step(i, Stride::Int(tri!(d.mul(Int::fixed(n))))));
            i += 1;
        }
        let Some(unit) = unit else {
            return Err(Error::Unsupported { op: OP, what: "a layout without a mode of stride 1" });
        };
        tri!(out.set_extent(unit, tri!(self.extent(unit).mul(Int::fixed(n)))));
        tri!(out.set_step(unit, Stride::Int(Int::ONE)));
        Ok(out)
    }

    const fn is_wide(&self, leaf: usize) -> Result<bool, Error> {
        ask::is_wide("downcast", self.flat_leaf(leaf).0)
    }

    /// The layout of elements of `new_bits` over the same memory as elements of `old_bits` (CuTe's `recast_layout`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(8,4):(1,8)").recast(16, 32)?, lay!("(4,4):(1,4)")); // pairs of f16
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::upcast`] and [`Lay::downcast`]; [`Error::Unsupported`] for sizes below 1.
    pub const fn recast(&self, old_bits: i64, new_bits: i64) -> Result<Lay, Error> {
        if old_bits < 1 || new_bits < 1 {
            return Err(Error::Unsupported { op: "recast", what: "elements of less than one bit" });
        }
        let g = gcd(old_bits, new_bits);
        let (down, up) = (old_bits / g, new_bits / g);
        match (down, up) {
            (1, _) => called!("recast", self.upcast(up)),
            (_, 1) => called!("recast", self.downcast(down)),
            _ => called!("recast", tri!(called!("recast", self.downcast(down))).upcast(up)),
        }
    }
}

/// How many units of `n` elements the leaf `s:d` fills, where `n` does not divide `d`; adds to `inside` how far the
/// leaf reaches inside a unit.
const fn units(s: Int, d: Int, n: i64, inside: &mut i64) -> Result<Int, Error> {
    const OP: &str = "upcast";
    let Some(step) = d.get() else {
        return Err(Error::NotKnown { op: OP, value: d.quoted() });
    };
    if step < 0 {
        return Err(Error::NonPositiveStride { op: OP, stride: d.quoted() });
    }
    if n % step != 0 {
        return Err(Error::StrideDivisibility { op: OP, extent: n, shape: s.quoted(), stride: step });
    }
    let elements = n / step;
    if let Some(units) = s.div_exact(Int::fixed(elements)) {
        *inside = inside.saturating_add(n - step);
        return Ok(units);
    }
    match s.get() {
        Some(s) if s < elements => {
            *inside = inside.saturating_add((s - 1) * step);
            Ok(Int::ONE)
        }
        Some(_) => Err(Error::ShapeDivisibility {
            op: OP,
            divisor: Int::value(elements).quoted(),
            shape: s.quoted(),
        }),
        None => Err(Error::NotKnown { op: OP, value: s.quoted() }),
    }
}
