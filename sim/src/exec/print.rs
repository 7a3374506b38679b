//! `vprintf` (CUDA C++ Programming Guide, "Formatted Output"): a format, and the address of the packed values, each at
//! a multiple of its size.

use std::sync::PoisonError;

use crate::lanes::lanes_of;
use crate::op::{Address, Assert, Print};
use crate::shadow::{Touch, Who};
use crate::space::resolve;
use crate::{Error, Space};

use super::context::Context;
use super::format::{Argument, Conversion, Piece, parse};
use super::warp::Warp;

/// The most bytes of a format, or of a string that is printed.
const LIMIT: u64 = 4096;

impl Warp {
    /// `vprintf`: lanes print in order.
    pub(super) fn print(
        &mut self,
        cx: &mut Context<'_>,
        print: &Print,
        mask: u32,
        source: u32,
    ) -> Result<(), Error> {
        for lane in lanes_of(mask) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let [format, values] = [&print.format, &print.values].map(|at| {
                let at = self.address(at, lane);
                self.read(cx, who, (Space::Local, at), 8, Touch::Read).map(|value| value as u64)
            });
            let format = self.string(cx, who, format?)?;
            let mut text = String::new();
            let count = self.formatted(cx, who, &format, values?, &mut text)?;
            let result = self.address(&print.result, lane);
            self.write(cx, who, (Space::Local, result), &count.to_le_bytes(), None)?;
            let [gx, gy, _] = cx.machine.launch.grid.map(u64::from);
            let [x, y, z] = cx.block.map(u64::from);
            let mut printed = cx.machine.printed.lock().unwrap_or_else(PoisonError::into_inner);
            printed.entry(x + gx * (y + gy * z)).or_default().push_str(&text);
        }
        Ok(())
    }

    /// The error that an assertion does not hold, for the first of these lanes.
    pub(super) fn assertion(&self, cx: &mut Context<'_>, assert: &Assert, mask: u32, source: u32) -> Error {
        let who = self.who(mask, source);
        let mut value = |at: &Address, bytes| {
            let at = self.address(at, who.lane as usize);
            self.read(cx, who, (Space::Local, at), bytes, Touch::Read).map(|value| value as u64)
        };
        let values = [(&assert.message, 8), (&assert.file, 8), (&assert.line, 4), (&assert.function, 8)]
            .map(|(at, bytes)| value(at, bytes));
        let [message, file, line, function] = values;
        let told = || {
            let mut text = |address: Result<u64, Error>| self.string(cx, who, address?);
            Ok((text(message)?, text(file)?, line? as u32, text(function)?))
        };
        match told() {
            Ok((message, file, line, function)) => {
                Error::Assertion { at: cx.at(who), message, file, line, function }
            }
            Err(error) => error,
        }
    }

    /// Appends the formatted text; returns how many values the format has taken.
    fn formatted(
        &self,
        cx: &mut Context<'_>,
        who: Who,
        format: &str,
        values: u64,
        text: &mut String,
    ) -> Result<u32, Error> {
        let (mut at, mut count) = (values, 0);
        for piece in parse(format) {
            let mut conversion = match piece {
                Piece::Text(plain) => {
                    text.push_str(plain);
                    continue;
                }
                Piece::Conversion(conversion) => conversion,
            };
            let mut next = |size: u64| {
                at = at.next_multiple_of(size);
                let value = self.read_generic(cx, who, at, size as u32)?;
                at += size;
                count += 1;
                Ok(value)
            };
            if conversion.width_argument {
                let width = next(4)? as u32 as i32;
                conversion.left |= width < 0;
                conversion.width = width.unsigned_abs() as usize;
            }
            if conversion.precision_argument {
                conversion.precision = usize::try_from(next(4)? as u32 as i32).ok();
            }
            let argument = match conversion.size() {
                0 => Argument::None,
                size => Argument::Bits(next(size)?),
            };
            let argument = match (&argument, conversion.kind) {
                (&Argument::Bits(address), 's') => Argument::Text(self.string(cx, who, address)?),
                _ => argument,
            };
            Conversion::print(&conversion, &argument, text);
        }
        Ok(count)
    }

    fn read_generic(&self, cx: &mut Context<'_>, who: Who, address: u64, bytes: u32) -> Result<u64, Error> {
        self.read(cx, who, resolve(Space::Generic, address), bytes, Touch::Read).map(|value| value as u64)
    }

    /// The string at an address, up to the zero that ends it.
    fn string(&self, cx: &mut Context<'_>, who: Who, address: u64) -> Result<String, Error> {
        let mut bytes = Vec::new();
        for i in 0..LIMIT {
            match self.read_generic(cx, who, address.wrapping_add(i), 1)? as u8 {
                0 => break,
                byte => bytes.push(byte),
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
