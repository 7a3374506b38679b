//! Emits GEMM kernels from a mainloop, a schedule and an epilogue.

use girih_ptx::Special;

use super::epilogue::{self, Carrier, Out, Rows, Staged};
use super::interface::Interface;
use super::mainloop::{ROWS, WARPGROUP};
use super::schedule::Team;
use super::{Feed, Multistage, Schedule, Store, WarpSpecialized};
use crate::Error;
use crate::atom::Transfer;
use crate::builder::{Builder, Cond};
use crate::error::narrow;
use crate::tiled::mma::Operand;

/// The named barrier of all consumer warpgroups; the barriers from 1 on are those of single warpgroups.
const TEAM_BARRIER: i64 = 15;

/// The layouts from which a kernel is derived, each with its name.
type Description = Vec<(&'static str, String)>;

/// Writes a kernel with a multistage mainloop: every thread iterates over all tiles of its block.
pub(super) fn multistage(
    b: &mut Builder,
    interface: &mut Interface<'_>,
    multistage: &Multistage,
) -> Result<Description, Error> {
    if multistage.min_blocks > 0 {
        b.min_blocks(multistage.min_blocks);
    }
    let mainloop = multistage.mainloop(interface.config.tile)?;
    let operands = [interface.tensors(Operand::A)?, interface.tensors(Operand::B)?];
    let k_tiles = interface.k_tiles()?;
    interface.prepare_walk(b)?;
    let interface = &*interface;
    let (thread, threads) = (b.special(Special::TidX), i64::from(multistage.threads()?));
    interface.for_each_tile(b, &Cond::Always, false, |b, tile| {
        if interface.config.schedule.is_persistent() {
            // Other threads may still read the stages of the tile before.
            b.barrier();
        }
        let k_tiles = tile.k_tiles(&k_tiles)?;
        let at = [&tile.place.row, &tile.place.column];
        let [a, operand_b] = &operands;
        let operands = [a.at(b, &tile.place)?, operand_b.at(b, &tile.place)?];
        let sums = mainloop.multiply(b, operands.each_ref(), at, k_tiles)?;
        b.comment("epilogue");
        let team = Team { thread: thread.clone(), threads, barrier: None, workspace: interface.workspace() };
        // A configuration without clusters has been checked.
        let share = |_: &mut Builder| Ok(sums.clone());
        tile.store_sums(b, &team, &sums, share, |b, sums, place| {
            let epilogue = interface.epilogue_at(b, &sums.thread, place)?;
            let c = interface.tensor_of_c(b, place)?;
            epilogue::store(b, &epilogue, sums, &c)?;
            interface.finish(b, &epilogue, &team, sums, place)
        })
    })?;
    mainloop.describe()
}

/// Writes a kernel with a warp-specialised mainloop: the producer and the consumers iterate over the tiles of their block independently.
/// With a persistent schedule and a store by TMA, C of one tile is stored while the next tile is loaded.
pub(super) fn warp_specialized(
    b: &mut Builder,
    interface: &mut Interface<'_>,
    parts: &WarpSpecialized,
) -> Result<Description, Error> {
    b.min_blocks(1);
    let config = interface.config;
    let [_, cluster] = config.schedule.parts();
    // Either blocks share K, or a multicast.
    if cluster * parts.multicast > 1 {
        b.cluster([narrow("blocks of a cluster", cluster * parts.multicast)?, 1, 1]);
    }
    let mainloop = parts.mainloop(config.tile)?;
    let mut description = mainloop.describe()?;
    let mut feed = |operand: Operand| -> Result<Feed, Error> {
        let copy = mainloop.tma_copy(operand, &interface.layout_of_map(operand)?)?;
        interface.keep(operand, &copy);
        Ok(Feed { copy, map: interface.map(operand)?.clone() })
    };
    let mut feeds = vec![feed(Operand::A)?, feed(Operand::B)?];
    for operand in [Operand::A, Operand::B] {
        if let Some((layout, map)) = interface.scales(operand)? {
            let copy = mainloop.tma_copy_of_scales(operand, &layout)?;
            interface.keep_scales(operand, &copy);
            feeds.push(Feed { copy, map });
        }
    }
    // Named first, so that its register is the same whatever comes between.
    b.special(Special::TidX);
    let stages = mainloop.stages(b)?;
    if config.programmatic {
        b.launch_dependent_grids();
    }
    let staged = match config.store {
        Store::Tma { tile, stages } => {
            let rows = Rows::new(config, parts, tile, stages, interface.is_gated())?;
            let copy = rows.tma_copy(Transfer::Store, &interface.layout_of_map(Operand::C)?)?;
            interface.keep(Operand::C, &copy);
            Some((rows, Out::Tensor(copy, interface.map(Operand::C)?.clone())))
        }
        Store::Coalesced { tile, vector } => {
            let rows = Rows::new(config, parts, tile, 1, interface.is_gated())?;
            let copy = rows.coalesced(vector)?;
            Some((rows, Out::Threads(copy, interface.tensors(Operand::C)?)))
        }
        Store::Direct { .. } => None,
    };
    let staged = match staged {
        Some((rows, out)) => {
            description.extend(rows.describe(&out));
            let mapped = interface.ahead().cloned();
            let ahead = match &mapped {
                Some(mapped) => {
                    let copy = rows.tma_copy(Transfer::Load, &mapped.layout)?;
                    description.push(("input of C's shape: global to shared", copy.copy().atom.to_string()));
                    interface.keep_ahead(mapped, &copy);
                    Some((mapped, copy))
                }
                None => None,
            };
            Some(Staged::new(b, rows, out, ahead)?)
        }
        None => None,
    };
    let k_tiles = interface.k_tiles()?;
    interface.prepare_walk(b)?;
    let interface = &*interface;
    let alternates = matches!(config.schedule, Schedule::Persistent { alternate: true });
    staged.iter().try_for_each(|staged| staged.init(b))?;
    mainloop.emit_beside(
        b,
        stages,
        feeds,
        // Nothing before these waits accesses global memory.
        |b, producer| {
            b.wait_on_dependent_grids();
            interface.for_each_tile(b, &Cond::Always, alternates, |b, tile| {
                let at = [(Operand::A, &tile.place.row), (Operand::B, &tile.place.column)];
                let [at_a, at_b] = at.map(|(operand, at)| interface.coordinate(operand, at, &tile.place));
                let k_tiles = tile.k_tiles(&k_tiles)?;
                let origins = [Operand::A, Operand::B].map(|operand| tile.place.origin(operand));
                producer.load_behind(b, origins, [&at_a, &at_b], k_tiles, &tile.backwards)
            })
        },
        |b, thread| {
            let Some(staged) = &staged else { return Ok(()) };
            Carrier::run(b, staged, thread, |b, carrier| {
                b.wait_on_dependent_grids();
                interface.for_each_tile(b, &Cond::Always, false, |b, tile| carrier.carry(b, &tile.place))
            })
        },
        |b, consumer| {
            b.wait_on_dependent_grids();
            let turns = staged.as_ref().and_then(|staged| staged.turns(b, consumer));
            // Threads that have to know the tile wait for it: all threads, where they read or write what depends on the tile.
            let one_stores = staged.as_ref().is_some_and(|staged| !staged.by_threads());
            let knows = !one_stores || interface.epilogue_reads_tiles() || parts.block_scales.is_some();
            let who = if knows { Cond::Always } else { consumer.leader().clone() };
            interface.for_each_tile(b, &who, false, |b, tile| {
                let k_tiles = tile.k_tiles(&k_tiles)?;
                let steps = &k_tiles.end - &k_tiles.start;
                let at = [&tile.place.row, &tile.place.column];
                consumer.in_turn(b, &steps, |b| {
                    let own = match tile.place.has_rows_from(&(consumer.group() * ROWS)) {
                        // The last tile of a group may end before the rows of the warpgroup begin.
                        Some(has_rows) if parts.teams == 1 => {
                            let own = b.bounded(&(&steps * &has_rows), steps.range().1)?;
                            consumer.pass(b, &(&steps - &own))?;
                            own
                        }
                        _ => steps.clone(),
                    };
                    let sums = consumer.multiply(b, at, &own)?;
                    let thread = &(consumer.group() * WARPGROUP) + consumer.thread();
                    let (threads, barrier) = (WARPGROUP * parts.consumers()?, Some(TEAM_BARRIER));
                    let team = Team { thread, threads, barrier, workspace: interface.workspace() };
                    let share = |b: &mut Builder| consumer.share_of_sums(b, cluster);
                    tile.store_sums(b, &team, sums, share, |b, sums, place| {
                        let epilogue = interface.epilogue_at(b, &sums.thread, place)?;
                        match &staged {
                            Some(staged) => {
                                staged.store(b, consumer, turns.as_ref(), &epilogue, sums, place)?
                            }
                            None => {
                                let c = interface.tensor_of_c(b, place)?;
                                epilogue::store(b, &epilogue, sums, &c)?;
                            }
                        }
                        interface.finish(b, &epilogue, &team, sums, place)
                    })
                })
            })?;
            staged.iter().try_for_each(|staged| staged.finish(b, consumer))
        },
    )?;
    Ok(description)
}
