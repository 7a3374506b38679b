//! TMA copies and reductions: reads the tensor map of an instruction, and issues copies of the contiguous runs of its box.

use girih_ptx::{TENSOR_MAP_BYTES, TensorMap};

use crate::lanes::lanes_of;
use crate::op::{Tensor, TensorKind};
use crate::shadow::Who;
use crate::space::resolve;
use crate::tensor::{self, Direction, Misuse, Run};
use crate::{Access, Error, Space};

use super::access::read_global;
use super::agents::Effect;
use super::bounds::{global_at, inside, misaligned};
use super::context::Context;
use super::map::MAP_ALIGN;
use super::warp::Warp;

impl Warp {
    /// Executes a TMA copy, reduction or prefetch, lane by lane.
    pub(super) fn tensor(
        &mut self,
        cx: &mut Context<'_>,
        copy: &Tensor,
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        for lane in lanes_of(active) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let map = tensor_map(cx, who, self.address(&copy.map, lane))?;
            let at: Vec<i32> = copy.coordinates.iter().map(|&reg| self.regs.get(reg, lane) as i32).collect();
            let (_, shared) = resolve(Space::Generic, self.address(&copy.shared, lane));
            let direction = match copy.kind {
                TensorKind::Store => Direction::Store,
                TensorKind::Load { .. } | TensorKind::Prefetch => Direction::Load,
            };
            let offsets: Option<Vec<u64>> = copy
                .offsets
                .as_ref()
                .map(|offsets| offsets.iter().map(|&reg| self.regs.get(reg, lane) & 0xffff).collect());
            let runs = tensor::runs(&map, &at, offsets.as_deref(), shared, direction)
                .map_err(|misuse| misused(cx, who, misuse))?;
            let bytes = runs.iter().map(|run| run.shared + u64::from(run.bytes) - shared).max().unwrap_or(0);
            let access = if direction == Direction::Store { Access::Read } else { Access::Write };
            self.check_shared(cx, &copy.shared, (who, access), bytes as u32)?;
            self.check_mbarrier(cx, &copy.mbarrier, who)?;
            match copy.kind {
                TensorKind::Load { multicast } => {
                    let signal = self.signal(&copy.mbarrier, multicast, lane);
                    let mut data = vec![0; runs.iter().map(|run| run.bytes as usize).sum()];
                    tensor::fill(&map, &mut data);
                    let effect = tensor::conversion(&map).map_or(Effect::Write, Effect::Convert);
                    cx.bulk_load(who, &runs, &data, signal, effect)?;
                }
                TensorKind::Store => cx.bulk_store(who, &runs, self.effect(cx, who, copy, &map)?)?,
                TensorKind::Prefetch => {}
            }
        }
        Ok(())
    }

    /// The effect of a store on the elements in memory: it overwrites them, or reduces into them.
    fn effect(&self, cx: &Context<'_>, who: Who, copy: &Tensor, map: &TensorMap) -> Result<Effect, Error> {
        let Some(reductions) = &copy.reductions else { return Ok(Effect::Write) };
        let element = map.tiled().element;
        match reductions.iter().find(|(of, _)| *of == element) {
            Some((_, update)) => Ok(Effect::Reduce(element.bytes(), *update)),
            None => {
                let of: Vec<String> = reductions.iter().map(|(of, _)| format!("{of:?}")).collect();
                let accepted = format!("that of one of {}", of.join(", "));
                let (what, value) = ("element type of the tensor map", element as u64);
                Err(Error::BadValue { at: cx.at(who), what, value, accepted })
            }
        }
    }
}

/// Reads the tensor map at a generic address.
fn tensor_map(cx: &mut Context<'_>, who: Who, address: u64) -> Result<TensorMap, Error> {
    let (space, at) = resolve(Space::Generic, address);
    if !at.is_multiple_of(MAP_ALIGN.into()) {
        return Err(misaligned(cx, who, Access::Read, space, at, MAP_ALIGN));
    }
    let mut bytes = [0; TENSOR_MAP_BYTES];
    match space {
        Space::Param => {
            let size = cx.machine.params.len();
            let at = inside(cx, who, Access::Read, space, at, TENSOR_MAP_BYTES as u32, size)?;
            bytes.copy_from_slice(&cx.machine.params[at..at + TENSOR_MAP_BYTES]);
        }
        Space::Global | Space::Generic => {
            global_at(cx, who, Access::Read, at, TENSOR_MAP_BYTES as u64)?;
            read_global(cx, who, at, &mut bytes)?;
            cx.check_map(who, at)?;
        }
        _ => {
            let accepted = "in parameter, constant or global memory".into();
            let what = "address of the tensor map";
            return Err(Error::BadValue { at: cx.at(who), what, value: address, accepted });
        }
    }
    TensorMap::from_bytes(&bytes).map_err(|why| Error::TensorMap { at: cx.at(who), why: Box::new(why) })
}

fn misused(cx: &Context<'_>, who: Who, misuse: Misuse) -> Error {
    let Misuse { what, value, accepted } = misuse;
    Error::BadValue { at: cx.at(who), what, value, accepted }
}

/// A copy of plain bytes, as one run.
pub(super) fn plain(global: u64, shared: u64, bytes: u32) -> [Run; 1] {
    [Run { global: Some(global), shared, bytes }]
}
