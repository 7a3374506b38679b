//! Inline PTX: a user's own instructions among the builder's.

use girih_ptx::{Address, Guard, Inst, Item, Module, Name, Operand, Statement};

use super::{Builder, Reg};
use crate::Error;
use crate::error::BuilderError;

/// Appends PTX that the caller wrote to a builder, for instructions that [`Builder`] has no method for. The text captures registers
/// by name as [`format!`] captures values.
///
/// The braces of a vector are written twice, as in any format. The text may write only registers that the caller has made
/// ([`Builder::reg`]); the registers that [`Builder::scalar`], [`Builder::value`] and [`Builder::cond`] return may only be read.
///
/// # Errors
/// As [`Builder::ptx`].
///
/// # Examples
/// ```
/// use girih_codegen::{Builder, Scalar, ptx};
/// use girih_ptx::Type;
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 80, 32);
/// let x = b.scalar(&Scalar::new(DType::F32, 2.0))?;
/// let (m, pair) = (b.reg(Type::F32), b.reg(Type::B64));
/// ptx!(b, "max.f32 {m}, {x}, 0f3F800000; mov.b64 {pair}, {{{m}, {x}}};")?;
/// let m = b.scalar_in(&m, DType::F32)?;
/// b.scalar(&(m + 1.0))?;
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[macro_export]
macro_rules! ptx {
    ($b:expr, $($text:tt)+) => {
        $b.ptx(&::std::format!($($text)+), &[])
    };
}

impl Builder {
    /// Puts functions and variables of PTX that the caller wrote in front of the kernel, once each, so that inline PTX can use them.
    ///
    /// # Errors
    /// [`Error::Builder`] for a module with other items than functions and variables, and for another item of a name that is taken.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Scalar, ptx};
    /// use girih_ptx::{Module, Type};
    /// use girih_tensor::DType;
    ///
    /// let twice = "
    ///     .version 8.0 .target sm_80 .address_size 64
    ///     .func (.param .b32 y) twice(.param .b32 x) {
    ///       .reg .b32 %r<2>;
    ///       ld.param.u32 %r0, [x]; add.u32 %r1, %r0, %r0; st.param.u32 [y], %r1; ret;
    ///     }";
    /// let mut b = Builder::new("k", 80, 32);
    /// b.include(&Module::parse(twice)?)?;
    /// let (x, y) = (b.scalar(&Scalar::new(DType::U32, 21.0))?, b.reg(Type::U32));
    /// ptx!(b, "{{ .param .b32 a; .param .b32 r; st.param.b32 [a], {x}; call.uni (r), twice, (a); ld.param.b32 {y}, [r]; }}")?;
    /// assert!(b.finish()?.module().to_string().contains("call.uni (r), twice, (a)"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn include(&mut self, module: &Module) -> Result<(), Error> {
        let mut new = Vec::new();
        for item in &module.items {
            let Some(name) = name(item) else {
                return Err(BuilderError::IncludedKernel { found: "kernels or source files" }.into());
            };
            match self.items.iter().find(|own| self::name(own) == Some(name)) {
                Some(own) if own == item => {}
                Some(_) => return Err(BuilderError::IncludedTwice { name: name.to_string() }.into()),
                None => new.push(item.clone()),
            }
        }
        self.items.extend(new);
        Ok(())
    }

    /// Appends PTX that the caller wrote, in which `%0`, `%1`, ... stand for `operands`.
    ///
    /// The text is parsed here and verified with the whole module by [`Builder::finish`].
    ///
    /// # Errors
    /// [`Error::Ptx`] if the text is not PTX, [`Error::InlineOperand`] for an operand that was not given.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    /// use girih_ptx::Type;
    ///
    /// let mut b = Builder::new("kernel", 80, 32);
    /// let (x, y) = (b.reg(Type::F32), b.reg(Type::F32));
    /// b.ptx("mov.f32 %0, 0f3F800000; sqrt.rn.f32 %1, %0;", &[&x, &y])?;
    /// assert!(b.ptx("neg.f32 %0, %1;", &[&x]).is_err());
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn ptx(&mut self, text: &str, operands: &[&Reg]) -> Result<(), Error> {
        for mut statement in Statement::parse_all(text)? {
            substitute(&mut statement, operands)?;
            self.push(statement);
        }
        Ok(())
    }
}

/// The name of a function or a variable.
fn name(item: &Item) -> Option<&Name> {
    match item {
        Item::Function(function) => Some(&function.name),
        Item::Variable(variable) => Some(&variable.name),
        _ => None,
    }
}

fn substitute(statement: &mut Statement, operands: &[&Reg]) -> Result<(), Error> {
    match statement {
        Statement::Inst(Inst { guard, operands: places, .. }) => {
            if let Some(Guard { reg, .. }) = guard {
                rename(reg, operands)?;
            }
            places.iter_mut().try_for_each(|place| substitute_operand(place, operands))
        }
        Statement::Block(body) => body.iter_mut().try_for_each(|inner| substitute(inner, operands)),
        _ => Ok(()),
    }
}

fn substitute_operand(place: &mut Operand, operands: &[&Reg]) -> Result<(), Error> {
    match place {
        Operand::Name(name) | Operand::Not(name) => rename(name, operands),
        Operand::Pair(first, second) => {
            rename(first, operands)?;
            rename(second, operands)
        }
        Operand::Vector(parts) => parts.iter_mut().try_for_each(|part| substitute_operand(part, operands)),
        Operand::Address(Address { base, coordinates, .. }) => {
            if let Some(base) = base {
                rename(base, operands)?;
            }
            coordinates.iter_mut().try_for_each(|part| substitute_operand(part, operands))
        }
        _ => Ok(()),
    }
}

/// `%3` becomes the name of operand 3; other names stay.
fn rename(name: &mut Name, operands: &[&Reg]) -> Result<(), Error> {
    let Some(Ok(index)) = name.strip_prefix('%').map(str::parse::<usize>) else { return Ok(()) };
    let missing = || Error::InlineOperand { name: name.to_string(), given: operands.len() };
    let reg = operands.get(index).ok_or_else(missing)?;
    *name = reg.name.clone();
    Ok(())
}
