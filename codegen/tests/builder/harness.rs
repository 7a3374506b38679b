//! Kernels that store 64-bit integers, run on the simulator with every check on.

use girih_codegen::{Builder, Cond, Error, Expr, Width};
use girih_layout::{Int, Symbol};
use girih_ptx::{Module, Special, Type};
use girih_sim::{Launch, Memory, Options};
use girih_tensor::Space;

use crate::simulator::{addresses, blocks, download, run};

pub(crate) const THREADS: i64 = 64;
pub(crate) const BLOCKS: i64 = 3;
/// The value of the output where nothing was stored.
pub(crate) const UNTOUCHED: i64 = 0x5a5a_5a5a_5a5a_5a5a;

/// A kernel under construction whose threads have `slots` results each.
pub(crate) struct Harness {
    pub(crate) b: Builder,
    pub(crate) thread: Expr,
    pub(crate) block: Expr,
    pub(crate) out: Output,
    slots: i64,
    symbols: usize,
}

/// The place of a thread's results.
#[derive(Clone)]
pub(crate) struct Output {
    base: Expr,
}

impl Output {
    /// Stores `expr` in this thread's slot `slot`, from a register of 64 bits.
    pub(crate) fn store(&self, b: &mut Builder, slot: impl Into<Expr>, expr: &Expr) -> Result<(), Error> {
        self.store_if(b, slot, expr, &Cond::Always)
    }

    /// Stores `expr` in this thread's slot `slot`, where `cond` holds.
    pub(crate) fn store_if(
        &self,
        b: &mut Builder,
        slot: impl Into<Expr>,
        expr: &Expr,
        cond: &Cond,
    ) -> Result<(), Error> {
        let value = b.value(expr, Width::W64)?;
        b.store(Space::Gmem, &(&self.base + &(&slot.into() * 8)), &[value], cond)
    }

    /// Stores the 32 bits of `expr` in the slot's lower half.
    pub(crate) fn store_narrow(
        &self,
        b: &mut Builder,
        slot: impl Into<Expr>,
        expr: &Expr,
    ) -> Result<(), Error> {
        let value = b.value(expr, Width::W32)?;
        b.store(Space::Gmem, &(&self.base + &(&slot.into() * 8)), &[value], &Cond::Always)
    }
}

impl Harness {
    pub(crate) fn new(slots: i64) -> Harness {
        let mut b = Builder::new("k", 80, THREADS as u32);
        let pointer = b.pointer("out", 8);
        let (thread, block) = (b.special(Special::TidX), b.special(Special::CtaidX));
        let block = b.bounded(&block, BLOCKS - 1).unwrap();
        let first = &(&block * THREADS) + &thread;
        let base = &pointer + &(&first * (8 * slots));
        Harness { b, thread, block, out: Output { base }, slots, symbols: 0 }
    }

    /// A 32-bit parameter with the facts of `like`.
    pub(crate) fn symbol(&mut self, like: Symbol) -> Expr {
        Expr::from_int(&Int::symbol(self.bound(like)))
    }

    /// The symbol of a 32-bit parameter with the facts of `like`.
    pub(crate) fn bound(&mut self, like: Symbol) -> Symbol {
        let name = format!("s{}", self.symbols);
        self.symbols += 1;
        let facts = |symbol: Symbol| {
            let symbol = symbol.at_least(like.lower()).divisible_by(like.divisor());
            like.upper().map_or(symbol, |upper| symbol.at_most(upper))
        };
        self.b.symbol(&name, facts).unwrap()
    }

    /// The module.
    pub(crate) fn finish(self) -> Module {
        self.b.finish().unwrap().into_module()
    }

    /// Runs the kernel; `expected` gives slot `slot` of a thread of a block.
    pub(crate) fn check(self, symbols: &[u32], expected: impl Fn(i64, i64, i64) -> i64) {
        assert_eq!(symbols.len(), self.symbols);
        let slots = self.slots;
        let module = self.finish();
        let found = execute(&module, symbols, (BLOCKS * THREADS * slots) as usize);
        for (i, found) in (0..).zip(found) {
            let (block, thread, slot) = (i / slots / THREADS, i / slots % THREADS, i % slots);
            let expected = expected(block, thread, slot);
            assert_eq!(found, expected, "block {block}, thread {thread}, slot {slot} of\n{module}");
        }
    }
}

/// A launch of all blocks, with the address of the results and the symbols' values.
pub(crate) fn launch(out: u64, symbols: &[u32]) -> Launch {
    let symbols = symbols.iter().map(|symbol| symbol.to_le_bytes().to_vec());
    let args = addresses(&[out]).into_iter().chain(symbols).collect();
    blocks(BLOCKS, THREADS as u32, 0, args)
}

fn execute(module: &Module, symbols: &[u32], results: usize) -> Vec<i64> {
    let memory = Memory::new();
    let out = memory.alloc(results * 8).unwrap();
    memory.fill(out, UNTOUCHED as u8, results * 8).unwrap();
    let options = Options { threads: Some(1), ..Options::checked() };
    let ran = run(module, &memory, &launch(out, symbols), &options);
    ran.unwrap_or_else(|e| panic!("{e}\n{module}"));
    let bytes = download(&memory, out, results * 8);
    bytes.chunks_exact(8).map(|c| i64::from_le_bytes(c.try_into().unwrap())).collect()
}

/// A 32-bit register holding `value`, as a variable of the innermost scope.
pub(crate) fn literal(b: &mut Builder, ty: Type, value: i64, range: (i64, i64)) -> Expr {
    let reg = b.reg(ty);
    let operands = vec![(&reg).into(), girih_ptx::Operand::Int(value)];
    b.inst(girih_ptx::Opcode::Mov, &[ty.into()], operands);
    b.var(&reg, range.0, range.1, 1)
}
