//! In the partitions of GEMM kernels each element has one owner, and a vector access touches exactly the elements of its owner.

use std::sync::LazyLock;

use girih_codegen::atom::{cp_async, universal_copy};
use girih_codegen::gemm::{Epilogue, GemmConfig, Major, SharedTile, generate};
use girih_codegen::{Counting, Expr, Memory, Operand, TiledCopy};
use girih_layout::{Coord, Int, Lay, Shape};
use girih_tensor::{Engine, Slice, Tensor};

use super::configs::{chosen, multistage, odd};
use super::{for_thread, shared, source, thread, threads};

fn identity(extents: &[i64]) -> Tensor<Counting> {
    let extents: Vec<Int> = extents.iter().map(|&n| Int::fixed(n)).collect();
    Tensor::new(Counting::new(extents.len()), Lay::identity(&Shape::flat(&extents).unwrap()).unwrap())
}

fn size(layout: &Lay) -> i64 {
    layout.size().unwrap().get().unwrap()
}

/// The engine at value `index`.
fn at<E: Engine<Index = Expr>>(tensor: &Tensor<E>, index: i64) -> E {
    tensor.slice(Slice::At(Expr::from(index))).unwrap().into_engine()
}

/// The coordinates of value `index` of each thread.
fn position(tensor: &Tensor<Counting>, index: i64) -> impl Fn(i64) -> Vec<i64> {
    let engine = at(tensor, index);
    let modes: Vec<_> = engine.coordinate().iter().map(for_thread).collect();
    move |thread| modes.iter().map(|mode| mode(thread)).collect()
}

/// How often each element of `[x, y]` is owned, over all threads and values of a partition.
fn owners(partition: &Tensor<Counting>, threads: i64, [x, y]: [i64; 2]) -> Vec<u32> {
    let mut owners = vec![0; (x * y) as usize];
    for value in 0..size(partition.layout()) {
        let position = position(partition, value);
        for at in (0..threads).map(position) {
            owners[(at[0] + x * at[1]) as usize] += 1;
        }
    }
    owners
}

/// The byte at which the element at `coordinate` of a stage lies.
fn byte(config: &GemmConfig, tile: &SharedTile, coordinate: &[i64]) -> i64 {
    let offset = tile.layout.crd2idx(&Coord::of(coordinate).unwrap()).unwrap();
    let offset = tile.swizzle.map_or(offset, |swizzle| swizzle.apply(offset));
    offset * i64::from(config.atom().a_type.bits() / 8)
}

/// All configurations, with the copies of the tiles of A and B that each kernel says it was derived from.
static COPIES: LazyLock<Vec<(GemmConfig, [TiledCopy; 2])>> = LazyLock::new(|| {
    let copies = |config: GemmConfig| {
        let partitions = generate(&config, &Epilogue::new()).unwrap().partitions;
        let copy = |operand| {
            let what = format!("{operand:?}: global to shared");
            let (_, record) = partitions.iter().find(|(name, _)| *name == what).unwrap();
            tile_copy(&config, operand, record)
        };
        (config, [Operand::A, Operand::B].map(copy))
    };
    all().into_iter().map(copies).collect()
});

/// Each configuration's operands and their copies.
fn copies() -> impl Iterator<Item = (&'static GemmConfig, Operand, &'static TiledCopy)> {
    COPIES.iter().flat_map(|(config, [a, b])| [(config, Operand::A, a), (config, Operand::B, b)])
}

/// The copy that a kernel's record describes.
fn tile_copy(config: &GemmConfig, operand: Operand, record: &str) -> TiledCopy {
    let vector = source(config, operand).vector;
    let bits = config.atom().a_type.bits();
    let bytes = vector as u32 * bits / 8;
    let asynchronous = cp_async(bytes).filter(|_| !goes_through_registers(config, operand));
    let atom = *asynchronous.or_else(|| universal_copy(bytes)).unwrap();
    // Threads lie in rows along the contiguous mode, with a vector each. The record says how long the rows are. In tiles that the
    // threads go through from beginning to end, the rows are as long as they can be, and the record does not say it.
    let by_mode = |along: i64, across: i64| {
        if source(config, operand).major == Major::K { [across, along] } else { [along, across] }
    };
    let copy = |along: i64| {
        let threads = Lay::strided(by_mode(along, threads(config) / along), by_mode(1, along)).unwrap();
        let values = Lay::strided(by_mode(vector, 1), by_mode(1, vector)).unwrap();
        TiledCopy::new(atom, bits, &threads, &values).unwrap()
    };
    let is_it = |copy: &TiledCopy| {
        let tile = copy.extents().unwrap();
        (0..2).all(|mode| config.extents(operand)[mode] % tile[mode] == 0)
            && format!("{} {}", copy.atom, copy.tv) == record
    };
    let rows = (1..=threads(config)).rev().filter(|along| threads(config) % along == 0);
    rows.map(copy).find(is_it).unwrap_or_else(|| panic!("{record}"))
}

/// Whether vectors are transposed on their way to shared memory.
fn goes_through_registers(config: &GemmConfig, operand: Operand) -> bool {
    config.aligned_k().unwrap() > 1
        && source(config, operand).major == Major::K
        && source(config, operand).vector > 1
}

fn all() -> Vec<GemmConfig> {
    chosen().into_iter().chain(odd()).collect()
}

#[test]
fn loads_own_each_element_of_a_tile_once() {
    for (config, operand, copy) in copies() {
        let (thread, extents) = (thread(config), config.extents(operand));
        let mine = copy.get_slice(&thread).unwrap().partition_s(&identity(&extents)).unwrap();
        assert!(owners(&mine, threads(config), extents).iter().all(|&n| n == 1), "{config:?} {operand:?}");
    }
}

#[test]
fn accumulators_own_each_element_of_c_once() {
    for config in all() {
        let extents = config.extents(Operand::C);
        let mine = config
            .mma()
            .unwrap()
            .get_slice(&thread(&config))
            .unwrap()
            .partition(Operand::C, &identity(&extents))
            .unwrap();
        assert!(owners(&mine, threads(&config), extents).iter().all(|&n| n == 1), "{config:?}");
    }
}

/// Every thread of a column of atoms needs all of the column's A, every thread of a row all of the row's B.
#[test]
fn fragments_own_each_element_once_a_row_of_atoms() {
    for config in all() {
        for (operand, other) in [(Operand::A, 1), (Operand::B, 0)] {
            let extents = config.extents(operand);
            let mine = config
                .mma()
                .unwrap()
                .get_slice(&thread(&config))
                .unwrap()
                .partition(operand, &identity(&extents))
                .unwrap();
            let copies = size(&config.atoms().mode(other).unwrap()) as u32;
            assert!(
                owners(&mine, threads(&config), extents).iter().all(|&n| n == copies),
                "{config:?} {operand:?}"
            );
        }
    }
}

/// A thread writes a vector from one address on, so that the vector's elements have to lie there side by side, aligned, unless it writes
/// them one by one.
#[test]
fn loads_write_their_own_elements() {
    for (config, operand, copy) in copies() {
        let (thread, tile) = (thread(config), super::shared_tile(config, operand));
        let [x, k] = config.extents(operand);
        let mine = copy
            .get_slice(&thread)
            .unwrap()
            .partition_s(&identity(&[x, k, multistage(config).stages]))
            .unwrap(); // (Val,RestX,RestK,Stage)
        let target = copy.get_slice(&thread).unwrap().partition_d(&shared(config, operand)).unwrap();
        let vector = source(config, operand).vector;
        let bytes = i64::from(config.atom().a_type.bits() / 8);
        assert_eq!(size(&mine.layout().mode(0).unwrap()), vector);
        let together = if goes_through_registers(config, operand) { 1 } else { vector };
        for value in 0..size(mine.layout()) {
            let position = position(&mine, value);
            let first = at(&target, value - value % together).address().unwrap();
            assert_eq!(first.multiple() % (together * bytes), 0, "{first} is not aligned");
            let first = for_thread(&first);
            for thread in [0, 1, 5, 31, threads(config) - 1] {
                let expected = byte(config, &tile, &position(thread));
                assert_eq!(first(thread) + value % together * bytes, expected, "{config:?} {operand:?}");
            }
        }
    }
}
