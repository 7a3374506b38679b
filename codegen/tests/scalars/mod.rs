//! Scalars: a kernel stores what the host computes.
#![expect(clippy::unwrap_used, reason = "tests")]

mod atomics;
mod carried;
mod conditions;
mod division;
mod functions;
mod lanes;
mod packed;
mod printing;
mod random;
mod together;

use girih_codegen::{Builder, Cond, Error, Scalar};
use girih_ptx::Module;
use girih_sim::{Launch, Memory, Options, Program};
use girih_tensor::{DType, Element, Space};
use half::{bf16, f16};

use Value::{Bf16, F16, F32, F64, S32, S64, U32, U64};

/// A value of the host.
#[derive(Clone, Copy, Debug)]
enum Value {
    F64(f64),
    F32(f32),
    F16(f16),
    Bf16(bf16),
    S64(i64),
    U64(u64),
    S32(i32),
    U32(u32),
}

impl Value {
    fn dtype(self) -> DType {
        match self {
            F64(_) => DType::F64,
            F32(_) => DType::F32,
            F16(_) => DType::F16,
            Bf16(_) => DType::Bf16,
            S64(_) => DType::S64,
            U64(_) => DType::U64,
            S32(_) => DType::S32,
            U32(_) => DType::U32,
        }
    }

    fn of_bits(dtype: DType, bits: u64) -> Value {
        match dtype {
            DType::F64 => F64(f64::from_bits(bits)),
            DType::F32 => F32(f32::from_bits(bits as u32)),
            DType::F16 => F16(f16::from_bits(bits as u16)),
            DType::Bf16 => Bf16(bf16::from_bits(bits as u16)),
            DType::S64 => S64(bits as i64),
            DType::U64 => U64(bits),
            DType::S32 => S32(bits as i32),
            _ => U32(bits as u32),
        }
    }

    /// The bits of the value; every NaN has the same ones.
    fn bits(self) -> u64 {
        match self {
            F64(x) if x.is_nan() => u64::MAX,
            F32(x) if x.is_nan() => u64::MAX,
            F16(x) if x.is_nan() => u64::MAX,
            Bf16(x) if x.is_nan() => u64::MAX,
            F64(x) => x.to_bits(),
            F32(x) => x.to_bits().into(),
            F16(x) => x.to_bits().into(),
            Bf16(x) => x.to_bits().into(),
            S64(x) => x as u64,
            U64(x) => x,
            S32(x) => x as u32 as u64,
            U32(x) => x.into(),
        }
    }

    /// The value as f64, which is exact except for integers of 64 bits.
    fn number(self) -> f64 {
        match self {
            F64(x) => x,
            F32(x) => x.into(),
            F16(x) => x.into(),
            Bf16(x) => x.into(),
            S64(x) => x as f64,
            U64(x) => x as f64,
            S32(x) => x.into(),
            U32(x) => x.into(),
        }
    }
}

/// Converts as Rust's `as` does; `None` for a NaN from or to 64 bits.
fn converted(value: Value, to: DType) -> Option<Value> {
    if value.number().is_nan() && !to.is_float() && (to.bits() == 64 || matches!(value, F64(_))) {
        return Some(Value::of_bits(to, 1 << (to.bits() - 1)));
    }
    macro_rules! cast {
        ($x:expr) => {
            match to {
                DType::F64 => F64($x as f64),
                DType::F32 => F32($x as f32),
                DType::S64 => S64($x as i64),
                DType::U64 => U64($x as u64),
                DType::S32 => S32($x as i32),
                DType::U32 => U32($x as u32),
                // Integers that f64 rounds are beyond the range of f16: they become infinite either way.
                DType::F16 => F16(<f16 as Element>::from_f64($x as f64)),
                _ => Bf16(<bf16 as Element>::from_f64($x as f64)),
            }
        };
    }
    let narrow = to == DType::Bf16 && !matches!(value, F32(_) | F16(_) | Bf16(_));
    if narrow {
        return None;
    }
    Some(match value {
        F64(x) => cast!(x),
        F32(x) => cast!(x),
        F16(x) => cast!(f64::from(x)),
        Bf16(x) => cast!(f64::from(x)),
        S64(x) => cast!(x),
        U64(x) => cast!(x),
        S32(x) => cast!(x),
        U32(x) => cast!(x),
    })
}

/// Runs a kernel that loads the first scalars and stores every scalar, each in 8 bytes.
fn run(
    loaded: &[Value],
    build: impl FnOnce(&mut Builder, Vec<Scalar>) -> Result<Vec<Scalar>, Error>,
) -> Vec<u64> {
    let mut b = Builder::new("k", 80, 1);
    let (from, to) = (b.pointer("from", 8), b.pointer("to", 8));
    let mut inputs = Vec::new();
    for (i, value) in loaded.iter().enumerate() {
        let dtype = value.dtype();
        let wide = b.scalar(&Scalar::new(dtype, 0.0)).unwrap().ty();
        let reg = b.reg(wide);
        b.load(Space::Gmem, std::slice::from_ref(&reg), &(&from + 8 * i as i64), &Cond::Always).unwrap();
        inputs.push(b.scalar_in(&reg, dtype).unwrap());
    }
    let results = build(&mut b, inputs).unwrap();
    for (i, result) in results.iter().enumerate() {
        let reg = b.scalar(result).unwrap();
        b.store(Space::Gmem, &(&to + 8 * i as i64), &[reg], &Cond::Always).unwrap();
    }
    let module = b.finish().unwrap().into_module();
    let bytes: Vec<u8> = loaded
        .iter()
        .flat_map(|value| match value {
            F64(x) if x.is_nan() => x.to_bits().to_le_bytes(),
            F32(x) => u64::from(x.to_bits()).to_le_bytes(),
            F16(x) => u64::from(x.to_bits()).to_le_bytes(),
            Bf16(x) => u64::from(x.to_bits()).to_le_bytes(),
            other => other.bits().to_le_bytes(),
        })
        .collect();
    let out = execute(&module, &bytes, results.len());
    results.iter().zip(out).map(|(result, bits)| Value::of_bits(result.dtype(), bits).bits()).collect()
}

fn execute(module: &Module, input: &[u8], results: usize) -> Vec<u64> {
    let memory = Memory::new();
    let (from, to) = (memory.alloc(input.len().max(8)).unwrap(), memory.alloc(8 * results.max(1)).unwrap());
    memory.write(from, input).unwrap();
    memory.fill(to, 0, 8 * results.max(1)).unwrap();
    let args = [from, to].map(|address| address.to_le_bytes().to_vec()).to_vec();
    let launch = Launch { grid: [1; 3], block: [1; 3], args, ..Launch::default() };
    let program = Program::load(module).unwrap_or_else(|e| panic!("{e}\n{module}"));
    girih_sim::run(program.kernel("k").unwrap(), &memory, &launch, &Options::checked())
        .unwrap_or_else(|e| panic!("{e}\n{module}"));
    let mut bytes = vec![0; 8 * results];
    memory.read(to, &mut bytes).unwrap();
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}
