//! Modes picked, grouped and put side by side: integers move and are not computed, so one form of each operation serves
//! static and dynamic integers.

use girih_layout::Error;
use typenum::{B0, B1};

use super::check::check_edit;
use super::compact::{Leaves, With};
use super::int::S;
use super::int_tuple::IntTuple;
use super::layout::Layout;
use super::list::Nil;
use super::modes::Modes;
use super::nat::Nat;
use super::tiler::{ModeList, NoModes, OneMode};

/// The type of [`Layout::mode`].
///
/// ```
/// use girih_typed::{Layout, Mode, ModeAt, S, int, layout};
/// let made: Layout<ModeAt<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), S<1>>> = layout!((4, 8) : (1, 4)).mode(int!(1));
/// ```
pub type ModeAt<M, I> = <<M as Modes>::Each as ModeList>::Nth<I>;
/// The type of [`Layout::select`].
///
/// ```
/// use girih_typed::{Layout, Mode, S, Select, int, layout};
/// let made: Layout<Select<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<1>, S<0>)>> = layout!((4, 8) : (1, 4)).select((int!(1), int!(0)));
/// ```
pub type Select<M, P> = <P as Picks>::Of<<M as Modes>::Each>;
/// The type of [`Layout::take`].
///
/// ```
/// use girih_typed::{Layout, Mode, S, Take, int, layout};
/// let made: Layout<Take<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), S<0>, S<1>>> = layout!((4, 8) : (1, 4)).take(int!(0), int!(1));
/// ```
pub type Take<M, B, E> = <Slice<M, B, E> as ModeList>::AsTuple;
/// The type of [`Layout::group`].
///
/// ```
/// use girih_typed::{Group, Layout, Mode, S, int, layout};
/// let made: Layout<Group<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), S<0>, S<2>>> = layout!((4, 8) : (1, 4)).group(int!(0), int!(2));
/// ```
pub type Group<M, B, E> =
    <Joined<Slice<M, S<0>, B>, OneMode<Take<M, B, E>, Slice<M, E, All>>> as ModeList>::AsTuple;
/// The type of [`Layout::append`].
///
/// ```
/// use girih_typed::{Append, Layout, Mode, S, layout};
/// let made: Layout<Append<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), Mode<S<2>, S<32>>>> = layout!((4, 8) : (1, 4)).append(layout!(2 : 32));
/// ```
pub type Append<M, X> = <Joined<<M as Modes>::Each, OneMode<X, NoModes>> as ModeList>::AsTuple;
/// The type of [`Layout::prepend`].
///
/// ```
/// use girih_typed::{Layout, Mode, Prepend, S, layout};
/// let made: Layout<Prepend<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), Mode<S<2>, S<32>>>> = layout!((4, 8) : (1, 4)).prepend(layout!(2 : 32));
/// ```
pub type Prepend<M, X> = <OneMode<X, <M as Modes>::Each> as ModeList>::AsTuple;
/// The type of [`Layout::replace`].
///
/// ```
/// use girih_typed::{Layout, Mode, Replace, S, int, layout};
/// let made: Layout<Replace<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), S<1>, Mode<S<2>, S<32>>>> = layout!((4, 8) : (1, 4)).replace(int!(1), layout!(2 : 32));
/// ```
pub type Replace<M, I, X> =
    <Joined<Slice<M, S<0>, I>, OneMode<X, Slice<M, <I as Nat>::Succ, All>>> as ModeList>::AsTuple;
/// The type of [`Layout::flatten`].
///
/// ```
/// use girih_typed::{Flatten, Layout, Mode, S, layout};
/// let made: Layout<Flatten<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).flatten();
/// ```
pub type Flatten<M> = <M as Modes>::Flat;
/// The type of [`Layout::unflatten`].
///
/// ```
/// use girih_typed::{Layout, Mode, S, Unflatten, int, layout};
/// let made: Layout<Unflatten<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<1>, S<1>)>> = layout!((4, 8) : (1, 4)).unflatten((int!(1), int!(1)));
/// ```
pub type Unflatten<M, P> = With<<P as IntTuple>::Zeros, Leaves<M>>;

type Slice<M, B, E> = <<M as Modes>::Each as ModeList>::Take<B, E>;
pub(super) type Joined<L, R> = <L as ModeList>::Join<R>;
/// An end after all modes, of which there are at most 12.
type All = S<12>;

#[doc(hidden)]
/// Case distinctions: each item has its value for the named condition being false in [`B0`] and true in [`B1`].
pub trait Decide {
    /// If mode `I` of the rest is wanted, not the first mode.
    type Nth<M: Modes, T: ModeList, I: Nat>: Modes;
    fn nth<M: Modes, T: ModeList, I: Nat>(first: M, rest: T) -> Self::Nth<M, T, I>;
    /// If the end is not before the first mode, but before mode `E` of the rest.
    type Take<M: Modes, T: ModeList, B: Nat, E: Nat>: ModeList;
    fn take<M: Modes, T: ModeList, B: Nat, E: Nat>(first: M, rest: T) -> Self::Take<M, T, B, E>;
    /// If the beginning is not at the first mode, but at mode `B` of the rest.
    type Begin<M: Modes, T: ModeList, B: Nat, E: Nat>: ModeList;
    fn begin<M: Modes, T: ModeList, B: Nat, E: Nat>(first: M, rest: T) -> Self::Begin<M, T, B, E>;
}

impl Decide for B0 {
    type Nth<M: Modes, T: ModeList, I: Nat> = M;
    fn nth<M: Modes, T: ModeList, I: Nat>(first: M, _: T) -> M {
        first
    }
    type Take<M: Modes, T: ModeList, B: Nat, E: Nat> = NoModes;
    fn take<M: Modes, T: ModeList, B: Nat, E: Nat>(_: M, _: T) -> NoModes {
        NoModes
    }
    type Begin<M: Modes, T: ModeList, B: Nat, E: Nat> = OneMode<M, T::Take<S<0>, E>>;
    fn begin<M: Modes, T: ModeList, B: Nat, E: Nat>(first: M, rest: T) -> Self::Begin<M, T, B, E> {
        OneMode(first, rest.take::<S<0>, E>())
    }
}

impl Decide for B1 {
    type Nth<M: Modes, T: ModeList, I: Nat> = T::Nth<I>;
    fn nth<M: Modes, T: ModeList, I: Nat>(_: M, rest: T) -> T::Nth<I> {
        rest.nth::<I>()
    }
    type Take<M: Modes, T: ModeList, B: Nat, E: Nat> = <B::Positive as Decide>::Begin<M, T, B::Before, E>;
    fn take<M: Modes, T: ModeList, B: Nat, E: Nat>(first: M, rest: T) -> Self::Take<M, T, B, E> {
        <B::Positive as Decide>::begin::<M, T, B::Before, E>(first, rest)
    }
    type Begin<M: Modes, T: ModeList, B: Nat, E: Nat> = T::Take<B, E>;
    fn begin<M: Modes, T: ModeList, B: Nat, E: Nat>(_: M, rest: T) -> T::Take<B, E> {
        rest.take::<B, E>()
    }
}

/// Numbers of modes: a tuple of static integers, for [`Layout::select`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no numbers of modes",
    note = "numbers of modes are a tuple of static integers, `(int!(2), int!(0))`"
)]
///
/// ```
/// use girih_typed::{Layout, Modes, Picks, Select, int, layout};
/// fn pick<M: Modes, P: Picks>(l: Layout<M>, picks: P) -> Layout<Select<M, P>> {
///     l.select(picks)
/// }
/// assert_eq!(pick(layout!((4, 8) : (1, 4)), (int!(1), int!(0))), layout!((8, 4) : (4, 1)));
/// ```
pub trait Picks: Copy {
    #[doc(hidden)]
    const NUMBERS: &'static [usize];
    #[doc(hidden)]
    type Of<L: ModeList>: Modes;
    #[doc(hidden)]
    fn of<L: ModeList>(from: L) -> Self::Of<L>;
}

macro_rules! picks {
    ($(($($t:ident)+))*) => {$(
        impl<$($t: Nat),+> Picks for ($($t,)+) {
            const NUMBERS: &'static [usize] = &[$($t::N as usize),+];
            type Of<LL: ModeList> = ($(LL::Nth<$t>,)+);
            fn of<LL: ModeList>(from: LL) -> Self::Of<LL> {
                ($(from.nth::<$t>(),)+)
            }
        }
    )*};
}

picks! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
    (A B C D E F G H I)
    (A B C D E F G H I J)
    (A B C D E F G H I J K)
    (A B C D E F G H I J K L)
}

const fn number<I: Nat>() -> usize {
    I::N as usize
}

impl<M: Modes> Layout<M> {
    /// Mode `I`, see [`Lay::mode`](girih_layout::Lay::mode); a leaf is its own mode 0 (CuTe's `layout<I>`, `get<I>`).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// let n: usize = 6;
    /// assert_eq!(layout!((8, (2, n)) : (6, (1, 2))).mode(int!(1)), layout!((2, n) : (1, 2)));
    /// ```
    ///
    /// A mode that isn't there does not compile; here the message is `mode((4,8):(1,4)): there is no mode 2 in rank 2`:
    /// ```compile_fail
    /// # use girih_typed::{int, layout};
    /// layout!((4, 8) : (1, 4)).mode(int!(2));
    /// ```
    pub fn mode<I: Nat>(self, number: I) -> Layout<ModeAt<M, I>> {
        const {
            check_edit("mode", &M::SKELETON, M::SKELETON.mode(self::number::<I>()), &ModeAt::<M, I>::SKELETON)
        };
        let _ = number;
        Layout(self.0.each().nth::<I>())
    }

    /// The modes of the given numbers, in that order, see [`Lay::select`](girih_layout::Lay::select).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// assert_eq!(layout!((2, 3, 5) : (1, 2, 6)).select((int!(2), int!(0))), layout!((5, 2) : (6, 1)));
    /// ```
    ///
    /// Here the message is `select((2,3,5):(1,2,6)): there is no mode 3 in rank 3`:
    /// ```compile_fail
    /// # use girih_typed::{int, layout};
    /// layout!((2, 3, 5) : (1, 2, 6)).select((int!(0), int!(3)));
    /// ```
    pub fn select<P: Picks>(self, numbers: P) -> Layout<Select<M, P>> {
        const { check_edit("select", &M::SKELETON, M::SKELETON.select(P::NUMBERS), &Select::<M, P>::SKELETON) };
        let _ = numbers;
        Layout(P::of(self.0.each()))
    }

    /// The modes from `begin` up to `end`, as a tuple, see [`Lay::take`](girih_layout::Lay::take).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// assert_eq!(layout!((2, 3, 5) : (1, 2, 6)).take(int!(1), int!(3)), layout!((3, 5) : (2, 6)));
    /// ```
    ///
    /// Here the message is `take((2,3,5):(1,2,6)): there is no mode 3 in rank 3`:
    /// ```compile_fail
    /// # use girih_typed::{int, layout};
    /// layout!((2, 3, 5) : (1, 2, 6)).take(int!(1), int!(4));
    /// ```
    pub fn take<B: Nat, E: Nat>(self, begin: B, end: E) -> Layout<Take<M, B, E>> {
        const {
            let taken = M::SKELETON.take(number::<B>(), number::<E>());
            check_edit("take", &M::SKELETON, taken, &Take::<M, B, E>::SKELETON)
        };
        let _ = (begin, end);
        Layout(self.0.each().take::<B, E>().tuple())
    }

    /// The modes from `begin` up to `end` grouped into one, see [`Lay::group`](girih_layout::Lay::group).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// assert_eq!(layout!((2, 3, 5) : (1, 2, 6)).group(int!(1), int!(3)), layout!((2, (3, 5)) : (1, (2, 6))));
    /// ```
    ///
    /// Here the message is `group((2,3,5):(1,2,6)): there is no mode 4 in rank 3`:
    /// ```compile_fail
    /// # use girih_typed::{int, layout};
    /// layout!((2, 3, 5) : (1, 2, 6)).group(int!(1), int!(4));
    /// ```
    pub fn group<B: Nat, E: Nat>(self, begin: B, end: E) -> Layout<Group<M, B, E>> {
        const {
            let grouped = if B::N == E::N {
                Err(Error::Unsupported { op: "group", what: "a group of no modes" })
            } else {
                M::SKELETON.group(number::<B>(), number::<E>())
            };
            check_edit("group", &M::SKELETON, grouped, &Group::<M, B, E>::SKELETON)
        };
        let _ = (begin, end);
        let modes = self.0.each();
        let grouped = OneMode(modes.take::<B, E>().tuple(), modes.take::<E, All>());
        Layout(modes.take::<S<0>, B>().join(grouped).tuple())
    }

    /// The layout with another mode at the end, see [`Lay::append`](girih_layout::Lay::append).
    ///
    /// ```
    /// use girih_typed::layout;
    /// let n: usize = 5;
    /// assert_eq!(layout!((2, 3) : (1, 2)).append(layout!(n : 6)), layout!((2, 3, n) : (1, 2, 6)));
    /// ```
    pub fn append<X: Modes>(self, mode: Layout<X>) -> Layout<Append<M, X>> {
        const { check_edit("append", &M::SKELETON, M::SKELETON.append(&X::SKELETON), &Append::<M, X>::SKELETON) };
        Layout(self.0.each().join(OneMode(mode.0, NoModes)).tuple())
    }

    /// The layout with another mode at the beginning, see [`Lay::prepend`](girih_layout::Lay::prepend).
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((2, 3) : (1, 2)).prepend(layout!(5 : 6)), layout!((5, 2, 3) : (6, 1, 2)));
    /// ```
    pub fn prepend<X: Modes>(self, mode: Layout<X>) -> Layout<Prepend<M, X>> {
        const {
            let prepended = M::SKELETON.prepend(&X::SKELETON);
            check_edit("prepend", &M::SKELETON, prepended, &Prepend::<M, X>::SKELETON)
        };
        Layout(OneMode(mode.0, self.0.each()).tuple())
    }

    /// The layout with mode `I` replaced by another one, see [`Lay::replace`](girih_layout::Lay::replace).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// assert_eq!(layout!((2, 3) : (1, 2)).replace(int!(0), layout!(4 : 6)), layout!((4, 3) : (6, 2)));
    /// ```
    ///
    /// Here the message is `replace((2,3):(1,2)): there is no mode 2 in rank 2`:
    /// ```compile_fail
    /// # use girih_typed::{int, layout};
    /// layout!((2, 3) : (1, 2)).replace(int!(2), layout!(4 : 6));
    /// ```
    pub fn replace<I: Nat, X: Modes>(self, number: I, by: Layout<X>) -> Layout<Replace<M, I, X>> {
        const {
            let replaced = M::SKELETON.replace(self::number::<I>(), &X::SKELETON);
            check_edit("replace", &M::SKELETON, replaced, &Replace::<M, I, X>::SKELETON)
        };
        let _ = number;
        let modes = self.0.each();
        Layout(modes.take::<S<0>, I>().join(OneMode(by.0, modes.take::<I::Succ, All>())).tuple())
    }

    /// All leaves in one flat tuple, see [`Lay::flatten`](girih_layout::Lay::flatten); a leaf stays a leaf.
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((8, (2, 3)) : (6, (1, 2))).flatten(), layout!((8, 2, 3) : (6, 1, 2)));
    /// ```
    pub fn flatten(self) -> Layout<Flatten<M>> {
        const { check_edit("flatten", &M::SKELETON, Ok(M::SKELETON.flatten()), &Flatten::<M>::SKELETON) };
        Layout(self.0.flat())
    }

    /// The same leaves under the tree of `profile`, whose integers don't matter, see [`Lay::unflatten`](girih_layout::Lay::unflatten).
    ///
    /// ```
    /// use girih_typed::{int_tuple, layout};
    /// let l = layout!((8, 2, 3) : (6, 1, 2)).unflatten(int_tuple!((0, (0, 0))));
    /// assert_eq!(l, layout!((8, (2, 3)) : (6, (1, 2))));
    /// ```
    ///
    /// Here the message is `unflatten((8,2,3):(6,1,2)): the two tuples are not nested alike, from leaf 2`:
    /// ```compile_fail
    /// # use girih_typed::{int_tuple, layout};
    /// layout!((8, 2, 3) : (6, 1, 2)).unflatten(int_tuple!((0, 0)));
    /// ```
    pub fn unflatten<P: IntTuple>(self, profile: P) -> Layout<Unflatten<M, P>> {
        const {
            let profile = <P::Zeros as Modes>::SKELETON;
            let unflattened = M::SKELETON.unflatten(profile.profile());
            check_edit("unflatten", &M::SKELETON, unflattened, &Unflatten::<M, P>::SKELETON)
        };
        let _ = profile;
        Layout(P::Zeros::with(self.0.leaves(Nil)).0)
    }
}
