//! Tensors as text.

use std::fmt::{self, Debug};

use super::Values;
use crate::{Slice, Tensor};

/// The last name of a Rust type's path: `f16` of `half::binary16::f16`.
pub(crate) fn name_of<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    let path = name.split('<').next().unwrap_or(name);
    &name[path.rfind("::").map_or(0, |at| at + 2)..]
}

/// Space, type and layout, then the values (CuTe's `print_tensor`): mode 0 downwards, mode 1 to the right, and the
/// other modes as one matrix after the other. A line of `-` is before a matrix if the coordinate in mode 2 goes on
/// there, a line of `=` if that in a further mode does. A vector has one value to a line. A place at which a ragged
/// tile has no value is a `.`; of a tensor whose size is not known only the first line is printed.
///
/// ```
/// use girih_layout::{lay, tiler};
/// use girih_tensor::{Slice, Tensor};
///
/// let data: Vec<i16> = (0..15).collect();
/// let rows = Tensor::host(&data, lay!("(3,5):(5,1)"))?;
/// assert_eq!(rows.to_string(), "\
/// Host i16 (3,5):(5,1):
///    0   1   2   3   4
///    5   6   7   8   9
///   10  11  12  13  14
/// ");
/// // The last tile of 2 x 4 has one row of one value.
/// let last = rows.local_tile(&tiler!("<2,4>"), &[Slice::at(1), Slice::at(1)])?;
/// assert_eq!(last.to_string(), "Host i16 (2,4):(5,1):\n  14   .   .   .\n   .   .   .   .\n");
/// # Ok::<(), girih_tensor::Error>(())
/// ```
impl<E: Values<Value: Debug>> fmt::Display for Tensor<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, engine) = (self.layout(), self.engine());
        writeln!(f, "{:?} {} {layout}:", engine.space(), engine.value_name())?;
        let extent = |mode: usize| match layout.mode(mode).and_then(|mode| mode.size()) {
            Ok(size) if mode < layout.rank() => size.get(),
            _ => Some(1),
        };
        let (Some(rows), Some(columns), Some(matrices)) = (extent(0), extent(1), extent(2)) else {
            return Ok(());
        };
        let Some(size) = layout.size().ok().and_then(|size| size.get()) else { return Ok(()) };
        let cells: Vec<String> = (0..size).map(|at| self.cell(at)).collect();
        let width = 2 + cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        let matrix = (rows * columns).max(1) as usize;
        for (number, cells) in cells.chunks(matrix).enumerate() {
            if number > 0 {
                let line = if number % matrices.max(1) as usize == 0 { "=" } else { "-" };
                writeln!(f, "{}", line.repeat(width * columns as usize))?;
            }
            for row in 0..rows as usize {
                cells
                    .iter()
                    .skip(row)
                    .step_by(rows as usize)
                    .try_for_each(|cell| write!(f, "{cell:>width$}"))?;
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

impl<E: Values<Value: Debug>> Tensor<E> {
    /// The value at a 1-D coordinate as text.
    fn cell(&self, at: i64) -> String {
        let value = self.slice(Slice::At(at)).and_then(|tensor| tensor.engine().value());
        value.map_or_else(|_| String::from("."), |value| format!("{value:?}"))
    }
}
