//! Synchronisation that PTX does not have, which is refused before it is written.

use girih_codegen::sync::{
    AtomicRef, MemoryOrder, OrderedSequence, PingPong, Pipeline, Scope, Semaphore, atomic_thread_fence,
};
use girih_codegen::{Builder, Cond, Error, Expr, Gmem, Mbarrier, Scalar, SyncError};
use girih_tensor::DType;

use super::complete;

fn at(b: &Builder, to: &Expr, dtype: DType) -> Result<AtomicRef, Error> {
    AtomicRef::new(b, &Gmem::new(to.clone(), dtype), Scope::Gpu)
}

type Call = fn(&mut Builder, &Expr) -> Result<(), Error>;

/// Calls, each with an address in global memory.
const CALLS: [Call; 11] = [
    |b, _| atomic_thread_fence(b, MemoryOrder::AcqRel, Scope::Cluster),
    |b, _| PingPong::new(b, &Expr::from(0), 1, 1).map(drop),
    |b, to| Semaphore::new(b, &Gmem::new(to.clone(), DType::S32)).map(drop),
    |b, _| Pipeline::new(b, 0, 16, 1).map(drop),
    |b, _| OrderedSequence::new(b, -1, 1).map(drop),
    |b, to| at(b, to, DType::E4m3).map(drop),
    |b, to| {
        at(b, to, DType::F32)?.fetch_inc(b, &Scalar::new(DType::F32, 1.0), MemoryOrder::Relaxed).map(drop)
    },
    |b, to| at(b, to, DType::U32)?.load(b, MemoryOrder::Release).map(drop),
    |b, to| at(b, to, DType::U32)?.store(b, &Scalar::new(DType::U32, 1.0), MemoryOrder::Acquire),
    |b, _| Mbarrier::new(&Expr::from(0))?.init(b, 0),
    |b, _| Mbarrier::new(&Expr::from(0))?.arrive_and_expect_tx(b, -16, &Cond::Always),
];

fn builder() -> (Builder, Expr) {
    let mut b = Builder::new("k", 80, 32);
    let to = b.pointer("to", 16);
    (b, to)
}

#[test]
fn every_error_of_synchronisation_is_provoked() {
    complete(
        "sync",
        SyncError::KINDS,
        CALLS.map(|call| {
            let (mut b, to) = builder();
            let error = call(&mut b, &to).err().unwrap_or_else(|| panic!("not refused"));
            let [refused, untouched] =
                [b, builder().0].map(|b| b.finish().map(|kernel| kernel.into_module()));
            assert_eq!(refused, untouched, "{error}");
            error
        }),
    );
}
