//! Every MMA atom against the formulas of the PTX ISA ("Matrix Fragments for mma.m16n8k16").

use super::super::{at, size};
use super::*;

/// (row, column) of a lane's element of a fragment.
type Fragment = fn(lane: i64, element: i64) -> (i64, i64);

/// The formulas for A (M x K), B (N x K) and C (M x N); `group` is lane / 4, `rest` lane % 4.
fn formulas(atom: &MmaAtom) -> [Fragment; 3] {
    match (atom.opcode, atom.shape_mnk) {
        (Opcode::Fma, [1, 1, 1]) => [|_, _| (0, 0); 3],
        (Opcode::Mma, [16, 8, 16]) => [
            |lane, i| (lane / 4 + 8 * (i / 2 % 2), 2 * (lane % 4) + i % 2 + 8 * (i / 4)),
            |lane, i| (lane / 4, 2 * (lane % 4) + i % 2 + 8 * (i / 2)),
            |lane, i| (lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2),
        ],
        other => panic!("write the formula of {other:?} here"),
    }
}

#[test]
fn mma_fragments_are_those_of_the_isa() {
    for atom in MMA_ATOMS {
        let [m, n, k] = atom.shape_mnk;
        let tiles = [(&atom.a, m, k), (&atom.b, n, k), (&atom.c, m, n)];
        for ((layout, rows, columns), formula) in tiles.into_iter().zip(formulas(atom)) {
            let (threads, values) = (size(&layout.mode(0).unwrap()), size(&layout.mode(1).unwrap()));
            assert_eq!(threads, size(&atom.threads), "{}", atom.name);
            let mut owners = vec![0; (rows * columns) as usize];
            for (lane, i) in (0..threads).flat_map(|t| (0..values).map(move |i| (t, i))) {
                let (row, column) = formula(lane, i);
                assert!(row < rows && column < columns);
                let index = at(layout, lane, i);
                assert_eq!(index, row + column * rows, "{}: {layout} of lane {lane}, element {i}", atom.name);
                owners[index as usize] += 1;
            }
            assert!(owners.iter().all(|&n| n == 1), "{}: {layout} owns each element once", atom.name);
        }
    }
}

#[test]
fn mma_modifiers_name_shape_and_types() {
    for atom in MMA_ATOMS.iter().filter(|a| a.opcode == Opcode::Mma) {
        let types: Vec<Type> = atom
            .modifiers
            .iter()
            .filter_map(|m| if let Modifier::Type(t) = m { Some(*t) } else { None })
            .collect();
        let ab = if atom.ab_type == DType::F16 { Type::F16 } else { Type::Bf16 };
        assert_eq!(types, [Type::F32, ab, ab, Type::F32], "{}", atom.name);
        assert_eq!(atom.c_type, DType::F32);
        let [m, n, k] = atom.shape_mnk;
        assert!(atom.name.contains(&format!("{m}x{n}x{k}")), "{}", atom.name);
    }
}
