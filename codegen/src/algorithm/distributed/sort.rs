//! Sorting by a bitonic network. Each step compares elements whose positions differ in one bit: in a thread's registers, in lanes whose indices
//! differ in one bit, or, through shared memory, in warps. Positions break ties, so that the order is stable, and padding, whose positions are beyond
//! all others, comes last. A 32-bit key and its position are one number of 64 bits. Payloads, and elements that are not their own keys, are gathered
//! by the positions at the end.

use girih_ptx::{Opcode, Type, Word};
use girih_tensor::{DType, Space};

use super::combine::{Tuple, butterfly};
use super::key::{NanAt, key, key_dtype, key_range, of_key};
use super::rearrange::{Part, Piece, WINDOW, counts, in_window, on_line, put, rearrange};
use super::through::{Through, batch};
use super::{Group, LANE_BITS, Tile, bit_is_set, inside_along};
use crate::algorithm::element::{constant, copy, of, select, selp, setp};
use crate::algorithm::load_elements;
use crate::builder::{Cond, Reg, Width};
use crate::plan::{Digit, Dist, Leaf, Line};
use crate::scalar::register;
use crate::{Error, Expr};

/// The registers of an element that is sorted: their dtypes, the key first.
struct Carried {
    dtypes: Vec<DType>,
    /// Whether the position comes second, and breaks ties.
    position: bool,
}

/// A bit of positions along the mode.
#[derive(Clone, Copy)]
enum Place {
    /// Values that are this far apart.
    Value(usize),
    /// A bit of the thread's index.
    Thread(usize),
}

/// The elements of a tile ordered along a mode by the first operand, the least first or the greatest; the other operands follow. Equal
/// elements stay in their order, -0 equals 0, and NaN is last. The results are distributed as the tile is.
///
/// # Errors
/// As [`reduce`](super::reduce()).
///
/// # Examples
/// ```
/// use girih_codegen::Builder;
/// use girih_codegen::algorithm::distributed::{ThreadBlock, Tile, sort};
/// use girih_codegen::plan::Dist;
/// use girih_tensor::DType;
///
/// // 1024 keys of 256 threads, with a number that follows each.
/// let dist = Dist::blocked(&[1024], &[0], 4, 256);
/// let mut b = Builder::new("sorted", 90, 256);
/// let (keys, numbers) = (b.regs(girih_ptx::Type::F32, 4), b.regs(girih_ptx::Type::S32, 4));
/// let tile = Tile::new(&dist, &[1024], vec![(DType::F32, keys), (DType::S32, numbers)])?;
/// let sorted = sort(&mut ThreadBlock::new(&mut b), &tile, 0, false)?;
/// assert_eq!((sorted.len(), sorted[0].len()), (2, 4));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn sort<G: Group>(
    group: &mut G,
    tile: &Tile<'_>,
    mode: usize,
    descending: bool,
) -> Result<Vec<Vec<Reg>>, G::Error> {
    tile.check(group, "sort", Some(mode))?;
    let Tile { dist, extents, operands } = tile;
    let line = Line::row_major(extents);
    let (dtype, keys) = &operands[0];
    // Keys of integers are the elements, and equal ones need no order unless something follows them.
    let alone = !dtype.is_float() && operands.len() == 1;
    let sortable = sortable(dist, extents, mode);
    let moved = |group: &mut G, regs: Vec<Reg>, dtype, [from, to]: [&Dist; 2]| match from == to {
        true => Ok(regs),
        false => {
            let from = (Piece::new(dtype, from, line.clone()), regs);
            rearrange(group, &[from], &Piece::new(dtype, to, line.clone()))
        }
    };
    let regs = moved(group, keys.clone(), *dtype, [dist, &sortable])?;
    let sorted = sorted(group, &regs, *dtype, alone, (&sortable, extents, mode), descending)?;
    let sorted = moved(group, sorted, if alone { *dtype } else { DType::S32 }, [&sortable, dist])?;
    if alone {
        return Ok(vec![sorted]);
    }
    let most = sortable.padded(extents.len())[mode] - 1;
    let positions: Vec<Expr> = sorted.iter().map(|reg| group.builder().var(reg, 0, most, 1)).collect();
    let pick = |(dtype, regs): &(DType, Vec<Reg>)| {
        picked(group, &Piece::new(*dtype, dist, line.clone()), regs, mode, &positions)
    };
    operands.iter().map(pick).collect()
}

/// The elements at these positions along a mode, for each value of a piece.
fn picked<G: Group>(
    group: &mut G,
    piece: &Piece<'_>,
    regs: &[Reg],
    mode: usize,
    positions: &[Expr],
) -> Result<Vec<Reg>, G::Error> {
    let Piece { dist, line, dtype, .. } = piece;
    let (rank, end) = (line.extents.len(), piece.end());
    let origin = group.origin(dist, rank)?;
    let mut first = origin.clone();
    first[mode] = Expr::from(0);
    let start = on_line(&first, line);
    let mut picked: Vec<Reg> = Vec::new();
    // Elements beyond the window in shared memory are handled window by window.
    for from in (0..end).step_by(WINDOW as usize) {
        let window = (end > WINDOW).then_some(from);
        let base = group.scratch(end.min(WINDOW), 16)?;
        put(group, piece, regs, &base, window)?;
        group.sync();
        let b = group.builder();
        for (value, position) in positions.iter().enumerate() {
            let mut offset = dist.offset(value, rank);
            let counts = counts(dist, &origin, &offset, line, &Part::All);
            offset[mode] = 0;
            let at = &(&(&start + line.at(&offset)) + &(position * line.strides[mode])) * dtype.bytes();
            let cond = Cond::all([counts, in_window(&at, window)]);
            let address = &(&base + &at) + -window.unwrap_or(0);
            let got = load_elements(b, Space::Smem, *dtype, 1, &address, &cond, Some(0))?.swap_remove(0);
            match picked.get(value) {
                Some(before) => picked[value] = select(b, *dtype, &cond, &got, &before.clone())?,
                None => picked.push(got),
            }
        }
    }
    Ok(picked)
}

/// Elements in order, or where they stood if they are not `alone`, in a distribution whose digits along the mode are bits.
fn sorted<G: Group>(
    group: &mut G,
    regs: &[Reg],
    dtype: DType,
    alone: bool,
    (dist, extents, mode): (&Dist, &[i64], usize),
    descending: bool,
) -> Result<Vec<Reg>, G::Error> {
    let ranked = key_dtype(dtype);
    let packed = !alone && ranked == DType::S32;
    let carried = Carried {
        dtypes: match (alone, packed) {
            (true, _) => vec![ranked],
            (_, true) => vec![DType::S64],
            _ => vec![ranked, DType::S32],
        },
        position: !alone && !packed,
    };
    let origin = group.origin(dist, extents.len())?.swap_remove(mode);
    let b = group.builder();
    let mut elements: Vec<Tuple> = Vec::new();
    for (value, reg) in regs.iter().enumerate() {
        let offset = dist.offset(value, extents.len())[mode];
        let rank = key(b, dtype, reg, descending, NanAt::Last)?;
        let inside = inside_along(&origin, dist.reach(mode), offset, extents[mode]);
        let last = match inside {
            Cond::Always => rank.clone(),
            _ => constant(b, ranked, key_range(dtype).1.cast_unsigned())?,
        };
        let rank = select(b, ranked, &inside, &rank, &last)?;
        if alone {
            elements.push(vec![rank]);
            continue;
        }
        let position = b.value(&(&origin + offset), Width::W32)?;
        elements.push(if packed {
            // The key above, the position below.
            vec![b.join(Type::S64, [&position, &rank])]
        } else {
            vec![rank, position]
        });
    }

    let place = |digit| match digit {
        Digit::Values { leaf, .. } => Place::Value(dist.stride(leaf)),
        Digit::Bit { bit, .. } => Place::Thread(bit),
    };
    let places: Vec<Place> = dist.digits(mode).into_iter().map(place).collect();
    for size in 0..places.len() {
        for step in (0..=size).rev() {
            let up = places.get(size + 1).copied();
            elements = match places[step] {
                Place::Value(stride) => exchange_values(group, &carried, elements, stride, up)?,
                Place::Thread(bit) => exchange_threads(group, &carried, elements, dist, bit, up)?,
            };
        }
    }

    let b = group.builder();
    let result = |tuple: Tuple| match (alone, packed) {
        (true, _) => of_key(b, dtype, &tuple[0], descending),
        (_, true) => {
            let [position, _] = b.split(Type::S32, &tuple[0]);
            position
        }
        _ => copy(b, DType::S32, &tuple[1]),
    };
    Ok(elements.into_iter().map(result).collect())
}

/// Whether `right` comes before `left`.
fn comes_first<G: Group>(group: &mut G, carried: &Carried, right: &[Reg], left: &[Reg]) -> Reg {
    let (b, ty) = (group.builder(), register(carried.dtypes[0]));
    let less = setp(b, Word::Lt, ty, &right[0], &left[0]);
    if !carried.position {
        return less;
    }
    let equal = setp(b, Word::Eq, ty, &right[0], &left[0]);
    let sooner = setp(b, Word::Lt, Type::S32, &right[1], &left[1]);
    let tie = b.inst_to(Type::Pred, Opcode::And, &[Type::Pred.into()], of([&equal, &sooner]));
    b.inst_to(Type::Pred, Opcode::Or, &[Type::Pred.into()], of([&less, &tie]))
}

/// Whether the bit of the position is set that turns the order round; `None` where no order is turned.
fn turned<G: Group>(group: &G, up: Option<Place>, value: usize) -> Result<Cond, Error> {
    Ok(match up {
        None => Cond::Never,
        Some(Place::Value(stride)) if value / stride % 2 == 1 => Cond::Always,
        Some(Place::Value(_)) => Cond::Never,
        Some(Place::Thread(bit)) => bit_is_set(&group.thread(), bit)?,
    })
}

/// A predicate, the other way round where `cond` holds.
fn flipped<G: Group>(group: &mut G, flag: Reg, cond: &Cond) -> Result<Reg, Error> {
    let b = group.builder();
    Ok(match cond {
        Cond::Never => flag,
        Cond::Always => b.inst_to(Type::Pred, Opcode::Not, &[Type::Pred.into()], of([&flag])),
        cond => {
            let cond = b.cond(cond)?;
            b.inst_to(Type::Pred, Opcode::Xor, &[Type::Pred.into()], of([&flag, &cond]))
        }
    })
}

/// Orders pairs of a thread's values that are `stride` apart.
fn exchange_values<G: Group>(
    group: &mut G,
    carried: &Carried,
    mut elements: Vec<Tuple>,
    stride: usize,
    up: Option<Place>,
) -> Result<Vec<Tuple>, Error> {
    for low in 0..elements.len() {
        if low / stride % 2 == 1 {
            continue;
        }
        let (left, right) = (elements[low].clone(), elements[low + stride].clone());
        let turned = turned(group, up, low)?;
        let swap = comes_first(group, carried, &right, &left);
        let swap = flipped(group, swap, &turned)?;
        for (i, &dtype) in carried.dtypes.iter().enumerate() {
            elements[low][i] = selp(group.builder(), dtype, &swap, &right[i], &left[i]);
            elements[low + stride][i] = selp(group.builder(), dtype, &swap, &left[i], &right[i]);
        }
    }
    Ok(elements)
}

/// Orders pairs of elements of threads whose numbers differ in a bit.
fn exchange_threads<G: Group>(
    group: &mut G,
    carried: &Carried,
    elements: Vec<Tuple>,
    dist: &Dist,
    bit: usize,
    up: Option<Place>,
) -> Result<Vec<Tuple>, G::Error> {
    let others = if bit < LANE_BITS {
        elements.iter().map(|tuple| butterfly(group, tuple, bit)).collect()
    } else {
        of_warps(group, carried, &elements, dist, bit)?
    };
    let upper = bit_is_set(&group.thread(), bit)?;
    let mut ordered = Vec::new();
    for (value, (own, other)) in elements.into_iter().zip(others).enumerate() {
        let turned = turned(group, up, value)?;
        // The lower one takes the other where that comes first, the upper one where it does not.
        let take = comes_first(group, carried, &other, &own);
        let take = flipped(group, take, &upper)?;
        let take = flipped(group, take, &turned)?;
        let all = carried.dtypes.iter().enumerate();
        ordered
            .push(all.map(|(i, &dtype)| selp(group.builder(), dtype, &take, &other[i], &own[i])).collect());
    }
    Ok(ordered)
}

/// The elements of the threads whose numbers differ in a bit, through shared memory.
fn of_warps<G: Group>(
    group: &mut G,
    carried: &Carried,
    elements: &[Tuple],
    dist: &Dist,
    bit: usize,
) -> Result<Vec<Tuple>, G::Error> {
    let (threads, own) = (dist.threads(), group.thread());
    let partner = own.xor(&Expr::from(1 << bit))?;
    let mut others = Vec::new();
    for batch in elements.chunks(batch(&carried.dtypes, dist)) {
        let at = [Expr::from(0), own.clone()];
        let through = Through::of_threads(group, &carried.dtypes, batch, at, [threads; 2], &Cond::Always)?;
        for place in 0..batch.len() {
            others.push(through.read(group, place, &partner)?);
        }
    }
    Ok(others)
}

/// The distribution itself if positions along the mode are bits, from 0 to a power of two; else one that has them.
fn sortable(dist: &Dist, extents: &[i64], mode: usize) -> Dist {
    let digits = dist.digits(mode);
    let bits = digits.iter().enumerate().all(|(i, digit)| {
        digit.scale() == 1 << i && !matches!(digit, Digit::Values { extent, .. } if *extent != 2)
    });
    if bits {
        return dist.clone();
    }
    let rounded = extents[mode].cast_unsigned().next_power_of_two() as i64;
    let mut padded = extents.to_vec();
    padded[mode] = rounded;
    let mut order = vec![mode];
    order.extend((0..extents.len()).rev().filter(|&other| other != mode));
    // As many neighbours as a thread has values are its own.
    let own = (padded.iter().product::<i64>() / dist.threads()).clamp(1, rounded);
    let mut free = Dist::blocked(&padded, &order, 1 << own.ilog2(), dist.threads());
    // Values come in order of scale, as bits of positions.
    free.vals.sort_by_key(|leaf: &Leaf| (leaf.mode != mode, leaf.mode, leaf.scale));
    free
}
