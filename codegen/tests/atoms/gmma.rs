//! Canonical layouts: each tile of a layout atom has a descriptor from which the ISA's formula finds every element.

use girih_codegen::atom::*;
use girih_layout::{Coord, Lay, Swizzle};
use girih_tensor::DType;

/// The byte at which the ISA puts row `r`, element `c` along K ("Strides", "Canonical Layouts"), before the swizzle: in
/// core matrices of eight rows by 16 bytes.
fn byte(desc: &GmmaDesc, major: Major, bits: i64, r: i64, c: i64) -> i64 {
    let t = 128 / bits;
    let width = [1, 2, 4, 8][desc.swizzle as usize];
    let (unit, inside, line) = match major {
        Major::K => (c / t, c % t, r),
        Major::Mn => (r / t, r % t, c),
    };
    let other = match (major, desc.swizzle) {
        (Major::K, GmmaSwizzle::Inter) => unit * desc.lbo + line / 8 * desc.sbo,
        (Major::Mn, GmmaSwizzle::Inter) => unit * desc.sbo + line / 8 * desc.lbo,
        (Major::K, _) => unit * 16 + line / 8 * desc.sbo,
        (Major::Mn, _) => unit % width * 16 + unit / width * desc.lbo + line / 8 * desc.sbo,
    };
    other + line % 8 * 16 * width + inside * bits / 8
}

#[test]
fn descriptors_find_every_element_of_a_tile() {
    let mut made = 0;
    for dtype in [DType::B1, DType::S8, DType::E4m3, DType::Bf16, DType::F16, DType::Tf32] {
        let (bits, k) = (i64::from(dtype.bits()), 256 / i64::from(dtype.bits()));
        for layout in GmmaLayout::all() {
            for (rows, columns) in [(64, 2 * k), (64, 4 * k), (8, k), (24, 4 * k), (256, 2 * k)] {
                let Ok(tile) = layout.tile(dtype, [rows, columns]) else { continue };
                let swizzle = Some(tile.swizzle()).filter(|s| s.bits() > 0);
                let shape = Lay::strided([rows, k], [1, rows]).unwrap();
                // The part of one instruction: all rows, and the first step along K.
                let operand = tile.layout().composition(&shape).unwrap();
                let desc = make_gmma_desc(layout.major, &operand, swizzle.as_ref(), dtype);
                if layout.major == Major::Mn && bits != 16 {
                    assert!(desc.is_err(), "{} {dtype}", layout.name());
                    continue;
                }
                let desc = desc.unwrap_or_else(|e| panic!("{} {dtype} {rows}x{columns}: {e}", layout.name()));
                assert_eq!(desc.swizzle, layout.swizzle);
                made += 1;
                for (r, c) in (0..rows).flat_map(|r| (0..k).map(move |c| (r, c))) {
                    let at = tile.layout().crd2idx(&Coord::of(&[r, c]).unwrap()).unwrap();
                    assert_eq!(
                        at * bits / 8,
                        byte(&desc, layout.major, bits, r, c),
                        "{} {r} {c}",
                        layout.name()
                    );
                }
            }
        }
    }
    assert!(made > 60, "{made}");
}

/// The swizzle of elements is the swizzle of bytes: it moves units of 16 bytes by the row's index.
#[test]
fn swizzles_are_those_of_bytes() {
    for dtype in [DType::B1, DType::S4, DType::S8, DType::F16, DType::F32, DType::F64] {
        let bits = i64::from(dtype.bits());
        for (swizzle, code) in GmmaSwizzle::ALL.into_iter().zip([0, 3, 2, 1]) {
            let found = swizzle.swizzle(dtype).unwrap();
            let b = swizzle as u32;
            for element in 0..swizzle.period() * 8 / bits {
                let byte = element * bits / 8;
                let expected = byte ^ (byte >> 7 & ((1 << b) - 1)) << 4;
                let moved = found.map_or(element, |s| s.apply(element));
                assert_eq!(moved * bits / 8, expected, "{swizzle:?} of {dtype}");
            }
            let desc = GmmaDesc { swizzle, lbo: 0x3fff0, sbo: 32 };
            assert_eq!(desc.bits(), code << 62 | 2 << 32 | 0x3fff << 16);
        }
    }
}

#[test]
fn what_is_not_canonical_is_refused() {
    let swizzle = GmmaSwizzle::Sw128.swizzle(DType::F16).unwrap();
    let check = |major, layout: &str, swizzle: Option<&Swizzle>, expected: &str| {
        let error =
            make_gmma_desc(major, &Lay::parse(layout).unwrap(), swizzle, DType::F16).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(Major::K, "(64,16):(72,1)", swizzle.as_ref(), "Sw128 K-major: (1,0) is at 72, canonical is 64");
    check(Major::K, "(64,16):(64,1)", None, "Inter K-major: (1,0) is at 64, canonical is 8");
    check(Major::Mn, "(64,16):(1,72)", swizzle.as_ref(), "Sw128 Mn-major: (0,1) is at 72, canonical is 64");
    check(Major::K, "(64,16):(1,64)", swizzle.as_ref(), "Sw128 K-major: (1,0) is at 1, canonical is 64");
    check(Major::K, "1024:1", swizzle.as_ref(), "an operand (MN,K)");
    let odd = Swizzle::new(3, 4, 3).unwrap();
    check(Major::K, "(64,16):(64,1)", Some(&odd), "a swizzle of wgmma's for f16");
    // Groups of eight rows may lie further apart, which the descriptor's strides express.
    let spread = Lay::parse("((8,8),16):((64,1024),1)").unwrap();
    assert_eq!(make_gmma_desc(Major::K, &spread, swizzle.as_ref(), DType::F16).unwrap().sbo, 2048);
    let layout = GmmaLayout { major: Major::K, swizzle: GmmaSwizzle::Sw128 };
    let error = layout.tile(DType::F16, [64, 32]).unwrap_err().to_string();
    assert!(error.contains("Layout_K_SW128_Atom (8,64):(64,1): extents that the atom divides"), "{error}");
}
