//! The kernels of tensor copies as text, and kernels that make maps.

use std::fmt::Write;

use girih_ptx::{TensorElement, Tiled};

use super::{BOX, REDUCTIONS, WORK};
use crate::programs::Random;

pub(super) const HEAD: &str =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 mem[];\n";

/// Statements that take the address of a map that is an argument.
const GIVEN: &str = "mov.b64 %m, map; cvta.param.u64 %m, %m;";

/// A module with the kernels `load1` to `load5`, `store1` to `store5`, and one kernel for each reduction and rank; from rank 3 on also
/// with kernels for columns.
pub fn module() -> String {
    let mut text = String::from(HEAD);
    for rank in 1..=5 {
        for columns in [false, true].into_iter().take(if rank < 3 { 1 } else { 2 }) {
            for name in ["load", "store"].into_iter().chain(REDUCTIONS.iter().map(|(name, _)| *name)) {
                kernel(&mut text, name, rank, columns, (GIVEN, ""));
            }
        }
    }
    text
}

pub(super) fn kernel_name(name: &str, rank: usize, columns: bool) -> String {
    format!("{name}{rank}{}", if columns { "columns" } else { "" })
}

/// Writes a kernel that fills the memory of the box from `image`, does the operation, and writes the memory of the box to `image`. The
/// statements `make` put the map's address into `%m`, and the thread that copies executes `acquire` first.
pub(super) fn kernel(
    text: &mut String,
    name: &str,
    rank: usize,
    columns: bool,
    (make, acquire): (&str, &str),
) {
    let list = |what: &str, n: usize| (0..n).map(|i| format!("{what}{i}")).collect::<Vec<_>>().join(", ");
    let tensor = format!("[%m, {{{}}}]", list("%c", rank));
    let tile = format!("cp.async.bulk.tensor.{rank}d");
    let to_global = if columns { "im2col_no_offs" } else { "tile" };
    let copy = match name {
        "load" => {
            let (mode, offsets) = match columns {
                true => ("im2col", format!(", {{{}}}", list("%h", rank - 2))),
                false => ("tile", String::new()),
            };
            format!(
                "mbarrier.init.shared::cta.b64 [%b], 1; fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], %n;
  {tile}.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes [%s], {tensor}, [%b]{offsets};"
            )
        }
        _ => {
            let (copy, operation) = match name {
                "store" => (tile, String::new()),
                reduction => (tile.replace("cp.", "cp.reduce."), format!("{reduction}.")),
            };
            format!(
                "{copy}.global.shared::cta.{operation}{to_global}.bulk_group {tensor}, [%s];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
            )
        }
    };
    let wait = match name {
        "load" => "W: mbarrier.try_wait.parity.shared::cta.b64 %p, [%b], 0; @!%p bra W;",
        _ => "",
    };
    let name = kernel_name(name, rank, columns);
    writeln!(
        text,
        ".visible .entry {name}(.param .align 64 .b8 map[128], .param .u64 image, .param .align 4 .b8 at[28], .param .u32 offset, .param .u32 bytes) .maxntid 128
{{
  .reg .b16 %h<3>; .reg .b32 %s, %b, %t, %i, %x, %n, %c<5>; .reg .b64 %im, %m, %o, %w<3>; .reg .pred %p;
  ld.param.u64 %im, [image]; ld.param.u32 %i, [offset]; ld.param.u32 %n, [bytes];
  ld.param.s32 %c0, [at]; ld.param.s32 %c1, [at+4]; ld.param.s32 %c2, [at+8]; ld.param.s32 %c3, [at+12]; ld.param.s32 %c4, [at+16];
  ld.param.u16 %h0, [at+20]; ld.param.u16 %h1, [at+22]; ld.param.u16 %h2, [at+24];
  mov.u32 %b, mem; add.u32 %s, %b, %i; add.u32 %b, %b, {BOX};
  mov.u32 %t, %tid.x; shl.b32 %t, %t, 2; mov.u32 %i, %t;
F: mov.u32 %x, mem; add.u32 %x, %x, %i; mul.wide.u32 %o, %i, 1; add.u64 %o, %o, %im; ld.global.u32 %t, [%o]; st.shared.u32 [%x], %t;
  add.u32 %i, %i, 512; setp.lt.u32 %p, %i, {BOX}; @%p bra F;
  {make}
  fence.proxy.async.shared::cta; bar.sync 0;
  mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0; @%p bra D;
  {acquire}
  {copy}
D: bar.sync 0;
  {wait}
  mov.u32 %t, %tid.x; shl.b32 %i, %t, 2;
L: mov.u32 %x, mem; add.u32 %x, %x, %i; mul.wide.u32 %o, %i, 1; add.u64 %o, %o, %im; ld.shared.u32 %t, [%x]; st.global.u32 [%o], %t;
  add.u32 %i, %i, 512; setp.lt.u32 %p, %i, {BOX}; @%p bra L;
  ret;
}}"
    )
    .unwrap();
}

/// The element types in the order of the numbers that `tensormap.replace` has for them (PTX ISA, the table of `.elemtype`).
const ELEMENTS: [TensorElement; 13] = {
    use TensorElement::*;
    [U8, U16, U32, S32, U64, S64, F16, F32, F32Ftz, F64, Bf16, Tf32, Tf32Ftz]
};

/// The instructions that replace all fields of the map at `[%w0]` in `space`: the rank first, the other fields in a random order.
fn replacements(tiled: &Tiled, address: u64, space: &str, random: &mut Random) -> String {
    let one = |field: &str, ty: &str, rest: String| {
        format!("tensormap.replace.tile.{field}{space}.b1024.{ty} [%w0], {rest};\n")
    };
    let (rank, element) = (tiled.dims.len(), ELEMENTS.iter().position(|&element| element == tiled.element));
    let mut all = vec![
        one("rank", "b32", (rank - 1).to_string()),
        one("global_address", "b64", address.to_string()),
        one("elemtype", "b32", element.unwrap().to_string()),
        one("interleave_layout", "b32", "0".into()),
        one("swizzle_mode", "b32", (tiled.swizzle as u8).to_string()),
        one("fill_mode", "b32", (tiled.fill as u8).to_string()),
    ];
    for i in 0..rank {
        all.push(one("box_dim", "b32", format!("{i}, {}", tiled.extents[i])));
        all.push(one("global_dim", "b32", format!("{i}, {}", tiled.dims[i])));
        all.push(one("element_stride", "b32", format!("{i}, {}", tiled.element_strides[i])));
        if i > 0 {
            all.push(one("global_stride", "b64", format!("{}, {}", i - 1, tiled.strides[i - 1])));
        }
    }
    for i in (2..all.len()).rev() {
        all.swap(i, 1 + random.below(i as u64) as usize);
    }
    all.concat()
}

/// Statements that make a map from the map that is an argument, in shared memory or in global memory behind the image, where it is
/// in the end; and the statements with which a thread acquires the map.
pub(super) fn made(tiled: &Tiled, address: u64, random: &mut Random) -> (String, String) {
    let scope = ["cta", "cluster", "gpu", "sys"][random.below(4) as usize];
    let shared = random.below(2) == 0;
    let space = if shared { ".shared::cta" } else { ".global" };
    let (at, st) = match shared {
        true => (format!("mov.u32 %x, mem; add.u32 %x, %x, {WORK}; cvt.u64.u32 %w0, %x;"), "shared"),
        false => ("mov.u64 %w0, %m;".into(), "global"),
    };
    let words: String = (0..128)
        .step_by(16)
        .map(|i| {
            format!("ld.param.v2.b64 {{%w1, %w2}}, [map+{i}]; st.{st}.v2.b64 [%w0+{i}], {{%w1, %w2}};\n")
        })
        .collect();
    let release = match shared {
        true => format!(
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{scope}.sync.aligned [%m], [%w0], 128;"
        ),
        false => format!("fence.proxy.tensormap::generic.release.{scope};"),
    };
    let replaced = replacements(tiled, address, space, random);
    let make = format!(
        "add.u64 %m, %im, {BOX}; {at} mov.u32 %t, %tid.x; setp.gt.u32 %p, %t, 31; @%p bra MADE;
  setp.gt.u32 %p, %t, 0; @%p bra FILLED;
  {words}  {replaced}FILLED: bar.warp.sync 0xffffffff; {release}
MADE:"
    );
    (make, format!("fence.proxy.tensormap::generic.acquire.{scope} [%m], 128;"))
}
