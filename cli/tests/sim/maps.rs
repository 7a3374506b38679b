//! Tensor maps as arguments, and the boxes that are moved by them.

use std::fs;

use girih_ptx::{TensorElement, TensorMap, TensorSwizzle, Tiled};

use super::{elements, f32s, folder, girih, npy};

/// A kernel of 16 threads that stores the bytes of a tensor map.
pub(super) const MAP: &str = ".version 8.0 .target sm_90 .address_size 64
.visible .entry dump(.param .align 64 .b8 map[128], .param .u64 to) {
  .reg .b32 %r; .reg .b64 %d<4>;
  mov.u32 %r, %tid.x; mov.b64 %d0, map; cvta.param.u64 %d0, %d0; ld.param.u64 %d1, [to];
  mad.wide.u32 %d0, %r, 8, %d0; mad.wide.u32 %d1, %r, 8, %d1;
  ld.b64 %d2, [%d0]; st.global.b64 [%d1], %d2; ret;
}";

#[test]
fn tensor_maps_describe_arrays() {
    let folder = folder();
    fs::write(folder.path().join("map.ptx"), MAP).expect("written");
    let a = npy("<f4", "(10, 60)", &f32s((0..600).map(|i| i as f32)));
    fs::write(folder.path().join("a.npy"), a).expect("written");
    let line = "sim map.ptx --grid 1 --block 16 --arg tensormap:4x16:in:a.npy --arg out:u8:128:m.npy";
    for (boxed, element, swizzle) in [
        ("4x16", TensorElement::F32, TensorSwizzle::None),
        ("4x16,64B,tf32", TensorElement::Tf32, TensorSwizzle::B64),
    ] {
        let (status, _, err) = girih(folder.path(), &line.replace("4x16", boxed));
        assert_eq!((status, &*err), (Some(0), ""));
        let bytes = elements(folder.path(), "m.npy", "|u1", "(128,)");
        let map = TensorMap::from_bytes(bytes[..].try_into().expect("128 bytes")).expect("a map");
        let want = Tiled::new(element, &[60, 10], &[16, 4]).with_swizzle(swizzle);
        assert_eq!(*map.tiled(), want);
    }
    fs::remove_file(folder.path().join("m.npy")).expect("removed");
    for (from, to, status, message) in [
        (
            "4x16",
            "4x16,256B",
            2,
            "error: invalid value 'tensormap:4x16,256B:in:a.npy' for '--arg <ARGUMENTS>': ",
        ),
        ("4x16", "4x3", 2, "error: tensor map: the size of extents[0] in bytes"),
        ("4x16", "4x16,32B", 2, "error: tensor map: the size of extents[0] in bytes, with this swizzle,"),
        ("in:a.npy", "in:h.npy", 2, "error: tensor map: the number of extents of the box"),
        ("4x16", "4x16,bf16", 3, "error: a.npy holds <f4: a tensor map takes C-order arrays of u8, "),
    ] {
        let (found, out, err) = girih(folder.path(), &line.replace(from, to));
        assert_eq!((found, &*out), (Some(status), ""), "{to}: {err}");
        assert!(err.starts_with(message), "{err}");
        assert!(!folder.path().join("m.npy").exists());
    }
}

/// A kernel that loads a box of 4 x 16 elements at row 8, column 48 of an array by a tensor map, and stores the box in the order in
/// which shared memory has it.
const BOX: &str = ".version 8.0 .target sm_90 .address_size 64
.visible .entry dump(.param .align 64 .b8 map[128], .param .u64 to) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<4>;
  .shared .align 128 .b8 tile[256]; .shared .b64 bar;
  mov.u32 %r0, %tid.x; mov.u32 %r1, bar; mov.u32 %r2, tile;
  setp.ne.u32 %p, %r0, 0;
  @%p bra WAIT;
  mbarrier.init.shared.b64 [%r1], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 %d0, [%r1], 256;
  mov.b64 %d1, map; cvta.param.u64 %d1, %d1; mov.b32 %r3, 48; mov.b32 %r0, 8;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d1, {%r3, %r0}], [%r1];
  mov.u32 %r0, 0;
WAIT:
  bar.sync 0;
LOOP:
  mbarrier.try_wait.parity.shared.b64 %p, [%r1], 0;
  @!%p bra LOOP;
  shl.b32 %r0, %r0, 2; add.u32 %r2, %r2, %r0; ld.shared.u32 %r3, [%r2];
  ld.param.u64 %d2, [to]; cvt.u64.u32 %d3, %r0; add.u64 %d2, %d2, %d3; st.global.u32 [%d2], %r3;
  ret;
}";

#[test]
fn boxes_are_moved_by_their_tensor_maps() {
    let folder = folder();
    fs::write(folder.path().join("box.ptx"), BOX).expect("written");
    // The array has 10 x 60 elements, so that the last two rows and the last four columns of the box are outside.
    let a = npy("<f4", "(10, 60)", &f32s((0..600).map(|i| i as f32)));
    fs::write(folder.path().join("a.npy"), a).expect("written");
    let line = "sim box.ptx --grid 1 --block 64 --arg tensormap:4x16:in:a.npy --arg out:f32:4x16:t.npy";
    let (status, _, err) = girih(folder.path(), line);
    assert_eq!((status, &*err), (Some(0), ""));
    let at =
        |row: usize, column: usize| if row < 10 && column < 60 { (row * 60 + column) as f32 } else { 0.0 };
    let want = f32s((0..64).map(|i| at(8 + i / 16, 48 + i % 16)));
    assert_eq!(elements(folder.path(), "t.npy", "<f4", "(4, 16)"), want);
}
