//! Tensor maps: each rule at its bounds, and the encoding.

use girih_ptx::{
    Error, Interleave, L2Promotion, OobFill, TENSOR_MAP_BYTES, TensorElement, TensorMap, TensorSwizzle, Tiled,
};

/// 64 x 64 of 16 bits, boxes of 64 x 8.
fn base() -> Tiled {
    Tiled::new(TensorElement::U16, &[64, 64], &[64, 8])
}

fn field(tiled: &Tiled, address: u64) -> String {
    match tiled.at(address) {
        Ok(_) => "fine".into(),
        Err(Error::TensorMap { field, .. }) => field,
        Err(error) => panic!("{error}"),
    }
}

/// What the driver's `cuTensorMapEncodeTiled` answered to each on an H100 (driver 13.0).
#[test]
fn rules_are_the_drivers() {
    let check = |expected: &str, tiled: Tiled| assert_eq!(field(&tiled, 0x1000), expected, "{tiled:?}");
    let dims = |dims: &[u64]| Tiled { dims: dims.into(), ..base() };
    let strides = |stride| base().with_strides(&[stride]);
    let extents = |extents: &[u32]| Tiled { extents: extents.into(), ..base() };
    let steps = |steps: &[u32]| base().with_element_strides(steps);
    check("fine", base());
    assert_eq!(
        (field(&base(), 0), field(&base(), 16), field(&base(), 8)),
        ("fine".into(), "fine".into(), "the global address".into())
    );
    assert_eq!(field(&base(), u64::MAX - 15), "the global address");
    for (address, expected) in [(1 << 56, true), ((1 << 57) - 16, true), (1 << 57, false), (1 << 63, false)] {
        assert_eq!(field(&base(), address), if expected { "fine" } else { "the global address" });
    }
    check("the rank", Tiled::new(TensorElement::U16, &[], &[]));
    check("the rank", Tiled::new(TensorElement::U16, &[8; 6], &[8; 6]));
    check("fine", Tiled::new(TensorElement::U16, &[8; 5], &[8; 5]));
    check("fine", Tiled::new(TensorElement::U16, &[64], &[8]));
    check("the number of strides", base().with_strides(&[]));
    check("the number of extents of the box", extents(&[64]));
    check("the number of element strides", steps(&[1, 1, 1]));
    for (dim, expected) in [(0, false), (1, true), (1 << 32, true), ((1 << 32) + 1, false)] {
        check(if expected { "fine" } else { "dims[0]" }, dims(&[dim, 64]));
        check(if expected { "fine" } else { "dims[1]" }, dims(&[64, dim]));
    }
    for (stride, expected) in
        [(0, true), (8, false), (16, true), ((1 << 40) - 16, true), (1 << 40, false), (u64::MAX - 15, false)]
    {
        check(if expected { "fine" } else { "strides[0]" }, strides(stride));
    }
    check("fine", Tiled::new(TensorElement::U16, &[64, 64, 4], &[64, 8, 2]).with_strides(&[1024, 128]));
    check("fine", extents(&[256, 256]));
    check("extents[1]", extents(&[64, 257]));
    check("extents[0]", extents(&[0, 8]));
    check("extents[1]", extents(&[64, 0]));
    check("the size of extents[0] in bytes", extents(&[4, 8]));
    check("the size of extents[0] in bytes", extents(&[12, 8]));
    // 228 KiB, padded rows and all.
    let large = |inner, outer| Tiled::new(TensorElement::F64, &[64, 256, 256], &[inner, 256, outer]);
    let bytes = "the box's bytes in shared memory";
    check("fine", large(2, 57));
    check(bytes, large(2, 58));
    check("fine", large(64, 1));
    check(bytes, large(64, 2));
    check("fine", large(64, 14).with_element_strides(&[1, 8, 1]));
    check(bytes, large(64, 15).with_element_strides(&[1, 8, 1]));
    check("fine", large(2, 7).with_swizzle(TensorSwizzle::B128));
    check(bytes, large(2, 8).with_swizzle(TensorSwizzle::B128));
    check("fine", steps(&[8, 8]));
    for bad in [0, 9] {
        check("element_strides[0]", steps(&[bad, 1]));
        check("element_strides[1]", steps(&[1, bad]));
    }
    for swizzle in [TensorSwizzle::B32, TensorSwizzle::B64, TensorSwizzle::B128] {
        let span = swizzle.span().unwrap();
        check("fine", extents(&[span / 2, 8]).with_swizzle(swizzle));
        check("fine", extents(&[8, 8]).with_swizzle(swizzle));
        check(
            "the size of extents[0] in bytes, with this swizzle,",
            extents(&[span / 2 + 8, 8]).with_swizzle(swizzle),
        );
    }
    for interleave in [Interleave::B16, Interleave::B32] {
        check("the interleave", Tiled { interleave, ..base() });
    }
    for &element in TensorElement::ALL {
        let tiled = Tiled::new(element, &[128, 64], &[16, 8]);
        check("fine", tiled.clone());
        check(if element.is_float() { "fine" } else { "the fill" }, tiled.with_fill(OobFill::Nan));
    }
}

#[test]
fn messages_say_what_is_accepted() {
    let error = base().with_strides(&[130]).at(0).unwrap_err();
    assert_eq!(error.to_string(), "tensor map: strides[0] is 130, must be a multiple of 16");
    let error = Tiled { dims: vec![64, 1 << 33], ..base() }.at(0).unwrap_err();
    assert_eq!(error.to_string(), "tensor map: dims[1] is 8589934592, must be 1 to 4294967296");
}

#[test]
fn element_strides_thin_out_all_but_the_innermost_dimension() {
    let map = base().with_element_strides(&[2, 3]).at(0).unwrap();
    assert_eq!((map.moved(0), map.moved(1), map.moved(2), map.box_bytes()), (64, 3, 1, 64 * 3 * 2));
}

/// Maps with every field at its least and its greatest value survive the encoding; a changed byte is another map or an
/// error, never the same map.
#[test]
fn the_encoding_is_one_to_one() {
    let mut maps = Vec::new();
    for &element in TensorElement::ALL {
        for &swizzle in TensorSwizzle::ALL {
            let least = Tiled::new(element, &[1], &[16 / element.bytes()]).with_swizzle(swizzle);
            let most = Tiled::new(element, &[1 << 32; 5], &[16 / element.bytes(), 256, 16, 16, 16])
                .with_strides(&[(1 << 40) - 16, 0, 16, (1 << 40) - 16])
                .with_element_strides(&[8; 5])
                .with_swizzle(swizzle)
                .with_l2_promotion(L2Promotion::B256);
            let most = if element.is_float() { most.with_fill(OobFill::Nan) } else { most };
            maps.extend([least.at(0).unwrap(), most.at(1 << 47).unwrap()]);
        }
    }
    for map in &maps {
        let bytes = map.to_bytes();
        assert_eq!(TensorMap::from_bytes(&bytes).as_ref(), Ok(map));
        for at in 0..TENSOR_MAP_BYTES {
            for flip in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
                let mut changed = bytes;
                changed[at] ^= flip;
                if let Ok(other) = TensorMap::from_bytes(&changed) {
                    assert!(other != *map && other.to_bytes() == changed, "byte {at}");
                }
            }
        }
    }
    assert!(matches!(TensorMap::from_bytes(&[0; TENSOR_MAP_BYTES]), Err(Error::NotATensorMap { .. })));
}

/// Whatever bytes follow the magic number, they are a map that encodes to them or an error.
#[test]
fn any_bytes_are_a_map_or_an_error() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 24
    };
    let good = base().at(0x1000).unwrap().to_bytes();
    let mut accepted = 0;
    for _ in 0..200_000 {
        let mut bytes = good;
        for _ in 0..=next() % 6 {
            // Small values and all ones are where the bounds are.
            let value = [next() as u8, (next() % 9) as u8, 0, 255][(next() % 4) as usize];
            bytes[8 + next() as usize % 96] = value;
        }
        if let Ok(map) = TensorMap::from_bytes(&bytes) {
            accepted += 1;
            assert_eq!(map.to_bytes(), bytes);
            assert!(map.box_bytes() <= map.shared_bytes() && map.shared_bytes() <= 228 << 10);
        }
    }
    assert!(accepted > 1000, "{accepted}");
}
