//! Printing from a kernel (CUDA C++ Programming Guide, "Formatted Output").

use std::panic::Location;

use girih_ptx::{Extent, Item, Linkage, Module, Name, Operand, Span, Type, VarSpace, Variable};
use girih_tensor::DType;

use super::{Builder, Reg};
use crate::error::BuilderError;
use crate::scalar::Scalar;
use crate::{Error, Expr};

/// The declaration that every module that prints has.
const VPRINTF: &str = ".version 7.0 .target sm_80 .address_size 64
    .extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 values);";

impl Builder {
    /// Prints values as C's `printf` does, once for each thread that executes the call: `%d` for s32, `%u` and `%x` for u32, `%lld`,
    /// `%llu` and `%llx` for integers of 64 bits, `%f`, `%e` and `%g` for floats, which are converted to f64. Printing is for debugging:
    /// it costs registers and time, and the host shows the text at the next synchronisation.
    ///
    /// # Errors
    /// [`BuilderError::Format`] for a format that does not have one conversion for each value, [`BuilderError::Conversion`] for one that does not take its value's
    /// dtype; as [`Builder::scalar`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Scalar};
    /// use girih_ptx::Special;
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let thread = Scalar::index(&b.special(Special::TidX), DType::S32);
    /// let root = thread.to(DType::F32).sqrt();
    /// b.printf("the root of %d is %f\n", &[&thread, &root])?;
    /// assert!(b.printf("%f\n", &[&thread]).is_err());
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn printf(&mut self, format: &str, values: &[&Scalar]) -> Result<(), Error> {
        check(format, values)?;
        let site = Location::caller();
        self.on_behalf(site, |b| {
            let text = b.global_text(format);
            let mut regs = Vec::new();
            for value in values {
                let float = matches!(value.dtype(), DType::F64 | DType::F32 | DType::F16 | DType::Bf16);
                regs.push(b.scalar(&if float { value.to(DType::F64) } else { (*value).clone() })?);
            }
            // The text is the kernel's own, and the values stand in the thread's.
            let outer = b.computes.take();
            let called = b.call_vprintf(&text, &regs);
            b.computes = outer;
            called
        })
    }

    /// A variable of the module that holds a text and the zero after it.
    fn global_text(&mut self, text: &str) -> Name {
        if !self.items.iter().any(|item| matches!(item, Item::Function(f) if &*f.name == "vprintf")) {
            // The declaration parses; if it did not, every test that prints would fail.
            self.items.extend(Module::parse(VPRINTF).map(|module| module.items).unwrap_or_default());
        }
        let bytes: Vec<u8> = text.bytes().chain([0]).collect();
        self.global_bytes("text", 1, &bytes)
    }

    /// A variable of the module that holds bytes.
    fn global_bytes(&mut self, what: &str, align: u32, bytes: &[u8]) -> Name {
        let name = Name::from(format!("${}_{what}{}", self.name, self.items.len()));
        self.items.push(Item::Variable(Variable {
            linkage: Linkage::Internal,
            space: VarSpace::Global,
            align: Some(align),
            ty: Type::B8,
            name: name.clone(),
            extent: Extent::Array(bytes.len() as u64),
            init: bytes.iter().map(|&byte| Operand::Int(byte.into())).collect(),
            span: Span::default(),
        }));
        name
    }

    /// The address, a multiple of 16, of these bytes in global memory, which the module contains.
    ///
    /// # Errors
    /// As [`Builder::ptx`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Cond};
    /// use girih_ptx::Type;
    /// use girih_tensor::Space;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let (at, value) = (b.table(&[1, 0, 0, 0, 2, 0, 0, 0])?, b.reg(Type::U32));
    /// b.load(Space::Gmem, &[value], &(&at + 4), &Cond::Always)?;
    /// assert!(b.finish()?.module().to_string().contains("[8] = {1, 0, 0, 0, 2, 0, 0, 0}"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn table(&mut self, bytes: &[u8]) -> Result<Expr, Error> {
        let name = self.global_bytes("table", 16, bytes);
        let base = self.reg(Type::U64);
        self.ptx(&format!("mov.u64 %0, {name};"), &[&base])?;
        Ok(self.var(&base, 0, 1 << 60, 16))
    }

    /// Calls `vprintf` with the values one after another, each at a multiple of its size.
    #[track_caller]
    fn call_vprintf(&mut self, text: &Name, values: &[Reg]) -> Result<(), Error> {
        let (mut stores, mut end) = (String::new(), 0);
        for reg in values {
            let bytes = reg.ty.bytes().unwrap_or(8);
            let start = u32::next_multiple_of(end, bytes);
            stores += &format!("st.local.{} [values+{start}], {reg};", reg.ty);
            end = start + bytes;
        }
        let (format, pointer) = (self.reg(Type::B64), self.reg(Type::B64));
        // Without values there is no memory for them, which would be a stack frame.
        let (memory, at) = match end {
            0 => (String::new(), format!("mov.u64 {pointer}, 0;")),
            end => (
                format!(".local .align 8 .b8 values[{}];", end.max(8)),
                format!("mov.u64 {pointer}, values; cvta.local.u64 {pointer}, {pointer};"),
            ),
        };
        self.ptx(
            &format!(
                "{{ {memory} .param .b64 p0; .param .b64 p1; .param .b32 q; {stores}
                 mov.u64 {format}, {text}; cvta.global.u64 {format}, {format}; st.param.b64 [p0], {format};
                 {at} st.param.b64 [p1], {pointer};
                 call.uni (q), vprintf, (p0, p1); }}"
            ),
            &[],
        )
    }
}

/// The conversions of a format: their last letters, and whether they are of 64 bits.
fn conversions(format: &str) -> Vec<(char, bool)> {
    let mut found = Vec::new();
    let mut rest = format.split('%').skip(1).peekable();
    while let Some(part) = rest.next() {
        if part.is_empty() {
            // After `%%` comes text.
            rest.next();
            continue;
        }
        let letter =
            part.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'l' | 'h' | 'z' | 'j' | 't'));
        let Some(at) = letter else { continue };
        let wide = part[..at].matches('l').count() == 2;
        found.push((part[at..].chars().next().unwrap_or(' '), wide));
    }
    found
}

fn check(format: &str, values: &[&Scalar]) -> Result<(), Error> {
    let found = conversions(format);
    if found.len() != values.len() || format.contains('\0') || format.contains('*') {
        let (format, conversions) = (format.to_owned(), found.len());
        return Err(BuilderError::Format { format, conversions, values: values.len() }.into());
    }
    for ((letter, wide), scalar) in found.into_iter().zip(values) {
        let (dtype, ok) = match scalar.dtype() {
            dtype @ (DType::F64 | DType::F32 | DType::F16 | DType::Bf16) => {
                (dtype, "fFeEgGaA".contains(letter) && !wide)
            }
            dtype @ (DType::S64 | DType::U64) => (dtype, "diuxXo".contains(letter) && wide),
            dtype => (dtype, "diuxXoc".contains(letter) && !wide),
        };
        if !ok {
            let conversion = format!("{}{letter}", if wide { "ll" } else { "" });
            return Err(BuilderError::Conversion { format: format.to_owned(), conversion, dtype }.into());
        }
    }
    Ok(())
}
