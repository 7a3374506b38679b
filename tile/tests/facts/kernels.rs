//! Index expressions as programs, and what they are for concrete numbers.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{ArrayParam, Build, Dims, End, Func, Kind, Known, ScalarParam, Type, Value};
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};

/// An index expression.
#[derive(Clone, Debug)]
pub(super) enum E {
    Bid(u8),
    Blocks(u8),
    /// A scalar parameter.
    Size(usize),
    Number(i32),
    /// The number of the loop around.
    Loop,
    Of(Each, Box<E>, Box<E>),
}

pub(super) fn of(each: Each, a: E, b: E) -> E {
    E::Of(each, Box::new(a), Box::new(b))
}

/// A kernel that stores tiles of an array `c` of rank 2, or 1.
#[derive(Clone, Debug)]
pub(super) struct Stores {
    pub(super) tile: Vec<u32>,
    /// Start, end and step of a loop around the stores.
    pub(super) range: Option<[E; 3]>,
    /// Indices of the stores.
    pub(super) at: Vec<Vec<E>>,
    /// Block numbers that the kernel asks for besides.
    pub(super) besides: Vec<u8>,
}

/// Numbers for everything.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) grid: [i64; 3],
    pub(super) sizes: Vec<i64>,
}

pub(super) const SIZES: usize = 3;

pub(crate) fn param(name: &str, rank: usize, mutable: bool) -> ArrayParam {
    let mut strides = vec![Known::MultipleOf(1); rank];
    strides[rank - 1] = Known::Is(1);
    ArrayParam {
        name: name.into(),
        dtype: DType::F32,
        mutable,
        extents: vec![Known::MultipleOf(1); rank],
        strides,
        align: 4,
        assume_disjoint: None,
    }
}

impl E {
    pub(super) fn emit(&self, b: &mut Build, sizes: &[Value], iteration: Option<Value>) -> Value {
        match self {
            E::Bid(axis) => b.bid((*axis).into()).unwrap(),
            E::Blocks(axis) => b.num_blocks((*axis).into()).unwrap(),
            E::Size(at) => sizes[*at],
            E::Number(n) => b.full(DType::S32, Dims::SCALAR, Const::Int((*n).into())),
            E::Loop => iteration.unwrap(),
            E::Of(each, x, y) => {
                let (x, y) = (x.emit(b, sizes, iteration), y.emit(b, sizes, iteration));
                b.each(*each, &[x.into(), y.into()], Mode::default()).unwrap()
            }
        }
    }

    /// The number for one block and one iteration, as a GPU computes it in 32 bits; `None` for a division by zero.
    pub(super) fn value(&self, bid: [i64; 3], iteration: i64, world: &World) -> Option<i64> {
        let wrap = |n: i64| n as i32 as i64;
        Some(match self {
            E::Bid(axis) => bid[usize::from(*axis)],
            E::Blocks(axis) => world.grid[usize::from(*axis)],
            E::Size(at) => world.sizes[*at],
            E::Number(n) => (*n).into(),
            E::Loop => iteration,
            E::Of(each, x, y) => {
                let (x, y) = (x.value(bid, iteration, world)?, y.value(bid, iteration, world)?);
                match each {
                    Each::Add => wrap(x + y),
                    Each::Sub => wrap(x - y),
                    Each::Mul => wrap(x * y),
                    Each::FloorDiv if y == 0 => return None,
                    Each::FloorDiv => wrap((x as f64 / y as f64).floor() as i64),
                    Each::CeilDiv if y == 0 => return None,
                    Each::CeilDiv => wrap((x as f64 / y as f64).ceil() as i64),
                    Each::Mod if y == 0 => return None,
                    Each::Mod => x - y * (x as f64 / y as f64).floor() as i64,
                    Each::Min => x.min(y),
                    Each::Max => x.max(y),
                    other => panic!("{other:?}"),
                }
            }
        })
    }
}

impl Stores {
    pub(super) fn func(&self) -> Func {
        let mut b = Build::new("k");
        let c = b.array(param("c", self.tile.len(), true));
        let d = b.array(param("d", self.tile.len(), true));
        let sizes: Vec<Value> = (0..SIZES)
            .map(|i| {
                let name = ["n", "m", "k"][i].to_string();
                b.scalar(ScalarParam { name, dtype: DType::S32, known: Known::MultipleOf(1) })
            })
            .collect();
        for &axis in &self.besides {
            b.bid(axis.into()).unwrap();
        }
        let tiles = Tiles::new(c, Dims::new(&self.tile).unwrap());
        // What nobody knows to be the same in all blocks.
        let value = b.load(
            &Tiles::new(d, Dims::new(&self.tile).unwrap()),
            &vec![Arg::Loose(Const::Int(0)); self.tile.len()],
        );
        let value = value.unwrap();
        let stores = |b: &mut Build, iteration: Option<Value>| {
            for at in &self.at {
                let index: Vec<Arg> = at.iter().map(|e| e.emit(b, &sizes, iteration).into()).collect();
                b.store(&tiles, &index, value.into()).unwrap();
            }
        };
        match &self.range {
            Some(range) => {
                let bounds: Vec<Value> = range.iter().map(|e| e.emit(&mut b, &sizes, None)).collect();
                let (region, args) = b.open(&[Type::scalar(DType::S32)]);
                stores(&mut b, Some(args[0]));
                b.close(End::Continue(0, Vec::new()));
                b.push_regions(Kind::For, &bounds, &[], vec![region]);
            }
            None => stores(&mut b, None),
        }
        b.finish()
    }

    /// Two blocks whose stores meet, if there are any.
    pub(super) fn collision(&self, world: &World) -> Option<String> {
        let mut owner = std::collections::HashMap::new();
        let blocks: i64 = world.grid.iter().product();
        for block in 0..blocks {
            let bid = [
                block % world.grid[0],
                block / world.grid[0] % world.grid[1],
                block / world.grid[0] / world.grid[1],
            ];
            let iterations: Vec<i64> = match &self.range {
                None => vec![0],
                Some([start, stop, step]) => {
                    let value = |e: &E| e.value(bid, 0, world);
                    let (Some(start), Some(stop), Some(step)) = (value(start), value(stop), value(step))
                    else {
                        continue;
                    };
                    if step <= 0 {
                        continue;
                    }
                    (start..stop).step_by(step as usize).take(40).collect()
                }
            };
            for iteration in iterations {
                for at in &self.at {
                    let Some(first): Option<Vec<i64>> =
                        at.iter().map(|e| e.value(bid, iteration, world)).collect()
                    else {
                        continue;
                    };
                    let size: i64 = self.tile.iter().map(|&n| i64::from(n)).product();
                    for element in 0..size {
                        let mut rest = element;
                        let mut place = Vec::new();
                        for (axis, &n) in self.tile.iter().enumerate() {
                            place.push(first[axis] * i64::from(n) + rest % i64::from(n));
                            rest /= i64::from(n);
                        }
                        if let Some(other) = owner.insert(place.clone(), bid)
                            && other != bid
                        {
                            return Some(format!("{other:?} and {bid:?} at {place:?} in {world:?}"));
                        }
                    }
                }
            }
        }
        None
    }
}
