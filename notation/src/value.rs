//! Values of registers and of shared memory as text.

use std::fmt;
use std::str::FromStr;

use girih_ptx::Type;
use girih_sim::Register;
use half::{bf16, f16};

use crate::Error;

/// A matrix in shared memory, written `OFFSET:ROWSxCOLUMNS:TYPE[:PITCH]`: the offset in bytes, the pitch in elements.
///
/// ```
/// use girih_notation::Tile;
///
/// let tile: Tile = "2:2x2:u8:3".parse()?;
/// assert_eq!(tile.end(), 7);
/// assert_eq!(tile.cells(&[0, 1, 2, 3, 4, 5, 6]), [["2", "3"], ["5", "6"]]);
/// # Ok::<(), girih_notation::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    /// Bytes of shared memory before the first element.
    offset: u64,
    rows: u64,
    columns: u64,
    ty: Type,
    /// Elements from the start of a row to the next.
    pitch: u64,
}

/// The types of a tile's elements.
const TYPES: [Type; 12] = [
    Type::F16,
    Type::Bf16,
    Type::F32,
    Type::F64,
    Type::U8,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S8,
    Type::S16,
    Type::S32,
    Type::S64,
];

impl FromStr for Tile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Tile, Error> {
        let refused = || Error::Argument {
            text: text.into(),
            expected: format!(
                "OFFSET:ROWSxCOLUMNS:TYPE or OFFSET:ROWSxCOLUMNS:TYPE:PITCH, with the offset in bytes, the pitch in elements and \
                 one of the types {}",
                TYPES.map(|ty| ty.to_string()).join(", ")
            ),
        };
        let parts: Vec<&str> = text.split(':').collect();
        let (&[offset, extents, name], pitch) = match &parts[..] {
            [head @ .., pitch] if head.len() == 3 => {
                (<&[&str; 3]>::try_from(head).map_err(|_| refused())?, Some(*pitch))
            }
            head => (<&[&str; 3]>::try_from(head).map_err(|_| refused())?, None),
        };
        let number = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).map_err(|_| refused()),
            None => text.parse::<u64>().map_err(|_| refused()),
        };
        let (rows, columns) = extents.split_once('x').ok_or_else(refused)?;
        let (rows, columns) = (number(rows)?, number(columns)?);
        let ty = TYPES.into_iter().find(|ty| ty.to_string() == name).ok_or_else(refused)?;
        let pitch = pitch.map_or(Ok(columns), number)?;
        if rows == 0 || columns == 0 {
            return Err(refused());
        }
        Ok(Tile { offset: number(offset)?, rows, columns, ty, pitch })
    }
}

impl Tile {
    fn element_bytes(&self) -> u64 {
        u64::from(self.ty.bits().unwrap_or(8)) / 8
    }

    /// The byte of shared memory at which the tile ends.
    pub fn end(&self) -> u128 {
        let elements = u128::from(self.rows - 1) * u128::from(self.pitch) + u128::from(self.columns);
        u128::from(self.offset) + elements * u128::from(self.element_bytes())
    }

    /// The elements, row by row; one that is outside of the memory is 0.
    pub fn cells(&self, shared: &[u8]) -> Vec<Vec<String>> {
        let bytes = usize::try_from(self.element_bytes()).unwrap_or(usize::MAX);
        let element = |row: u64, column: u64| {
            let place = u128::from(row) * u128::from(self.pitch) + u128::from(column);
            let at = u128::from(self.offset) + place * u128::from(self.element_bytes());
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            let bits = shared.get(at..at.saturating_add(bytes)).unwrap_or_default();
            value(self.ty, bits.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte)))
        };
        (0..self.rows).map(|row| (0..self.columns).map(|column| element(row, column)).collect()).collect()
    }

    /// The tile as text: what it is, then a line for each row.
    pub fn shown(&self, shared: &[u8]) -> String {
        let cells = self.cells(shared);
        let width = cells.iter().flatten().map(String::len).max().unwrap_or(0);
        let Tile { offset, rows, columns, ty, .. } = self;
        let lines = cells.iter().map(|row| {
            let row: Vec<String> = row.iter().map(|cell| format!("{cell:>width$}")).collect();
            format!("\n    {}", row.join(" "))
        });
        format!("shared memory from byte {offset}: {rows} x {columns} of {ty}") + &lines.collect::<String>()
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}x{}:{}", self.offset, self.rows, self.columns, self.ty)
    }
}

/// The values of the lanes in `active`, or of all if that is 0: one value if all lanes agree, three values if the values are an arithmetic
/// sequence, else all values. A dash stands for a value that nothing has written.
pub fn values(register: &Register<'_>, active: u32) -> String {
    let shown = |lane: usize| match register.written >> lane & 1 {
        0 => "-".into(),
        _ => value(register.ty, register.lanes[lane]),
    };
    let lanes: Vec<usize> = (0..32).filter(|lane| active == 0 || active >> lane & 1 == 1).collect();
    let all: Vec<String> = lanes.iter().map(|&lane| shown(lane)).collect();
    let steps: Vec<Option<i128>> =
        all.windows(2).map(|pair| Some(number(&pair[1])? - number(&pair[0])?)).collect();
    match &all[..] {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => first.clone(),
        [first, second, .., last]
            if steps.len() > 2 && steps[0].is_some() && steps.iter().all(|step| *step == steps[0]) =>
        {
            format!("{first}, {second}, ..., {last}")
        }
        _ => all.join(" "),
    }
}

/// The integer that a text stands for, if the text is an integer.
fn number(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Bits as a value of the type `ty`; in hexadecimal if that is not a type of numbers.
///
/// ```
/// use girih_ptx::Type;
/// assert_eq!(girih_notation::value(Type::F32, 0x3f00_0000), "0.5");
/// ```
#[expect(
    clippy::cast_possible_truncation,
    reason = "cannot lose: a register of a narrow type has its bits in the lowest ones"
)]
pub fn value(ty: Type, bits: u64) -> String {
    match ty {
        Type::Pred => (bits & 1).to_string(),
        Type::F16 => f16::from_bits(bits as u16).to_string(),
        Type::Bf16 => bf16::from_bits(bits as u16).to_string(),
        Type::F32 => f32::from_bits(bits as u32).to_string(),
        Type::F64 => f64::from_bits(bits).to_string(),
        Type::S8 => (bits as i8).to_string(),
        Type::S16 => (bits as i16).to_string(),
        Type::S32 => (bits as i32).to_string(),
        Type::S64 => (bits as i64).to_string(),
        Type::U8 => (bits as u8).to_string(),
        Type::U16 => (bits as u16).to_string(),
        Type::U32 => (bits as u32).to_string(),
        Type::U64 => bits.to_string(),
        _ => format!("{bits:#x}"),
    }
}
