//! The macro [`errors!`](crate::errors!), which defines the error enums.

use girih_tensor::DType;

/// The dtypes, separated by commas.
pub(super) fn names(dtypes: &[DType]) -> String {
    dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ")
}

/// Defines an error enum. An operand is written `name: Type = "documentation"`. `KINDS` names all variants, so that a test can check that each one is
/// provoked.
#[doc(hidden)]
#[macro_export]
macro_rules! errors {
    ($($(#[$of:meta])* $name:ident { $($(#[$meta:meta])* $variant:ident { $($field:ident: $ty:ty = $doc:literal),* $(,)? })* })*) => { $(
        $(#[$of])*
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$meta])* $variant { $(#[doc = $doc] $field: $ty),* }),*
        }

        impl $name {
            /// The names of all variants, in order.
            pub const KINDS: &[&str] = &[$(stringify!($variant)),*];

            /// The name of the variant.
            pub const fn kind(&self) -> &'static str {
                match self { $($name::$variant { .. } => stringify!($variant)),* }
            }
        }
    )* };
}
