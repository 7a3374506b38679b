//! Loads and stores of a thread's values in vectors, at addresses that a function computes.

use girih_tensor::DType;

use super::Group;
use crate::Expr;
use crate::algorithm::element::select;
use crate::algorithm::{load_elements, store_elements};
use crate::builder::{Access, Cond, Reg};
use crate::plan::{Dist, Vectors, fastest};

/// The kind of an access: a load or a store.
pub enum Move<'r> {
    /// Loads. Where nothing is loaded there are these bits, or anything.
    Load(Option<u64>),
    /// The same; values of a list that has some stay where nothing is loaded.
    LoadOver(Option<u64>, &'r [Reg]),
    /// Stores these values.
    Store(&'r [Reg]),
}

/// The registers of a distribution in runs of `vector` neighbours along `mode` that begin at a multiple of it, in their order; `None` where
/// they are not.
pub fn runs(dist: &Dist, rank: usize, mode: usize, vector: usize) -> Option<Vec<Vec<usize>>> {
    let found = Vectors::new(dist, &fastest(mode, rank), vector as i64);
    let mut runs: Vec<Vec<usize>> = found.iter().map(<[usize]>::to_vec).collect();
    runs.sort();
    (found.vector == vector as i64).then_some(runs)
}

/// Runs of one value each.
pub fn singles(size: usize) -> Vec<Vec<usize>> {
    (0..size).map(|value| vec![value]).collect()
}

/// The widest [`runs`] of at most `most` neighbours along a mode, a power of two, that all fit; else single values.
///
/// # Errors
/// Those of `fits`.
pub fn widest<E>(
    dist: &Dist,
    rank: usize,
    mode: Option<usize>,
    most: i64,
    mut fits: impl FnMut(i64, &[usize]) -> Result<bool, E>,
) -> Result<Vec<Vec<usize>>, E> {
    let mut vector = most;
    while let (Some(mode), 2..) = (mode, vector) {
        if let Some(found) = runs(dist, rank, mode, vector as usize) {
            let mut all = true;
            for run in &found {
                all = all && fits(vector, run)?;
            }
            if all {
                return Ok(found);
            }
        }
        vector /= 2;
    }
    Ok(singles(dist.size()))
}

/// Accesses elements run by run: `at` gives the address of a run's first value and where the run is accessed. Returns what is loaded, in
/// the order of the values.
///
/// # Errors
/// Those of `at`, [`load_elements`] and [`store_elements`].
pub fn access<G: Group>(
    group: &mut G,
    access: &Access,
    dtype: DType,
    runs: &[Vec<usize>],
    what: &Move<'_>,
    mut at: impl FnMut(&mut G, usize) -> Result<(Expr, Cond), G::Error>,
) -> Result<Vec<Reg>, G::Error> {
    let mut regs = vec![None; runs.iter().map(Vec::len).sum()];
    for run in runs {
        let (address, cond) = at(group, run[0])?;
        let b = group.builder();
        let (pad, others): (_, &[Reg]) = match what {
            Move::Load(pad) => (*pad, &[]),
            Move::LoadOver(pad, others) => (*pad, others),
            Move::Store(values) => {
                let values: Vec<Reg> = run.iter().map(|&value| values[value].clone()).collect();
                store_elements(b, access, dtype, &address, &cond, &values)?;
                continue;
            }
        };
        let got = load_elements(b, access, dtype, run.len(), &address, &cond, pad)?;
        for (&value, got) in run.iter().zip(got) {
            regs[value] = Some(match others.get(value) {
                Some(other) => select(b, dtype, &cond, &got, other)?,
                None => got,
            });
        }
    }
    Ok(regs.into_iter().flatten().collect())
}
