//! Three mistakes in each kernel, and what is said of them.

use expect_test::{Expect, expect};
use girih::codegen::algorithm::{block_reduce, copy};
use girih::codegen::atom::{AUTO_VECTORIZING_COPY, SM50_RED_ADD_F32_V1, SM60_RED_ADD_F16X2_V1};
use girih::codegen::{Builder, Kernel, Scalar, Smem};
use girih::device::{Arg, Device, Select};
use girih::kernels::gemm::{Epilogue, Gemms, Given, KernelKind, Layout, Problem};
use girih::layout::lay;
use girih::ptx::{Module, Notes, Special};
use girih::tensor::DType;

use crate::fused;
use crate::gather::{self, gather};
use crate::softmax::{self, softmax};
use crate::split_k::{self, split_k};
use crate::transpose::{self, transpose};

fn simulator() -> Device {
    Device::open(Select::Sim).expect("there is always a simulator")
}

/// The kernel with every line that contains `from` written otherwise, or left out.
fn edited(kernel: &Kernel, from: &str, to: Option<&str>) -> Module {
    let text = kernel.module().to_string();
    assert!(text.contains(from), "{text}");
    let line = |line: &str| match (line.contains(from), to) {
        (false, _) => Some(line.to_owned()),
        (true, Some(to)) => Some(line.replace(from, to)),
        (true, None) => None,
    };
    let lines: Vec<String> = text.lines().filter_map(line).collect();
    let mut module = Module::parse(&lines.join("\n")).expect("what was PTX");
    let launches = kernel.module().notes.launch(kernel.name()).cloned().into_iter().collect();
    module.notes = Notes::new(&module.to_string(), Vec::new(), Vec::new()).with_launches(launches);
    module
}

/// The first line of what is said.
fn told<T>(result: Result<T, impl std::fmt::Display>, expected: Expect) {
    let said = result.err().map_or_else(|| String::from("nothing"), |error| error.to_string());
    expected.assert_eq(&format!("{}\n", said.lines().next().unwrap_or_default()));
}

#[test]
fn of_the_softmax() {
    let kernel = softmax().expect("the kernel");
    // Rows that the block's registers do not hold.
    told(
        softmax::run(&simulator(), kernel.module(), [1, 5000, 5000]),
        expect![[r#"
        kernel `softmax`: parameter `columns` = 5000: the kernel takes values from 1 to 4096, as examples/kernels/softmax.rs:18:21 says
    "#]],
    );
    // What lies beyond the row was not set to the lowest number.
    told(
        softmax::run(&simulator(), &edited(&kernel, "0fFF800000", None), [1, 100, 100]),
        expect![[r#"
            simulator: softmax, line 594: `@%p2 st.global.f32 [%rd9], %f0`, block (0, 0, 0), thread (0, 0, 0): register `%f64` is read before it is written by way of `%f0`
        "#]],
    );
    // The warps' results are read before all have been written.
    told(
        softmax::run(&simulator(), &edited(&kernel, "bar.sync", None), [1, 100, 100]),
        expect![[r#"
            simulator: softmax, line 276: `ld.shared.f32 %f106, [%r37]`, block (0, 0, 0), thread (1, 0, 0): data race: read at shared address 0x400 against the write of softmax, line 275: `@%p65 st.shared.f32 [%r40], %f105`, block (0, 0, 0), thread (0, 0, 0)
        "#]],
    );
    // A block that is not of whole warps.
    let mut b = Builder::new("softmax", 80, 100);
    told(
        block_reduce(&mut b, &Scalar::new(DType::F32, 0.0), |x, y| x + y),
        expect![[r#"
            a reduction or scan of a block of 100 threads: multiples of 32 are accepted, which are whole warps
        "#]],
    );
}

#[test]
fn of_the_transpose() {
    let kernel = transpose().expect("the kernel");
    // The tile is read before all of it has been written.
    told(
        transpose::run(&simulator(), &edited(&kernel, "bar.sync", None), [40, 40]),
        expect![[r#"
        simulator: transpose, line 109: `@%p11 ld.shared.b32 %r31, [%r34]`, block (0, 0, 0), thread (8, 0, 0): data race: read at shared address 0x820 against the write of transpose, line 90: `@%p4 st.shared.b32 [%r24+1024], %r14`, block (0, 0, 0), thread (0, 0, 0)
    "#]],
    );
    // Partitions of different sizes.
    let mut b = Builder::new("transpose", 80, 256);
    let thread = b.special(Special::TidX);
    let tile = Smem::alloc(&mut b, DType::F32, None, &lay!("(32,32):(32,1)")).expect("a tile");
    let [four, two] = [lay!("((32,8),4):((32,1),8)"), lay!("((32,8),2):((32,1),8)")]
        .map(|tv| tile.tv_partition(&tv, &thread).expect("a partition"));
    told(
        copy(&mut b, AUTO_VECTORIZING_COPY, &four, &two),
        expect![[r#"
        copy: Smem f32 4:256 to Smem f32 2:256 does not fit AutoVectorizingCopyWithAssumedAlignment<128>, from any to any: as many values on both sides
    "#]],
    );
    // More rows than the matrices have.
    let device = simulator();
    let (x, y) = (device.zeros::<f32>(64).expect("memory"), device.zeros::<f32>(64).expect("memory"));
    let kernel = device.load(&kernel).and_then(|module| module.kernel("transpose")).expect("a kernel");
    let args = [("x", Arg::from(&x)), ("y", Arg::from(&y)), ("rows", Arg::U32(9)), ("columns", Arg::U32(8))];
    let (config, args) =
        (kernel.config([1, 1, 1]).expect("a block"), kernel.arguments(&args).expect("names"));
    // SAFETY: the simulator refuses what goes out of bounds.
    let launched = unsafe { kernel.launch(&config, &args) };
    told(
        launched,
        expect![[r#"
            simulator: transpose, transpose.rs:26 (PTX line 62): `@%p4 ld.global.b32 %r14, [%rd23]`, block (0, 0, 0), thread (0, 0, 0): read of 4 bytes at global address 0x700000100 is out of bounds; it ends 4 bytes after the nearest memory, 256 bytes at 0x700000000
        "#]],
    );
}

#[test]
fn of_the_fused_product() {
    let device = simulator();
    let problem = Problem::new(DType::F32, [8, 16, 4], Layout::Tn).expect("a problem");
    let gemms = Gemms::new(&device);
    let gemm = gemms.fused(&problem, KernelKind::Simt, &fused::linear(DType::F32)).expect("a GEMM");
    let zeros = |len| device.zeros::<f32>(len).expect("memory");
    let (a, b, bias, residual, c) = (zeros(32), zeros(64), zeros(16), zeros(128), zeros(128));
    // The bias is a row of C, which other threads write.
    let row = c.slice(..16).expect("a part");
    let given = [("bias", Given::from(&row)), ("residual", Given::from(&residual))];
    told(
        gemm.run_with(&a, &b, &c, &given),
        expect![[r#"
            C and an input have 64 bytes in common, such as the byte at 0x700400500, (byte,coordinate) (0,(0,0,0,0)) of the one and (0,(0,0,0,0)) of the other: buffers or slices without a common part are accepted
        "#]],
    );
    // The bias of another layer.
    let short = bias.slice(..8).expect("a part");
    let given = [("bias", Given::from(&short)), ("residual", Given::from(&residual))];
    told(
        gemm.run_with(&a, &b, &c, &given),
        expect![[r#"
        `bias`: 8 elements, but accepted are: 16 elements or more
    "#]],
    );
    // Another function under the same key.
    let scaled = |by: f64| Epilogue::new().map("scaled", move |x| x * by);
    gemms.fused(&problem, KernelKind::Simt, &scaled(0.5)).expect("a GEMM");
    told(
        gemms.fused(&problem, KernelKind::Simt, &scaled(2.0)),
        expect![[r#"
        the epilogue `scaled` is not the one that is loaded by this key: a key that names all that a node's function depends on is accepted
    "#]],
    );
}

#[test]
fn of_the_split_over_k() {
    let kernel = split_k(SM50_RED_ADD_F32_V1).expect("the kernel");
    let run = |module: &Module| split_k::run(&simulator(), module, [64, 64, 128], 2);
    // Blocks store their parts instead of adding them.
    told(
        run(&edited(&kernel, "red.global.add.f32", Some("st.global.f32"))),
        expect![[r#"
            simulator: split_k, line 520: `@%p82 st.global.f32 [%rd65], %f0`, block (0, 0, 1), thread (0, 0, 0): data race: write at global address 0x700208000 against the write of split_k, line 520: `@%p82 st.global.f32 [%rd65], %f0`, block (0, 0, 0), thread (0, 0, 0)
        "#]],
    );
    // The sums begin with what the registers held.
    told(
        run(&edited(&kernel, "0f00000000", None)),
        expect![[r#"
            simulator: split_k, line 488: `@%p82 red.global.add.f32 [%rd65], %f0`, block (0, 0, 0), thread (0, 0, 0): register `%f0` is read before it is written
        "#]],
    );
    // An atom that adds values of another dtype.
    told(
        split_k(SM60_RED_ADD_F16X2_V1),
        expect![[r#"
        copy: Rmem f32 ((2,2),2,4):((1,2),4,8) to Gmem f32 ((2,2),2,4):((1@1,8@0),32@0,16@1) does not fit SM60_RED_ADD_F16X2_V1, from Rmem to Gmem: values of the type that the atom adds
    "#]],
    );
}

#[test]
fn of_the_gather() {
    let kernel = gather().expect("the kernel");
    // Rows without columns.
    told(
        gather::run(&simulator(), kernel.module(), [3, 4, 0]),
        expect![[r#"
        kernel `gather`: the grid [4, 0, 1] is empty; every extent must be at least 1 (skip the launch of empty work)
    "#]],
    );
    // A predicate that nobody computes with: the last chunk goes past the row.
    told(
        gather::run(&simulator(), &edited(&kernel, "@%p", Some("@!%p")), [3, 4, 513]),
        expect![[r#"
            simulator: gather, line 77: `@!%p4 st.global.b32 [%rd26], %r8`, block (3, 1, 0), thread (1, 0, 0): write of 4 bytes at global address 0x700203a10 is out of bounds; it ends 4 bytes after the nearest memory, 8208 bytes at 0x700201a00
        "#]],
    );
    // A float is no row.
    let mut b = Builder::new("gather", 80, 128);
    told(
        b.index_of(&Scalar::new(DType::F32, 1.0)),
        expect![[r#"
        index_of: f32 does not fit an index: s64, u64, s32 and u32
    "#]],
    );
}
