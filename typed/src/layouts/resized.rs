//! Recasts to elements of another size, inverses of layouts with repeats, and the indices that two layouts have in
//! common.

use girih_layout::Error;

use super::check::{Check, check, check_structure, run};
use super::layout::{Layout, known};
use super::modes::{Mode, Modes};
use super::nat::Nat;
use super::op::Op;
use super::operand::Operand;
use super::tree::Tree;
use super::{
    Downcast, LeftInverse, MaxAlignment, MaxCommonLayout, MaxCommonVector, Nullspace, Recast, S, Upcast,
};

/// Two static numbers as one operand.
type Pair<A, B> = (Mode<A, S<0>>, Mode<B, S<0>>);

operations! {
    /// The layout in units of `n` old elements, see [`Lay::upcast`](girih_layout::Lay::upcast). A dynamic stride that is no
    /// multiple of `n` is an error.
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// assert_eq!(layout!((32, 4) : (1, 32)).upcast(int!(4)), layout!((8, 4) : (1, 8)));
    /// let ld: usize = 64;
    /// assert_eq!(format!("{:#}", layout!((8, 32) : (ld, 1)).try_upcast(int!(8))?), "(_8,_4):(8,_1)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// Here the message is `upcast((6,4):(1,6), 4): 4 does not divide extent 6`:
    /// ```compile_fail
    /// # use girih_typed::{int, layout};
    /// layout!((6, 4) : (1, 6)).upcast(int!(4));
    /// ```
    upcast try_upcast Upcast <N: Nat> (n: N) [true, Operand::One(Mode::<N, S<0>>::SKELETON),
        Operand::One(Tree::number(n.erase()))] -> Upcast<M, N>;

    /// The layout in `n`-ths of the old elements, see [`Lay::downcast`](girih_layout::Lay::downcast). The mode that takes the parts has static stride 1.
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// assert_eq!(layout!((8, 4) : (1, 8)).downcast(int!(4)), layout!((32, 4) : (1, 32)));
    /// ```
    ///
    /// Here the message is `downcast((8,4):(2,16), 4): not supported: a layout without a mode of stride 1`:
    /// ```compile_fail
    /// # use girih_typed::{int, layout};
    /// layout!((8, 4) : (2, 16)).downcast(int!(4));
    /// ```
    downcast try_downcast Downcast <N: Nat> (n: N) [true, Operand::One(Mode::<N, S<0>>::SKELETON),
        Operand::One(Tree::number(n.erase()))] -> Downcast<M, N>;

    /// The layout of elements of `new` bits over the same memory as elements of `old` bits, see
    /// [`Lay::recast`](girih_layout::Lay::recast).
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// assert_eq!(layout!((8, 64) : (64, 1)).recast(int!(16), int!(128)), layout!((8, 8) : (8, 1)));
    /// assert_eq!(layout!((8, 6) : (6, 1)).recast(int!(32), int!(48)), layout!((8, 4) : (4, 1)));
    /// ```
    ///
    /// Here the message is `recast((8,6):(6,1), (16,64)): stride 6 and extent 4 do not divide one another`:
    /// ```compile_fail
    /// # use girih_typed::{int, layout};
    /// layout!((8, 6) : (6, 1)).recast(int!(16), int!(64));
    /// ```
    recast try_recast Recast <Old: Nat, New: Nat> (old: Old, new: New) [true, Operand::One(Pair::<Old, New>::SKELETON),
        { let _ = (old, new); Operand::One(Pair::<Old, New>::SKELETON) }] -> Recast<M, Old, New>;

    /// [`Layout::left_inverse`] for layouts that repeat themselves along modes of stride 0, see
    /// [`Lay::quasi_inverse`](girih_layout::Lay::quasi_inverse).
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((4, 3) : (2, 0)).quasi_inverse(), layout!((2, 4) : (0, 1)));
    /// ```
    ///
    /// Here the message is `quasi_inverse((4,4):(1,2)): mode 4:2 meets an index twice`:
    /// ```compile_fail
    /// # use girih_typed::layout;
    /// layout!((4, 4) : (1, 2)).quasi_inverse();
    /// ```
    quasi_inverse try_quasi_inverse QuasiInverse -> LeftInverse<M>;

    /// A layout of the 1-D coordinates that this layout sends to 0, see [`Lay::nullspace`](girih_layout::Lay::nullspace).
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((6, 2, 4) : (2, 1, 0)).nullspace(), layout!(4 : 12));
    /// ```
    nullspace try_nullspace Nullspace -> Nullspace<M>;

    /// The coordinates along which both layouts are the same run of indices, see [`Lay::max_common_layout`](girih_layout::Lay::max_common_layout).
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((4, 8) : (8, 1)).max_common_layout(layout!((4, 8) : (16, 1))), layout!(8 : 4));
    /// ```
    max_common_layout try_max_common_layout MaxCommonLayout <T: Modes> (other: Layout<T>) [T::STATIC, Operand::One(T::SKELETON),
        Operand::One(other.0.tree()?)] -> MaxCommonLayout<M, T>;
}

impl<M: Modes> Layout<M> {
    /// How many elements two static layouts hold in the same order without a gap, see
    /// [`Lay::max_common_vector`](girih_layout::Lay::max_common_vector); [`MaxCommonVector`] is the number as a type.
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((8, 4) : (1, 8)).max_common_vector(layout!((8, 4) : (1, 16))), 8);
    /// ```
    pub fn max_common_vector<T: Modes>(self, other: Layout<T>) -> usize {
        const {
            let found = &Mode::<MaxCommonVector<M, T>, S<0>>::SKELETON;
            let fixed = M::STATIC && T::STATIC;
            check(Op::MaxCommonVector, fixed, &M::SKELETON, &Operand::One(T::SKELETON), found)
        };
        let _ = other;
        const { known::<MaxCommonVector<M, T>>() }
    }

    /// [`Layout::max_common_vector`] of layouts with something dynamic.
    ///
    /// # Errors
    /// Those of [`Layout::erase`] and [`Lay::max_common_vector`](girih_layout::Lay::max_common_vector).
    ///
    /// ```
    /// use girih_typed::layout;
    /// let ld = 8usize;
    /// assert_eq!(layout!((4, 8) : (1, ld)).try_max_common_vector(layout!((4, 8) : (1, 4)))?, 4);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn try_max_common_vector<T: Modes>(self, other: Layout<T>) -> Result<usize, Error> {
        super::layout::unsigned(self.erase()?.max_common_vector(&other.erase()?)?.get())
    }

    /// The largest `n` such that the indices of a static layout come in whole, aligned runs of `n` indices, see
    /// [`Lay::max_alignment`](girih_layout::Lay::max_alignment); [`MaxAlignment`] is the number as a type.
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((8, 4) : (12, 1)).max_alignment(), 4);
    /// ```
    pub fn max_alignment(self) -> usize {
        const {
            let found = &Mode::<MaxAlignment<M>, S<0>>::SKELETON;
            check(Op::MaxAlignment, M::STATIC, &M::SKELETON, &Operand::None, found);
            known::<MaxAlignment<M>>()
        }
    }

    /// [`Layout::max_alignment`] of a layout with something dynamic.
    ///
    /// # Errors
    /// Those of [`Layout::erase`] and [`Lay::max_alignment`](girih_layout::Lay::max_alignment).
    ///
    /// ```
    /// use girih_typed::layout;
    /// let ld = 8usize;
    /// assert_eq!(layout!((4, 8) : (1, ld)).try_max_alignment()?, 4);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn try_max_alignment(self) -> Result<usize, Error> {
        super::layout::unsigned(Some(self.erase()?.max_alignment()?))
    }
}
