//! `int!` and `layout!`.

/// A static integer: `int!(1536)`, `int!(-4)`; any constant expression whose magnitude is below 2^32.
///
/// ```
/// use girih_typed::{Int, int};
/// assert_eq!(int!(1536).get(), 1536);
/// assert_eq!(int!(-4).get(), -4);
/// ```
#[macro_export]
macro_rules! int {
    (- $n:expr) => {
        <$crate::Neg<$crate::int_type!($n)> as ::core::default::Default>::default()
    };
    ($n:expr) => {
        <$crate::int_type!($n) as ::core::default::Default>::default()
    };
}

/// The type of [`int!`]: `int_type!(1536)`.
#[macro_export]
macro_rules! int_type {
    (- $n:expr) => { $crate::Neg<$crate::int_type!($n)> };
    ($n:expr) => {
        $crate::FromBytes<
            { $crate::byte($n, 0) },
            { $crate::byte($n, 1) },
            { $crate::byte($n, 2) },
            { $crate::byte($n, 3) },
        >
    };
}

/// A typed layout: `layout!(((4, 2), (8, n)) : ((1, 64), (4, {2 * n})))`. Literals are static, names and `{expressions}` are `usize` or
/// `i64` values; a stride `2@1` or `1@1@0` goes along a basis vector, see [`Basis`](crate::Basis).
///
/// ```
/// use girih_typed::layout;
/// let n: usize = 3;
/// let l = layout!(((4, 2), (8, n)) : ((1, 64), (4, {2 * n})));
/// assert_eq!(format!("{l:#}"), "((_4,_2),(_8,3)):((_1,_64),(_4,6))");
/// assert_eq!(layout!(8 : -1).at_signed(7), -7);
/// ```
#[macro_export]
macro_rules! layout {
    ($shape:tt : $($stride:tt)+) => {
        $crate::Layout::new($crate::int_tuple!($shape), $crate::int_tuple!($($stride)+))
    };
}

/// The type of [`layout!`]: `layout_type!(((4, 2), (8, usize)) : ((1, 64), (4, i64)))`. Literals are static, names are types.
///
/// ```
/// use girih_typed::{layout, layout_type};
/// type Tile = layout_type!((128, 64) : (72, 1));
/// let room = [0f32; Tile::COSIZE];
/// assert_eq!((room.len(), Tile::default()), (9208, layout!((128, 64) : (72, 1))));
///
/// fn first_of_last_row(rows: layout_type!((128, usize) : (1, usize))) -> usize {
///     rows.at((127, 0))
/// }
/// let (n, ld): (usize, usize) = (8, 200);
/// assert_eq!(first_of_last_row(layout!((128, n) : (1, ld))), 127);
/// ```
#[macro_export]
macro_rules! layout_type {
    ($shape:tt : $($stride:tt)+) => {
        $crate::Lt<$crate::int_tuple_type!($shape), $crate::int_tuple_type!($($stride)+)>
    };
}

/// The type of [`int_tuple!`](crate::int_tuple), as in [`layout_type!`]: `int_tuple_type!((4, (8, usize)))`.
///
/// ```
/// use girih_typed::{Layout, Left, int_tuple_type};
/// assert_eq!(Layout::<Left<int_tuple_type!((4, (2, 3)))>>::LAY.to_string(), "(4,(2,3)):(1,(4,8))");
/// ```
#[macro_export]
macro_rules! int_tuple_type {
    (($($t:tt)*)) => { $crate::int_tuple_type!(@tuple [] $($t)*) };
    (@tuple [$($done:tt)*]) => { ($($done)*) };
    (@tuple [$($done:tt)*] - $t:tt $(, $($rest:tt)*)?) => {
        $crate::int_tuple_type!(@tuple [$($done)* $crate::int_type!(- $t),] $($($rest)*)?)
    };
    (@tuple [$($done:tt)*] $t:tt $(@ $mode:literal)+ $(, $($rest:tt)*)?) => {
        $crate::int_tuple_type!(@tuple [$($done)* $crate::int_tuple_type!($t $(@ $mode)+),] $($($rest)*)?)
    };
    (@tuple [$($done:tt)*] $t:tt $(, $($rest:tt)*)?) => {
        $crate::int_tuple_type!(@tuple [$($done)* $crate::int_tuple_type!($t),] $($($rest)*)?)
    };
    ($t:tt @ $i:literal) => { $crate::Basis<$crate::int_tuple_type!($t), $crate::int_type!($i)> };
    ($t:tt @ $j:literal @ $i:literal) => {
        $crate::Basis<$crate::int_tuple_type!($t), ($crate::int_type!($i), $crate::int_type!($j))>
    };
    ($t:tt @ $k:literal @ $j:literal @ $i:literal) => {
        $crate::Basis<
            $crate::int_tuple_type!($t),
            ($crate::int_type!($i), $crate::int_type!($j), $crate::int_type!($k)),
        >
    };
    (- $n:literal) => { $crate::int_type!(- $n) };
    ($n:literal) => { $crate::int_type!($n) };
    ($x:ident) => { $x };
}

/// A tuple of static and dynamic integers, as in [`layout!`].
#[macro_export]
macro_rules! int_tuple {
    (($($t:tt)*)) => { $crate::int_tuple!(@tuple [] $($t)*) };
    (@tuple [$($done:tt)*]) => { ($($done)*) };
    (@tuple [$($done:tt)*] - $t:tt $(, $($rest:tt)*)?) => {
        $crate::int_tuple!(@tuple [$($done)* $crate::int!(- $t),] $($($rest)*)?)
    };
    (@tuple [$($done:tt)*] $t:tt $(@ $mode:literal)+ $(, $($rest:tt)*)?) => {
        $crate::int_tuple!(@tuple [$($done)* $crate::int_tuple!($t $(@ $mode)+),] $($($rest)*)?)
    };
    (@tuple [$($done:tt)*] $t:tt $(, $($rest:tt)*)?) => {
        $crate::int_tuple!(@tuple [$($done)* $crate::int_tuple!($t),] $($($rest)*)?)
    };
    ($t:tt @ $i:literal) => { $crate::Basis::new($crate::int_tuple!($t), $crate::int!($i)) };
    ($t:tt @ $j:literal @ $i:literal) => {
        $crate::Basis::new($crate::int_tuple!($t), ($crate::int!($i), $crate::int!($j)))
    };
    ($t:tt @ $k:literal @ $j:literal @ $i:literal) => {
        $crate::Basis::new($crate::int_tuple!($t), ($crate::int!($i), $crate::int!($j), $crate::int!($k)))
    };
    (- $n:literal) => { $crate::int!(- $n) };
    ($n:literal) => { $crate::int!($n) };
    ($x:ident) => { $x };
    ({ $x:expr }) => { $x };
}
