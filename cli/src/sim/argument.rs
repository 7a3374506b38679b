//! The arguments of a kernel: numbers, and arrays from and to files.

use std::path::PathBuf;
use std::str::FromStr;

use girih_sim::Memory;
use half::{bf16, f16};

use super::tensor::Boxed;
use crate::Error;
use crate::npy::{Array, ELEMENTS};
use crate::output::Output;

/// An argument as it is written.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    /// The little-endian bytes of a number, or a structure's.
    Number(Vec<u8>),
    /// The tensor map of an array.
    TensorMap(Boxed, Box<Argument>),
    /// An array that is read.
    In(PathBuf),
    /// An array that is written.
    Out {
        /// numpy's notation of the elements.
        element: &'static str,
        /// Bytes of all.
        bytes: usize,
        /// Extents.
        shape: Vec<u64>,
        /// The file.
        to: PathBuf,
    },
    /// An array that is read and written.
    InOut {
        /// The file that it comes from.
        from: PathBuf,
        /// The file that it goes to.
        to: PathBuf,
    },
}

const KINDS: &str = "TYPE:NUMBER, bytes:HEX, in:FILE, out:TYPE:COUNT:FILE, inout:FILE:FILE or tensormap:BOX:in:FILE and its like";

/// The names of numbers' types.
fn types() -> String {
    ELEMENTS.map(|(name, ..)| name).join(", ")
}

impl FromStr for Argument {
    type Err = Error;

    fn from_str(text: &str) -> Result<Argument, Error> {
        let refused = |expected: String| Error::Argument { text: text.into(), expected };
        let (kind, rest) = text.split_once(':').ok_or_else(|| refused(KINDS.into()))?;
        let file = |path: &str| match path {
            "" => Err(refused("a file's name".into())),
            path => Ok(PathBuf::from(path)),
        };
        match kind {
            "bytes" => {
                let bytes =
                    hexadecimal(rest).ok_or_else(|| refused("bytes:0102ff, two digits a byte".into()))?;
                Ok(Argument::Number(bytes))
            }
            "in" => Ok(Argument::In(file(rest)?)),
            "inout" => {
                let (from, to) = rest.split_once(':').ok_or_else(|| refused("inout:FILE:FILE".into()))?;
                Ok(Argument::InOut { from: file(from)?, to: file(to)? })
            }
            "tensormap" => {
                let (boxed, array) =
                    rest.split_once(':').ok_or_else(|| refused("tensormap:BOX:in:FILE".into()))?;
                let boxed = Boxed::parse(boxed).ok_or_else(|| {
                    refused(
                        "a BOX like 16x64, then ,32B ,64B or ,128B, ,nan, ,bf16 ,tf32 ,tf32.ftz or ,f32.ftz"
                            .into(),
                    )
                })?;
                match array.parse()? {
                    Argument::Number(_) | Argument::TensorMap(..) => Err(refused(
                        "an array after the BOX: in:FILE, out:TYPE:COUNT:FILE or inout:FILE:FILE".into(),
                    )),
                    array => Ok(Argument::TensorMap(boxed, Box::new(array))),
                }
            }
            "out" => {
                let mut parts = rest.splitn(3, ':');
                let (Some(name), Some(count), Some(to)) = (parts.next(), parts.next(), parts.next()) else {
                    return Err(refused("out:TYPE:COUNT:FILE".into()));
                };
                let found = ELEMENTS.iter().find(|(element, ..)| *element == name);
                let (_, element, size) = *found.ok_or_else(|| refused(format!("a type of {}", types())))?;
                let shape: Result<Vec<u64>, _> = count.split('x').map(u64::from_str).collect();
                let shape = shape.map_err(|_| refused("a COUNT like 4096 or 64x64".into()))?;
                let bytes = shape.iter().try_fold(size as u64, |all, &extent| all.checked_mul(extent));
                let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
                let bytes = bytes.ok_or_else(|| refused("fewer elements".into()))?;
                Ok(Argument::Out { element, bytes, shape, to: file(to)? })
            }
            name => match number(name, rest) {
                Some(Some(bytes)) => Ok(Argument::Number(bytes)),
                Some(None) => Err(refused(format!("a number that {name} holds"))),
                None => Err(refused(format!("{KINDS}; types are {}", types()))),
            },
        }
    }
}

/// The bytes that pairs of hexadecimal digits tell.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let pairs = digits.filter(|digits| !digits.is_empty() && digits.len().is_multiple_of(2))?;
    Some(pairs.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

/// The bytes of a number of this type: `None` if there is no such type, `Some(None)` if it has no such number.
fn number(ty: &str, text: &str) -> Option<Option<Vec<u8>>> {
    macro_rules! integer {
        ($t:ty) => {{
            let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
            let magnitude = match digits.strip_prefix("0x") {
                Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16),
                None => digits.parse::<i128>(),
            };
            let value = magnitude.ok().filter(|magnitude| *magnitude >= 0);
            value
                .and_then(|value| <$t>::try_from(sign * value).ok())
                .map(|value| value.to_le_bytes().to_vec())
        }};
    }
    macro_rules! float {
        ($t:ty, $from:expr) => {
            text.parse::<$t>().ok().map(|value| $from(value).to_le_bytes().to_vec())
        };
    }
    Some(match ty {
        "u8" => integer!(u8),
        "s8" => integer!(i8),
        "u16" => integer!(u16),
        "s16" => integer!(i16),
        "u32" => integer!(u32),
        "s32" => integer!(i32),
        "u64" => integer!(u64),
        "s64" => integer!(i64),
        "f16" => float!(f64, f16::from_f64),
        "bf16" => float!(f64, bf16::from_f64),
        "f32" => float!(f32, std::convert::identity),
        "f64" => float!(f64, std::convert::identity),
        _ => return None,
    })
}

/// An argument that is ready for a launch.
pub(crate) struct Bound {
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// What goes to a file afterwards.
    pub(crate) output: Option<Written>,
}

/// An array in the simulator's memory that goes to a file.
pub(crate) struct Written {
    address: u64,
    array: Array,
    output: Output,
}

impl Argument {
    /// Reads its file and puts the array into memory; checks that a file can be written.
    pub(crate) fn bind(&self, memory: &Memory) -> Result<Bound, Box<dyn std::error::Error>> {
        self.place(memory, None)
    }

    /// The same, its address in a tensor map if there is to be one.
    fn place(&self, memory: &Memory, boxed: Option<&Boxed>) -> Result<Bound, Box<dyn std::error::Error>> {
        let (array, to, given) = match self {
            Argument::TensorMap(boxed, array) => return array.place(memory, Some(boxed)),
            Argument::Number(bytes) => return Ok(Bound { bytes: bytes.clone(), output: None }),
            Argument::In(from) => (Array::read(from)?, None, true),
            Argument::InOut { from, to } => (Array::read(from)?, Some(to), true),
            Argument::Out { element, bytes, shape, to } => {
                let element = element.parse()?;
                let array = Array { element, shape: shape.clone(), fortran: false, bytes: vec![0; *bytes] };
                (array, Some(to), false)
            }
        };
        let output = to.map(|to| Output::new(to)).transpose()?;
        let address = if given {
            let address = memory.alloc(array.bytes.len())?;
            memory.write(address, &array.bytes)?;
            address
        } else {
            memory.alloc_uninitialised(array.bytes.len())?
        };
        let bytes = match (boxed, self) {
            (
                Some(boxed),
                Argument::In(path) | Argument::Out { to: path, .. } | Argument::InOut { from: path, .. },
            ) => boxed.map(path, &array, address)?.to_bytes().to_vec(),
            _ => address.to_le_bytes().to_vec(),
        };
        let output = output.map(|output| Written { address, array, output });
        Ok(Bound { bytes, output })
    }
}

impl Written {
    /// Writes the file.
    pub(crate) fn write(mut self, memory: &Memory) -> Result<(), Box<dyn std::error::Error>> {
        memory.read(self.address, &mut self.array.bytes)?;
        Ok(self.output.write(|to| self.array.write(to))?)
    }
}

/// `4`, `4,2` or `4,2,1`; what is missing is 1.
pub(crate) fn extents(text: &str) -> Result<[u32; 3], Error> {
    let refused = || Error::Argument { text: text.into(), expected: "x, or x,y or x,y,z".into() };
    let given: Result<Vec<u32>, _> = text.split(',').map(u32::from_str).collect();
    let given = given.map_err(|_| refused())?;
    let mut extents = [1; 3];
    extents.get_mut(..given.len()).ok_or_else(refused)?.copy_from_slice(&given);
    Ok(extents)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Option<Vec<u8>> {
        match text.parse() {
            Ok(Argument::Number(bytes)) => Some(bytes),
            _ => None,
        }
    }

    #[test]
    fn numbers_have_the_bytes_of_their_types() {
        assert_eq!(bytes("u32:5"), Some(5u32.to_le_bytes().into()));
        assert_eq!(bytes("s16:-0x8000"), Some(i16::MIN.to_le_bytes().into()));
        assert_eq!(bytes("u64:0xffffffffffffffff"), Some(u64::MAX.to_le_bytes().into()));
        assert_eq!(bytes("f32:0.5"), Some(0.5f32.to_le_bytes().into()));
        assert_eq!(bytes("f64:-1e-3"), Some((-1e-3f64).to_le_bytes().into()));
        assert_eq!(bytes("bytes:01fF00"), Some(vec![1, 0xff, 0]));
        assert_eq!((bytes("f16:2"), bytes("bf16:1")), (Some(vec![0, 0x40]), Some(vec![0x80, 0x3f])));
        for text in [
            "bytes:", "bytes:1", "bytes:0g", "u8:256", "u32:-1", "s8:128", "u32:", "u32:--1", "u32:+-1",
            "f32:x", "i32:1", "u32", "in:",
        ] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }

    #[test]
    fn extents_are_one_to_three_numbers() {
        assert_eq!(extents("4").ok(), Some([4, 1, 1]));
        assert_eq!(extents("4,2,3").ok(), Some([4, 2, 3]));
        for text in ["", "4,", "1,2,3,4", "-1", "a"] {
            assert!(extents(text).is_err(), "{text}");
        }
    }
}
