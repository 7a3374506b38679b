//! Tensor maps and boxes of tiles: the places of a box's elements in shared memory.

#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::algorithm::{CopyWith, copy};
use girih_codegen::atom::Transfer;
use girih_codegen::{Builder, Counting, Error, Expr, Smem, TmaCopy};
use girih_layout::{Int, Lay, Shape, Stride, Strides, Swizzle, Symbol, lay};
use girih_ptx::{TensorSwizzle, Tiled};
use girih_tensor::{DType, Tensor};

fn tma(dtype: DType, global: &str, shared: &str, swizzle: Swizzle) -> Result<TmaCopy, Error> {
    TmaCopy::new(Transfer::Load, dtype, &Lay::parse(global).unwrap(), &Lay::parse(shared).unwrap(), swizzle)
}

/// The mode of the tensor that each dimension of the map is, found by its stride.
fn modes(dtype: DType, global: &str, tiled: &Tiled) -> Vec<usize> {
    let global = Lay::parse(global).unwrap();
    let bytes = i64::from(dtype.bits() / 8);
    let strides = [bytes].into_iter().chain(tiled.strides.iter().map(|&stride| stride as i64));
    let mode_of = |stride: i64| {
        let is_it = |mode: &usize| global.flat_leaf(*mode).1 == Stride::Int(Int::fixed(stride / bytes));
        (0..global.leaf_count()).find(is_it).unwrap()
    };
    strides.map(mode_of).collect()
}

/// Element `i` of box `n`, dimensions innermost first, is the element of the tile at shared index `n * box + i`.
#[test]
fn boxes_are_pieces_of_shared_memory() {
    for (dtype, global, shared, boxes) in [
        (DType::F32, "1000:1", "512:1", vec![vec![256]]),
        (DType::Bf16, "(512,512):(512,1)", "(64,64):(64,1)", vec![vec![64, 64]]),
        (DType::Bf16, "(512,512):(1,512)", "(64,64):(1,64)", vec![vec![64, 64]]),
        // Tiles lie side by side, as swizzled tiles do.
        (DType::Bf16, "(512,512):(512,1)", "(64,(64,2)):(64,(1,4096))", vec![vec![64, 64]]),
        (DType::U8, "(512,512):(512,1)", "((8,4),(16,2)):((16,256),(1,128))", vec![vec![16, 8]]),
        (DType::F32, "(8,16,32,4):(512,32,1,4096)", "(2,4,16,2):(64,16,1,128)", vec![vec![16, 4, 2, 2]]),
        (
            DType::F32,
            "(8,16,32,4,3):(512,32,1,4096,16384)",
            "(2,4,16,2,1):(16,32,1,128,0)",
            vec![vec![16, 2, 4, 2, 1]],
        ),
    ] {
        let tma = tma(dtype, global, shared, Swizzle::NONE).unwrap();
        let tiled = tma.tiled().unwrap();
        assert_eq!(tiled.extents, boxes[0].iter().map(|&n: &i64| n as u32).collect::<Vec<_>>(), "{shared}");
        let shared = Lay::parse(shared).unwrap();
        let shape = Shape::of(tma.copy().extents().unwrap()).unwrap();
        let frg = tma.copy().tidfrg_d(&shared).unwrap(); // ((Thr,(Val,Rest)),..) -> shared index
        let coordinates = tma.copy().tidfrg_s(&Lay::identity(&shape).unwrap()).unwrap();
        let size: i64 = tiled.extents.iter().map(|&n| i64::from(n)).product();
        let modes = modes(dtype, global, &tiled);
        for i in 0..shared.size().unwrap().get().unwrap() {
            assert_eq!(frg.at(i).unwrap(), i, "{shared}");
            let (n, mut rest) = (i / size, i % size);
            let at = |index: i64| coordinates.crd2crd(index, &shape);
            let (first, element) = (at(n * size), at(i));
            for (&mode, &extent) in modes.iter().zip(&tiled.extents) {
                let extent = i64::from(extent);
                assert_eq!(element[mode], first[mode] + rest % extent, "{shared}: {i}");
                rest /= extent;
            }
        }
    }
}

/// The coordinate that a layout with basis strides gives an index.
trait Crd2Crd {
    fn crd2crd(&self, index: i64, shape: &Shape) -> Vec<i64>;
}

impl Crd2Crd for Lay {
    fn crd2crd(&self, index: i64, shape: &Shape) -> Vec<i64> {
        let mut out = vec![0; shape.rank()];
        let mut rest = index;
        for leaf in 0..self.leaf_count() {
            let (extent, stride) = self.flat_leaf(leaf);
            let digit = rest % extent.get().unwrap();
            rest /= extent.get().unwrap();
            if let Stride::Basis { scale, mode } = stride {
                out[mode.only().unwrap()] += digit * scale.get().unwrap();
            }
        }
        out
    }
}

#[test]
fn swizzles_are_those_of_the_map() {
    let matrix = "(512,512):(512,1)";
    for (dtype, base) in [(DType::U8, 4), (DType::Bf16, 3), (DType::F32, 2), (DType::F64, 1)] {
        let bytes = i64::from(dtype.bits() / 8);
        for (bits, span) in [(1, TensorSwizzle::B32), (2, TensorSwizzle::B64), (3, TensorSwizzle::B128)] {
            let row = (16 << bits) / bytes;
            let shared = format!("(8,{row}):({row},1)");
            let swizzle = Swizzle::new(bits, base, 3).unwrap();
            assert_eq!(tma(dtype, matrix, &shared, swizzle).unwrap().tiled().unwrap().swizzle, span);
            // Rows wider than the swizzle go in several boxes, which begin at multiples of 128 bytes.
            let wide = tma(dtype, matrix, &format!("(8,{}):({},1)", 2 * row, 2 * row), swizzle);
            let extents = wide.ok().map(|tma| tma.tiled().unwrap().extents);
            assert_eq!(extents, (bits == 3).then(|| vec![row as u32, 1]));
        }
    }
}

#[test]
fn what_has_no_map_is_told() {
    let none = Swizzle::NONE;
    let sw = |bits, base, shift| Swizzle::new(bits, base, shift).unwrap();
    let mut texts = Vec::new();
    for (dtype, global, shared, swizzle) in [
        (DType::S4, "(64,64):(64,1)", "(64,64):(64,1)", none),
        (DType::F32, "(2,2,2,2,2,2):(32,16,8,4,2,1)", "(2,2,2,2,2,2)", none),
        (DType::F32, "(64,64):(64,1)", "64:1", none),
        (DType::F32, "(64,64):(128,2)", "(8,8):(8,1)", none),
        (DType::F32, "(64,64):(64,1)", "(8,8):(1,8)", none),
        (DType::F32, "(64,64):(64,1)", "(8,8):(16,1)", none),
        (DType::F32, "(64,64):(64,1)", "(8,2):(2,1)", none),
        (DType::Bf16, "(64,64):(64,1)", "(8,64):(64,1)", sw(3, 4, 3)),
        (DType::Bf16, "(64,64):(64,1)", "(8,64):(64,1)", sw(3, 3, 4)),
        (DType::Bf16, "(64,64):(64,1)", "(8,32):(32,1)", sw(3, 3, 3)),
        (DType::Bf16, "(64,64):(64,1)", "(8,64):(64,1)", sw(1, 3, 3)),
    ] {
        let found = tma(dtype, global, shared, swizzle).unwrap_err();
        assert!(matches!(found, Error::Mismatch { what: "tensor copy", .. }), "{found}");
        texts.push(found.to_string());
    }
    expect_test::expect![[r#"
        tensor copy: (64,64):(64,1) does not fit Sw<0,4,3> o (64,64):(64,1) of s4: elements of 1 to 8 whole bytes
        tensor copy: (2,2,2,2,2,2):(32,16,8,4,2,1) does not fit Sw<0,4,3> o (2,2,2,2,2,2):(1,2,4,8,16,32) of f32: 1 to 5 modes of one extent and stride each, and a tile with as many
        tensor copy: (64,64):(64,1) does not fit Sw<0,4,3> o 64:1 of f32: 1 to 5 modes of one extent and stride each, and a tile with as many
        tensor copy: (64,64):(128,2) does not fit Sw<0,4,3> o (8,8):(8,1) of f32: a tensor with a mode of stride 1
        tensor copy: (64,64):(64,1) does not fit Sw<0,4,3> o (8,8):(1,8) of f32: tiles whose first elements in shared memory follow the contiguous mode in whole 16 bytes
        tensor copy: (64,64):(64,1) does not fit Sw<0,4,3> o (8,8):(16,1) of f32: tiles without holes in shared memory
        tensor copy: (64,64):(64,1) does not fit Sw<0,4,3> o (8,2):(2,1) of f32: tiles whose first elements in shared memory follow the contiguous mode in whole 16 bytes
        tensor copy: (64,64):(64,1) does not fit Sw<3,4,3> o (8,64):(64,1) of bf16: swizzles of 32, 64 or 128 bytes, or none
        tensor copy: (64,64):(64,1) does not fit Sw<3,3,4> o (8,64):(64,1) of bf16: swizzles of 32, 64 or 128 bytes, or none
        tensor copy: (64,64):(64,1) does not fit Sw<3,3,3> o (8,32):(32,1) of bf16: rows in shared memory that are as long as the swizzle, which pads others
        tensor copy: (64,64):(64,1) does not fit Sw<1,3,3> o (8,64):(64,1) of bf16: boxes of whole 128 bytes where a tile takes several
    "#]].assert_eq(&(texts.join("\n") + "\n"));
}

#[test]
fn symbols_get_their_values_on_the_host() {
    let (rows, pitch) = (Symbol::new(0).at_least(1), Symbol::new(1).divisible_by(8));
    let shape = Shape::flat(&[Int::symbol(rows), Int::fixed(64)]).unwrap();
    let strides = Strides::flat(&[Stride::Int(Int::symbol(pitch)), Stride::Int(Int::fixed(1))]).unwrap();
    let global = Lay::new(&shape, &strides).unwrap();
    let tma =
        TmaCopy::new(Transfer::Store, DType::F16, &global, &lay!("(16,64):(64,1)"), Swizzle::NONE).unwrap();
    assert!(matches!(tma.tiled(), Err(Error::NotStatic { .. })));
    let tiled = tma.bind(rows, 100).unwrap().bind(pitch, 72).unwrap().tiled().unwrap();
    assert_eq!((tiled.dims, tiled.strides, tiled.extents), (vec![64, 100], vec![144], vec![64, 16]));
}

/// Shared memory must be laid out as the map was made for; bulk loads need their barrier, and tensor copies their map.
#[test]
fn instructions_need_what_belongs_to_them() {
    let swizzle = Swizzle::new(3, 3, 3).unwrap();
    let tma = tma(DType::Bf16, "(64,64):(64,1)", "(16,64):(64,1)", swizzle).unwrap();
    let mut b = Builder::new("k", 90, 32);
    let (map, base) = (b.tensor_map("map"), b.alloc_shared(1 << 13, 1024).unwrap());
    let mine = tma.copy().get_slice(&Expr::from(0)).unwrap();
    let coordinates = Lay::identity(&Shape::parse("(16,64)").unwrap()).unwrap();
    let source = mine.partition_s(&Tensor::new(Counting::new(2), coordinates)).unwrap();
    let mut texts = Vec::new();
    let barrier = &base + 2048;
    for (with, layout, swizzle, base) in [
        (CopyWith::from(tma.copy()).barrier(&barrier), "(16,64):(64,1)", Some(swizzle), &base + 0),
        (tma.with(&map), "(16,64):(64,1)", Some(swizzle), &base + 0),
        (tma.with(&map).barrier(&barrier), "(16,64):(64,1)", None, &base + 0),
        (tma.with(&map).barrier(&barrier), "(16,64):(1,16)", Some(swizzle), &base + 0),
        (tma.with(&map).barrier(&barrier), "(16,64):(64,1)", Some(swizzle), &base + 64),
        (tma.with(&map).barrier(&barrier), "(16,64):(64,1)", Some(swizzle), &base + 512),
    ] {
        let shared = Tensor::new(Smem::new(base, DType::Bf16, swizzle), Lay::parse(layout).unwrap());
        let target = mine.partition_d(&shared).unwrap();
        texts.push(copy(&mut b, with, &source, &target).unwrap_err().to_string());
    }
    expect_test::expect![[r#"
        copy: no tensor map does not fit SM90_TMA_LOAD_2D: the address of the tensor map: `TmaCopy::with`
        copy: no barrier does not fit SM90_TMA_LOAD_2D: the mbarrier of the load: `CopyWith::barrier`
        copy: Counting (((64,16),1),1,1):(((1@1,1@0),0),0,0) to Smem bf16 (((64,16),1),1,1):(((1,64),0),0,0) does not fit SM90_TMA_LOAD_2D, from Gmem to Smem: shared memory with the swizzle of the tensor map
        copy: Counting (((64,16),1),1,1):(((1@1,1@0),0),0,0) to Smem bf16 (((64,16),1),1,1):(((16,1),0),0,0) does not fit SM90_TMA_LOAD_2D, from Gmem to Smem: shared memory in the layout that the tensor copy was made for
        copy: Counting (((64,16),1),1,1):(((1@1,1@0),0),0,0) to Smem bf16 (((64,16),1),1,1):(((1,64),0),0,0) does not fit SM90_TMA_LOAD_2D, from Gmem to Smem: shared memory at multiples of 128 bytes
        copy: Counting (((64,16),1),1,1):(((1@1,1@0),0),0,0) to Smem bf16 (((64,16),1),1,1):(((1,64),0),0,0) does not fit SM90_TMA_LOAD_2D, from Gmem to Smem: an array in shared memory that begins at a multiple of its swizzle's period
    "#]].assert_eq(&(texts.join("\n") + "\n"));
}

/// A mode of one element has no stride: any number is accepted, and it is not taken for the contiguous one.
#[test]
fn strides_of_single_elements_do_not_count() {
    for (global, dims, strides) in [
        ("(1,4096):(4096,1)", [4096, 1], 16),
        ("(1,4096):(4097,1)", [4096, 1], 16),
        ("(1,4096):(1,1)", [4096, 1], 16),
        ("(1,4096):(0,1)", [4096, 1], 16),
        ("(1,4096):(-3,1)", [4096, 1], 16),
        ("(1,4096):(2199023255552,1)", [4096, 1], 16),
        ("(100,4096):(4096,1)", [4096, 100], 8192),
        ("(100,1):(8,7)", [1, 100], 16),
    ] {
        let tiled = tma(DType::Bf16, global, "(8,64):(64,1)", Swizzle::NONE).unwrap().tiled().unwrap();
        assert_eq!((&tiled.dims[..], &tiled.strides[..]), (&dims[..], &[strides][..]), "{global}");
        tiled.at(0x10_0000).unwrap();
    }
    // Two elements have a stride, which is no multiple of 16 bytes.
    let odd = tma(DType::Bf16, "(2,4096):(4097,1)", "(8,64):(64,1)", Swizzle::NONE).unwrap().tiled().unwrap();
    assert!(odd.at(0x10_0000).is_err());
}

/// A store writes whole units of 16 bytes: it would overwrite the bytes after a row that ends inside one, and is refused. A load is not.
#[test]
fn stores_end_with_whole_units() {
    for width in 1..=80 {
        let global = Lay::parse(&format!("(100,{width}):(80,1)")).unwrap();
        let tiled = |transfer| {
            TmaCopy::new(transfer, DType::Bf16, &global, &lay!("(8,64):(64,1)"), Swizzle::NONE)
                .unwrap()
                .tiled()
        };
        assert!(tiled(Transfer::Load).is_ok(), "{width}");
        assert_eq!(tiled(Transfer::Store).is_ok(), width % 8 == 0, "{width}");
    }
}
