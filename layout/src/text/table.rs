//! The table of a layout.

use core::fmt;

use crate::{Error, Int, Lay};

/// The indices of a layout as a table, a row for each coordinate of mode 0 and a column for each of the modes after it; see [`Lay::table`].
///
/// ```
/// use girih_layout::lay;
/// assert!(lay!("(2,3):(3,1)").table()?.to_string().contains("5"));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    layout: &'a Lay,
    rows: i64,
    columns: i64,
    width: usize,
}

impl Lay {
    /// The indices of a known layout, to be printed. A layout of rank 1 is one row; of three modes or more, all but the first count columns, the
    /// second fastest.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let text = lay!("(2,3):(3,1)").table()?.to_string();
    /// assert_eq!(text, "
    ///      0   1   2
    ///    +---+---+---+
    ///  0 | 0 | 1 | 2 |
    ///    +---+---+---+
    ///  1 | 3 | 4 | 5 |
    ///    +---+---+---+
    /// ".trim_start_matches('\n'));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotKnown`] for symbols, [`Error::Unsupported`] for strides that are no integers.
    pub fn table(&self) -> Result<Table<'_>, Error> {
        const OP: &str = "a table";
        let known = |size: Int| size.get().ok_or(Error::NotKnown { op: OP, value: size.quoted() });
        let size = known(self.size()?)?;
        let rows = if self.rank() < 2 { 1 } else { known(self.shape.size_of(self.node(0)?)?)? };
        let columns = size / rows;
        let width =
            [digits(self.min_index()?), digits(self.max_index()?), digits(rows - 1), digits(columns - 1)];
        Ok(Table { layout: self, rows, columns, width: width.into_iter().max().unwrap_or(1) })
    }
}

/// How many characters a number takes.
fn digits(n: i64) -> usize {
    let sign = usize::from(n < 0);
    sign + n.unsigned_abs().checked_ilog10().map_or(1, |log| log as usize + 1)
}

impl Table<'_> {
    /// The number of rows.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,3):(3,1)").table()?.rows(), 2);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn rows(&self) -> i64 {
        self.rows
    }

    /// The number of columns.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,3):(3,1)").table()?.columns(), 3);
    /// assert_eq!(lay!("(2,3,2):(6,1,3)").table()?.columns(), 6);
    /// assert_eq!((lay!("4:-1").table()?.rows(), lay!("4:-1").table()?.columns()), (1, 4));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn columns(&self) -> i64 {
        self.columns
    }

    fn rule(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:1$}", "", self.width + 2)?;
        (0..self.columns).try_for_each(|_| write!(f, "+{:-<1$}", "", self.width + 2))?;
        f.write_str("+\n")
    }
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.width;
        write!(f, "{:1$}", "", width + 2)?;
        for column in 0..self.columns {
            let gap = if column + 1 == self.columns { "\n" } else { " " };
            write!(f, "  {column:>width$}{gap}")?;
        }
        self.rule(f)?;
        for row in 0..self.rows {
            write!(f, " {row:>width$} ")?;
            for column in 0..self.columns {
                let index = self.layout.at(row + column * self.rows).map_err(|_| fmt::Error)?;
                write!(f, "| {index:>width$} ")?;
            }
            f.write_str("|\n")?;
            self.rule(f)?;
        }
        Ok(())
    }
}
