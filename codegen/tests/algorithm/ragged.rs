//! Tiles that the end of a tensor cuts: what is inside the tensor is copied, and nothing outside is touched.

use girih_codegen::algorithm::{CopyWith, Predicates, clear, copy, copy_if, fill};
use girih_codegen::atom::{
    AUTO_VECTORIZING_COPY, SM80_CP_ASYNC_CACHEGLOBAL_16, SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16,
    UNIVERSAL_COPY_32,
};
use girih_codegen::{Builder, Cond, Counting, Error, Expr, Gmem, Rmem, Smem, TiledCopy};
use girih_layout::{Int, Lay, Shape, Stride, Strides, Tile, Tiler, Tiles, lay, tiler};
use girih_ptx::{Module, Special};
use girih_sim::{Launch, Memory};
use girih_tensor::{DType, Slice, Tensor};

use crate::simulator::{addresses, block, checked, download, ones, sizes, upload};

/// Rows and columns of a block's tile.
const TILE: [i64; 2] = [4, 32];
const THREADS: i64 = 16;

/// The way of the values from source to destination.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Through registers, with zeros outside of the source.
    Registers,
    /// From memory to memory.
    Direct,
    /// By `cp.async` with zero fill into shared memory, and from there through registers.
    Shared,
}

/// `dst = src` for matrices of rows x columns, with rows of `ld` elements, a multiple of 16 bytes. `divisor` divides the
/// columns.
fn kernel(way: Way, dtype: DType, divisor: i64) -> Result<Module, Error> {
    let mut b = Builder::new("k", 80, THREADS as u32);
    let pointers = [b.pointer("dst", 16), b.pointer("src", 16)];
    let vector = 128 / i64::from(dtype.bits());
    let mut symbol =
        |name, divisor| b.symbol(name, |it| it.at_least(1).at_most(1 << 20).divisible_by(divisor));
    let (rows, columns, ld) = (symbol("rows", 1)?, symbol("columns", divisor)?, symbol("ld", vector)?);
    let extents = [rows, columns].map(|symbol| Expr::from_int(&Int::symbol(symbol)));
    let shape = Shape::flat(&[rows, columns].map(Int::symbol))?;
    let strides = Strides::flat(&[Stride::Int(Int::symbol(ld)), Stride::Int(Int::fixed(1))])?;
    let matrix = Lay::new(&shape, &strides)?;
    let thread = b.special(Special::TidX);
    let tiler = Tiler::Modes(Tiles::new(&[Tile::Lay(lay!("4:1")), Tile::Lay(lay!("32:1"))])?);
    let blocks = [Special::CtaidX, Special::CtaidY].map(|special| b.special(special));
    let at = [b.bounded(&blocks[0], 1 << 16)?, b.bounded(&blocks[1], 1 << 16)?].map(Slice::At);
    let tile =
        |pointer: &Expr| Tensor::new(Gmem::new(pointer.clone(), dtype), matrix).local_tile(&tiler, &at);
    let coordinates = Tensor::new(Counting::new(2), Lay::identity(&shape)?).local_tile(&tiler, &at)?;

    let bits = dtype.bits();
    let vector = vector.min(8);
    let threads = Lay::strided([THREADS * vector / 32, 32 / vector], [32 / vector, 1])?;
    let atom = match way {
        Way::Shared => SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16,
        _ => AUTO_VECTORIZING_COPY,
    };
    let tiled = TiledCopy::new(atom, bits, &threads, &Lay::strided([1, vector], [vector, 1])?)?;
    let mine = tiled.get_slice(&thread)?;
    let (source, target) = (mine.partition_s(&tile(&pointers[1])?)?, mine.partition_d(&tile(&pointers[0])?)?);
    let inside = Predicates::inside(&mine.partition_s(&coordinates)?, &extents)?;
    match way {
        Way::Direct => copy_if(&mut b, AUTO_VECTORIZING_COPY, &inside, &source, &target)?,
        Way::Registers => {
            let registers = Rmem::like(&mut b, &source)?;
            clear(&mut b, &registers)?;
            copy_if(&mut b, AUTO_VECTORIZING_COPY, &inside, &source, &registers)?;
            copy_if(&mut b, AUTO_VECTORIZING_COPY, &inside, &registers, &target)?;
        }
        Way::Shared => {
            let layout = Lay::strided([TILE[0], TILE[1]], [TILE[1], 1])?;
            let shared = mine.partition_d(&Smem::alloc(&mut b, dtype, None, &layout)?)?;
            copy_if(&mut b, &tiled, &inside, &source, &shared)?;
            b.ptx("cp.async.wait_all;", &[])?;
            // There are zeros outside of the source, so that the whole tile may be read.
            let registers = Rmem::like(&mut b, &shared)?;
            copy(&mut b, AUTO_VECTORIZING_COPY, &shared, &registers)?;
            copy_if(&mut b, AUTO_VECTORIZING_COPY, &inside, &registers, &target)?;
        }
    }
    Ok(b.finish()?.into_module())
}

/// Runs the copy of one size and checks every byte of the destination. The array of the source ends with its last element.
fn verify(module: &Module, dtype: DType, [rows, columns]: [i64; 2], what: &str) {
    let element = i64::from(dtype.bits()) / 8;
    let line = 16 / element;
    let ld = (columns + line - 1) / line * line + line;
    let memory = Memory::new();
    let length = (((rows - 1) * ld + columns) * element) as usize;
    let source: Vec<u8> = (0..length).map(|i| (i * 31 + i / 256) as u8 % 251).collect();
    let (dst, src) = (ones(&memory, length), upload(&memory, &source));
    let args = [addresses(&[dst, src]), sizes(&[rows, columns, ld])].concat();
    let grid = [(rows + TILE[0] - 1) / TILE[0], (columns + TILE[1] - 1) / TILE[1], 1].map(|n| n as u32);
    let launch = Launch { grid, ..block(THREADS as u32, (TILE[0] * TILE[1] * element) as u32, args) };
    let ran = checked(module, &memory, &launch);
    ran.unwrap_or_else(|e| panic!("{what} of {rows} x {columns}: {e}\n{module}"));
    let found = download(&memory, dst, length);
    for (i, found) in found.into_iter().enumerate() {
        let column = i as i64 / element % ld;
        let expected = if column < columns { source[i] } else { 0xff };
        assert_eq!(found, expected, "{what} of {rows} x {columns}: byte {i}");
    }
}

#[test]
fn ragged_tiles_are_copied_exactly() {
    let ways = [Way::Registers, Way::Direct, Way::Shared];
    for way in ways {
        for dtype in [DType::F32, DType::F16, DType::U8] {
            // cp.async takes whole vectors of 16 bytes only.
            if matches!(way, Way::Shared) && dtype == DType::U8 {
                continue;
            }
            for divisor in [1, 4] {
                let module = kernel(way, dtype, divisor).unwrap();
                let what = format!("{way:?}, {dtype}, columns divisible by {divisor}");
                for rows in 1..=TILE[0] + 1 {
                    for columns in (1..=TILE[1] + 4).filter(|n| n % divisor == 0) {
                        verify(&module, dtype, [rows, columns], &what);
                    }
                }
            }
        }
    }
}

/// Vectors are wide whether the extents are known to be divisible or not; where a row may end within a vector, its first values are
/// copied in pieces within which no row ends.
#[test]
fn vectors_are_wide_and_their_tails_as_wide_as_can_be() {
    for (divisor, tail) in [(4, None), (2, Some("ld.global.v2.b32")), (1, Some("ld.global.b32"))] {
        let text = kernel(Way::Direct, DType::F32, divisor).unwrap().to_string();
        assert!(text.contains("ld.global.v4.b32"), "{divisor}");
        for piece in ["ld.global.v2.b32", "ld.global.b32"] {
            assert_eq!(text.contains(piece), tail == Some(piece), "{divisor}: {piece}");
        }
        assert_eq!(text.contains("bra"), tail.is_some(), "{divisor}");
    }
}

/// With `zero_fill_outside`, zeros are written for what the source does not have, and nothing where the predicates fail.
#[test]
fn zeros_are_written_outside_of_the_source_alone() {
    let mut b = Builder::new("k", 80, 8);
    let [dst, src] = ["dst", "src"].map(|name| b.pointer(name, 16));
    let thread = b.special(Special::TidX);
    let threads = lay!("(8,4):(4,1)");
    let source = Gmem::bounded(src, DType::F32, &lay!("18:1")).unwrap();
    let source = source.local_tile(&tiler!("<32>"), &[Slice::at(0)]).unwrap();
    let shared = Smem::alloc(&mut b, DType::F32, None, &lay!("32:1")).unwrap();
    let target = Tensor::new(Gmem::new(dst, DType::F32), lay!("32:1"));
    let source = source.tv_partition(&threads, &thread).unwrap();
    let shared = shared.tv_partition(&threads, &thread).unwrap();
    let target = target.tv_partition(&threads, &thread).unwrap();
    fill(&mut b, &shared, 7.0).unwrap();
    b.barrier();
    let inside = Predicates::from(Cond::less(&Expr::from(0), &thread));
    let copied = Predicates::from(Cond::less(&thread, &Expr::from(6)));
    let with = CopyWith::from(SM80_CP_ASYNC_CACHEGLOBAL_16).zero_fill_outside(inside);
    copy_if(&mut b, with, &copied, &source, &shared).unwrap();
    b.ptx("cp.async.wait_all;", &[]).unwrap();
    copy(&mut b, AUTO_VECTORIZING_COPY, &shared, &target).unwrap();
    let module = b.finish().unwrap().into_module();

    let memory = Memory::new();
    let numbers: Vec<u8> = (0..18).flat_map(|i| (i as f32 + 1.0).to_le_bytes()).collect();
    let arrays = [ones(&memory, 128), upload(&memory, &numbers)];
    checked(&module, &memory, &block(8, 128, addresses(&arrays))).unwrap();
    let found = download(&memory, arrays[0], 128);
    let found = found.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
    for (i, found) in found.enumerate() {
        let expected = match i {
            24.. => 7.0,
            4..18 => i as f32 + 1.0,
            _ => 0.0,
        };
        assert_eq!(found, expected, "value {i}:\n{module}");
    }
}

/// A vector of which any values may be wanted cannot be copied by one instruction.
#[test]
fn predicates_within_a_vector_are_refused() {
    let mut b = Builder::new("k", 80, 32);
    let (pointer, thread) = (b.pointer("p", 16), b.special(Special::TidX));
    let at = Slice::tuple([Slice::At(thread.clone()), Slice::All]);
    let global = Tensor::new(Gmem::new(pointer, DType::F16), lay!("(32,2):(2,1)")).slice(&at).unwrap();
    let each = [7, 5].map(|end| Cond::less(&thread, &Expr::from(end)));
    let each = Predicates::each(each.to_vec());
    let registers = Rmem::like(&mut b, &global).unwrap();
    let found = copy_if(&mut b, UNIVERSAL_COPY_32, &each, &global, &registers).unwrap_err();
    expect_test::expect!["copy: Gmem f16 (2):(1) to Rmem f16 (2):(1) does not fit UniversalCopy<uint32_t>, from any to any: predicates that hold for whole vectors, or for the first values of each"].assert_eq(&found.to_string());
    copy_if(&mut b, AUTO_VECTORIZING_COPY, &each, &global, &registers).unwrap();
}
