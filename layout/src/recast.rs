//! Recasts: the same bytes as elements of another size.

use crate::symbol::gcd;
use crate::{Error, Int, Lay, Stride};

impl Lay {
    /// The layout in units of `n` old elements (CuTe's `upcast`): `n` consecutive elements become one.
    ///
    /// A stride that `n` divides is divided; a stride that divides `n` takes its extent along.
    ///
    /// # Errors
    /// [`Error::ShapeDivisibility`] where units would be cut, [`Error::StrideDivisibility`] where `n` and a stride don't divide one another,
    /// [`Error::NotKnown`] where a symbol decides, [`Error::Unsupported`] for `n < 1` and for strides that are no integers.
    pub const fn upcast(&self, n: i64) -> Result<Lay, Error> {
        const OP: &str = "upcast";
        if n < 1 {
            return Err(Error::Unsupported { op: OP, what: "units of less than one element" });
        }
        let mut out = *self;
        let mut i = 0;
        while i < self.leaf_count() {
            let (s, d) = (self.shape.leaves[i], tri!(self.stride[i].require_int(OP)));
            if !d.is(0) {
                if let Some(quotient) = d.div_exact(Int::fixed(n)) {
                    out.stride[i] = Stride::Int(quotient);
                } else {
                    let Some(step) = d.get() else {
                        return Err(Error::NotKnown { op: OP, value: d });
                    };
                    if n % step != 0 {
                        return Err(Error::StrideDivisibility { extent: Int::value(n), shape: s, stride: d });
                    }
                    let unit = Int::fixed((n / step).abs());
                    let Some(units) = s.div_exact(unit) else {
                        if s.is(1) {
                            out.stride[i] = Stride::Int(Int::value(step.signum()));
                            i += 1;
                            continue;
                        }
                        return Err(Error::ShapeDivisibility { divisor: unit, shape: s });
                    };
                    out.shape.leaves[i] = units;
                    out.stride[i] = Stride::Int(Int::value(step.signum()));
                }
            }
            i += 1;
        }
        Ok(out)
    }

    /// The layout in `n`-ths of the old elements (CuTe's `downcast`): each element becomes `n` consecutive ones along the mode of stride 1.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for `n < 1`, and unless exactly one mode of extent above 1 has stride 1 or -1; [`Error::Overflow`].
    pub const fn downcast(&self, n: i64) -> Result<Lay, Error> {
        const OP: &str = "downcast";
        if n < 1 {
            return Err(Error::Unsupported { op: OP, what: "parts of less than one element" });
        }
        let mut out = *self;
        let (mut i, mut units) = (0, 0);
        while i < self.leaf_count() {
            let d = tri!(self.stride[i].require_int(OP));
            if d.is(1) || d.is(-1) {
                units += !self.shape.leaves[i].is(1) as usize;
                out.shape.leaves[i] = tri!(self.shape.leaves[i].mul(Int::fixed(n)));
            } else {
                out.stride[i] = Stride::Int(tri!(d.mul(Int::fixed(n))));
            }
            i += 1;
        }
        if units > 1 {
            return Err(Error::Unsupported { op: OP, what: "several modes of stride 1" });
        }
        Ok(out)
    }

    /// The layout of elements of `new_bits` over the same memory as elements of `old_bits` (CuTe's `recast_layout`).
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
            (1, _) => self.upcast(up),
            (_, 1) => self.downcast(down),
            _ => tri!(self.downcast(down)).upcast(up),
        }
    }
}
