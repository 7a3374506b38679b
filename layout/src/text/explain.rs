//! Layouts and errors in the texts of compile errors.

use crate::text::message::Message;
use crate::{Error, Int, Lay, Stride};

impl Message {
    /// Appends `shape:stride`, with `?` for numbers that are not known.
    #[doc(hidden)]
    pub const fn layout(&mut self, layout: &Lay) {
        leaves(self, layout, false);
        self.text(":");
        leaves(self, layout, true);
    }
}

impl Error {
    /// Appends the error's message, as far as a constant function can write it.
    #[doc(hidden)]
    pub const fn explain(&self, message: &mut Message) {
        explain(message, self);
    }
}

const fn leaves(line: &mut Message, of: &Lay, strides: bool) {
    let mut i = 0;
    while i < of.leaf_count() {
        let (opens, closes) = of.shape.profile.parens(of.root(), i);
        if i > 0 {
            line.text(",");
        }
        repeat(line, "(", opens);
        match (strides, of.step(i)) {
            (false, _) => number(line, of.extent(i)),
            (true, Stride::Int(d)) => number(line, d),
            (true, Stride::Basis { scale, mode }) => {
                number(line, scale);
                let mut level = mode.depth();
                while level > 0 {
                    level -= 1;
                    line.text("@");
                    line.number(mode.level(level));
                }
            }
            _ => line.text("?"),
        }
        repeat(line, ")", closes);
        i += 1;
    }
}

const fn repeat(line: &mut Message, text: &str, times: u8) {
    let mut i = 0;
    while i < times {
        line.text(text);
        i += 1;
    }
}

const fn number(line: &mut Message, n: Int) {
    let Some(n) = n.get() else { return line.text("?") };
    if n < 0 {
        line.text("-");
    }
    line.number(n.unsigned_abs() as usize);
}

/// Appends the message of an error that static operands can meet.
const fn explain(line: &mut Message, error: &Error) {
    match error {
        Error::StrideDivisibility { extent, stride, .. } => {
            pair(
                line,
                "stride ",
                Int::fixed(*stride),
                " and extent ",
                Int::fixed(*extent),
                " do not divide one another",
            );
        }
        Error::ShapeDivisibility { divisor, shape, .. } => {
            pair(line, "", divisor.scale(), " does not divide extent ", shape.scale(), "");
        }
        Error::CoordOutOfRange { coord, extent } => {
            pair(line, "coordinate ", Int::fixed(*coord), " is outside the extent ", extent.scale(), "");
        }
        Error::NotTractable { step, stride, .. } => {
            pair(line, "", step.scale(), " does not divide stride ", stride.scale(), "");
        }
        Error::RankMismatch { rank, other, .. } => {
            let (rank, other) = (Int::fixed(*rank as i64), Int::fixed(*other as i64));
            pair(line, "rank mismatch: the layout has rank ", rank, ", the other operand rank ", other, "");
        }
        Error::ModeRange { begin, end, rank } => {
            let (begin, end) = (Int::fixed(*begin as i64), Int::fixed(*end as i64));
            pair(line, "there are no modes ", begin, " up to ", end, " in rank ");
            number(line, Int::fixed(*rank as i64));
        }
        Error::ModeOutOfRange { mode, rank } => {
            let (mode, rank) = (Int::fixed(*mode as i64), Int::fixed(*rank as i64));
            pair(line, "there is no mode ", mode, " in rank ", rank, "");
        }
        Error::NotCongruent { leaf, .. } => {
            line.text("the two tuples are not nested alike, from leaf ");
            line.number(*leaf);
        }
        Error::Overlap { extent, stride } if stride.int().is_some() => {
            pair(line, "mode ", extent.scale(), ":", stride.scale(), " meets an index twice");
        }
        Error::NonPositiveShape { leaf, extent } => {
            let leaf = Int::fixed(*leaf as i64);
            pair(line, "leaf ", leaf, " of a shape is ", Int::fixed(*extent), ", which is below 1");
        }
        Error::NonPositiveStride { stride, .. } => {
            let stride = Int::fixed(match stride.scale().get() {
                Some(stride) => stride,
                None => 0,
            });
            pair(line, "stride ", stride, " is below ", Int::ZERO, "");
        }
        Error::NoLayout { witness: Some(w), .. } => {
            let (coord, expected) = (Int::fixed(w.coord), Int::fixed(w.expected));
            pair(line, "no layout has these values: at coordinate ", coord, " the index is ", expected, "");
            line.text(", a layout that agrees so far has ");
            number(line, Int::fixed(w.obtained));
        }
        Error::Carry { witness: Some(w), .. } => {
            pair(
                line,
                "the right-hand modes carry into one another: coordinate ",
                Int::fixed(w.coord),
                " has index ",
                Int::fixed(w.expected),
                ", mode by mode it would be ",
            );
            number(line, Int::fixed(w.obtained));
        }
        Error::Unsupported { what, .. } => {
            line.text("not supported: ");
            line.text(what);
        }
        other => line.text(other.kind()),
    }
}

const fn pair(line: &mut Message, before: &str, a: Int, between: &str, b: Int, after: &str) {
    line.text(before);
    number(line, a);
    line.text(between);
    number(line, b);
    line.text(after);
}
