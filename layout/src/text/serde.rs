//! Serde: every type that has a text form is serialized as that text, with the marks of static integers and the facts of
//! symbols (`{:+#}`), and read as `parse` reads it: what can't be true of a symbol is an error.

use core::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Composed, Coord, Int, Lay, Shape, Strides, Sum, Swizzle, Tiler};

macro_rules! as_text {
    ($($type:ty: $what:literal;)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&format_args!("{self:+#}"))
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        <$type>::parse(text).map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }
    )*};
}

as_text! {
    Int: "an integer such as 8, _8 or ceil(s0/8)";
    Sum: "a sum such as 3*s0 + 2";
    Shape: "a shape such as (4,(2,3))";
    Strides: "strides such as (1,(4,2@1))";
    Coord: "a coordinate such as (1,(0,_))";
    Lay: "a layout such as (4,8):(8,1)";
    Tiler: "a tiler such as <128,_>";
    Swizzle: "a swizzle such as Sw<3,4,3>";
    Composed: "a swizzled layout such as Sw<3,4,3> o 0 o (8,64):(64,1)";
}
