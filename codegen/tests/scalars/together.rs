//! Scalars of several threads, and scalars of tensors.

use float8::{F8E4M3, F8E5M2};
use girih_codegen::algorithm::{block_reduce, copy, read, reduce, transform, warp_reduce, write};
use girih_codegen::atom::AUTO_VECTORIZING_COPY;
use girih_codegen::scalar::COMPUTED;
use girih_codegen::{Builder, BuilderError, Cond, Error, Expr, Gmem, Rmem, Scalar};
use girih_layout::{Lay, lay};
use girih_ptx::{Module, Special};
use girih_sim::{Launch, Memory, Options, Program};
use girih_tensor::{DType, Element, Space, Tensor};

/// Runs the kernel by `threads` threads with every check on; the kernel's memory begins with `input`.
fn executed(module: &Module, threads: u32, input: &[u8]) -> Vec<u8> {
    let memory = Memory::new();
    let at = memory.alloc(input.len()).unwrap();
    memory.write(at, input).unwrap();
    let program = Program::load(module).unwrap_or_else(|e| panic!("{e}\n{module}"));
    let shared = module.kernels()[0].dynamic_shared_bytes.unwrap();
    let launch = Launch {
        grid: [1; 3],
        block: [threads, 1, 1],
        dynamic_shared: shared,
        args: vec![at.to_le_bytes().to_vec()],
        ..Launch::default()
    };
    girih_sim::run(program.kernel("k").unwrap(), &memory, &launch, &Options::checked())
        .unwrap_or_else(|e| panic!("{e}\n{module}"));
    let mut out = vec![0; input.len()];
    memory.read(at, &mut out).unwrap();
    out
}

/// The s32 that each thread computes from its number.
pub(super) fn per_thread(
    threads: u32,
    body: impl FnOnce(&mut Builder, &Scalar) -> Result<Scalar, Error>,
) -> Result<Vec<i32>, Error> {
    let mut b = Builder::new("k", 80, threads);
    let (to, thread) = (b.pointer("to", 4), b.special(Special::TidX));
    let result = body(&mut b, &Scalar::index(&thread, DType::S32))?.to(DType::S32);
    let reg = b.scalar(&result)?;
    b.store(Space::Gmem, &(&to + &(&thread * 4)), &[reg], &Cond::Always)?;
    let out = executed(b.finish()?.module(), threads, &vec![0; 4 * threads as usize]);
    Ok(out.chunks_exact(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect())
}

#[test]
fn shuffles_bring_what_other_lanes_have() {
    // The numbers are exact in 8 bits.
    let own = |thread: i32| (thread * 37) % 128;
    for dtype in COMPUTED {
        let value = |thread: &Scalar| ((thread * 37) & 127).to(DType::F32).to(dtype);
        for distance in [0u32, 1, 3, 16, 31] {
            let run = |shuffle: fn(&mut Builder, &Scalar, u32) -> Result<Scalar, Error>| {
                per_thread(64, |b, thread| shuffle(b, &value(thread), distance)).unwrap()
            };
            let far = distance as i32;
            let lanes = |of: &dyn Fn(i32) -> i32| -> Vec<i32> {
                (0..64).map(|thread| own(thread / 32 * 32 + of(thread % 32))).collect()
            };
            assert_eq!(run(Builder::shfl_xor), lanes(&|lane| lane ^ far), "{dtype} {far}");
            assert_eq!(run(Builder::shfl_up), lanes(&|l| if l < far { l } else { l - far }), "{dtype} {far}");
            assert_eq!(
                run(Builder::shfl_down),
                lanes(&|l| if l + far > 31 { l } else { l + far }),
                "{dtype} {far}"
            );
        }
        let turned = per_thread(64, |b, thread| b.shfl(&value(thread), &(thread * 5 + 1))).unwrap();
        let wanted: Vec<i32> = (0..64).map(|t| own(t / 32 * 32 + (t * 5 + 1) % 32)).collect();
        assert_eq!(turned, wanted, "{dtype}");
    }
    assert!(matches!(
        per_thread(32, |b, thread| b.shfl_xor(thread, 32)),
        Err(Error::Builder(BuilderError::ShuffleLanes { .. }))
    ));
    assert!(per_thread(32, |b, thread| b.shfl(thread, &thread.to(DType::F32))).is_err());
}

#[test]
fn reductions_are_of_all_threads() {
    for dtype in [DType::F64, DType::F32, DType::F16, DType::S64, DType::U32, DType::S32] {
        for threads in [32, 64, 96, 256] {
            let value = |thread: &Scalar| (thread * 29 % 101).to(dtype);
            let own = |thread: i32| thread * 29 % 101;
            let warps = per_thread(threads, |b, t| warp_reduce(b, &value(t), |x, y| x.max(y))).unwrap();
            for (thread, found) in (0..).zip(warps) {
                let warp = thread / 32 * 32;
                assert_eq!(Some(found), (warp..warp + 32).map(own).max(), "{dtype} {threads} {thread}");
            }
            // Two reductions follow each other in the same shared memory: the largest number, then how many threads have it.
            let block = per_thread(threads, |b, t| {
                let largest = block_reduce(b, &value(t), |x, y| x.max(y))?;
                let one = Scalar::new(DType::S32, 1.0).select(&value(t).equals(&largest), 0);
                let count = block_reduce(b, &one, |x, y| x + y)?;
                Ok(largest.to(DType::S32) * 1000 + count)
            });
            let largest = (0..threads as i32).map(own).max().unwrap();
            let count = (0..threads as i32).filter(|&t| own(t) == largest).count() as i32;
            assert_eq!(block.unwrap(), vec![largest * 1000 + count; threads as usize], "{dtype} {threads}");
        }
    }
    let found = per_thread(48, |b, t| block_reduce(b, t, |x, y| x + y)).unwrap_err();
    assert_eq!(
        found.to_string(),
        "a reduction or scan of a block of 48 threads: multiples of 32 are accepted, which are whole warps"
    );
}

/// To read scalars and write them copies the values, in every dtype; to write them in reverse shows that each is a value by itself.
#[test]
fn scalars_of_a_tensor_are_its_values() {
    for &dtype in DType::ALL {
        let mut b = Builder::new("k", 80, 1);
        let x = Tensor::new(Gmem::new(b.pointer("x", 16), dtype), lay!("16:1"));
        let mut values = read(&mut b, &x).unwrap();
        values.reverse();
        write(&mut b, &x, &values).unwrap();
        let bits = dtype.bits() as usize;
        let input: Vec<u8> = (0..16 * bits / 8).map(|i| (i * 73 + 5) as u8).collect();
        let out = executed(b.finish().unwrap().module(), 1, &input);
        let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at % 8) & 1;
        for (i, at) in (0..16).flat_map(|i| (0..bits).map(move |at| (i, at))) {
            let (found, wanted) = (bit(&out, i * bits + at), bit(&input, (15 - i) * bits + at));
            assert_eq!(found, wanted, "{dtype}: value {i}, bit {at}");
        }
    }
}

/// Floats of 8 bits are rounded as on the host, four, two and one at a time, and in any order of a register.
#[test]
fn floats_of_bytes_are_rounded_where_they_are_written() {
    fn written<T: Element>(values: &[f32], to_bits: impl Fn(T) -> u8) {
        let count = values.len();
        let mut b = Builder::new("k", 89, 1);
        let x = b.pointer("x", 16);
        let floats =
            Tensor::new(Gmem::new(x.clone(), DType::F32), Lay::strided([count as i64], [1]).unwrap());
        let read_values = read(&mut b, &floats).unwrap();
        // Seven values fill a register, and three quarters of another one. Of the last eight, each register gets every second.
        let (sevens, eights) = read_values.split_at(count - 8);
        let at = |i: usize| &x + &Expr::from((4 * count + i) as i64);
        for (i, seven) in sevens.chunks(7).enumerate() {
            write(&mut b, &Tensor::new(Gmem::new(at(7 * i), T::DTYPE), lay!("7:1")), seven).unwrap();
        }
        let shuffled = Rmem::tensor(&mut b, T::DTYPE, lay!("(4,2):(2,1)")).unwrap();
        write(&mut b, &shuffled, eights).unwrap();
        let in_order = Tensor::new(shuffled.engine().clone(), lay!("8:1"));
        let place = Tensor::new(Gmem::new(at(count - 8), T::DTYPE), lay!("8:1"));
        copy(&mut b, AUTO_VECTORIZING_COPY, &in_order, &place).unwrap();
        let input = values.iter().flat_map(|x| x.to_le_bytes()).chain(vec![0; count]).collect::<Vec<u8>>();
        let out = executed(b.finish().unwrap().module(), 1, &input);
        let wanted = |x: f32| to_bits(T::from_f64(x.into()));
        for (i, &found) in out[4 * count..].iter().enumerate() {
            let (first, place) = (count - 8, i.wrapping_sub(count - 8));
            let from = if i < first { i } else { first + place % 2 * 4 + place / 2 };
            assert_eq!(found, wanted(values[from]), "{} of {}", T::DTYPE, values[from]);
        }
    }
    // Ties, the least numbers, the greatest, and what is beyond them.
    let steps = (0..50).map(|i| 0.9375 + i as f32 / 64.0);
    let small = (-12..=12).map(|i| i as f32 * 2f32.powi(-11));
    let large = [440.0, 448.0, 456.0, 464.0, 1e5, -1e5, 57344.0, 61440.0, -61440.0, f32::MAX, 0.0, -0.0];
    let mut values: Vec<f32> = steps.chain(small).chain(large).collect();
    values.resize(7 * 12 + 8, 1.0);
    written::<F8E4M3>(&values, |x| x.to_bits());
    written::<F8E5M2>(&values, |x| x.to_bits());
}

#[test]
fn tensors_are_reduced_in_their_order() {
    let mut b = Builder::new("k", 80, 1);
    let pointer = b.pointer("x", 16);
    let x = Tensor::new(Gmem::new(pointer.clone(), DType::S32), lay!("(2,2):(2,1)"));
    let initial = Scalar::new(DType::S32, 1.0);
    let sum = reduce(&mut b, &x, initial, |_, sum, x| Ok(sum * 10 + x)).unwrap();
    transform(&mut b, &[&x], &x, |_, x| Ok(&x[0] - &sum)).unwrap();
    let input: Vec<u8> = [3i32, 5, 7, 9].iter().flat_map(|x| x.to_le_bytes()).collect();
    let out = executed(b.finish().unwrap().module(), 1, &input);
    let found: Vec<i32> = out.chunks(4).map(|w| i32::from_le_bytes(w.try_into().unwrap())).collect();
    assert_eq!(found, [3, 5, 7, 9].map(|x| x - 13759));
    // A reduction of 2000 values has more nested operations than an expression may have.
    let mut b = Builder::new("k", 80, 1);
    let x = Tensor::new(Gmem::new(b.pointer("x", 16), DType::U8), lay!("2000:1"));
    let sum = reduce(&mut b, &x, Scalar::new(DType::U32, 0.0), |_, sum, x| Ok(sum + x)).unwrap();
    write(&mut b, &Tensor::new(x.engine().clone(), lay!("1:1")), &[sum & 255]).unwrap();
    assert_eq!(executed(b.finish().unwrap().module(), 1, &[3; 2000])[0], (6000 & 255) as u8);
}

#[test]
fn scalars_that_no_tensor_takes_are_refused() {
    let mut b = Builder::new("k", 80, 1);
    let x = Tensor::new(Gmem::new(b.pointer("x", 16), DType::S8), lay!("4:1"));
    let values = read(&mut b, &x).unwrap();
    let refused = |b: &mut Builder, scalars: &[Scalar]| write(b, &x, scalars).unwrap_err().to_string();
    expect_test::expect![
        "write: 3 scalars of s32 does not fit 4:1 of s8: a scalar for each value, of the tensor's dtype; integers below 32 bits are extended to 32, floats of 8 bits are f32 or u32 of their bits"
    ]
    .assert_eq(&refused(&mut b, &values[1..]));
    let floats: Vec<Scalar> = values.iter().map(|x| x.to(DType::F32)).collect();
    assert!(refused(&mut b, &floats).contains("4 scalars of f32"));
    let coordinates = Tensor::new(girih_codegen::Counting::new(1), lay!("4:1@0"));
    assert!(read(&mut b, &coordinates).is_err());
}
