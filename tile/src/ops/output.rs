//! Diagnostics of kernels: printing and assertions.

use girih_tensor::DType;

use super::Arg;
use crate::dtype::{Category, category};
use crate::error::{Fault, ensure};
use crate::ir::{Build, Kind, Rounding, Value};

/// The conversion letters of a format, each with the place of the letter and whether it has a length before it.
fn conversions(format: &str) -> Option<Vec<(usize, char)>> {
    let mut found = Vec::new();
    let mut chars = format.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        if c != '%' {
            continue;
        }
        if chars.next_if(|&(_, c)| c == '%').is_some() {
            continue;
        }
        while chars
            .next_if(|&(_, c)| c.is_ascii_digit() || matches!(c, '-' | '+' | ' ' | '#' | '.'))
            .is_some()
        {}
        let (at, letter) = chars.next()?;
        found.push((at, letter));
    }
    Some(found)
}

impl Build {
    /// Prints by a format as C's `printf` does: `%d`, `%u`, `%x`, `%o` for integers and truth values of any width, `%f`, `%e`, `%g`, `%a`
    /// for floats; width and precision are numbers. Of tiles, each element is printed in turn; all tiles have one shape.
    ///
    /// # Errors
    /// [`Fault::Format`] and [`Fault::Conversion`] for a format that does not fit the values; [`Fault::Broadcast`].
    pub fn print(&mut self, format: &str, args: &[Arg]) -> Result<(), Fault> {
        let found = conversions(format).filter(|found| found.len() == args.len() && !format.contains('\0'));
        let fault = || Fault::Format { format: format.into(), values: args.len() };
        let found = found.ok_or_else(fault)?;
        let mut values = Vec::new();
        let mut text = format.to_string();
        // From the last to the first, so that places stay what they are while lengths are written.
        for (&(at, letter), &arg) in found.iter().zip(args).rev() {
            let value = self.value(arg)?;
            let dtype = self.ty(value).dtype;
            let fits = match category(dtype) {
                Category::Float => "fFeEgGaA".contains(letter),
                _ => "diuxXo".contains(letter),
            };
            ensure!(fits, Fault::Conversion { format: format.into(), conversion: letter, dtype });
            let to = match dtype {
                dtype if category(dtype) == Category::Float => DType::F64,
                DType::S64 | DType::U64 => dtype,
                DType::U32 | DType::U16 | DType::U8 => DType::U32,
                _ => DType::S32,
            };
            if to.bits() == 64 && to != DType::F64 {
                text.insert_str(at, "ll");
            }
            values.push(self.cast(value, to, Rounding::Nearest)?);
        }
        values.reverse();
        let dims = self.common_dims(&values)?;
        let values: Vec<Value> = self.broadcast_all(&values, dims)?;
        self.push(Kind::Print(text.into()), &values, &[]);
        Ok(())
    }

    /// Ends the kernel with an error unless all elements of a bool tile are true.
    ///
    /// # Errors
    /// [`Fault::Condition`] for another dtype.
    pub fn assert(&mut self, cond: Arg, message: &str) -> Result<(), Fault> {
        let value = self.value(cond)?;
        let ty = self.ty(value);
        let (what, accepted) = ("the condition of `assert`", "bool, such as that of a comparison,");
        ensure!(ty.dtype == DType::Bool, Fault::Condition { what, ty, accepted });
        self.push(Kind::Assert(message.into()), &[value], &[]);
        Ok(())
    }
}
