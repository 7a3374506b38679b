//! A kernel for any MMA atom: it loads fragments from global memory, runs the atom over a few steps along K, and stores C.

use girih_codegen::algorithm::{
    MmaWith, copy, fence_proxy_async, gemm, warpgroup_arrive, warpgroup_commit_batch, warpgroup_wait,
};
use girih_codegen::atom::{AUTO_VECTORIZING_COPY, GmmaLayout, Major, MmaAtom, MmaKind};
use girih_codegen::{Builder, Cond, Error, Expr, Gmem, Memory, Operand, Rmem, Smem, TiledMma};
use girih_layout::Lay;
use girih_ptx::{Module, Special, Type};
use girih_tensor::{DType, Slice, Space, Tensor};

/// An atom's kernel: what it computes, and how A and B lie in shared memory.
#[derive(Clone, Copy)]
pub(crate) struct OneAtom {
    pub(crate) mma: TiledMma,
    /// How many tiles of the MMA the matrices have along M and along N.
    pub(crate) repeats: [i64; 2],
    /// How many steps along K the kernel takes.
    pub(crate) steps: i64,
    /// Whether the product is added to C, and which of A and B are negated.
    pub(crate) accumulate: bool,
    pub(crate) negate: [bool; 2],
    /// Layouts of A and B in shared memory.
    pub(crate) shared: [GmmaLayout; 2],
}

impl OneAtom {
    /// Extents M, N, K of the matrices.
    pub(crate) fn extents(&self) -> [i64; 3] {
        let [m, n, k] = self.mma.tile_size_mnk().expect("constants");
        [m * self.repeats[0], n * self.repeats[1], k * self.steps]
    }

    pub(crate) fn atom(&self) -> &MmaAtom {
        &self.mma.atom
    }

    fn tile(&self, operand: Operand) -> [i64; 2] {
        let extents = self.extents();
        operand.modes().map(|mode| extents[mode])
    }

    /// The layout of an operand in global memory: A and B in the order in which the instruction takes them, C by rows.
    pub(crate) fn global(&self, operand: Operand) -> Lay {
        let [x, y] = self.tile(operand);
        let by_rows = match operand {
            Operand::C => true,
            _ => self.atom().majors[operand as usize] == Major::K,
        };
        let stride = if by_rows { [y, 1] } else { [1, x] };
        Lay::strided([x, y], stride).expect("a layout")
    }

    /// Bytes of shared memory.
    pub(crate) fn shared_bytes(&self) -> u32 {
        let operands = [Operand::A, Operand::B].into_iter().filter(|&o| self.atom().from_shared(o));
        operands.map(|operand| self.tile_bytes(operand) as u32).sum()
    }

    /// Bytes from the beginning of an operand's tile in shared memory to the beginning of the next one.
    fn tile_bytes(&self, operand: Operand) -> i64 {
        let [x, y] = self.tile(operand);
        let bytes = self.atom().dtype(operand).bytes_of(x * y).expect("whole bytes");
        (bytes + 1023) / 1024 * 1024
    }

    /// The kernel `name(a, b, c)`: `c += a * b^T`.
    pub(crate) fn module(&self, name: &str) -> Result<Module, Error> {
        let threads = self.mma.threads()?;
        let mut b = Builder::new(name, 90, threads as u32);
        let pointers = ["a", "b", "c"].map(|name| b.pointer(name, 16));
        let thread = b.special(Special::TidX);
        let thr = self.mma.get_slice(&thread)?;
        let atom = *self.atom();
        let global = |operand: Operand| {
            let engine = Gmem::new(pointers[operand as usize].clone(), atom.dtype(operand));
            Tensor::new(engine, self.global(operand))
        };
        let registers = |b: &mut Builder, operand: Operand| -> Result<Tensor<Rmem>, Error> {
            let fragment = thr.partition_fragment(b, operand, &global(operand))?;
            copy(b, AUTO_VECTORIZING_COPY, &thr.partition(operand, &global(operand))?, &fragment)?;
            Ok(fragment)
        };
        let c = registers(&mut b, Operand::C)?; // (FrgV,1,1)
        let accumulate = if self.accumulate { Cond::Always } else { Cond::Never };
        let with = MmaWith::from(&self.mma).accumulate(accumulate).negate(self.negate);
        if !atom.kind.is_wgmma() {
            let (fa, fb) = (registers(&mut b, Operand::A)?, registers(&mut b, Operand::B)?); // (FrgV,1,Steps)
            gemm(&mut b, with, &fa, &fb, &c)?;
        } else {
            let mut tensors = Vec::new();
            for operand in [Operand::A, Operand::B].into_iter().filter(|&o| atom.from_shared(o)) {
                let tile = self.shared[operand as usize].tile(atom.dtype(operand), self.tile(operand))?;
                let swizzle = Some(tile.swizzle()).filter(|s| s.bits() > 0);
                let base = b.alloc_shared(self.tile_bytes(operand), 1024)?;
                let shared = Tensor::new(Smem::new(base, atom.dtype(operand), swizzle), *tile.layout()); // (MN,K)
                self.fill(&mut b, operand, &global(operand), &shared, &thread)?;
                tensors.push(thr.partition_descriptor(operand, &shared)?); // (1,1,Steps)
            }
            fence_proxy_async(&mut b);
            b.barrier();
            let fb = tensors.pop().expect("B is in shared memory");
            if let Some(fa) = tensors.pop() {
                warpgroup_arrive(&mut b);
                gemm(&mut b, with, &fa, &fb, &c)?;
            } else {
                let fa = registers(&mut b, Operand::A)?;
                warpgroup_arrive(&mut b);
                gemm(&mut b, with, &fa, &fb, &c)?;
            }
            warpgroup_commit_batch(&mut b);
            warpgroup_wait(&mut b, 0);
        }
        copy(&mut b, AUTO_VECTORIZING_COPY, &c, &thr.partition(Operand::C, &global(Operand::C))?)?;
        Ok(b.finish()?.into_module())
    }

    /// Copies an operand to shared memory, 16 bytes at a time.
    fn fill(
        &self,
        b: &mut Builder,
        operand: Operand,
        from: &Tensor<Gmem>,
        to: &Tensor<Smem>,
        thread: &Expr,
    ) -> Result<(), Error> {
        let unit = 128 / i64::from(self.atom().dtype(operand).bits());
        let [x, y] = self.tile(operand);
        let along_k = self.atom().majors[operand as usize] == Major::K;
        let (rows, units) = if along_k { (x, x * y / unit) } else { (x / unit, x * y / unit) };
        for first in (0..units).step_by(self.mma.threads()? as usize) {
            let index = thread + first;
            let (row, column) = (index.rem(rows)?, index.div(rows)?);
            let at = if along_k { [row, &column * unit] } else { [&row * unit, column] };
            let inside = Cond::less(&index, &Expr::from(units));
            let slice = Slice::tuple(at.map(Slice::At));
            let regs = b.regs(Type::B32, 4);
            b.load(Space::Gmem, &regs, &from.slice(&slice)?.into_engine().address()?, &inside)?;
            b.store(Space::Smem, &to.slice(&slice)?.into_engine().address()?, &regs, &inside)?;
        }
        Ok(())
    }
}

/// A kernel for each atom. The atoms of a warpgroup use the layouts of shared memory by turns.
pub(crate) fn every_atom() -> Vec<OneAtom> {
    let all = MmaAtom::all().enumerate().map(|(turn, atom)| {
        let atoms = match atom.kind {
            MmaKind::Fma | MmaKind::Dot => "(8,4):(4,1)",
            // Four quad pairs make a warp.
            MmaKind::Mma if atom.threads.size().is_ok_and(|n| n.is(8)) => "(2,2):(1,2)",
            _ => "(1,1):(0,0)",
        };
        let mma = TiledMma::new(atom, Lay::parse(atoms).expect("a layout")).expect("a tiled MMA");
        if !atom.kind.is_wgmma() {
            let any = GmmaLayout::all().next().expect("eight");
            return OneAtom {
                mma,
                repeats: [1; 2],
                steps: 2,
                accumulate: true,
                negate: [false; 2],
                shared: [any; 2],
            };
        }
        let steps = [1, 2, 4][turn % 3];
        let choose = |operand: Operand, turn: usize| {
            let major = atom.majors[operand as usize];
            let [x, k] = operand.modes().map(|mode| atom.shape_mnk[mode]);
            let fits =
                |l: &GmmaLayout| l.major == major && l.tile(atom.dtype(operand), [x, k * steps]).is_ok();
            let layouts: Vec<GmmaLayout> = GmmaLayout::all().filter(fits).collect();
            layouts[turn % layouts.len()]
        };
        let floats = atom.c_type != DType::S32;
        OneAtom {
            mma,
            repeats: [1; 2],
            steps,
            accumulate: turn % 4 != 0,
            negate: [floats && turn % 7 == 0, floats && turn % 5 == 0],
            shared: [choose(Operand::A, turn / 3), choose(Operand::B, turn / 5)],
        }
    });
    all.collect()
}

/// Atoms side by side, in several tiles along M, N and K.
pub(crate) fn side_by_side() -> Vec<OneAtom> {
    let atom = |name: &str| MmaAtom::find(name).unwrap_or_else(|| panic!("{name}"));
    let mut out = Vec::new();
    for (name, atoms) in [
        ("UniversalFMA_F16", "((2,4),8):((1,16),2)"),
        ("UniversalFMA_S32", "(8,8):(8,1)"),
        ("SM61_DP4A", "(8,8):(1,8)"),
        ("SM70_8x8x4_F16F16F16F16_NT", "(4,4):(1,4)"),
        ("SM75_16x8x8_F32F16F16F32_TN", "(2,2):(1,2)"),
        ("SM80_16x8x16_F32BF16BF16F32_TN", "(4,1):(1,0)"),
        ("SM80_16x8x64_S32U4S4S32_TN_SATURATE", "(1,3):(0,1)"),
        ("SM80_8x8x128_S32U1U1S32_TN_XORPOPC", "(2,2):(2,1)"),
        ("SM89_16x8x32_F16E4M3E5M2F16_TN", "(2,1):(1,0)"),
        ("SM90_16x8x8_F64F64F64F64_TN", "(1,2):(0,1)"),
        ("SM90_64x16x16_F32F16F16_SS", "(2,1):(1,0)"),
        ("SM90_64x32x16_F16F16F16_SS<MN,MN>", "(1,2):(0,1)"),
        ("SM90_64x64x16_F32BF16BF16_RS<K,MN>", "(2,1):(1,0)"),
        ("SM90_64x24x8_F32TF32TF32_RS_TN", "(1,1):(0,0)"),
        ("SM90_64x48x32_S32U8S8_SS_TN_SATURATE", "(2,2):(1,2)"),
    ] {
        let mma = TiledMma::new(atom(name), Lay::parse(atoms).expect("a layout")).expect("a tiled MMA");
        let tile = mma.tile_size_mnk().expect("constants");
        let (repeats, steps) = ([2, 3], 4);
        let layouts = |operand: Operand| -> Vec<GmmaLayout> {
            let major = mma.atom.majors[operand as usize];
            let x = mma.atom.shape_mnk[operand.modes()[0]];
            let extents = [x, tile[2] * steps];
            let fits = |l: &GmmaLayout| l.major == major && l.tile(mma.atom.dtype(operand), extents).is_ok();
            GmmaLayout::all().filter(fits).collect()
        };
        let in_memory = mma.atom.kind.is_wgmma();
        let all: Vec<GmmaLayout> = GmmaLayout::all().collect();
        let (a, b) = if in_memory { (layouts(Operand::A), layouts(Operand::B)) } else { (all.clone(), all) };
        for turn in 0..if in_memory { a.len().max(b.len()) } else { 1 } {
            let shared = [a[turn % a.len()], b[turn % b.len()]];
            out.push(OneAtom { mma, repeats, steps, accumulate: true, negate: [false; 2], shared });
        }
    }
    out
}

/// One module with the kernels of many.
pub(crate) fn merged(modules: Vec<Module>) -> Module {
    let mut modules = modules.into_iter();
    let mut out = modules.next().expect("at least one");
    for module in modules {
        out.version = out.version.max(module.version);
        assert_eq!(out.target, module.target);
        for item in module.items {
            if matches!(item, girih_ptx::Item::Kernel(_)) || !out.items.contains(&item) {
                out.items.push(item);
            }
        }
    }
    // Variables have to stand before the kernels that name them.
    out.items.sort_by_key(|item| matches!(item, girih_ptx::Item::Kernel(_)));
    out
}

/// The bytes of small whole numbers in a dtype. Elements below a byte are packed, the first one in the lowest bits.
pub(crate) fn encode(dtype: DType, values: &[i64]) -> Vec<u8> {
    use girih_tensor::Element;
    fn bits<T: Element>(value: i64, of: fn(T) -> u64) -> u64 {
        of(T::from_f64(value as f64))
    }
    let one = |&value: &i64| match dtype {
        DType::F64 => bits::<f64>(value, f64::to_bits),
        DType::F32 | DType::Tf32 => bits::<f32>(value, |x| x.to_bits().into()),
        DType::F16 => bits::<half::f16>(value, |x| x.to_bits().into()),
        DType::Bf16 => bits::<half::bf16>(value, |x| x.to_bits().into()),
        DType::E4m3 => bits::<float8::F8E4M3>(value, |x| x.to_bits().into()),
        DType::E5m2 => bits::<float8::F8E5M2>(value, |x| x.to_bits().into()),
        _ => value as u64,
    };
    let size = dtype.bits() as usize;
    let mut out = vec![0u8; values.len() * size / 8];
    for (i, value) in values.iter().enumerate() {
        for bit in 0..size {
            let place = i * size + bit;
            out[place / 8] |= ((one(value) >> bit & 1) as u8) << (place % 8);
        }
    }
    out
}

/// The numbers that the bytes hold.
pub(crate) fn decode(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let size = dtype.bits() as usize / 8;
    bytes
        .chunks_exact(size)
        .map(|chunk| {
            let word = chunk.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
            match dtype {
                DType::F64 => f64::from_bits(word),
                DType::F32 => f32::from_bits(word as u32).into(),
                DType::F16 => half::f16::from_bits(word as u16).to_f64(),
                DType::Bf16 => half::bf16::from_bits(word as u16).to_f64(),
                DType::S32 => f64::from(word as u32 as i32),
                other => panic!("{other} is no accumulator"),
            }
        })
        .collect()
}
