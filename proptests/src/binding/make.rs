//! Random operands of an operation, which suit those before them.

use girih_layout::{Composed, Int, IntTuple, Lay, ModePath, Shape, Stride, Swizzle, Symbol, Tile, Tiler};
use rand::RngExt;
use rand::rngs::StdRng;

use super::SYMBOLS;
use super::judge::PATHS;
use super::operands::{Operand, pick};

pub(super) struct Make<'a> {
    pub(super) facts: [Symbol; SYMBOLS],
    pub(super) symbols: bool,
    pub(super) rng: &'a mut StdRng,
}

const EXTENTS: &[i64] = &[1, 2, 2, 3, 4, 4, 5, 6, 8];
const STRIDES: &[i64] = &[0, 1, 1, 2, 3, 4, 6, 8, 12, 16, 24, -1, -4];
const SWIZZLES: [Swizzle; 4] = [swizzle(0, 0, 2), swizzle(1, 0, 2), swizzle(2, 1, 2), swizzle(2, 0, -3)];
const SHAPES: &[&str] =
    &["congruent", "weakly_congruent", "compatible", "evenly_divides", "shape_div", "ceil_div", "round_up"];

impl Make<'_> {
    pub(super) fn once_in(&mut self, n: u32) -> bool {
        self.rng.random_range(0..n) == 0
    }

    fn of<T: Copy>(&mut self, from: &[T]) -> T {
        *pick(self.rng, from)
    }

    pub(super) fn operand(
        &mut self,
        op: &str,
        name: &str,
        before: &[(&'static str, Operand)],
    ) -> Option<Operand> {
        let first = before.first().map(|(_, operand)| operand);
        Some(match name {
            "a" | "b" | "profile" if SHAPES.contains(&op) || name == "profile" => match first {
                Some(Operand::Tuple(shape)) if !self.once_in(3) => Operand::Tuple(self.related_shape(shape)),
                Some(Operand::Lay(lay)) if !self.once_in(3) => {
                    Operand::Tuple(self.related_shape(lay.shape()))
                }
                _ => Operand::Tuple(self.shape()),
            },
            "shape" | "from" | "to" | "target" => match first {
                Some(Operand::Lay(lay)) if !self.once_in(3) => Operand::Tuple(self.regrouped(lay.shape())),
                Some(Operand::Tuple(shape)) if !self.once_in(3) => Operand::Tuple(self.regrouped(shape)),
                _ => Operand::Tuple(self.shape()),
            },
            "layout" if op == "coshape" => Operand::Lay(self.coordinates()),
            "layout" | "a" | "block" => Operand::Lay(self.layout(4)),
            "b" | "by" => match first {
                Some(Operand::Lay(lay)) if op.starts_with("max_common") || self.once_in(4) => {
                    let lay = *lay;
                    Operand::Lay(self.related(&lay))
                }
                _ if op == "composition" && self.once_in(4) => Operand::Tiler(self.tiler(first)),
                _ => Operand::Lay(self.layout(2)),
            },
            "tiler" if op.starts_with("blocked") || op.starts_with("raked") => Operand::Lay(self.layout(2)),
            "tiler" => Operand::Tiler(self.tiler(first)),
            "order" => self.order(before),
            "cotarget" => Operand::Tuple(IntTuple::leaf(self.extent_of(&[4, 6, 8, 12, 24, 48, 60]))),
            "crd" => Operand::Text(self.coordinate(first, true)),
            "idx" if op == "idx2crd" => Operand::Text(self.coordinate(first, false)),
            "idx" => self.number(&[0, 0, 1, 2, 3, 5, 7, 11, 24, -1]),
            "begin" | "mode" | "at" => self.number(&[0, 0, 1, 1, 2]),
            "end" | "rank" => self.number(&[1, 2, 2, 3]),
            "modes" => Operand::Text(self.of(&["(0)", "(1,0)", "(0,1)", "(2,0)", "(0,0)"]).into()),
            "n" => self.number(&[1, 2, 2, 3, 4, 4, 6, 8, 0]),
            "old_bits" | "new_bits" => self.number(&[4, 8, 8, 12, 16, 32]),
            "values" => Operand::Text(self.values()),
            "bits" | "base" => self.number(&[0, 1, 2]),
            "shift" => self.number(&[2, 3, -2]),
            "offset" => self.number(&[0, 0, 1, 8]),
            "xs" => Operand::Text("(0,1,5,17,100)".into()),
            "swizzled" => Operand::Composed(self.composed()),
            _ => return None,
        })
    }

    fn number(&mut self, from: &[i64]) -> Operand {
        Operand::Text(self.of(from).to_string())
    }

    /// A symbol, a multiple of one, or a part of one.
    fn symbolic(&mut self) -> Int {
        let symbol = Int::symbol(self.of(&self.facts.clone()));
        let by = Int::value(self.of(&[2, 3, 4, 8]));
        let made = match self.rng.random_range(0..8) {
            0..5 => Ok(symbol),
            5 => symbol.mul(by),
            6 => symbol.ceil_div(by),
            _ => symbol.mul(Int::symbol(self.of(&self.facts.clone()))),
        };
        made.unwrap_or(symbol)
    }

    fn extent_of(&mut self, known: &[i64]) -> Int {
        if self.symbols && self.once_in(3) { self.symbolic() } else { Int::value(self.of(known)) }
    }

    fn extent(&mut self) -> Int {
        self.extent_of(EXTENTS)
    }

    fn shape(&mut self) -> Shape {
        let leaves: Vec<Int> = (0..self.rng.random_range(1..4)).map(|_| self.extent()).collect();
        self.grouped(&leaves)
    }

    /// Leaves as a leaf, a tuple, or a tuple with a group in it.
    fn grouped(&mut self, leaves: &[Int]) -> Shape {
        let ones: Vec<Shape> = leaves.iter().map(|leaf| Shape::leaf(*leaf)).collect();
        if let ([leaf], true) = (&ones[..], self.once_in(2)) {
            return *leaf;
        }
        let flat = Shape::concat(&ones).unwrap_or(ones[0]);
        if ones.len() > 1 && self.once_in(3) {
            let begin = self.rng.random_range(0..ones.len() - 1);
            return flat.group(begin, self.rng.random_range(begin + 1..=ones.len())).unwrap_or(flat);
        }
        flat
    }

    /// The same leaves in another tree, sometimes two of them as one.
    fn regrouped(&mut self, shape: &Shape) -> Shape {
        let mut leaves: Vec<Int> = shape.leaves().collect();
        if leaves.len() > 1 && self.once_in(2) {
            let at = self.rng.random_range(0..leaves.len() - 1);
            if let Ok(both) = leaves[at].mul(leaves[at + 1]) {
                leaves.splice(at..at + 2, [both]);
            }
        }
        self.grouped(&leaves)
    }

    /// What may be compatible with a shape, or divide it.
    fn related_shape(&mut self, shape: &Shape) -> Shape {
        match self.rng.random_range(0..4) {
            0 => *shape,
            1 => self.regrouped(shape),
            2 => shape.product_each().unwrap_or(*shape),
            _ => {
                let by = Int::value(self.of(&[1, 2, 3, 4]));
                shape.map(|extent| extent.div_exact(by).unwrap_or(extent)).unwrap_or(*shape)
            }
        }
    }

    fn stride(&mut self, extents: &[Int]) -> Stride {
        Stride::Int(match self.rng.random_range(0..10) {
            0..6 => Int::value(self.of(STRIDES)),
            6 if self.symbols => self.symbolic(),
            7 if self.symbols => self.symbolic().mul(self.of(extents)).unwrap_or(Int::ONE),
            _ => self.of(extents),
        })
    }

    pub(super) fn layout(&mut self, most: usize) -> Lay {
        let n = self.rng.random_range(1..=most);
        let extents: Vec<Int> = (0..n).map(|_| self.extent()).collect();
        let mut strides: Vec<Stride> = extents.iter().map(|_| self.stride(&extents)).collect();
        // As often, modes that build on one another: in some order, with and without gaps.
        if self.once_in(2) {
            let (mut step, mut order) = (Int::ONE, (0..n).collect::<Vec<_>>());
            for i in (1..n).rev() {
                order.swap(i, self.rng.random_range(0..=i));
            }
            for i in order {
                step = step.mul(Int::value(self.of(&[1, 1, 1, 2, 3]))).unwrap_or(step);
                strides[i] = Stride::Int(step);
                step = step.mul(extents[i]).unwrap_or(step);
            }
        }
        let shape = self.grouped(&extents);
        let strides = shape_strides(&shape, &strides);
        Lay::new(&shape, &strides).unwrap_or(Lay::UNIT)
    }

    /// A layout to coordinates, flat, nested, or mixed up: its steps along basis vectors in turns.
    fn coordinates(&mut self) -> Lay {
        let lay = self.layout(3);
        let modes: &[usize] = self.of(&[&[0, 1], &[0, 3, 4], &[1, 2, 3], &[0, 2, 4]]);
        let mut modes = modes.iter().cycle();
        let strides = lay.stride().map(|stride| {
            let mode = modes.next().and_then(|path| ModePath::new(PATHS[*path]).ok());
            match mode {
                Some(mode) => Stride::Basis { scale: stride.int().unwrap_or(Int::ONE), mode },
                None => stride,
            }
        });
        strides.and_then(|strides| Lay::new(lay.shape(), &strides)).unwrap_or(lay)
    }

    /// The same modes with some strides and extents changed.
    fn related(&mut self, lay: &Lay) -> Lay {
        let extents: Vec<Int> =
            lay.shape().leaves().map(|s| if self.once_in(6) { self.extent() } else { s }).collect();
        let strides: Vec<Stride> = (0..extents.len())
            .map(|i| if self.once_in(3) { self.stride(&extents) } else { lay.flat_leaf(i).1 })
            .collect();
        let shape = if lay.is_leaf() { Shape::leaf(extents[0]) } else { self.grouped(&extents) };
        Lay::new(&shape, &shape_strides(&shape, &strides)).unwrap_or(*lay)
    }

    fn tiler(&mut self, first: Option<&Operand>) -> Tiler {
        let rank = match first {
            Some(Operand::Lay(lay)) => lay.rank(),
            _ => 2,
        };
        if self.once_in(2) {
            return Tiler::Lay(self.tile());
        }
        let n = self.rng.random_range(1..=rank.min(3));
        let tiles: Vec<Tile> =
            (0..n).map(|_| if self.once_in(5) { Tile::All } else { Tile::Lay(self.tile()) }).collect();
        Tiler::modes(&tiles).unwrap_or(Tiler::Lay(Lay::UNIT))
    }

    pub(super) fn tile(&mut self) -> Lay {
        if self.once_in(4) {
            return self.layout(2);
        }
        let extent = if self.once_in(6) { self.extent() } else { Int::value(self.of(EXTENTS)) };
        let stride = Stride::from(self.of(&[1, 1, 1, 1, 2, 4]));
        Lay::leaf(extent, stride).unwrap_or(Lay::UNIT)
    }

    fn order(&mut self, before: &[(&'static str, Operand)]) -> Operand {
        let shape = before.iter().rev().find_map(|(_, operand)| match operand {
            Operand::Tuple(shape) => Some(*shape),
            _ => None,
        });
        let shape = shape.unwrap_or(Shape::leaf(Int::ONE));
        let shape = if before.len() > 1 { shape.product_each().unwrap_or(shape) } else { shape };
        let keys: Vec<i64> = (0..shape.leaf_count()).map(|_| self.rng.random_range(0..4)).collect();
        let mut keys = keys.into_iter();
        Operand::Tuple(shape.map(|_| Int::value(keys.next().unwrap_or(0))).unwrap_or(shape))
    }

    /// A coordinate of the operand, in and out of its domain.
    fn coordinate(&mut self, first: Option<&Operand>, open: bool) -> String {
        let shape = match first {
            Some(Operand::Lay(lay)) => *lay.shape(),
            Some(Operand::Tuple(shape)) => *shape,
            _ => Shape::leaf(Int::ONE),
        };
        if self.once_in(4) {
            return self.of(&[0, 1, 2, 3, 5, 8, 13]).to_string();
        }
        let shape = if self.once_in(3) { shape.product_each().unwrap_or(shape) } else { shape };
        let digits: Vec<i64> = shape
            .leaves()
            .map(|extent| match extent.get() {
                Some(extent) if !self.once_in(8) => self.rng.random_range(0..extent.max(1)),
                _ => self.of(&[0, 0, 1, 2, 3]),
            })
            .collect();
        let mut digits = digits.into_iter();
        let coord = shape
            .map(|_| girih_layout::Crd::At(digits.next().unwrap_or(0)))
            .unwrap_or(girih_layout::Coord::at(0));
        let free: Vec<bool> = (0..shape.leaf_count()).map(|_| open && self.once_in(3)).collect();
        let mut free = free.into_iter();
        coord
            .map(|at| if free.next().unwrap_or(false) { girih_layout::Crd::All } else { at })
            .unwrap_or(coord)
            .to_string()
    }

    fn values(&mut self) -> String {
        let symbols = std::mem::replace(&mut self.symbols, false);
        let lay = self.layout(3);
        self.symbols = symbols;
        let size = lay.size().ok().and_then(Int::get).unwrap_or(1).min(64);
        let mut values: Vec<i64> = (0..size).filter_map(|i| lay.at(i).ok()).collect();
        if self.once_in(4) {
            values[size as usize - 1] += 1;
        }
        let texts: Vec<_> = values.iter().map(i64::to_string).collect();
        format!("({})", texts.join(","))
    }

    fn composed(&mut self) -> Composed {
        // Powers of two, so that the swizzle has bits to move.
        let n = self.rng.random_range(1..4);
        let (mut step, mut leaves) = (1, Vec::new());
        for _ in 0..n {
            let extent = if self.symbols && self.once_in(4) {
                self.symbolic()
            } else {
                Int::value(self.of(&[1, 2, 4, 8]))
            };
            let stride = if self.once_in(4) { self.of(&[1, 2, 4, 16]) } else { step };
            leaves.push(Lay::leaf(extent, Stride::from(stride)).unwrap_or(Lay::UNIT));
            step *= extent.get().unwrap_or(8);
        }
        let layout = Lay::concat(&leaves).unwrap_or(Lay::UNIT);
        Composed::new(self.of(&SWIZZLES), self.of(&[0, 0, 1, 8]), layout)
    }
}

/// Strides in the tree of a shape.
fn shape_strides(shape: &Shape, strides: &[Stride]) -> girih_layout::Strides {
    let mut strides = strides.iter().copied();
    shape
        .map(|_| strides.next().unwrap_or(Stride::ZERO))
        .unwrap_or(girih_layout::Strides::repeat(Stride::ZERO, shape.profile()))
}

const fn swizzle(bits: u32, base: u32, shift: i32) -> Swizzle {
    match Swizzle::new(bits, base, shift) {
        Ok(swizzle) => swizzle,
        Err(_) => panic!("bits are at most the shift"),
    }
}
