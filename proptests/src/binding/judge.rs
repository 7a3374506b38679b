//! What an answer on symbols must be for the numbers.

use girih_layout::{Composed, Error, IntTuple, Lay, Shape, Stride, Sum, Symbol};
use girih_notation::ops::OpError;
use serde_json::{Map, Value};

use super::operands::Bindings;
use super::{SYMBOLS, shown};

/// The largest domain that is enumerated.
const MOST: i64 = 2048;

/// What came of one binding.
pub enum Verdict {
    /// Both agree.
    Right,
    /// The symbols left it open.
    Open,
    /// Both refuse.
    Refused,
    /// There is nothing to compare.
    Skipped,
    /// They disagree.
    Wrong(String),
}

/// A result, read back from its text.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, for a moment")]
pub enum Answer {
    /// A layout with the offset at which it begins.
    Lay(Lay, Sum),
    /// A swizzled layout.
    Composed(Composed),
    /// An integer, or a tuple of them.
    Tuple(IntTuple),
    /// A sum, or a tuple of them.
    Sums(Sums),
    /// What has no symbols: a truth value, a coordinate, a list.
    Text(String),
}

/// A sum, or a tuple of trees.
#[derive(Debug)]
pub enum Sums {
    /// A sum.
    Leaf(Box<Sum>),
    /// Trees side by side.
    Tuple(Vec<Sums>),
}

impl Sums {
    fn read(text: &str) -> Option<Sums> {
        if let Ok(sum) = Sum::parse(text) {
            return Some(Sums::Leaf(Box::new(sum)));
        }
        let inner = text.strip_prefix('(')?.strip_suffix(')')?;
        let mut depth = 0;
        let modes = inner.split(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        });
        Some(Sums::Tuple(modes.map(Sums::read).collect::<Option<_>>()?))
    }

    /// The text with every sum changed by `bind`.
    fn text(&self, bind: &impl Fn(Sum) -> Result<Sum, Error>) -> Result<String, Error> {
        match self {
            Sums::Leaf(sum) => Ok(bind(**sum)?.to_string()),
            Sums::Tuple(modes) => {
                let texts = modes.iter().map(|mode| mode.text(bind)).collect::<Result<Vec<_>, _>>()?;
                Ok(format!("({})", texts.join(",")))
            }
        }
    }
}

impl Answer {
    pub(super) fn text(value: &Value) -> String {
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }

    /// Reads a result.
    pub fn read(value: &Value) -> Answer {
        let text = Answer::text(value);
        let (layout, offset) = text.split_once(" @ ").unwrap_or((&text, "0"));
        if let (true, Ok(composed)) = (text.starts_with("Sw<"), Composed::parse(&text)) {
            return Answer::Composed(composed);
        }
        if let (true, Ok(layout), Ok(offset)) = (text.contains(':'), Lay::parse(layout), Sum::parse(offset)) {
            return Answer::Lay(layout, offset);
        }
        if let Ok(tuple) = IntTuple::parse(&text) {
            return Answer::Tuple(tuple);
        }
        Sums::read(&text).map_or(Answer::Text(text), Answer::Sums)
    }

    fn bound(&self, facts: &[Symbol; SYMBOLS], values: Bindings) -> Result<Answer, Error> {
        let mut bindings = facts.iter().zip(values);
        Ok(match self {
            Answer::Lay(lay, offset) => Answer::Lay(
                bindings.clone().try_fold(*lay, |lay, (s, v)| lay.bind(*s, v))?,
                bindings.try_fold(*offset, |offset, (s, v)| offset.bind(*s, v))?,
            ),
            Answer::Composed(composed) => {
                Answer::Composed(bindings.try_fold(*composed, |composed, (s, v)| composed.bind(*s, v))?)
            }
            Answer::Tuple(tuple) => {
                Answer::Tuple(bindings.try_fold(*tuple, |tuple, (s, v)| tuple.bind(*s, v))?)
            }
            Answer::Sums(sums) => {
                let bind = |sum| bindings.clone().try_fold(sum, |sum: Sum, (s, v)| sum.bind(*s, v));
                Answer::read(&Value::String(sums.text(&bind)?))
            }
            Answer::Text(text) => Answer::Text(text.clone()),
        })
    }
}

/// The entries of coordinates that random layouts step along.
pub(super) const PATHS: [&[usize]; 5] = [&[0], &[1], &[0, 0], &[1, 0], &[1, 1]];

/// An index: the integers' sum joined with the columns, then the sums along the basis vectors of [`PATHS`].
type Point = [i64; 1 + PATHS.len()];

/// The indices of all coordinates in order, by the definition; nothing for domains that are too large.
pub fn table(lay: &Lay) -> Option<Vec<Point>> {
    let leaves: Vec<(i64, Stride)> = (0..lay.leaf_count())
        .map(|i| lay.flat_leaf(i))
        .map(|(extent, stride)| Some((extent.get()?, stride)))
        .collect::<Option<_>>()?;
    let size = leaves.iter().try_fold(1i64, |size, (extent, _)| size.checked_mul(*extent))?;
    if size > MOST {
        return None;
    }
    (0..size).map(|i| index(&leaves, i)).collect()
}

fn index(leaves: &[(i64, Stride)], coord: i64) -> Option<Point> {
    let (mut rest, mut point, mut columns) = (coord, Point::default(), 0i64);
    for (extent, stride) in leaves {
        let digit = rest % extent;
        rest /= extent;
        match stride {
            Stride::Int(d) => point[0] += digit * d.get()?,
            Stride::Basis { scale, mode } => {
                let path = PATHS.iter().position(|path| mode.modes().eq(path.iter().copied()))?;
                point[1 + path] += digit * scale.get()?;
            }
            Stride::F2(column) => {
                columns ^= (0..63)
                    .filter(|bit| digit >> bit & 1 == 1)
                    .fold(0, |all, bit| all ^ (*column as i64) << bit)
            }
        }
    }
    point[0] ^= columns;
    Some(point)
}

/// The value at a 1-D coordinate of a known layout, past its end too.
fn extended(lay: &Lay, coord: i64) -> Option<i64> {
    let mut leaves: Vec<(i64, Stride)> = (0..lay.leaf_count())
        .map(|i| lay.flat_leaf(i))
        .map(|(extent, stride)| Some((extent.get()?, stride)))
        .collect::<Option<_>>()?;
    leaves.last_mut()?.0 = i64::MAX;
    Some(index(&leaves, coord)?[0])
}

/// Errors of numbers that an answer on symbols does not foresee, each with its reason.
const UNFORESEEN: &[(&str, &str)] = &[
    ("non_positive_shape", "an extent became 0: the layout is empty"),
    ("coord_out_of_range", "a position past a symbolic end can't be seen before launch"),
    ("overflow", "numbers have 64 bits, products of symbols none"),
    ("capacity", "what enumeration finds may have more leaves"),
];

/// Errors of symbols that say nothing about the numbers, each with its reason.
fn leaves_open(error: &Error) -> bool {
    match error {
        // A fact is missing, or no fact would do.
        Error::NeedsFact { .. } | Error::NotKnown { .. } => true,
        // What does not fit as symbols may fit as a number.
        Error::Overflow { .. } | Error::Capacity { .. } => true,
        Error::Unsupported { what, .. } => what.contains("symbol"),
        // The domain was too large to search.
        Error::Carry { witness, .. } => witness.is_none(),
        _ => false,
    }
}

/// Errors about the step of one mode, which holds unless that mode has an extent of 1 or a stride of 0.
fn refuses_a_mode(error: &Error) -> bool {
    matches!(
        error,
        Error::NonPositiveStride { .. }
            | Error::Overlap { .. }
            | Error::NotTractable { .. }
            | Error::StrideDivisibility { .. }
            | Error::ShapeDivisibility { .. }
            | Error::Unsupported { .. }
    )
}

/// Whether an operation of the table may call itself that: CuTe's names stand for girih's.
pub(super) fn names(op: &str, named: &str) -> bool {
    op.strip_prefix("swizzle_").unwrap_or(op) == named
        || matches!(
            (op, named),
            ("composition_tiler", "composition") | ("complement_default", "complement" | "cosize")
        )
}

/// Operations whose results are sums.
const SUMS: &[&str] = &["slice", "slice_offset", "domain_offset", "crd2idx", "cosize", "coshape"];

/// Whether symbols leave an operation open that has a sum for an answer: where an extent decides how a position is counted, or where
/// the sum has no room.
fn leaves_a_sum_open(error: &Error) -> bool {
    match error {
        Error::NotKnown { op, .. } => *op == "counting out a position",
        Error::Unsupported { what, .. } => what.contains("more than three symbolic factors"),
        Error::Overflow { .. } | Error::Capacity { .. } => true,
        _ => false,
    }
}

fn judge_errors(
    op: &str,
    answer: &Result<Value, OpError>,
    known: &Result<Value, OpError>,
    degenerate: bool,
) -> Option<Verdict> {
    Some(match (answer, known) {
        (Ok(_), Ok(_)) => return None,
        (Ok(_), Err(error)) if UNFORESEEN.iter().any(|(kind, _)| *kind == error.kind()) => Verdict::Skipped,
        (Ok(_), Err(_)) => Verdict::Wrong(format!("{}, numbers: {}", shown(answer), shown(known))),
        (Err(OpError::Layout { source, .. }), Ok(_)) if SUMS.contains(&op) && leaves_open(source) => {
            if leaves_a_sum_open(source) {
                Verdict::Open
            } else {
                Verdict::Wrong(format!("refuses a sum: {source}, numbers: {}", shown(known)))
            }
        }
        (Err(OpError::Layout { source, .. }), _) if leaves_open(source) => Verdict::Open,
        (Err(_), Err(_)) => Verdict::Refused,
        // The mode that is refused does not lead anywhere for these numbers.
        (Err(OpError::Layout { source, .. }), Ok(_)) if degenerate && refuses_a_mode(source) => Verdict::Open,
        (Err(_), Ok(_)) => Verdict::Wrong(format!("{}, numbers: {}", shown(answer), shown(known))),
    })
}

/// Judges an answer on symbols by the operation on the numbers; `degenerate` says that a symbolic extent became 1 or a stride 0.
pub fn judge(
    op: &str,
    answer: &Result<Value, OpError>,
    known: &Result<Value, OpError>,
    args: &Map<String, Value>,
    facts: &[Symbol; SYMBOLS],
    values: Bindings,
    degenerate: bool,
) -> Verdict {
    if let Some(verdict) = judge_errors(op, answer, known, degenerate) {
        return verdict;
    }
    let (Ok(symbolic), Ok(numeric)) = (answer, known) else { return Verdict::Skipped };
    let wrong = |why: &str| Verdict::Wrong(format!("{why}: {}, numbers: {}", shown(answer), shown(known)));
    let bound = match Answer::read(symbolic).bound(facts, values) {
        Ok(bound) => bound,
        Err(Error::Overflow { .. }) => return Verdict::Skipped,
        Err(error) => return wrong(&format!("the answer can't be bound, {error}")),
    };
    match agree(op, &bound, &Answer::read(numeric), args) {
        Some(Ok(())) => Verdict::Right,
        Some(Err(why)) => wrong(why),
        None => Verdict::Skipped,
    }
}

fn operand(args: &Map<String, Value>, name: &str) -> Option<Lay> {
    Lay::parse(args.get(name)?.as_str()?).ok()
}

/// The indices of the plain or swizzled layout that an inverse is of.
fn indices(args: &Map<String, Value>) -> Option<Vec<i64>> {
    if let Some(Value::String(text)) = args.get("swizzled") {
        let composed = Composed::parse(text).ok()?;
        let index = |point: &Point| composed.swizzle().apply(composed.offset() + point[0]);
        return Some(table(composed.layout())?.iter().map(index).collect());
    }
    Some(table(&operand(args, "layout")?)?.iter().map(|point| point[0]).collect())
}

type Agreement = Option<Result<(), &'static str>>;

fn check(right: bool, why: &'static str) -> Agreement {
    Some(if right { Ok(()) } else { Err(why) })
}

/// Whether two answers for the same numbers agree. Most operations define a function; a few promise a property, of which the symbols may
/// show less than the numbers.
fn agree(op: &str, bound: &Answer, known: &Answer, args: &Map<String, Value>) -> Agreement {
    match (op, bound, known) {
        ("right_inverse" | "swizzle_right_inverse", Answer::Lay(r, _), Answer::Lay(..)) => {
            let of = indices(args)?;
            let right = table(r)?.iter().zip(0..).all(|(c, i)| of.get(c[0] as usize) == Some(&i));
            check(right, "no right inverse")
        }
        ("swizzle_left_inverse", Answer::Lay(l, _), _) => {
            let of = indices(args)?;
            check(of.iter().zip(0..).all(|(index, i)| extended(l, *index) == Some(i)), "no left inverse")
        }
        ("left_inverse", Answer::Lay(l, _), _) => {
            let of = table(&operand(args, "layout")?)?;
            check(
                of.iter().all(|i| extended(l, i[0]).and_then(|c| of.get(c as usize)) == Some(i)),
                "no inverse",
            )
        }
        ("max_common_layout", Answer::Lay(r, _), Answer::Lay(..)) => {
            let (a, b) = (table(&operand(args, "a")?)?, table(&operand(args, "b")?)?);
            let at = |table: &[Point], c: i64| table.get(c as usize).map(|point| point[0]);
            let common = table(r)?
                .iter()
                .enumerate()
                .all(|(i, c)| at(&a, c[0]) == Some(i as i64) && at(&b, c[0]) == Some(i as i64));
            check(common, "not common to both")
        }
        ("max_common_vector", Answer::Tuple(n), Answer::Tuple(_)) => {
            let (a, b) = (table(&operand(args, "a")?)?, table(&operand(args, "b")?)?);
            let common = a.iter().zip(&b).zip(0..).take_while(|((a, b), i)| a[0] == *i && b[0] == *i).count();
            check(n.get(0)?.get()? <= common.max(1) as i64, "longer than what is common")
        }
        ("nullspace", Answer::Lay(r, _), Answer::Lay(largest, _)) => {
            let of = operand(args, "layout")?;
            let still = table(r)?.iter().all(|c| extended(&of, c[0]) == Some(0));
            check(still && size(r)? <= size(largest)?, "not in the nullspace")
        }
        // What a symbol hides is that a stride is 0, or that an extent is 1.
        ("filter" | "filter_zeros", Answer::Lay(a, _), Answer::Lay(b, _)) => {
            check(image(&table(a)?) == image(&table(b)?), "another image")
        }
        // A rest of one mode is spread, one of several modes with an extent of 1 among them otherwise.
        ("tiled_divide" | "flat_divide", Answer::Lay(a, _), Answer::Lay(b, _)) => {
            check(table(a)? == table(b)?, "another function")
        }
        (_, Answer::Lay(a, x), Answer::Lay(b, y)) => {
            same_function(a, b).map(|same| same.and(if x == y { Ok(()) } else { Err("another offset") }))
        }
        (_, Answer::Composed(a), Answer::Composed(b)) => {
            let same = a.swizzle() == b.swizzle() && a.offset() == b.offset();
            same_function(a.layout(), b.layout())
                .map(|f| f.and(if same { Ok(()) } else { Err("another swizzle") }))
        }
        (_, Answer::Tuple(a), Answer::Tuple(b)) => check(a == b, "another value"),
        (_, Answer::Text(a), Answer::Text(b)) => check(a == b, "another value"),
        _ => check(false, "an answer of another kind"),
    }
}

fn size(lay: &Lay) -> Option<i64> {
    lay.size().ok()?.get()
}

fn image(table: &[Point]) -> Vec<Point> {
    let mut image = table.to_vec();
    image.sort_unstable();
    image.dedup();
    image
}

/// The same function over domains that are cut into modes alike, as far as both have modes.
fn same_function(a: &Lay, b: &Lay) -> Agreement {
    if table(a)? != table(b)? {
        return Some(Err("another function"));
    }
    let sizes = |lay: &Lay| -> Option<Vec<i64>> {
        let each: Shape = lay.shape().product_each().ok()?;
        each.leaves().map(|extent| extent.get()).collect()
    };
    let (a, b) = (sizes(a)?, sizes(b)?);
    check(a.len() != b.len() || a == b, "modes of other sizes")
}
