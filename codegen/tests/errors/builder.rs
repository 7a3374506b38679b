//! Inputs that the builder refuses.

use std::slice;

use girih_codegen::algorithm::{block_reduce, cluster_reduce};
use girih_codegen::gemm::{Arguments, Epilogue, generate};
use girih_codegen::{Builder, BuilderError, Cond, Error, Expr, Gmem, Scalar};
use girih_layout::{Symbol, lay};
use girih_ptx::{Module, Type};
use girih_tensor::{DType, Space};

use super::complete;
use crate::warp_specialized::{TN_BF16, config};

/// What a call gets: a number that may be negative, and a value of 16 bits.
struct Given {
    any: Expr,
    half: Scalar,
}

/// A builder of a kernel with a block of 48 threads for sm_80, and what its calls get.
fn given() -> (Builder, Given) {
    let mut b = Builder::new("k", 80, 48);
    let reg = b.reg(Type::S32);
    let any = b.var(&reg, -1, i32::MAX.into(), 1);
    (b, Given { any, half: Scalar::new(DType::F16, 0.5) })
}

type Call = fn(&mut Builder, &Given) -> Result<(), Error>;

/// Calls that are refused at once.
const CALLS: [Call; 20] = [
    |b, _| block_reduce(b, &Scalar::new(DType::U32, 1.0), |x, y| x + y).map(drop),
    |b, _| b.elect_one().map(drop),
    |b, _| cluster_reduce(b, &Scalar::new(DType::U32, 1.0), |x, y| x + y).map(drop),
    |b, _| b.scalar_parameter("x", DType::F16).map(drop),
    |b, _| b.unbound_symbol(|_| Symbol::new(9)).map(drop),
    |b, _| Gmem::matrix(b, "x", DType::S4, [4, 4], 3).map(drop),
    |b, given| b.div_rem(&given.any, &Expr::from(3)).map(drop),
    |b, given| b.div_rem(&Expr::from(3), &given.any).map(drop),
    |b, given| b.for_steps(&given.any, &Expr::from(4), &Expr::from(1), |_, _| Ok(())),
    |b, given| b.for_steps(&Expr::from(0), &Expr::from(4), &given.any, |_, _| Ok(())),
    |b, _| b.for_steps(&Expr::from(0), &Expr::from(1 << 31), &Expr::from(1), |_, _| Ok(())),
    |b, _| b.leave(&Builder::new("other", 80, 32).open_block(), &Cond::Always, true),
    |b, _| b.named_barrier_sync(&Expr::from(16), 32),
    |b, _| b.named_barrier_sync(&Expr::from(1), 48),
    |b, _| b.warpgroup_reg_alloc(25),
    |b, _| b.alloc_shared(4, 3).map(drop),
    |b, _| b.alloc_shared(1 << 40, 16).map(drop),
    |b, given| b.shfl_xor(&given.half, 32).map(drop),
    |b, given| b.match_any(&given.half).map(drop),
    |b, given| b.printf("%d %5.1f", &[&given.half]),
];

/// A function of a name, with an instruction of its own.
fn function(opcode: &str) -> Module {
    Module::parse(&format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.func (.param .b32 r) twice (.param .b32 a) {{ .reg .u32 %x; \
         ld.param.b32 %x, [a]; {opcode}.u32 %x, %x, %x; st.param.b32 [r], %x; ret; }}"
    ))
    .unwrap_or_else(|error| panic!("{error}"))
}

fn refused<R>(result: Result<R, Error>) -> Error {
    result.err().unwrap_or_else(|| panic!("not refused"))
}

/// A kernel in which something was wrong from the beginning.
fn unfinished(write: fn(&mut Builder)) -> Error {
    let mut b = Builder::new("k", 90, 32);
    write(&mut b);
    refused(b.finish())
}

fn others() -> Vec<Error> {
    let mut b = Builder::new("k", 80, 32);
    let outer = b.open_block();
    let inner = b.open_block();
    let blocks = [refused(b.again(&inner, &Cond::Always, true)), refused(b.close_block(outer))];
    let mut b = Builder::new("k", 80, 32);
    let kernel = Builder::new("other", 80, 32).finish().map(|kernel| kernel.into_module());
    let kernel = kernel.unwrap_or_else(|error| panic!("{error}"));
    let mut modules = vec![refused(b.include(&kernel))];
    b.include(&function("add")).unwrap_or_else(|error| panic!("{error}"));
    modules.push(refused(b.include(&function("mul.lo"))));
    let symbols = (0..257).try_for_each(|_| b.unbound_symbol(|symbol| symbol).map(drop));
    let gemm = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let arguments = Arguments { mnk: [64, 60, 64], pitches: [64; 3], ..Arguments::default() };
    let kernel = generate(&gemm, &Epilogue::new()).unwrap_or_else(|error| panic!("{error}"));
    let reads = Epilogue::new().node("a node that reads", [], |b, _| {
        let reg = b.reg(Type::F32);
        b.load(Space::Gmem, slice::from_ref(&reg), &Expr::from(4096), &Cond::Always)?;
        b.scalar_in(&reg, DType::F32)
    });
    let mut all = vec![
        refused(Builder::new("k", 80, 1025).finish()),
        refused(Builder::new("a kernel", 80, 32).finish()),
        unfinished(|b| b.cluster([17, 1, 1])),
        unfinished(|b| [[2, 1, 1], [4, 1, 1]].map(|blocks| b.cluster(blocks)).into_iter().collect()),
        unfinished(|b| ["x", "x"].map(|name| b.pointer(name, 4)).into_iter().for_each(drop)),
        refused(b.printf("%d", &[&Scalar::new(DType::F32, 1.0)])),
        refused(symbols),
        refused(kernel.params.values(&arguments)),
        refused(generate(&gemm, &reads)),
    ];
    all.extend(blocks);
    all.extend(modules);
    all
}

#[test]
fn every_error_of_a_builder_is_provoked() {
    let calls = CALLS.map(|call| {
        let (mut b, given) = given();
        refused(call(&mut b, &given))
    });
    complete("builder", BuilderError::KINDS, calls.into_iter().chain(others()));
}

/// A call that is refused leaves the kernel as it was.
#[test]
fn what_is_refused_is_not_written() {
    for (number, call) in CALLS.into_iter().enumerate() {
        let [with, without] = [true, false].map(|calls| {
            let (mut b, given) = given();
            if calls {
                refused(call(&mut b, &given));
            }
            b.finish().unwrap_or_else(|error| panic!("{number}: {error}")).into_module().to_string()
        });
        assert_eq!(with, without, "{number}");
    }
}
