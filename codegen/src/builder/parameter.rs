//! A kernel's parameters, and the symbols that stand for them in layouts.

use girih_layout::Symbol;
use girih_ptx::{
    Address, Extent, Fact, Linkage, Name, Opcode, Operand, Span, Type, VarSpace, Variable, Word,
};
use girih_tensor::{DType, Space};

use super::shared::SHARED_NAME;
use super::{Builder, Cond, Reg};
use crate::Error;
use crate::error::BuilderError;
use crate::expr::Expr;
use crate::scalar::{COMPUTED, Scalar, lower};

/// A number beyond any address.
const MAX_ADDRESS: i64 = 1 << 60;

impl Builder {
    pub(super) fn check_name(&mut self, what: &'static str, name: &str) {
        if !is_identifier(name) {
            self.fail(BuilderError::Name { what, name: name.into() });
        }
    }

    fn declare(&mut self, name: &str, ty: Type, extent: Extent, align: Option<u32>) {
        self.check_name("name of a parameter", name);
        if name == SHARED_NAME || self.params.iter().any(|param| &*param.name == name) {
            self.fail(BuilderError::ParameterTwice { name: name.into(), shared: SHARED_NAME });
        }
        self.params.push(Variable {
            linkage: Linkage::Internal,
            space: VarSpace::Param,
            align,
            ty,
            name: Name::from(name),
            extent,
            init: Vec::new(),
            span: Span::default(),
        });
    }

    /// Declares a scalar parameter, and reads it. Launches check that its argument is a multiple of `multiple` in `lower..=upper`.
    #[track_caller]
    fn parameter(&mut self, name: &str, ty: Type, (lower, upper, multiple): (i64, i64, i64)) -> Reg {
        self.declare(name, ty, Extent::Scalar, None);
        let site = self.site();
        self.facts.push((Name::from(name), Fact { lower, upper, multiple, site }));
        self.read_parameter(name, ty)
    }

    #[track_caller]
    fn read_parameter(&mut self, name: &str, ty: Type) -> Reg {
        let reg = self.reg(ty);
        let source = Address { base: Some(Name::from(name)), offset: 0, coordinates: Vec::new() };
        let operands = vec![Operand::from(&reg), Operand::Address(source)];
        self.inst_at(0, Opcode::Ld, &[Word::Param.into(), ty.into()], operands);
        reg
    }

    /// Declares a parameter of 128 bytes that holds a tensor map, and returns the parameter's generic address.
    #[track_caller]
    pub fn tensor_map(&mut self, name: &str) -> Expr {
        self.declare(name, Type::B8, Extent::Array(girih_ptx::TENSOR_MAP_BYTES as u64), Some(64));
        let [local, generic] = [(); 2].map(|()| self.reg(Type::U64));
        let source = vec![Operand::from(&local), Operand::Name(Name::from(name))];
        self.inst_at(0, Opcode::Mov, &[Type::U64.into()], source);
        let operands = vec![Operand::from(&generic), Operand::from(&local)];
        self.inst_at(0, Opcode::Cvta, &[Word::Param.into(), Type::U64.into()], operands);
        self.var_at(&generic, 0, 0, MAX_ADDRESS, 64)
    }

    /// Declares a 64-bit parameter: the global address of an array, which must be a multiple of `align` bytes.
    #[track_caller]
    pub fn pointer(&mut self, name: &str, align: i64) -> Expr {
        let range = (0, MAX_ADDRESS, align);
        let generic = self.parameter(name, Type::U64, range);
        self.global_pointer(0, &generic, align)
    }

    /// The array at the 64-bit address that is in global memory at `address` (bytes), as arrays of pointers have it. The caller claims
    /// that it is the address of global memory and a multiple of `align` bytes, which the simulator checks.
    ///
    /// # Errors
    /// As [`Builder::load`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::algorithm::read;
    /// use girih_codegen::{Builder, Gmem};
    /// use girih_layout::lay;
    /// use girih_ptx::Special;
    /// use girih_tensor::{DType, Tensor};
    ///
    /// // Each block reads the first value of an array of its own.
    /// let mut b = Builder::new("k", 80, 32);
    /// let (arrays, block) = (b.pointer("arrays", 8), b.special(Special::CtaidX));
    /// let array = b.pointer_at(&(&arrays + &(&block * 8)), 4)?;
    /// let first = read(&mut b, &Tensor::new(Gmem::new(array, DType::F32), lay!("1:0")))?;
    /// assert_eq!(first.len(), 1);
    /// assert!(b.finish()?.module().to_string().contains("ld.global.u64"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn pointer_at(&mut self, address: &Expr, align: i64) -> Result<Expr, Error> {
        let generic = self.reg(Type::U64);
        self.load(Space::Gmem, std::slice::from_ref(&generic), address, &Cond::Always)?;
        Ok(self.global_pointer(self.depth(), &generic, align))
    }

    /// The array at a generic address of global memory, which a register of the scope at `depth` holds.
    #[track_caller]
    fn global_pointer(&mut self, depth: usize, generic: &Reg, align: i64) -> Expr {
        let global = self.reg(Type::U64);
        let operands = vec![Operand::from(&global), Operand::from(generic)];
        let modifiers = [Word::To.into(), Word::Global.into(), Type::U64.into()];
        self.inst_at(depth, Opcode::Cvta, &modifiers, operands);
        self.claim(depth, &global, (0, MAX_ADDRESS, align));
        self.var_at(&global, depth, 0, MAX_ADDRESS, align)
    }

    /// Declares a 32-bit parameter, and returns the symbol that stands for it in layouts. The symbol is known not to be negative and
    /// to be below 2^32; `facts` adds what else is known.
    ///
    /// # Errors
    /// [`BuilderError::Symbols`] if the kernel has 256 symbols already.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Expr};
    /// use girih_layout::{Int, Lay};
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let ld = b.symbol("ld", |ld| ld.at_least(1).divisible_by(8))?;
    /// let matrix = Lay::strided([Int::fixed(128), Int::fixed(64)], [Int::symbol(ld), Int::fixed(1)])?;
    /// assert_eq!(Expr::from_int(&Int::symbol(ld)).multiple(), 8);
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn symbol(&mut self, name: &str, facts: impl FnOnce(Symbol) -> Symbol) -> Result<Symbol, Error> {
        let symbol = self.unbound_symbol(facts)?;
        self.bind(name, symbol);
        Ok(symbol)
    }

    /// Declares several parameters as [`Builder::symbol`] does, each with these facts.
    ///
    /// # Errors
    /// As [`Builder::symbol`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let [rows, columns] = b.symbols(["rows", "columns"], |n| n.at_least(1))?;
    /// assert_ne!(rows.id(), columns.id());
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn symbols<const N: usize>(
        &mut self,
        names: [&str; N],
        facts: impl Fn(Symbol) -> Symbol,
    ) -> Result<[Symbol; N], Error> {
        let mut symbols = [Symbol::new(0); N];
        for (symbol, name) in symbols.iter_mut().zip(names) {
            *symbol = self.symbol(name, &facts)?;
        }
        Ok(symbols)
    }

    /// A new symbol that is no parameter of the kernel. The host binds it, for instance as an extent or a pitch of a tensor map.
    ///
    /// # Errors
    /// As [`Builder::symbol`].
    pub fn unbound_symbol(&mut self, facts: impl FnOnce(Symbol) -> Symbol) -> Result<Symbol, Error> {
        let free = (0..=u8::MAX).find(|id| !self.symbols.contains_key(id));
        let Some(id) = free else {
            return Err(BuilderError::Symbols { most: self.symbols.len() }.into());
        };
        let symbol = facts(Symbol::new(id));
        if symbol.id() != id {
            return Err(BuilderError::SymbolFacts { symbol: symbol.id(), given: id }.into());
        }
        self.symbols.insert(id, (symbol, None));
        Ok(symbol)
    }

    /// Declares a 32-bit parameter for a symbol.
    #[track_caller]
    pub(crate) fn bind(&mut self, name: &str, symbol: Symbol) {
        let most = symbol.upper().unwrap_or(i64::from(u32::MAX));
        let range = (symbol.lower(), most, symbol.divisor());
        let reg = self.parameter(name, Type::U32, range);
        self.claim(0, &reg, range);
        self.symbols.insert(symbol.id(), (symbol, Some(reg)));
    }

    /// Declares a parameter that the kernel computes with: a number of 32 or 64 bits of which nothing is known.
    ///
    /// # Errors
    /// [`BuilderError::ParameterDType`] for a dtype of fewer than 32 bits, since launches have no arguments of such dtypes.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let alpha = b.scalar_parameter("alpha", DType::F32)?;
    /// b.scalar(&(alpha * 2.0))?;
    /// assert!(b.finish()?.module().to_string().contains("ld.param.f32"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn scalar_parameter(&mut self, name: &str, dtype: DType) -> Result<Scalar, Error> {
        if !COMPUTED.contains(&dtype) || dtype.bits() < 32 {
            return Err(BuilderError::ParameterDType { dtype }.into());
        }
        let ty = lower::register(dtype);
        self.declare(name, ty, Extent::Scalar, None);
        let reg = self.read_parameter(name, ty);
        Ok(self.leaf(&reg, 0, dtype))
    }

    /// Declares a 32-bit parameter with values in `0..=upper`.
    #[track_caller]
    pub fn number(&mut self, name: &str, upper: i64) -> Expr {
        let reg = self.parameter(name, Type::U32, (0, upper, 1));
        self.claim(0, &reg, (0, upper, 1));
        self.var_at(&reg, 0, 0, upper, 1)
    }

    /// Declares a 64-bit parameter with values in `0..=upper` that are multiples of `multiple`.
    #[track_caller]
    pub fn wide_number(&mut self, name: &str, upper: i64, multiple: i64) -> Expr {
        let range = (0, upper, multiple);
        let reg = self.parameter(name, Type::U64, range);
        self.claim(0, &reg, range);
        self.var_at(&reg, 0, 0, upper, multiple)
    }
}

/// Whether PTX takes `name` as an identifier (PTX ISA, "Identifiers").
fn is_identifier(name: &str) -> bool {
    let follows = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut rest = name.chars();
    match rest.next() {
        Some(first) if first.is_ascii_alphabetic() => rest.all(follows),
        Some('_' | '$' | '%') => !rest.as_str().is_empty() && rest.all(follows),
        _ => false,
    }
}
