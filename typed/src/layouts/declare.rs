//! How an operation is declared: once for static operands, which are checked when the program is compiled, and once for
//! any operands, which are checked when the program runs.

/// `?` for constant functions.
macro_rules! tri {
    ($e:expr) => {
        match $e {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}

/// `name try_name Op <generics> (operands) [whether the operands are static, their skeleton, their value] -> type of the result`.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident $try:ident $op:ident
        $(<$($g:ident: $bound:ident),+> ($($x:ident: $t:ty),+) [$fixed:expr, $skeleton:expr, $erased:expr])? -> $r:ty;)*) => {
        impl<M: Modes> Layout<M> {$(
            $(#[$doc])*
            ///
            /// Operands that are not static, or that have no result, do not compile.
            pub fn $name$(<$($g: $bound),+>)?(self $($(, $x: $t)+)?) -> Layout<$r> {
                const {
                    check(Op::$op, M::STATIC $(&& $fixed)?, &M::SKELETON,
                        &operations!(@operand $($skeleton)?), &<$r as Modes>::SKELETON)
                };
                $($(let _ = $x;)+)?
                Layout(Default::default())
            }

            #[doc = concat!("[`Layout::", stringify!($name), "`], judged when the program runs: for operands with something dynamic.")]
            ///
            /// # Errors
            #[doc = concat!("Those of [`Layout::erase`] and of the operation of [`Lay`](girih_layout::Lay); [`Error::Unsupported`] where the values ")]
            #[doc = "make a result of another structure than the static integers let expect."]
            pub fn $try$(<$($g: $bound),+>)?(self $($(, $x: $t)+)?) -> Result<Layout<$r>, Error> {
                const {
                    check_structure(Op::$op, &M::SKELETON, &operations!(@operand $($skeleton)?),
                        &<$r as Modes>::SKELETON)
                };
                run(Op::$op, &self.0.tree()?, &operations!(@operand $($erased)?)).map(Layout)
            }
        )*}

        impl<M: Modes> Check<Layout<M>> {$(
            #[doc = concat!("Does not compile where [`Layout::", stringify!($name), "`] does not.")]
            pub const fn $name$(<$($g: $bound),+>)?() {
                check(Op::$op, M::STATIC $(&& $fixed)?, &M::SKELETON,
                    &operations!(@operand $($skeleton)?), &<$r as Modes>::SKELETON)
            }
        )*}
    };
    (@operand $e:expr) => { $e };
    (@operand) => { Operand::None };
}

/// Like `operations`, for layouts that are made of a shape.
macro_rules! constructions {
    ($($(#[$doc:meta])* $name:ident $try:ident $op:ident
        $(<$g:ident: $bound:ident> ($x:ident: $t:ty) [$fixed:expr, $skeleton:expr, $erased:expr])? -> $r:ty;)*) => {
        impl Layout<()> {$(
            $(#[$doc])*
            ///
            /// A shape that is not static, or that has no such layout, does not compile.
            pub fn $name<Sh: IntTuple $(, $g: $bound)?>(shape: Sh $(, $x: $t)?) -> Layout<$r> {
                const {
                    check(Op::$op, <Sh::Zeros as Modes>::STATIC $(&& $fixed)?, &<Sh::Zeros as Modes>::SKELETON,
                        &operations!(@operand $($skeleton)?), &<$r as Modes>::SKELETON)
                };
                let _ = shape;
                $(let _ = $x;)?
                Layout(Default::default())
            }

            #[doc = concat!("[`Layout::", stringify!($name), "`], judged when the program runs: for shapes with something dynamic.")]
            ///
            /// # Errors
            #[doc = concat!("Those of [`Lay::", stringify!($name), "`](girih_layout::Lay::", stringify!($name), "); [`Error::Unsupported`] where the values ")]
            #[doc = "make a result of another structure than the static integers let expect."]
            pub fn $try<Sh: IntTuple $(, $g: $bound)?>(shape: Sh $(, $x: $t)?) -> Result<Layout<$r>, Error> {
                const {
                    check_structure(Op::$op, &<Sh::Zeros as Modes>::SKELETON, &operations!(@operand $($skeleton)?),
                        &<$r as Modes>::SKELETON)
                };
                run(Op::$op, &shape.zeros().tree()?, &operations!(@operand $($erased)?)).map(Layout)
            }
        )*}

        impl Check<Layout<()>> {$(
            #[doc = concat!("Does not compile where [`Layout::", stringify!($name), "`] does not.")]
            pub const fn $name<Sh: IntTuple $(, $g: $bound)?>() {
                check(Op::$op, <Sh::Zeros as Modes>::STATIC $(&& $fixed)?, &<Sh::Zeros as Modes>::SKELETON,
                    &operations!(@operand $($skeleton)?), &<$r as Modes>::SKELETON)
            }
        )*}
    };
}
