//! Any text: what is read prints as what is read again, and no operation on it panics, however large its numbers.

use girih_layout::{Composed, Coord, Int, Lay, Shape, Sum, Tiler};

macro_rules! round_trip {
    ($type:ty, $text:expr) => {{
        let value = <$type>::parse($text).ok();
        if let Some(value) = &value {
            assert_eq!(<$type>::parse(&value.to_string()).as_ref(), Ok(value), "{value}");
            assert_eq!(<$type>::parse(&format!("{value:#}")).as_ref(), Ok(value), "{value:#}");
            // With the facts of symbols, which equality ignores: the text of what is read is the same again.
            let known = format!("{value:+#}");
            let again = <$type>::parse(&known).map(|again| format!("{again:+#}"));
            assert_eq!(again, Ok(known));
        }
        value
    }};
}

/// Reads the text, prints what was read, and operates on it.
///
/// # Panics
/// Where reading back gives something else.
pub(crate) fn run(text: &str) {
    // Two operands, where the text has them.
    let (first, second) = text.split_once(';').unwrap_or((text, "(2,3):(3,1)"));
    round_trip!(Int, first);
    round_trip!(Sum, first);
    round_trip!(Shape, first);
    let coord = round_trip!(Coord, second);
    let tiler = round_trip!(Tiler, second);
    round_trip!(Composed, first);
    let Some(a) = round_trip!(Lay, first) else { return };
    if let Some(coord) = coord {
        let _ = (
            a.crd2idx(&coord),
            a.crd2idx_extended(&coord),
            a.slice(&coord),
            a.index(&coord),
            a.index_extended(&coord),
            a.dice(&coord),
        );
    }
    if let Some(tiler) = tiler {
        let _ = (
            a.compose(&tiler),
            a.zipped_divide(&tiler),
            a.divide_with_residue(&tiler),
            a.zipped_product(&tiler),
        );
        if let Tiler::Lay(b) = tiler {
            let _ = (
                a.compose_in_bounds(&b),
                a.blocked_product(&b),
                a.raked_product(&b),
                a.max_common_layout(&b),
            );
        }
    }
    let _ =
        (a.coalesce(), a.filter(), a.complement(Int::value(1 << 40)), a.right_inverse(), a.quasi_inverse());
    let _ = (
        a.cosize(),
        a.nullspace(),
        a.upcast(4),
        a.downcast(4),
        a.compact_like(),
        a.fragment_like(),
        a.max_alignment(),
    );
}
