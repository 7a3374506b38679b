//! `ldmatrix`, `stmatrix`, `movmatrix`: matrices of 8x8 16-bit elements (PTX ISA, "Warp Level Matrix Instructions").
//!
//! Lane `8 j + i` gives the address of row `i` of matrix `j`. Register `j` of lane `t` holds elements `2 (t % 4)` and
//! `2 (t % 4) + 1` of row `t / 4`; with `.trans` of column `t / 4`.

use crate::Nearest;
use crate::lanes::{File, Reg, WARP};
use crate::op::Matrices;
use crate::shadow::Who;
use crate::space::resolve;
use crate::{Access, Error, Space};

use super::at_once::Places;
use super::bounds::misaligned;
use super::context::Context;
use super::undefined::spread_bytes;
use super::warp::Warp;

impl Warp {
    pub(super) fn ldmatrix(
        &mut self,
        cx: &mut Context<'_>,
        load: &Matrices,
        source: u32,
    ) -> Result<(), Error> {
        self.count_matrices_of(cx, load);
        let places = self.rows(cx, load);
        for (j, &reg) in load.regs.iter().enumerate() {
            let mut rows = [[0u16; 8]; 8];
            // Bytes of each row that have no value, a bit for each.
            let (mut absent, mut origin) = ([0u16; 8], None);
            let known = places.as_ref().is_some_and(|places| self.consents(cx, load, (places, j), source));
            for (i, row) in rows.iter_mut().enumerate() {
                let at = match &places {
                    Some(places) => places.at[8 * j + i],
                    None => self.row(cx, load, 8 * j + i, Access::Read, source)?.0,
                };
                for pair in 0..if known { 0 } else { 4 } {
                    let Some(shadow) = &mut cx.shadow else { break };
                    let lane = receiver(i, pair, load.transposed);
                    let who = Who { warp: self.index, lane: lane as u32, source };
                    let found = shadow.read(who, at + 4 * pair, 4);
                    cx.checked(who, Access::Read, at + 4 * pair, 4, found)?;
                }
                let shadow = cx.shadow.as_ref().filter(|_| !known);
                absent[i] = shadow.map_or(0, |shadow| shadow.missing(at, 16));
                if absent[i] != 0 && origin.is_none() {
                    let lane = if load.transposed { i / 2 } else { 4 * i };
                    let who = Who { warp: self.index, lane: lane as u32, source };
                    origin = Some(cx.origin(who, at, absent[i]));
                }
                for (element, bytes) in row.iter_mut().zip(cx.shared[at..at + 16].chunks_exact(2)) {
                    *element = u16::from_le_bytes([bytes[0], bytes[1]]);
                }
            }
            let to = &mut self.regs.w32[reg as usize];
            for (t, to) in to.iter_mut().enumerate() {
                let [low, high] = [0, 1].map(|h| {
                    let (row, column) = place(t, h, load.transposed);
                    u32::from(rows[row][column])
                });
                *to = low | high << 16;
            }
            if let (Some(origin), Some(undefined)) = (origin, &mut self.undefined) {
                let reg = Reg { file: File::W32, slot: reg };
                for t in 0..WARP {
                    let bits = [0, 1].map(|h| {
                        let (row, column) = place(t, h, load.transposed);
                        spread_bytes(absent[row] >> (2 * column) & 3)
                    });
                    undefined.set(reg, t, bits[0] | bits[1] << 16, origin);
                }
            }
        }
        Ok(())
    }

    /// Where the rows are, if all addresses are valid; otherwise the rows have to be taken one by one.
    fn rows(&self, cx: &mut Context<'_>, matrices: &Matrices) -> Option<Places> {
        let suppliers = u32::MAX >> (WARP - 8 * matrices.regs.len());
        let places = self.places_of(cx, (matrices.space, &matrices.address), 16, suppliers);
        let shared = |places: &Places| matches!(places.space, Space::Shared | Space::Cluster);
        places.filter(|places| shared(places) && places.lanes == suppliers)
    }

    /// Whether the checks have nothing to tell of the reads of a matrix, which are recorded then.
    fn consents(
        &self,
        cx: &mut Context<'_>,
        load: &Matrices,
        (rows, j): (&Places, usize),
        source: u32,
    ) -> bool {
        let Some(shadow) = &mut cx.shadow else { return true };
        // With `.trans` a lane receives elements of two rows.
        let step = if load.transposed { 2 } else { 1 };
        (0..step).all(|first| {
            let (mut pairs, mut mask) = ([0; WARP], 0);
            for (i, pair) in (first..8).step_by(step).flat_map(|i| (0..4).map(move |pair| (i, pair))) {
                let lane = receiver(i, pair, load.transposed);
                pairs[lane] = rows.at[8 * j + i] + 4 * pair;
                mask |= 1 << lane;
            }
            shadow.together(self.who(1, source), mask, &pairs, 4, true) == mask
        })
    }

    /// `stmatrix`: each element is written by the lane that holds the element.
    pub(super) fn stmatrix(
        &mut self,
        cx: &mut Context<'_>,
        store: &Matrices,
        source: u32,
    ) -> Result<(), Error> {
        self.count_matrices_of(cx, store);
        for (j, &reg) in store.regs.iter().enumerate() {
            let mut rows = [0; 8];
            for (i, at) in rows.iter_mut().enumerate() {
                *at = self.row(cx, store, 8 * j + i, Access::Write, source)?.0;
            }
            for t in 0..WARP {
                let word = self.regs.w32[reg as usize][t];
                let who = Who { warp: self.index, lane: t as u32, source };
                for (h, element) in [word as u16, (word >> 16) as u16].into_iter().enumerate() {
                    let (row, column) = place(t, h, store.transposed);
                    let at = rows[row] + 2 * column;
                    if let Some(shadow) = &mut cx.shadow {
                        let same = cx.shared[at..at + 2] == element.to_le_bytes();
                        let found = shadow.write(who, at, 2, same);
                        cx.checked(who, Access::Write, at, 2, found)?;
                    }
                    cx.shared[at..at + 2].copy_from_slice(&element.to_le_bytes());
                    let reg = Reg { file: File::W32, slot: reg };
                    if self.undefined_lanes(reg) >> t & 1 == 1 {
                        self.store_element(cx, reg, (t, h), at);
                    }
                }
            }
        }
        Ok(())
    }

    /// Transposes a matrix that the registers of the warp hold.
    pub(super) fn movmatrix(&mut self, d: u32, a: u32) {
        let from = self.regs.w32[a as usize];
        for (t, to) in self.regs.w32[d as usize].iter_mut().enumerate() {
            let [low, high] = [0, 1].map(|h| {
                let (row, column) = place(t, h, true);
                from[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff
            });
            *to = low | high << 16;
        }
    }

    /// Where the row is in shared memory whose address lane `supplier` gives.
    fn row(
        &self,
        cx: &Context<'_>,
        matrices: &Matrices,
        supplier: usize,
        access: Access,
        source: u32,
    ) -> Result<(usize, Who), Error> {
        let who = Who { warp: self.index, lane: supplier as u32, source };
        let (space, address) = resolve(matrices.space, self.address(&matrices.address, supplier));
        if !address.is_multiple_of(16) {
            return Err(misaligned(cx, who, access, Space::Shared, address, 16));
        }
        if !matches!(space, Space::Shared | Space::Cluster) {
            let (at, nearest) = (cx.at(who), Nearest::None);
            return Err(Error::OutOfBounds { at, access, space, address, bytes: 16, nearest });
        }
        self.check_within(cx, &matrices.address, (who, access, space, address), 16)?;
        Ok((cx.shared_at(who, access, address, 16)?, who))
    }

    fn count_matrices_of(&self, cx: &mut Context<'_>, matrices: &Matrices) {
        cx.report.shared += 1;
        if cx.machine.options.counts {
            self.count_matrices(&mut cx.report, &matrices.address, matrices.regs.len());
        }
    }
}

/// The lane that receives a pair of elements of a row; with `.trans`, where two lanes do, the lane that receives the
/// first element.
fn receiver(row: usize, pair: usize, transposed: bool) -> usize {
    if transposed { 4 * (2 * pair) + row / 2 } else { 4 * row + pair }
}

/// Row and column of element `h` that lane `t` holds.
#[inline]
fn place(t: usize, h: usize, transposed: bool) -> (usize, usize) {
    let (line, element) = (t / 4, 2 * (t % 4) + h);
    if transposed { (element, line) } else { (line, element) }
}
