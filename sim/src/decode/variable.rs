//! A module's variables in global and constant memory: their addresses and first values (PTX ISA, "Variables",
//! "Initializers").

use std::collections::HashMap;
use std::sync::Arc;

use girih_ptx::{self as ptx, Extent, Linkage, Operand, Type, VarSpace};

use super::{align_up, size};
use crate::float::{Bfloat, Half, Narrow, Round};
use crate::memory::{Allocation, END, GAP};
use crate::space::CODE_WINDOW;
use crate::{Error, Place, Space};

/// Bytes that the variables of a module can have together.
const LIMIT: u64 = 1 << 30;
/// Bytes of constant variables that a module can have.
const CONST_LIMIT: u64 = 64 << 10;

/// The module's variables with their addresses, which are above those of all allocations.
#[derive(Debug, Default)]
pub(super) struct Globals {
    addresses: HashMap<Arc<str>, u64>,
    allocations: Vec<Arc<Allocation>>,
    /// The addresses of functions and kernels.
    code: HashMap<Arc<str>, u64>,
}

impl Globals {
    /// Gives the variables their addresses, and writes their initial values; variables without one are zero.
    pub(super) fn place(variables: &[&ptx::Variable], code: &[&ptx::Name]) -> Result<Self, Error> {
        let code = code.iter().zip(1..).map(|(name, number)| ((*name).clone(), CODE_WINDOW + 16 * number));
        let mut globals = Globals { code: code.collect(), ..Globals::default() };
        let (mut next, mut total, mut constants) = (END, 0u64, 0u64);
        let placed: Vec<&ptx::Variable> = (variables.iter().copied())
            .filter(|v| {
                matches!(v.space, VarSpace::Global | VarSpace::Const) && v.linkage != Linkage::External
            })
            .collect();
        for variable in &placed {
            let refuse = |what| Err(unsupported(variable, what));
            if variable.extent == Extent::Unsized && variable.init.is_empty() {
                return refuse("an array without a size");
            }
            let Some((bytes, align)) = size(variable) else {
                return refuse("a variable of this type, size or alignment");
            };
            total = total.saturating_add(bytes);
            if variable.space == VarSpace::Const {
                constants = constants.saturating_add(bytes);
            }
            if total > LIMIT || constants > CONST_LIMIT {
                return refuse("more than 1 GiB of variables, or 64 KiB of constant ones");
            }
            // The size and the address are small enough that the sum cannot overflow.
            let Some(base) = align_up(next, align.max(256)).filter(|_| align <= GAP) else {
                return refuse("an alignment of over a mebibyte");
            };
            next = base + bytes + GAP;
            let make = if variable.space == VarSpace::Const { Allocation::constant } else { Allocation::new };
            let Some(allocation) = make(base, bytes) else {
                return refuse("a variable that the host has no memory for");
            };
            globals.addresses.insert(variable.name.clone(), base);
            globals.allocations.push(Arc::new(allocation));
        }
        for (variable, allocation) in placed.iter().zip(&globals.allocations) {
            allocation.write_host(0, &globals.initial(variable, allocation.bytes)?);
        }
        Ok(globals)
    }

    /// The address of a variable.
    pub(super) fn address(&self, name: &str) -> Option<u64> {
        self.addresses.get(name).copied()
    }

    /// The variables, as messages name them.
    pub(super) fn named(&self, variables: &[&ptx::Variable]) -> Vec<crate::program::Variable> {
        let placed = variables.iter().filter_map(|variable| Some((*variable, self.address(&variable.name)?)));
        placed.map(|(variable, at)| named(variable, Space::Global, at)).collect()
    }

    pub(super) fn allocations(&self) -> &[Arc<Allocation>] {
        &self.allocations
    }

    /// The bytes of a variable's initial values.
    fn initial(&self, variable: &ptx::Variable, size: u64) -> Result<Vec<u8>, Error> {
        let element = variable.ty.bytes().unwrap_or(0) as usize;
        let mut bytes = Vec::with_capacity(variable.init.len() * element);
        for value in &variable.init {
            let bits = self.bits(variable, value)?;
            // An integer that the type cannot hold is truncated, as the assembler does with a warning.
            bytes.extend(bits.to_le_bytes().iter().chain(&[0; 8]).take(element));
        }
        if bytes.len() as u64 > size {
            return Err(unsupported(variable, "more initial values than elements"));
        }
        Ok(bytes)
    }

    fn bits(&self, variable: &ptx::Variable, value: &Operand) -> Result<u64, Error> {
        let float = |x: f64| match variable.ty {
            Type::F64 => Some(x.to_bits()),
            Type::F32 => Some((x as f32).to_bits().into()),
            Type::F16 => Some(Half::rounded(x, Round::Nearest).bits().into()),
            Type::Bf16 => Some(Bfloat::rounded(x, Round::Nearest).bits().into()),
            _ => None,
        };
        let fractional = matches!(variable.ty, Type::F64 | Type::F32 | Type::F16 | Type::Bf16);
        let bits = match value {
            &Operand::Int(n) if fractional => float(n as f64),
            &Operand::Int(n) => Some(n as u64),
            &Operand::F32(bits) if variable.ty == Type::F32 => Some(bits.into()),
            &Operand::F32(bits) => float(f32::from_bits(bits).into()),
            &Operand::F64(bits) => float(f64::from_bits(bits)),
            Operand::Name(name) if variable.ty.bytes() == Some(8) && !fractional => {
                self.address(name).or_else(|| self.code.get(name).copied())
            }
            Operand::Offset(name, offset) | Operand::Generic(name, offset)
                if variable.ty.bytes() == Some(8) && !fractional =>
            {
                self.address(name).map(|address| address.wrapping_add_signed(*offset))
            }
            _ => None,
        };
        bits.ok_or_else(|| {
            let what = format!(
                "the initial value `{value}`; numbers of the variable's type are, and in 64 bits the names of \
                 global variables, functions and kernels"
            );
            unsupported(variable, &what)
        })
    }
}

/// A variable, as messages name it.
pub(super) fn named(variable: &ptx::Variable, space: Space, at: u64) -> crate::program::Variable {
    let element = variable.ty.bytes().unwrap_or(1).max(1).into();
    crate::program::Variable { name: variable.name.clone(), space, at, bytes: variable.bytes(), element }
}

fn unsupported(variable: &ptx::Variable, what: &str) -> Error {
    let place = Place {
        kernel: "module".into(),
        line: variable.span.line,
        instruction: variable.to_string().into(),
        origin: None,
    };
    Error::Unsupported { place: Box::new(place), what: what.into() }
}
