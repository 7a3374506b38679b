//! Each element has one owner, and a vector access touches exactly the elements of its owner.

use girih_layout::{Coord, Int, Lay, Shape};
use girih_tensor::{Slice, Tensor};

use super::configs::{chosen, odd};
use super::{for_thread, shared, thread, threads};
use crate::gemm::fragment::{FragmentLoad, fragment_layout};
use crate::gemm::load::tile_copy;
use crate::gemm::{GemmConfig, SharedTile};
use crate::tiled_copy::static_size;
use crate::tiled_mma::Operand;
use crate::{Counting, Expr, Memory, engine};

fn identity(extents: &[i64]) -> Tensor<Counting> {
    let extents: Vec<Int> = extents.iter().map(|&n| Int::fixed(n)).collect();
    Tensor::new(Counting::new(extents.len()), Lay::identity(&Shape::flat(&extents).unwrap()).unwrap())
}

fn size(layout: &Lay) -> i64 {
    layout.size().unwrap().get().unwrap()
}

/// The coordinates of value `index`, one expression for each mode.
fn coordinate(tensor: &Tensor<Counting>, index: i64) -> Vec<Expr> {
    engine::at(tensor, index).unwrap().coordinate().to_vec()
}

fn position(coordinate: &[Expr], thread: i64) -> Vec<i64> {
    coordinate.iter().map(|x| for_thread(x, thread)).collect()
}

/// How often each element of `[x, y]` is owned, over all threads and values of a partition.
fn owners(partition: &Tensor<Counting>, threads: i64, [x, y]: [i64; 2]) -> Vec<u32> {
    let mut owners = vec![0; (x * y) as usize];
    for value in 0..size(partition.layout()) {
        let coordinate = coordinate(partition, value);
        for thread in 0..threads {
            let at = position(&coordinate, thread);
            owners[(at[0] + x * at[1]) as usize] += 1;
        }
    }
    owners
}

/// The byte at which the element at `coordinate` of a stage lies.
fn byte(config: &GemmConfig, tile: &SharedTile, coordinate: &[i64]) -> i64 {
    let offset = tile.layout.crd2idx(&Coord::of(coordinate).unwrap()).unwrap();
    let offset = tile.swizzle.map_or(offset, |swizzle| swizzle.apply(offset));
    offset * i64::from(config.atom.a_type.bits() / 8)
}

fn all() -> Vec<GemmConfig> {
    chosen().into_iter().chain(odd()).collect()
}

#[test]
fn loads_own_each_element_of_a_tile_once() {
    for (config, operand) in all().iter().flat_map(|c| [(c, Operand::A), (c, Operand::B)]) {
        let (copy, thread) = (tile_copy(config, operand).unwrap(), thread(config));
        let extents = config.extents(operand);
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
            .get_slice(&thread(&config))
            .unwrap()
            .partition(Operand::C, &identity(&extents))
            .unwrap();
        assert!(owners(&mine, threads(&config), extents).iter().all(|&n| n == 1), "{config:?}");
    }
}

/// Every thread of a column of atoms needs all of their A, every one of a row all of their B.
#[test]
fn fragments_own_each_element_once_a_row_of_atoms() {
    for config in all() {
        for (operand, other) in [(Operand::A, 1), (Operand::B, 0)] {
            let extents = config.extents(operand);
            let mine = config
                .mma()
                .get_slice(&thread(&config))
                .unwrap()
                .partition(operand, &identity(&extents))
                .unwrap();
            let copies = static_size("test", &config.atoms.mode(other).unwrap()).unwrap() as u32;
            assert!(
                owners(&mine, threads(&config), extents).iter().all(|&n| n == copies),
                "{config:?} {operand:?}"
            );
        }
    }
}

/// A thread writes a vector from one address on: its elements have to lie there side by side, aligned.
#[test]
fn loads_write_their_own_elements() {
    for (config, operand) in all().iter().flat_map(|c| [(c, Operand::A), (c, Operand::B)]) {
        let (copy, thread, tile) =
            (tile_copy(config, operand).unwrap(), thread(config), SharedTile::new(config, operand).unwrap());
        let [x, k] = config.extents(operand);
        let mine = copy.get_slice(&thread).unwrap().partition_s(&identity(&[x, k, config.stages])).unwrap(); // (Val,RestX,RestK,Stage)
        let target = copy.get_slice(&thread).unwrap().partition_d(&shared(config, operand)).unwrap();
        let vector = config.source(operand).vector;
        let bytes = i64::from(config.atom.a_type.bits() / 8);
        assert_eq!(size(&mine.layout().mode(0).unwrap()), vector);
        for value in 0..size(mine.layout()) {
            let coordinate = coordinate(&mine, value);
            let first = engine::at(&target, value - value % vector).unwrap().address().unwrap();
            assert_eq!(first.multiple() % (vector * bytes), 0, "{first} is not aligned");
            for thread in [0, 1, 5, 31, threads(config) - 1] {
                let expected = byte(config, &tile, &position(&coordinate, thread));
                assert_eq!(
                    for_thread(&first, thread) + value % vector * bytes,
                    expected,
                    "{config:?} {operand:?}"
                );
            }
        }
    }
}

/// Where the value `(value, block)` of a thread's fragment comes from under a fragment load.
fn source(load: &FragmentLoad, thread: i64, value: i64, block: i64) -> i64 {
    let at = |i: i64| Slice::At(Expr::from(i));
    match load {
        // PTX ISA: register r of lane t holds row t/4 of matrix r, or its column, two elements of it.
        FragmentLoad::Matrix { atom, rows, registers } => {
            let (register, half) = (value / 2, value % 2);
            let (step, register) = (register / *registers as i64, register % *registers as i64);
            let row = rows.slice(&Slice::tuple([at(step), at(block), at(1)])).unwrap().into_engine();
            let row = row.address().unwrap();
            let (warp, lane) = (thread / 32 * 32, thread % 32);
            let (along, across) = (2 * (lane % 4) + half, lane / 4);
            let transposed = atom.name().ends_with('T');
            let (row_lane, column) = if transposed { (along, across) } else { (across, along) };
            for_thread(&row, warp + 8 * register + row_lane) + 2 * column
        }
        FragmentLoad::Vector { vectors, values } => {
            let (width, count) = (vectors.width, vectors.count().unwrap());
            let places = (0..count).flat_map(|i| (0..width).map(move |e| (e, i)));
            let holds = |&(e, i): &(i64, i64)| {
                vectors.registers.crd2idx(&Coord::of(&[e, i]).unwrap()).unwrap() == value
            };
            let (element, vector) = places.into_iter().find(holds).unwrap();
            let first = values.slice(&Slice::tuple([at(0), at(vector), at(block), at(1)])).unwrap();
            for_thread(&first.into_engine().address().unwrap(), thread) + 4 * element
        }
    }
}

/// What a thread's fragment holds of a k-block is what its MMA multiplies.
#[test]
fn fragments_hold_what_the_mma_multiplies() {
    let interesting =
        all().into_iter().filter(|c| c.a.vector * i64::from(c.atom.a_type.bits() / 8) % 16 == 0);
    for (config, operand) in interesting.flat_map(|c| [(c, Operand::A), (c, Operand::B)]) {
        let (thread, tile) = (thread(&config), SharedTile::new(&config, operand).unwrap());
        let load = FragmentLoad::new(&config, operand, &shared(&config, operand), &thread).unwrap();
        let [x, k] = config.extents(operand);
        let mine = config
            .mma()
            .get_slice(&thread)
            .unwrap()
            .partition(operand, &identity(&[x, k, config.stages]))
            .unwrap();
        let fragment = fragment_layout(&config, operand).unwrap(); // (FrgV,RestX,KAtoms)
        for value in 0..size(&fragment) {
            let [frg, rest_x, k_atom] = digits(&fragment, value);
            for block in 0..config.k_blocks() {
                let at = [frg, rest_x, k_atom + config.k_atoms * block, 1].map(|i| Slice::At(Expr::from(i)));
                let element = mine.slice(&Slice::tuple(at)).unwrap().into_engine();
                for thread in [0, 1, 6, 27, threads(&config) / 2 + 3, threads(&config) - 1] {
                    let expected = byte(&config, &tile, &position(element.coordinate(), thread));
                    let found = source(&load, thread, value, block);
                    assert_eq!(found, expected, "{config:?} {operand:?}: value {value} of thread {thread}");
                }
            }
        }
    }
}

fn digits(layout: &Lay, index: i64) -> [i64; 3] {
    let extent = |mode| size(&layout.mode(mode).unwrap());
    [index % extent(0), index / extent(0) % extent(1), index / extent(0) / extent(1)]
}
