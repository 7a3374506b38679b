//! The first kernel: a block attends the rows of a tile to the keys of one split.

use girih_layout::Lay;
use girih_ptx::Special;
use girih_tensor::{DType, Slice, Tensor};

use super::cache::Loader;
use super::fragments::{Queries, Reader};
use super::interface::Interface;
use super::result::{Sums, finish};
use super::rows::{Mask, coordinates};
use super::share::{KEYS, MAX_PARTS, Share};
use super::weights::powers;
use super::{MAX_KEYS, THREADS};
use crate::algorithm::{CopyWith, clear, convert, copy, gemm, transform};
use crate::attention::scores::{Tanh, adjust};
use crate::attention::softmax::Softmax;
use crate::builder::{Builder, Cond, Width};
use crate::sizes::extent;
use crate::sync::CpAsyncRing;
use crate::{Error, Expr, Rmem, Smem};

/// Where a block works.
pub(super) struct Place {
    pub thread: Expr,
    pub batch: Expr,
    /// The head of K and V, and the first of the query heads that share it.
    pub group: Expr,
    pub head: Expr,
    pub part: Expr,
    /// The tile of rows, in tiles of heads and of queries.
    pub tile: [Expr; 2],
    /// The first query of the tile.
    pub query: Expr,
}

impl Place {
    fn new(b: &mut Builder, interface: &Interface<'_>) -> Result<Place, Error> {
        let thread = b.special(Special::TidX);
        let [x, group, z] = [Special::CtaidX, Special::CtaidY, Special::CtaidZ].map(|s| b.special(s));
        let part = if interface.parts.is_some() { b.bounded(&x, MAX_PARTS - 1)? } else { Expr::from(0) };
        let most = z.range().1;
        let [along_heads, all] = &interface.tiles;
        let batch = b.divide(&z, all, most)?;
        let row_tile = b.bounded(&(&z - &(&batch * all)), most)?;
        let queries = b.divide(&row_tile, along_heads, most)?;
        let heads = b.bounded(&(&row_tile - &(&queries * along_heads)), most)?;
        let head = interface.first_head(&group);
        let query = &queries * interface.config.rows[1];
        Ok(Place { thread, batch, group, head, part, tile: [heads, queries], query })
    }
}

/// Writes the kernel.
pub(super) fn emit(b: &mut Builder, interface: &mut Interface<'_>) -> Result<(), Error> {
    let place = Place::new(b, interface)?;
    let share = Share::new(b, interface, &place.batch, &place.query)?;
    let wanted = Cond::less(&place.part, &share.parts);
    b.if_(&wanted, |b| {
        let result = b.shared_scope(|b| attend(b, interface, &place, &share))?;
        if interface.config.features.programmatic {
            b.launch_dependent_grids();
        }
        finish(b, interface, &place, &share, &result)
    })
}

/// Goes through the keys of the part. Shared memory is free where warps share rows.
fn attend(b: &mut Builder, interface: &Interface<'_>, place: &Place, share: &Share) -> Result<Sums, Error> {
    let (config, thread) = (interface.config, &place.thread);
    let loader = Loader::new(b, interface, [&place.batch, &place.group], share)?;
    let [first, tiles] = share.of_part(b, &place.part)?;
    let queries = load_queries(b, interface, place)?;
    let ring = CpAsyncRing::new(config.stages, true)?;
    b.comment("the first tiles");
    for stage in 0..ring.ahead() {
        let at = &first + stage;
        let pages = loader.pages(b, &at)?;
        b.if_(&Cond::less(&Expr::from(stage), &tiles), |b| {
            loader.load(b, thread, &at, &pages, &Expr::from(stage))
        })?;
        ring.commit(b);
    }
    let (scale, inner) = interface.scales(b, &place.group)?;
    let mask = Mask::new(interface, share, &place.query);
    let readers = |thread: &Expr| -> Result<[Reader; 2], Error> {
        let [k, v] = [loader.ring(false), loader.ring(true)];
        Ok([Reader::keys(config, k, thread)?, Reader::values(config, v, thread)?])
    };
    let readers_of_all = readers(thread)?;
    let [keys, values] = &readers_of_all;
    // Q has come with the first tile.
    ring.wait(b)?;
    b.barrier();
    let kept = match config.keeps_queries() {
        true => Some(Queries::kept(b, config, &queries, thread)?),
        false => None,
    };
    let atoms = keys.tiles(1)? * keys.atoms(1)?;
    let scores = Lay::strided([4, 1, atoms], [1, 0, 4])?; // (FrgV,RestM,RestN)
    let scores = Rmem::tensor(b, DType::F32, scores)?;
    let powers = powers(b, config.dtype, atoms / 2)?;
    let [n, tiles_n] = [values.atoms(1)?, values.tiles(1)?];
    let output = Lay::concat(&[extent(4)?, crate::sizes::ONE, Lay::strided([n, tiles_n], [4, 4 * n])?])?;
    let output = Rmem::tensor(b, DType::F32, output)?; // (FrgV,RestM,(N,Tiles))
    clear(b, &output)?;
    let [of_scores, of_output] = [
        coordinates(config, &config.scores_mma()?, KEYS, thread)?,
        coordinates(config, &config.output_mma()?, config.head_dim, thread)?,
    ];
    let softmax = Softmax::of_warp(b, &config.scores_mma()?, [&of_scores, &of_output], &scale)?;
    softmax.clear(b)?;
    let ahead = loader.pages(b, &(&first + ring.ahead()))?;
    // A division would find the stages too slowly.
    let state = ring.state(b, 1);
    b.comment("the tiles of the part");
    b.fold_range(&tiles, ahead, |b, turn, pages| {
        let (stage, freed) = (state.read(b), state.write(b));
        ring.wait(b)?;
        // After this barrier every warp has read the tile before, so that its stage may be overwritten.
        b.barrier();
        let next = turn + ring.ahead();
        let tile = &first + &next;
        // As a variable of this turn, so that what follows from the thread takes no registers beside the sums.
        let local = b.bounded(thread, i64::from(THREADS) - 1)?;
        b.if_(&Cond::less(&next, &tiles), |b| loader.load(b, &local, &tile, &pages, &freed))?;
        ring.commit(b);
        let ahead = loader.pages(b, &(&tile + 1))?;
        clear(b, &scores)?;
        let again;
        let ([keys, values], queries) = match &kept {
            Some(kept) => (&readers_of_all, kept),
            None => {
                again = (readers(&local)?, Queries::shared(config, &queries, &local)?);
                (&again.0, &again.1)
            }
        };
        for step in 0..keys.tiles(2)? {
            let fragment = keys.read(b, (None, step), &stage)?; // (FrgV,(N,Tiles),K)
            for atom in 0..keys.atoms(2)? {
                let q = queries.at(b, step * keys.atoms(2)? + atom)?; // (FrgV,RestM)
                let k = fragment.slice((Slice::All, Slice::All, Slice::at(atom)))?; // (FrgV,(N,Tiles))
                gemm(b, &config.atom(), &q, &k, &scores)?;
            }
        }
        adjust(b, inner.as_ref().map(Tanh::OfPowers), None, &scores)?;
        let key = b.hold_index(&(&(&first + turn) * KEYS), Width::W32)?;
        b.if_(&mask.cuts(&key), |b| {
            // As variables of this branch, so that what follows from them is not computed elsewhere.
            let register = b.value(&key, Width::W32)?;
            let key = b.var(&register, 0, MAX_KEYS + KEYS, KEYS);
            let thread = b.bounded(thread, i64::from(THREADS) - 1)?;
            let seen = mask.of_thread(b, config, &thread)?;
            let mut value = 0;
            transform(b, &[&scores], &scores, |_, x| {
                value += 1;
                Ok(x[0].select(&seen.sees(value - 1, &key), f64::NEG_INFINITY))
            })
        })?;
        softmax.weigh(b, &scores, &output)?;
        convert(b, &scores, &powers)?;
        for step in 0..values.tiles(2)? {
            let p = powers.slice((Slice::All, Slice::All, Slice::at(step)))?; // (FrgV,RestM)
            for column in 0..tiles_n {
                let v = values.read(b, (Some(column), step), &stage)?; // (FrgV,(N,1),1)
                let v = v.slice((Slice::All, Slice::All, Slice::at(0)))?; // (FrgV,(N,1))
                let at = Slice::tuple([Slice::All, Slice::at(column)]);
                let sums = output.slice(Slice::tuple([Slice::All, Slice::All, at]))?; // (FrgV,RestM,N)
                gemm(b, &config.atom(), &p, &v, &sums)?;
            }
        }
        state.advance(b);
        Ok(ahead)
    })?;
    if config.shares_rows() {
        // What the warps add up takes the place of the last tiles.
        b.barrier();
    }
    Ok(Sums { output, rows: softmax.parts(b)?, scale })
}

/// Starts the load of the tile of Q, and returns where it will be, (Rows,HeadDim). It is one group of copies with the first tile of keys.
fn load_queries(b: &mut Builder, interface: &Interface<'_>, place: &Place) -> Result<Tensor<Smem>, Error> {
    let config = interface.config;
    let rows = interface.q.as_ref().map(|q| interface.rows(q, [&place.batch, &place.head], &place.tile));
    let shared = Lay::strided([config.tile_rows(), config.head_dim], [config.head_dim, 1])?; // (Rows,HeadDim)
    let shared = Smem::alloc(b, config.dtype, config.query_swizzle()?, &shared)?;
    if let Some(rows) = rows {
        let loader = config.query_loader()?;
        let mine = loader.get_slice(&place.thread)?;
        let (source, target) = (mine.partition_s(&rows?)?, mine.partition_d(&shared)?); // (Val,RestX,RestY)
        copy(b, CopyWith::from(&loader).zero_fill(), &source, &target)?;
    }
    Ok(shared)
}
