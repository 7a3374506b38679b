//! The arguments of a kernel: numbers, arrays that are read from files and written to files, and tensor maps.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use girih_sim::Memory;

use crate::Error;
use crate::array::{Array, ELEMENTS};
use crate::boxed::Boxed;
use crate::number::{Fill, canonical, number};

/// An argument of a kernel, parsed from a text such as `f32:0.5` or `zeros:f32:64x64`.
///
/// ```
/// use girih_notation::Argument;
/// assert!("zeros:f32:64x64".parse::<Argument>().is_ok());
/// let error = "u32:-1".parse::<Argument>().expect_err("no number").to_string();
/// assert_eq!(error, "`u32:-1`: expected a number that u32 holds");
/// ```
#[derive(Clone, Debug)]
pub struct Argument(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// The little-endian bytes of a number, or the bytes of a structure.
    Number(Vec<u8>),
    /// The tensor map of an array.
    TensorMap(Boxed, Box<Kind>),
    /// An array that is read.
    In(PathBuf),
    /// An array that is not read from a file.
    Made(Made),
    /// An array that is read and written.
    InOut {
        /// The file that the array is read from.
        from: PathBuf,
        /// The file that the array is written to.
        to: PathBuf,
    },
}

/// An array that is not read from a file.
#[derive(Clone, Debug)]
struct Made {
    fill: Fill,
    /// The type of the elements: its name on the command line, its name in numpy's notation, and its bytes.
    element: (&'static str, &'static str, usize),
    /// How many elements the array has.
    count: usize,
    /// The extents of the array.
    shape: Vec<u64>,
    /// The file that the array is written to.
    to: Option<PathBuf>,
}

const KINDS: &str = "TYPE:NUMBER, bytes:HEX, in:FILE, inout:FILE:FILE, out:TYPE:COUNT:FILE, zeros:TYPE:COUNT, ones:TYPE:COUNT, \
                     rand:TYPE:COUNT, or tensormap:BOX: and an array";

/// How arrays that are not read from a file begin, and whether such an array must be written to a file.
const FILLS: [(&str, Fill, bool); 4] = [
    ("out", Fill::Unwritten, true),
    ("zeros", Fill::Zeros, false),
    ("ones", Fill::Ones, false),
    ("rand", Fill::Random, false),
];

/// The names of the types of numbers.
fn types() -> String {
    ELEMENTS.map(|(name, ..)| name).join(", ")
}

impl FromStr for Argument {
    type Err = Error;

    fn from_str(text: &str) -> Result<Argument, Error> {
        text.parse().map(Argument)
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Kind, Error> {
        let refused = |expected: String| Error::Argument { text: text.into(), expected };
        let (kind, rest) = text.split_once(':').ok_or_else(|| refused(KINDS.into()))?;
        let file = |path: &str| match path {
            "" => Err(refused("a file's name".into())),
            path => Ok(PathBuf::from(path)),
        };
        match kind {
            "bytes" => {
                let bytes = hexadecimal(rest)
                    .ok_or_else(|| refused("bytes:0102ff, with two digits for each byte".into()))?;
                Ok(Kind::Number(bytes))
            }
            "in" => Ok(Kind::In(file(rest)?)),
            "inout" => {
                let (from, to) = rest.split_once(':').ok_or_else(|| refused("inout:FILE:FILE".into()))?;
                Ok(Kind::InOut { from: file(from)?, to: file(to)? })
            }
            "tensormap" => {
                let (boxed, array) =
                    rest.split_once(':').ok_or_else(|| refused("tensormap:BOX:in:FILE".into()))?;
                let boxed = Boxed::parse(boxed).ok_or_else(|| {
                    refused(
                        "a BOX such as 16x64, which may be followed by ,32B ,64B or ,128B, by ,nan and by ,bf16 ,tf32 ,tf32.ftz or ,f32.ftz"
                            .into(),
                    )
                })?;
                match array.parse()? {
                    Kind::Number(_) | Kind::TensorMap(..) => Err(refused(
                        "an array after the BOX: in:FILE, out:TYPE:COUNT:FILE or inout:FILE:FILE".into(),
                    )),
                    array => Ok(Kind::TensorMap(boxed, Box::new(array))),
                }
            }
            name => match (FILLS.iter().find(|(fill, ..)| *fill == name), number(name, rest)) {
                (Some(&fill), _) => Made::parse(fill, rest).map(Kind::Made).map_err(refused),
                (None, Some(Some(bytes))) => Ok(Kind::Number(bytes)),
                (None, Some(None)) => Err(refused(format!("a number that {name} holds"))),
                (None, None) => Err(refused(format!("{KINDS}; the types are {}", types()))),
            },
        }
    }
}

/// The bytes that pairs of hexadecimal digits stand for.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |c: char| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Option<Vec<u8>> = text.chars().map(digit).collect();
    let pairs = digits.filter(|digits| !digits.is_empty() && digits.len().is_multiple_of(2))?;
    Some(pairs.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

impl Made {
    /// Parses `f32:64x64` or `f32:64x64:FILE`; `to` says that there must be a file. The error is what would be accepted instead.
    fn parse((name, fill, to): (&str, Fill, bool), text: &str) -> Result<Made, String> {
        let parts: Vec<&str> = text.splitn(3, ':').collect();
        let (ty, count, file) = match parts[..] {
            [ty, count] if !to => (ty, count, None),
            [ty, count, file] if !file.is_empty() => (ty, count, Some(PathBuf::from(file))),
            _ if to => return Err(format!("{name}:TYPE:COUNT:FILE")),
            _ => return Err(format!("{name}:TYPE:COUNT, or {name}:TYPE:COUNT:FILE")),
        };
        let found = ELEMENTS.iter().find(|(element, ..)| *element == canonical(ty));
        let element = *found.ok_or_else(|| format!("one of the types {}", types()))?;
        let shape: Result<Vec<u64>, _> = count.split('x').map(u64::from_str).collect();
        let shape = shape.map_err(|_| "a COUNT such as 4096 or 64x64")?;
        let bytes = shape.iter().try_fold(element.2 as u64, |all, &extent| all.checked_mul(extent));
        let bytes =
            bytes.and_then(|bytes| usize::try_from(bytes).ok()).filter(|&bytes| bytes < isize::MAX as usize);
        let bytes = bytes.ok_or("fewer elements")?;
        Ok(Made { fill, element, count: bytes / element.2, shape, to: file })
    }

    /// The array, in memory.
    fn place(&self, memory: &Memory) -> Result<(Array, u64), Error> {
        let Made { fill, element: (ty, descr, size), count, shape, .. } = self;
        // Random elements depend on the address, so that no two arrays are the same.
        let address = memory.alloc_uninitialised(size * count)?;
        let bytes = fill.bytes(ty, *size, *count, address);
        if *fill != Fill::Unwritten {
            memory.write(address, &bytes)?;
        }
        let (text, expected) = ((*descr).to_owned(), String::from("a type that numpy has"));
        let element = descr.parse().map_err(|_| Error::Argument { text, expected })?;
        Ok((Array { element, shape: shape.clone(), fortran: false, bytes }, address))
    }
}

/// An argument that is ready for a launch.
#[derive(Debug)]
pub struct Bound {
    /// The bytes of the argument.
    pub(crate) bytes: Vec<u8>,
    /// The array, if the argument is an address or a tensor map of an array.
    placed: Option<Placed>,
}

/// An array in the simulator's memory.
#[derive(Debug)]
struct Placed {
    address: u64,
    array: Array,
    /// The file that the array is written to.
    to: Option<PathBuf>,
}

impl Bound {
    /// The file that the array is to be written to after the launches, if there is one.
    pub fn to(&self) -> Option<&Path> {
        self.placed.as_ref()?.to.as_deref()
    }

    /// The array as the memory holds it now; `None` for a number.
    ///
    /// # Errors
    /// [`Error::Memory`] for a memory that does not have the array.
    pub fn array(self, memory: &Memory) -> Result<Option<Array>, Error> {
        let Some(Placed { address, mut array, .. }) = self.placed else { return Ok(None) };
        memory.read(address, &mut array.bytes)?;
        Ok(Some(array))
    }

    /// The tensor map of the array.
    pub(crate) fn mapped(&self, boxed: &Boxed, name: &str) -> Result<Vec<u8>, Error> {
        let Some(Placed { address, array, .. }) = &self.placed else {
            return Err(Error::Argument { text: name.into(), expected: "the name of an array".into() });
        };
        Ok(boxed.map(Path::new(name), array, *address)?.to_bytes().to_vec())
    }
}

impl Argument {
    /// A file that the argument names.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.0.file()
    }

    /// The bytes of the array: those of its file, which also has a header.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// Reads the file of the argument and puts the array into memory.
    pub(crate) fn bind(&self, memory: &Memory) -> Result<Bound, Error> {
        self.0.place(memory, None)
    }
}

impl Kind {
    fn file(&self) -> Option<&Path> {
        match self {
            Kind::Number(_) => None,
            Kind::TensorMap(_, array) => array.file(),
            Kind::In(path) | Kind::InOut { from: path, .. } => Some(path),
            Kind::Made(made) => made.to.as_deref(),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Kind::Number(_) => 0,
            Kind::TensorMap(_, array) => array.bytes(),
            // A file that cannot be read is refused when it is read.
            Kind::In(path) | Kind::InOut { from: path, .. } => path.metadata().map_or(0, |about| about.len()),
            Kind::Made(Made { element: (.., size), count, .. }) => {
                (*size as u64).saturating_mul(*count as u64)
            }
        }
    }

    /// Puts the array into memory; with `boxed` the argument is a tensor map of the array instead of the address.
    fn place(&self, memory: &Memory, boxed: Option<&Boxed>) -> Result<Bound, Error> {
        let (array, to, made) = match self {
            Kind::TensorMap(boxed, array) => return array.place(memory, Some(boxed)),
            Kind::Number(bytes) => return Ok(Bound { bytes: bytes.clone(), placed: None }),
            Kind::In(from) => (Array::read(from)?, None, None),
            Kind::InOut { from, to } => (Array::read(from)?, Some(to), None),
            Kind::Made(made) => {
                let (array, address) = made.place(memory)?;
                (array, made.to.as_ref(), Some(address))
            }
        };
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
                    Kind::In(path) | Kind::InOut { from: path, .. } => path,
                    _ => to.map_or(Path::new("the array"), PathBuf::as_path),
                };
                boxed.map(path, &array, address)?.to_bytes().to_vec()
            }
            None => address.to_le_bytes().to_vec(),
        };
        Ok(Bound { bytes, placed: Some(Placed { address, array, to: to.cloned() }) })
    }
}

/// Parses `4`, `4,2` or `4,2,1`, where a missing number is 1.
///
/// # Errors
/// [`Error::Argument`].
pub fn extents(text: &str) -> Result<[u32; 3], Error> {
    let refused = || Error::Argument { text: text.into(), expected: "x, or x,y or x,y,z".into() };
    let given: Result<Vec<u32>, _> = text.split(',').map(u32::from_str).collect();
    let given = given.map_err(|_| refused())?;
    let mut extents = [1; 3];
    extents.get_mut(..given.len()).ok_or_else(refused)?.copy_from_slice(&given);
    Ok(extents)
}
