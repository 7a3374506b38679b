//! Reduces values of an epilogue over rows, columns or all of C: in a thread, in a block, then over the tiles.

use std::collections::HashMap;

use girih_layout::{Lay, Stride};
use girih_ptx::{Opcode, Operand as Ptx};
use girih_tensor::{DType, Space};

use super::Output;
use crate::builder::{Builder, Cond};
use crate::engine::element_bytes;
use crate::error::narrow;
use crate::gemm::mainloop::Sums;
use crate::gemm::schedule::{Place, SEMAPHORE, Team};
use crate::gemm::{Arguments, Batch, GemmConfig};
use crate::params::Params;
use crate::scalar::lower;
use crate::tiled::mma::Operand;
use crate::{Error, Expr, Gmem, Scalar};

/// The lanes of a warp.
const LANES: i64 = 32;
/// The loads of a thread that are in flight together.
const TOGETHER: i64 = 8;
/// The alignment of what tiles and warps leave, in bytes.
const LINE: i64 = 16;
/// The most tiles of a GEMM.
const MOST_TILES: i64 = i32::MAX as i64;

/// An output of an epilogue in a kernel.
pub(in crate::gemm) struct Reducing {
    output: Output,
    /// The mode of the kernel's C along which the output has values, if it has several.
    kept: Option<usize>,
    /// The addresses of the output, of what the tiles leave, and of the counters of the tiles that have left it.
    out: Expr,
    partials: Expr,
    arrivals: Expr,
    /// The elements from the output of a GEMM of a batch to that of the next.
    stride: Option<Expr>,
}

/// A thread's partial result of an output: a value for each of its coordinates along the kept mode.
#[derive(Default)]
pub(in crate::gemm) struct Partial {
    number: HashMap<Expr, usize>,
    values: Vec<(Expr, Scalar)>,
}

/// The tile of C that a block has, and all of them.
pub(in crate::gemm) struct Tiles<'a> {
    pub(in crate::gemm) place: &'a Place,
    /// The rows and columns of tiles such as `place`.
    pub(in crate::gemm) counts: [Expr; 2],
    /// The extents of C.
    pub(in crate::gemm) extents: [Expr; 2],
}

/// The threads that have values of the same coordinate along the kept mode.
struct Sharing {
    /// The bits in which the numbers of lanes of one warp differ that do.
    lanes: Vec<i64>,
    /// The index of the thread's warp among those that do, and how many they are.
    warp: Expr,
    warps: i64,
}

impl Sharing {
    /// `threads` is the thread's index -> coordinate in the tile, to which the thread's values add.
    fn of(threads: &Lay, kept: Option<usize>, thread: &Expr) -> Result<Sharing, Error> {
        let mut sharing = Sharing { lanes: Vec::new(), warp: Expr::from(0), warps: 1 };
        let mut before = 1;
        for leaf in 0..threads.leaf_count() {
            let refused = || Error::Mismatch {
                what: "a reduction",
                layout: threads.to_string(),
                with: format!("warps of {LANES} lanes"),
                accepted: "lanes that share coordinates in powers of two",
            };
            let (extent, stride) = threads.flat_leaf(leaf);
            let extent = extent.get().ok_or_else(refused)?;
            let lanes = (LANES / before).clamp(1, extent);
            if extent % lanes != 0 || lanes.count_ones() != 1 || before < LANES && before.count_ones() != 1 {
                return Err(refused());
            }
            let moves = matches!(stride, Stride::Basis { mode, .. } if mode.only() == kept && kept.is_some());
            if !moves {
                sharing.lanes.extend((0..lanes.ilog2()).map(|bit| before << bit));
                let digit = thread.div(before * lanes)?.rem(extent / lanes)?;
                sharing.warp = &sharing.warp + &(&digit * sharing.warps);
                sharing.warps *= extent / lanes;
            }
            before *= extent;
        }
        Ok(sharing)
    }

    /// Whether the thread is the first of the lanes that share its values.
    fn is_first(&self, thread: &Expr) -> Result<Cond, Error> {
        let lane = thread.rem(LANES)?.and(self.lanes.iter().sum())?;
        Ok(Cond::less(&lane, &Expr::from(1)))
    }
}

/// A reduction of a tile, and its place among those with which it is combined.
struct Reduced<'a> {
    reducing: &'a Reducing,
    team: Team<'a>,
    tiles: &'a Tiles<'a>,
    sharing: Sharing,
    /// How many values the tile has along the kept mode, the coordinate of the first, and the bytes of one.
    extent: i64,
    first: Expr,
    bytes: i64,
    /// The place of the block's values in shared memory: for each warp that shares them, all.
    shared: Expr,
    /// The number of the line of tiles, how many lines there are, how many tiles each has, and the number of the tile in it.
    line: Expr,
    lines: Expr,
    along: Expr,
    at: Expr,
    /// The number of the line's first tile.
    begin: Expr,
}

impl Reducing {
    /// Declares the parameters.
    pub(super) fn declare(
        params: &mut Params<Arguments>,
        b: &mut Builder,
        config: &GemmConfig,
        output: &Output,
        kept: Option<usize>,
    ) -> Result<Reducing, Error> {
        let (name, bytes) = (&output.name, element_bytes("output of an epilogue", output.dtype)?);
        let out = params.pointer(b, name, bytes);
        let partials = params.pointer(b, &format!("partials_{name}"), LINE);
        let arrivals = params.pointer(b, &format!("arrivals_{name}"), SEMAPHORE);
        let stride = matches!(config.batch, Batch::Strided | Batch::Pointers)
            .then(|| params.step(b, &output.batch_stride_name(), name, 1));
        Ok(Reducing { output: output.clone(), kept, out, partials, arrivals, stride })
    }

    /// Adds the value of the element at `coordinate` to what the thread has.
    pub(super) fn take(
        &self,
        b: &mut Builder,
        partial: &mut Partial,
        coordinate: &[Expr; 2],
        extents: &[Expr; 2],
        value: &Scalar,
    ) -> Result<(), Error> {
        let reduction = self.output.reduction;
        let mut value = reduction.of(value);
        // Elements outside of C along the kept mode are masked at the end.
        for mode in (0..2).filter(|mode| Some(*mode) != self.kept) {
            // All elements of a thread are compared with the same number, which takes one register.
            let left = &extents[mode] - &coordinate[mode].variable_part();
            let inside = Cond::less(&Expr::from(coordinate[mode].constant()), &left);
            value = value.select(&inside, 0.0);
        }
        let key = self.kept.map_or(Expr::from(0), |mode| coordinate[mode].clone());
        match partial.number.get(&key) {
            Some(&number) => {
                let known = &mut partial.values[number].1;
                *known = b.hold(&reduction.combine(known, &value))?;
            }
            None => {
                partial.number.insert(key.clone(), partial.values.len());
                partial.values.push((key, b.hold(&value)?));
            }
        }
        Ok(())
    }

    /// Combines what the threads of a block have of a tile, leaves it for the last tile of its line, and if this is the last one, writes
    /// the output. All threads of the team take part.
    pub(super) fn finish(
        &self,
        b: &mut Builder,
        partial: &Partial,
        team: &Team<'_>,
        sums: &Sums,
        tiles: &Tiles<'_>,
    ) -> Result<(), Error> {
        let reduced = Reduced::new(b, self, team, sums, tiles)?;
        reduced.across(b, partial)?;
        reduced.for_each_value(b, |b, slot, inside| {
            let value = reduced.of_block(b, slot, inside)?;
            let own = &reduced.begin + &reduced.at;
            reduced.store(b, &reduced.partial(&own, slot), &value, inside)
        })?;
        let counter = &(&tiles.place.batch * &reduced.lines) + &reduced.line;
        let counter = Gmem::new(&self.arrivals + &(&counter * SEMAPHORE), DType::U32);
        let last = team.semaphore(b, &counter)?.arrive_last(b, &reduced.along)?;
        b.if_(&last, |b| reduced.write(b))
    }
}

impl<'a> Reduced<'a> {
    fn new(
        b: &mut Builder,
        reducing: &'a Reducing,
        team: &Team<'a>,
        sums: &Sums,
        tiles: &'a Tiles<'a>,
    ) -> Result<Reduced<'a>, Error> {
        // A variable of this tile, so that values derived from it are not live along with the accumulators.
        let team = Team { thread: b.bounded(&team.thread, team.threads - 1)?, ..*team };
        let Tiles { place, counts: [rows, columns], .. } = tiles;
        let all = b.bounded(&(rows * columns), MOST_TILES)?;
        let (row, column) = (place.row.clone(), place.column.clone());
        let (line, lines, along, at) = match reducing.kept {
            Some(0) => (row, rows.clone(), columns.clone(), column),
            Some(_) => (column, columns.clone(), rows.clone(), row),
            None => {
                let at = b.bounded(&(&(&row * columns) + &column), MOST_TILES)?;
                (Expr::from(0), Expr::from(1), all.clone(), at)
            }
        };
        let own = match reducing.kept {
            Some(_) => b.bounded(&(&line * &along), MOST_TILES)?,
            None => Expr::from(0),
        };
        let (extent, first) = match reducing.kept {
            Some(mode) => (place.extents[mode], &line * place.extents[mode]),
            None => (1, Expr::from(0)),
        };
        let tile = Lay::col_major(place.extents)?;
        let threads = sums.thread.part(Operand::C, &tile, *sums.values.layout())?.threads;
        let sharing = Sharing::of(&threads, reducing.kept, &team.thread)?;
        let bytes = element_bytes("output of an epilogue", reducing.output.dtype)?;
        let shared = b.alloc_shared(sharing.warps * extent * bytes, LINE)?;
        let begin = &(&place.batch * &all) + &own;
        Ok(Reduced {
            reducing,
            team,
            tiles,
            sharing,
            extent,
            first,
            bytes,
            shared,
            line,
            lines,
            along,
            at,
            begin,
        })
    }

    /// Leaves in shared memory what the warps of the block have, and waits for all.
    fn across(&self, b: &mut Builder, partial: &Partial) -> Result<(), Error> {
        let reduction = self.reducing.output.reduction;
        let is_first = self.sharing.is_first(&self.team.thread)?;
        for (key, value) in &partial.values {
            let mut value = value.clone();
            for &lanes in &self.sharing.lanes {
                let other = b.shfl_xor(&value, narrow("lanes", lanes)?)?;
                value = b.hold(&reduction.combine(&value, &other))?;
            }
            let at = &(key - &self.first) + &(&self.sharing.warp * self.extent);
            let value = b.scalar(&value)?;
            b.store(Space::Smem, &(&self.shared + &(&at * self.bytes)), &[value], &is_first)?;
        }
        self.team.meet(b)
    }

    /// Runs `body` for the values along the kept mode that the thread has to take care of, where the condition holds.
    fn for_each_value(
        &self,
        b: &mut Builder,
        mut body: impl FnMut(&mut Builder, &Expr, &Cond) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Team { thread, threads, .. } = &self.team;
        for round in 0..(self.extent + threads - 1) / threads {
            let slot = thread + round * threads;
            body(b, &slot, &Cond::less(&slot, &Expr::from(self.extent)))?;
        }
        Ok(())
    }

    /// A value of the block, in the order of its warps.
    fn of_block(&self, b: &mut Builder, slot: &Expr, inside: &Cond) -> Result<Scalar, Error> {
        let mut all = Vec::new();
        for warp in 0..self.sharing.warps {
            let at = &(slot + warp * self.extent) * self.bytes;
            all.push(self.load(b, Space::Smem, &(&self.shared + &at), inside)?);
        }
        self.combined(b, all)
    }

    /// The address of a value that a tile has left.
    fn partial(&self, tile: &Expr, slot: &Expr) -> Expr {
        &self.reducing.partials + &(&(&(tile * self.extent) + slot) * self.bytes)
    }

    /// Writes the output of the line, which all tiles have left their part of.
    fn write(&self, b: &mut Builder) -> Result<(), Error> {
        let Some(mode) = self.reducing.kept else {
            // Each thread takes some tiles.
            let Team { thread, threads, .. } = &self.team;
            let value = self.of_tiles(b, [thread, &Expr::from(0)], *threads, &Cond::Always)?;
            let value = b.hold(&value)?;
            self.across(b, &Partial { values: vec![(Expr::from(0), value)], ..Partial::default() })?;
            self.for_each_value(b, |b, slot, inside| {
                let value = self.of_block(b, slot, inside)?;
                self.store(b, &self.out(slot), &value, inside)
            })?;
            // The next output, or tile, has its values in the same place.
            return self.team.meet(b);
        };
        self.for_each_value(b, |b, slot, inside| {
            let at = &self.first + slot;
            let inside = Cond::all([inside.clone(), Cond::less(&at, &self.tiles.extents[mode])]);
            let value = self.of_tiles(b, [&Expr::from(0), slot], 1, &inside)?;
            self.store(b, &self.out(&at), &value, &inside)
        })
    }

    /// The address of an element of the output.
    fn out(&self, at: &Expr) -> Expr {
        let begin =
            self.reducing.stride.as_ref().map_or(Expr::from(0), |stride| &self.tiles.place.batch * stride);
        &self.reducing.out + &(&(&begin + at) * self.bytes)
    }

    /// Combines a value of tile `first` of the line and of every `step`-th after that, in their order.
    fn of_tiles(
        &self,
        b: &mut Builder,
        [first, slot]: [&Expr; 2],
        step: i64,
        inside: &Cond,
    ) -> Result<Scalar, Error> {
        let rounds = (&self.along + (TOGETHER * step - 1)).div(TOGETHER * step)?;
        let zero = Scalar::new(self.reducing.output.dtype, 0.0);
        let [value] = b.fold_range(&rounds, [zero], |b, round, [value]| {
            let mut all = vec![value];
            for i in 0..TOGETHER {
                let tile = first + &(&(&(round * TOGETHER) + i) * step);
                let inside = Cond::all([inside.clone(), Cond::less(&tile, &self.along)]);
                all.push(self.load(b, Space::Gmem, &self.partial(&(&self.begin + &tile), slot), &inside)?);
            }
            Ok([self.combined(b, all)?])
        })?;
        Ok(value)
    }

    /// The values combined in their order.
    fn combined(&self, b: &mut Builder, all: Vec<Scalar>) -> Result<Scalar, Error> {
        let reduction = self.reducing.output.reduction;
        let combined = all.into_iter().reduce(|x, y| reduction.combine(&x, &y));
        b.hold(&combined.unwrap_or_else(|| Scalar::new(self.reducing.output.dtype, 0.0)))
    }

    /// The value in memory where the condition holds, else 0.
    fn load(&self, b: &mut Builder, space: Space, address: &Expr, inside: &Cond) -> Result<Scalar, Error> {
        let dtype = self.reducing.output.dtype;
        let value = b.reg(lower::register(dtype));
        if *inside != Cond::Always {
            let zero = b.scalar(&Scalar::new(dtype, 0.0))?;
            b.inst(
                Opcode::Mov,
                &[lower::moved(value.ty()).into()],
                vec![Ptx::from(&value), Ptx::from(&zero)],
            );
        }
        b.load(space, std::slice::from_ref(&value), address, inside)?;
        b.scalar_in(&value, dtype)
    }

    fn store(&self, b: &mut Builder, address: &Expr, value: &Scalar, inside: &Cond) -> Result<(), Error> {
        let value = b.scalar(value)?;
        b.store(Space::Gmem, address, &[value], inside)
    }
}
