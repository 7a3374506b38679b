//! The arguments of a kernel: numbers, and arrays from and to files.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::number::{Fill, canonical, number};
use super::tensor::Boxed;
use crate::Error;
use crate::npy::{Array, ELEMENTS};
use crate::output::Output;
use girih_sim::Memory;

/// An argument as it is written.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    /// The little-endian bytes of a number, or a structure's.
    Number(Vec<u8>),
    /// The tensor map of an array.
    TensorMap(Boxed, Box<Argument>),
    /// An array that is read.
    In(PathBuf),
    /// An array that comes from no file.
    Made(Made),
    /// An array that is read and written.
    InOut {
        /// The file that it comes from.
        from: PathBuf,
        /// The file that it goes to.
        to: PathBuf,
    },
}

/// An array that comes from no file.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    fill: Fill,
    /// The elements' type, by its name here and in numpy's notation, and its bytes.
    element: (&'static str, &'static str, usize),
    /// Elements of all.
    count: usize,
    /// Extents.
    shape: Vec<u64>,
    /// The file that it goes to.
    to: Option<PathBuf>,
}

const KINDS: &str = "TYPE:NUMBER, bytes:HEX, in:FILE, inout:FILE:FILE, out:TYPE:COUNT:FILE, zeros:TYPE:COUNT or ones: or rand: \
                     likewise, or tensormap:BOX:in:FILE and its like";

/// Arrays that come from no file, and whether they must go to one.
const FILLS: [(&str, Fill, bool); 4] = [
    ("out", Fill::Unwritten, true),
    ("zeros", Fill::Zeros, false),
    ("ones", Fill::Ones, false),
    ("rand", Fill::Random, false),
];

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
            name => match (FILLS.iter().find(|(fill, ..)| *fill == name), number(name, rest)) {
                (Some(&fill), _) => Made::parse(fill, rest).map(Argument::Made).map_err(refused),
                (None, Some(Some(bytes))) => Ok(Argument::Number(bytes)),
                (None, Some(None)) => Err(refused(format!("a number that {name} holds"))),
                (None, None) => Err(refused(format!("{KINDS}; types are {}", types()))),
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

impl Made {
    /// `f32:64x64:FILE`, the file only if there must be one; what would be accepted where the text says nothing.
    fn parse((name, fill, to): (&str, Fill, bool), text: &str) -> Result<Made, String> {
        let parts: Vec<&str> = text.splitn(3, ':').collect();
        let (ty, count, file) = match parts[..] {
            [ty, count] if !to => (ty, count, None),
            [ty, count, file] if !file.is_empty() => (ty, count, Some(PathBuf::from(file))),
            _ if to => return Err(format!("{name}:TYPE:COUNT:FILE")),
            _ => return Err(format!("{name}:TYPE:COUNT, or {name}:TYPE:COUNT:FILE")),
        };
        let found = ELEMENTS.iter().find(|(element, ..)| *element == canonical(ty));
        let element = *found.ok_or_else(|| format!("a type of {}", types()))?;
        let shape: Result<Vec<u64>, _> = count.split('x').map(u64::from_str).collect();
        let shape = shape.map_err(|_| "a COUNT like 4096 or 64x64")?;
        let bytes = shape.iter().try_fold(element.2 as u64, |all, &extent| all.checked_mul(extent));
        let bytes =
            bytes.and_then(|bytes| usize::try_from(bytes).ok()).filter(|&bytes| bytes < isize::MAX as usize);
        let bytes = bytes.ok_or("fewer elements")?;
        Ok(Made { fill, element, count: bytes / element.2, shape, to: file })
    }
}

/// An argument that is ready for a launch.
pub(crate) struct Bound {
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// The array that it is the address of.
    pub(crate) output: Option<Written>,
}

impl Bound {
    /// The tensor map of the array.
    pub(crate) fn mapped(&self, boxed: &Boxed, path: &Path) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let Some(Written { address, array, .. }) = &self.output else {
            let (text, expected) = (path.display().to_string(), "the name of an array".into());
            return Err(Error::Argument { text, expected }.into());
        };
        Ok(boxed.map(path, array, *address)?.to_bytes().to_vec())
    }
}

/// An array in the simulator's memory, which perhaps goes to a file.
pub(crate) struct Written {
    address: u64,
    array: Array,
    output: Option<Output>,
}

impl Argument {
    /// Reads its file and puts the array into memory; checks that a file can be written.
    pub(crate) fn bind(&self, memory: &Memory) -> Result<Bound, Box<dyn std::error::Error>> {
        self.place(memory, None)
    }

    /// The same, its address in a tensor map if there is to be one.
    fn place(&self, memory: &Memory, boxed: Option<&Boxed>) -> Result<Bound, Box<dyn std::error::Error>> {
        let (array, to, made) = match self {
            Argument::TensorMap(boxed, array) => return array.place(memory, Some(boxed)),
            Argument::Number(bytes) => return Ok(Bound { bytes: bytes.clone(), output: None }),
            Argument::In(from) => (Array::read(from)?, None, None),
            Argument::InOut { from, to } => (Array::read(from)?, Some(to), None),
            Argument::Made(Made { fill, element: (ty, descr, size), count, shape, to }) => {
                let (element, shape) = (descr.parse()?, shape.clone());
                // What is random depends on the place, so that no two arrays are the same.
                let address = memory.alloc_uninitialised(size * count)?;
                let bytes = fill.bytes(ty, *size, *count, address);
                if *fill != Fill::Unwritten {
                    memory.write(address, &bytes)?;
                }
                (Array { element, shape, fortran: false, bytes }, to.as_ref(), Some(address))
            }
        };
        let output = to.map(|to| Output::new(to)).transpose()?;
        let unnamed = PathBuf::from("the array");
        let address = match made {
            Some(address) => address,
            None => {
                let address = memory.alloc(array.bytes.len())?;
                memory.write(address, &array.bytes)?;
                address
            }
        };
        let bytes = match boxed {
            Some(boxed) => {
                let path = match self {
                    Argument::In(path) | Argument::InOut { from: path, .. } => path,
                    _ => to.unwrap_or(&unnamed),
                };
                boxed.map(path, &array, address)?.to_bytes().to_vec()
            }
            None => address.to_le_bytes().to_vec(),
        };
        Ok(Bound { bytes, output: Some(Written { address, array, output }) })
    }
}

impl Written {
    /// Writes the file, if there is to be one.
    pub(crate) fn write(mut self, memory: &Memory) -> Result<(), Box<dyn std::error::Error>> {
        let Some(output) = self.output else { return Ok(()) };
        memory.read(self.address, &mut self.array.bytes)?;
        Ok(output.write(|to| self.array.write(to))?)
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
