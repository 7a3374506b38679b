//! The parameters of a kernel. Each is declared once: its name, its type, the facts that the kernel relies on, and the argument that a launch
//! gives it.
//!
//! A family of kernels has a struct of arguments, plain numbers that say what a launch computes (CUTLASS's `Arguments`). A declaration computes
//! the argument of its parameter from these numbers. Memory has a name, by which the caller gives it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use girih_layout::Symbol;
use girih_ptx::{Name, Tiled};
use girih_tensor::DType;

use crate::error::BuilderError;
use crate::{Builder, Error, Expr, Kernel, Scalar, TmaCopy};

/// The largest extent or pitch in elements: index arithmetic on them stays in 32 bits.
pub const MAX_EXTENT: i64 = 1 << 30;
/// The most elements from a matrix of a batch to the next.
pub const MAX_STRIDE: i64 = 1 << 38;
/// The bytes of which the address of memory that has a tensor map is a multiple.
const OF_MAPS: i64 = 16;

/// The parameters of a kernel, in their order, for launches whose arguments are `A`.
///
/// # Examples
/// ```
/// use girih_codegen::copy::{Arguments, Caching, CopyConfig, Extent, Mode, Side, Through, Walk, generate};
/// use girih_codegen::{Slot, Value};
/// use girih_tensor::DType;
///
/// // A line of a multiple of 1024 elements.
/// let side = Side { order: vec![0], run: 1, vector: 4, backwards: Vec::new() };
/// let kernel = generate(&CopyConfig {
///     name: "copy",
///     dtype: DType::F32,
///     modes: vec![Mode { tile: 1024, extent: Extent::Multiple(1024), pad: None }],
///     gather: None,
///     dst: side.clone(),
///     src: side,
///     threads: 64,
///     through: Through::Registers,
///     walk: Walk { band: 1, persistent: false },
///     caching: Caching::Normal,
///     programmatic: false,
/// })?;
/// let values = kernel.params.values(&Arguments { extents: vec![4096], ..Arguments::default() })?;
/// assert_eq!(values, [Value::Slot(Slot::Memory("dst".into())), Value::Slot(Slot::Memory("src".into())), Value::U32(4096)]);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[derive(Clone)]
pub struct Params<A> {
    list: Vec<(Name, Source<A>)>,
    /// The symbols of layouts, whose values tensor maps need.
    symbols: Vec<(Symbol, &'static str, Number<A>)>,
}

/// A generated kernel of a family, and what its launches need to know.
#[derive(Clone, Debug)]
pub struct Generated<A> {
    /// The kernel, by the name that its configuration has.
    pub kernel: Kernel,
    /// The kernel's parameters.
    pub params: Params<A>,
    /// The layouts from which the kernel was derived, each with its name.
    pub partitions: Vec<(&'static str, String)>,
}

impl<A> AsRef<Kernel> for Generated<A> {
    fn as_ref(&self) -> &Kernel {
        &self.kernel
    }
}

/// An argument of a launch for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An argument that the caller passes.
    Slot(Slot<Name>),
    /// The tensor map of the memory that the caller gives by this name.
    Map(Name, Tiled),
    /// A number of 32 bits.
    U32(u32),
    /// A number of 64 bits.
    U64(u64),
    /// A number of f32.
    F32(f32),
}

/// An argument that each call passes by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot<N> {
    /// The 64-bit address of memory, or a number.
    Memory(N),
    /// The pitch of the matrix in this memory in elements, 32 bits.
    Pitch(N),
    /// The elements from this tensor of a problem of a batch to that of the next one, 64 bits.
    Step(N),
}

impl<N: std::ops::Deref<Target = str>> Slot<N> {
    /// The same with a borrowed name.
    pub fn as_deref(&self) -> Slot<&str> {
        match self {
            Slot::Memory(name) => Slot::Memory(name),
            Slot::Pitch(name) => Slot::Pitch(name),
            Slot::Step(name) => Slot::Step(name),
        }
    }
}

impl Value {
    /// The name of the argument that each call passes for the parameter (of a tensor map its memory); `None` for a value that all calls share.
    pub fn slot(&self) -> Option<Slot<&str>> {
        match self {
            Value::Slot(slot) => Some(slot.as_deref()),
            Value::Map(name, _) => Some(Slot::Memory(name)),
            Value::U32(_) | Value::U64(_) | Value::F32(_) => None,
        }
    }
}

type Number<A> = Arc<dyn Fn(&A) -> i64 + Send + Sync>;

/// Where the argument of a parameter comes from.
#[derive(Clone)]
enum Source<A> {
    Slot(Slot<Name>),
    Map(Name, Option<Box<TmaCopy>>),
    Number(Arc<dyn Fn(&A) -> Value + Send + Sync>),
}

impl<A: 'static> Params<A> {
    fn push(&mut self, name: &str, source: Source<A>) {
        self.list.push((name.into(), source));
    }

    fn push_number(&mut self, name: &str, value: impl Fn(&A) -> Value + Send + Sync + 'static) {
        self.push(name, Source::Number(Arc::new(value)));
    }

    /// Declares the address of the memory of the same name, a multiple of `align` bytes.
    #[track_caller]
    pub(crate) fn pointer(&mut self, b: &mut Builder, name: &str, align: i64) -> Expr {
        self.push(name, Source::Slot(Slot::Memory(name.into())));
        b.pointer(name, align)
    }

    /// Declares the tensor map of `memory`, whose copy is given to [`Params::keep`].
    #[track_caller]
    pub(crate) fn tensor_map(&mut self, b: &mut Builder, name: &str, memory: &str) -> Expr {
        self.push(name, Source::Map(memory.into(), None));
        b.tensor_map(name)
    }

    /// Declares a number of 32 bits in `0..=most`.
    #[track_caller]
    pub(crate) fn number(
        &mut self,
        b: &mut Builder,
        name: &str,
        most: i64,
        value: impl Fn(&A) -> i64 + Send + Sync + 'static,
    ) -> Expr {
        self.push_number(name, move |arguments| word(value(arguments)));
        b.number(name, most)
    }

    /// Declares a number of 64 bits in `0..=most`, a multiple of `multiple`.
    #[track_caller]
    pub(crate) fn wide(
        &mut self,
        b: &mut Builder,
        name: &str,
        (most, multiple): (i64, i64),
        value: impl Fn(&A) -> i64 + Send + Sync + 'static,
    ) -> Expr {
        self.push_number(name, move |arguments| {
            Value::U64(u64::try_from(value(arguments)).unwrap_or(u64::MAX))
        });
        b.wide_number(name, most, multiple)
    }

    /// Declares a number of 32 bits that is a symbol of layouts, those of tensor maps too.
    #[track_caller]
    pub(crate) fn symbol(
        &mut self,
        b: &mut Builder,
        name: impl Into<Cow<'static, str>>,
        facts: impl FnOnce(Symbol) -> Symbol,
        value: impl Fn(&A) -> i64 + Send + Sync + 'static,
    ) -> Result<Symbol, Error> {
        let (name, value): (_, Number<A>) = (name.into(), Arc::new(value));
        let symbol = b.symbol(&name, facts)?;
        let what = if let Cow::Borrowed(name) = name { name } else { "size" };
        self.symbols.push((symbol, what, value.clone()));
        self.push_number(&name, move |arguments| word(value(arguments)));
        Ok(symbol)
    }

    /// A symbol of the layouts of tensor maps, which is no parameter.
    pub(crate) fn of_maps(
        &mut self,
        b: &mut Builder,
        what: &'static str,
        facts: impl FnOnce(Symbol) -> Symbol,
        value: impl Fn(&A) -> i64 + Send + Sync + 'static,
    ) -> Result<Symbol, Error> {
        let symbol = b.unbound_symbol(facts)?;
        self.symbols.push((symbol, what, Arc::new(value)));
        Ok(symbol)
    }

    /// Declares a number of f32.
    #[track_caller]
    pub(crate) fn float(
        &mut self,
        b: &mut Builder,
        name: &str,
        value: impl Fn(&A) -> f32 + Send + Sync + 'static,
    ) -> Result<Scalar, Error> {
        self.push_number(name, move |arguments| Value::F32(value(arguments)));
        b.scalar_parameter(name, DType::F32)
    }

    /// Declares the bits of a number of this dtype, which has 32 or 64.
    #[track_caller]
    pub(crate) fn bits(
        &mut self,
        b: &mut Builder,
        name: &str,
        dtype: DType,
        value: impl Fn(&A) -> u64 + Send + Sync + 'static,
    ) -> Result<Scalar, Error> {
        let wide = dtype.bits() == 64;
        self.push_number(name, move |arguments| match value(arguments) {
            bits if wide => Value::U64(bits),
            bits => Value::U32(bits as u32),
        });
        b.scalar_parameter(name, dtype)
    }

    /// Declares a number of this dtype that the caller gives by the same name.
    #[track_caller]
    pub(crate) fn given(&mut self, b: &mut Builder, name: &str, dtype: DType) -> Result<Scalar, Error> {
        self.push(name, Source::Slot(Slot::Memory(name.into())));
        b.scalar_parameter(name, dtype)
    }

    /// Declares the pitch of a matrix that the caller gives.
    #[track_caller]
    pub(crate) fn pitch(
        &mut self,
        b: &mut Builder,
        name: &str,
        memory: &str,
        facts: impl FnOnce(Symbol) -> Symbol,
    ) -> Result<Symbol, Error> {
        self.push(name, Source::Slot(Slot::Pitch(memory.into())));
        b.symbol(name, facts)
    }

    /// Declares the elements from a tensor that the caller gives to that of the next problem of a batch.
    #[track_caller]
    pub(crate) fn step(&mut self, b: &mut Builder, name: &str, memory: &str, multiple: i64) -> Expr {
        self.push(name, Source::Slot(Slot::Step(memory.into())));
        b.wide_number(name, MAX_STRIDE, multiple)
    }

    /// Keeps the copy of the tensor map of `memory`.
    pub(crate) fn keep(&mut self, memory: &str, copy: &TmaCopy) {
        for (_, source) in &mut self.list {
            if let Source::Map(name, kept) = source
                && **name == *memory
            {
                *kept = Some(copy.clone().into());
            }
        }
    }

    /// The value of each parameter in a launch with these arguments.
    ///
    /// # Errors
    /// [`BuilderError::TensorMap`] for numbers that tensor maps do not take: extents below 1, strides that are no multiples of 16 bytes.
    pub fn values(&self, arguments: &A) -> Result<Vec<Value>, Error> {
        let value = |(_, source): &(Name, Source<A>)| {
            Ok(match source {
                Source::Slot(slot) => Value::Slot(slot.clone()),
                Source::Map(name, copy) => Value::Map(name.clone(), self.tiled(copy.as_deref(), arguments)?),
                Source::Number(value) => value(arguments),
            })
        };
        self.list.iter().map(value).collect()
    }

    /// Whether the kernel takes this memory by a tensor map.
    pub fn is_mapped(&self, memory: &str) -> bool {
        self.list.iter().any(|(_, source)| matches!(source, Source::Map(name, _) if **name == *memory))
    }

    /// How many bytes divide the address of this memory; 1 if `kernel`, whose parameters these are, does not take it.
    pub fn alignment(&self, kernel: &Kernel, memory: &str) -> i64 {
        let is_it =
            |source: &Source<A>| matches!(source, Source::Slot(Slot::Memory(name)) if **name == *memory);
        let mut pointers = kernel.params().iter().zip(&self.list).filter(|(_, (_, source))| is_it(source));
        match pointers.next() {
            Some((info, _)) => info.fact.as_ref().map_or(1, |fact| fact.multiple),
            None if self.is_mapped(memory) => OF_MAPS,
            None => 1,
        }
    }

    /// The tensor map of a copy, with the values of its symbols.
    fn tiled(&self, copy: Option<&TmaCopy>, arguments: &A) -> Result<Tiled, Error> {
        let Some(copy) = copy else {
            return Err(Error::Generator("a tensor map without a copy"));
        };
        let mut bound = copy.clone();
        for (symbol, what, value) in &self.symbols {
            let value = value(arguments);
            let next = bound.bind(*symbol, value);
            if matches!(&next, Ok(next) if *next == bound) {
                continue;
            }
            let (line, most) = (symbol.divisor(), symbol.upper().unwrap_or(MAX_EXTENT));
            if !(1..=most).contains(&value) || value % line != 0 {
                return Err(BuilderError::TensorMap { what, value, multiple: line, most }.into());
            }
            bound = next?;
        }
        bound.tiled()
    }
}

/// A number that 32 bits do not hold becomes the greatest one, which the facts of no parameter accept.
fn word(value: i64) -> Value {
    Value::U32(u32::try_from(value).unwrap_or(u32::MAX))
}

impl<A> Default for Params<A> {
    fn default() -> Params<A> {
        Params { list: Vec::new(), symbols: Vec::new() }
    }
}

/// The names of the parameters.
impl<A> fmt::Debug for Params<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list.iter().map(|(name, _)| name)).finish()
    }
}
