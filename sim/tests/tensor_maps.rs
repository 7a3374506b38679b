//! Tensor maps that kernels write: their fields are compared with the host's encoding, and the fences between the
//! thread that writes a map and the thread that copies with it are tested.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{download, launch, shape, u64_arg, upload};
use girih_ptx::{Interleave, OobFill, TENSOR_MAP_BYTES, TensorElement, TensorMap, TensorSwizzle, Tiled};
use girih_sim::{Error, Launch, Memory, Options};

fn module(body: &str) -> String {
    format!(".version 8.6\n.target sm_90a\n.address_size 64\n{body}")
}

/// The numbers that `tensormap.replace` has for the element types (PTX ISA, its table of `.elemtype`).
const ELEMENTS: [TensorElement; 13] = {
    use TensorElement::*;
    [U8, U16, U32, S32, U64, S64, F16, F32, F32Ftz, F64, Bf16, Tf32, Tf32Ftz]
};

/// The instructions that make a map at `[%m]`, `space` with its dot.
fn replacements(map: &TensorMap, space: &str) -> Vec<String> {
    let tiled = map.tiled();
    let one = |field: &str, ty: &str, rest: String| {
        format!("tensormap.replace.tile.{field}{space}.b1024.{ty} [%m], {rest};")
    };
    let element = ELEMENTS.iter().position(|&element| element == tiled.element).unwrap();
    let mut all = vec![
        one("global_address", "b64", map.address().to_string()),
        one("rank", "b32", (map.rank() - 1).to_string()),
        one("elemtype", "b32", element.to_string()),
        one("interleave_layout", "b32", (tiled.interleave as u8).to_string()),
        one("swizzle_mode", "b32", (tiled.swizzle as u8).to_string()),
        one("fill_mode", "b32", (tiled.fill as u8).to_string()),
    ];
    for i in 0..map.rank() {
        all.push(one("box_dim", "b32", format!("{i}, {}", tiled.extents[i])));
        all.push(one("global_dim", "b32", format!("{i}, {}", tiled.dims[i])));
        all.push(one("element_stride", "b32", format!("{i}, {}", tiled.element_strides[i])));
    }
    for (i, stride) in tiled.strides.iter().enumerate() {
        all.push(one("global_stride", "b64", format!("{i}, {stride}")));
    }
    all
}

/// A kernel that makes a map in shared or global memory, from zeros or from what is at `from`, and puts it `out`.
fn maker(space: &str, from: bool, lines: &str) -> String {
    let shared = space.contains("shared");
    let at = if shared { "mov.u32 %s, s; cvt.u64.u32 %m, %s;" } else { "mov.u64 %m, %q;" };
    let word = if shared { ".shared" } else { ".global" };
    let mut text = format!(
        ".visible .entry k(.param .u64 from, .param .u64 out, .param .u64 work) {{
         .shared .align 128 .b8 s[128]; .reg .b64 %m, %p, %o, %q, %v<2>; .reg .b32 %s;
         ld.param.u64 %p, [from]; ld.param.u64 %o, [out]; ld.param.u64 %q, [work]; {at}\n"
    );
    for i in (0..128).step_by(16) {
        text += &match from {
            true => format!("ld.global.v2.b64 {{%v0, %v1}}, [%p+{i}];\n"),
            false => "mov.b64 %v0, 0; mov.b64 %v1, 0;\n".into(),
        };
        text += &format!("st{word}.v2.b64 [%m+{i}], {{%v0, %v1}};\n");
    }
    text += lines;
    for i in (0..128).step_by(16) {
        text +=
            &format!("ld{word}.v2.b64 {{%v0, %v1}}, [%m+{i}]; st.global.v2.b64 [%o+{i}], {{%v0, %v1}};\n");
    }
    module(&(text + "ret; }"))
}

/// The map that the kernel makes.
fn made(text: &str, from: &[u8; TENSOR_MAP_BYTES]) -> Result<[u8; TENSOR_MAP_BYTES], Error> {
    let memory = Memory::new();
    let buffers: Vec<u64> = (0..3).map(|_| memory.alloc(TENSOR_MAP_BYTES).unwrap()).collect();
    memory.write(buffers[0], from).unwrap();
    let shape = Launch { args: buffers.iter().map(|&at| u64_arg(at)).collect(), ..shape(1, 1) };
    launch(text, &memory, &shape, &Options::checked())?;
    let mut bytes = [0; TENSOR_MAP_BYTES];
    memory.read(buffers[1], &mut bytes).unwrap();
    Ok(bytes)
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % n
    }

    fn map(&mut self) -> TensorMap {
        loop {
            let element = ELEMENTS[self.below(13) as usize];
            let rank = 1 + self.below(5) as usize;
            let dims: Vec<u64> = (0..rank).map(|_| 1 + self.below(5000)).collect();
            let extents: Vec<u32> = (0..rank)
                .map(|i| if i == 0 { 16 << self.below(3) } else { 1 + self.below(20) as u32 })
                .collect();
            let strides: Vec<u64> = (1..rank).map(|_| 16 * self.below(1 << 36)).collect();
            let steps: Vec<u32> = (0..rank).map(|_| 1 + self.below(8) as u32).collect();
            let fill = if self.below(2) == 1 { OobFill::Nan } else { OobFill::Zero };
            let tiled =
                Tiled::new(element, &dims, &extents).with_strides(&strides).with_element_strides(&steps);
            let tiled = tiled.with_swizzle(TensorSwizzle::ALL[self.below(4) as usize]).with_fill(fill);
            if let Ok(map) = tiled.at(16 * self.below(1 << 40)) {
                return map;
            }
        }
    }
}

/// Whether a map of this element type can become one of another: on an H200 a map of tf32 stays one.
fn stays(map: &TensorMap, element: TensorElement) -> bool {
    let short = |element| matches!(element, TensorElement::Tf32 | TensorElement::Tf32Ftz);
    !short(map.tiled().element) || short(element)
}

/// Every field, in whatever order after the rank, from zeros or over another map: the host's encoding of the same map.
#[test]
fn fields_make_the_map_that_the_host_encodes() {
    let mut random = Random(1);
    for round in 0..60 {
        let map = random.map();
        let other = loop {
            let other = random.map();
            if stays(&other, map.tiled().element) {
                break other;
            }
        };
        let space = [".shared::cta", ".global", ""][round % 3];
        let mut lines = replacements(&map, space);
        for i in (3..lines.len()).rev() {
            lines.swap(i, 2 + random.below(i as u64 - 1) as usize);
        }
        let space = if space.is_empty() { ".global" } else { space };
        let from = round % 2 == 1;
        let bytes = made(&maker(space, from, &lines.join("\n")), &other.to_bytes()).unwrap();
        assert_eq!(TensorMap::from_bytes(&bytes).unwrap(), map, "{lines:?}");
    }
}

/// Values that are invalid in a map, and parts of the messages.
#[test]
fn values_that_no_map_has_are_refused() {
    let space = ".shared::cta";
    let line = |field: &str, rest: &str| {
        let ty = if field.starts_with("global_a") || field.starts_with("global_s") { "b64" } else { "b32" };
        format!("tensormap.replace.tile.{field}{space}.b1024.{ty} [%m], {rest};")
    };
    for (field, rest, name) in [
        ("global_address", "8", "the global address"),
        ("global_address", "0x0200000000000000", "the global address"),
        ("rank", "5", "the rank less one"),
        ("box_dim", "1, 0", "extents[1]"),
        ("box_dim", "4, 257", "extents[4]"),
        ("global_dim", "2, 0", "dims[2]"),
        ("global_stride", "3, 24", "strides[3]"),
        ("global_stride", "0, 0x10000000000", "strides[0]"),
        ("element_stride", "0, 0", "element_strides[0]"),
        ("element_stride", "1, 9", "element_strides[1]"),
        ("elemtype", "13", "the element type"),
        ("interleave_layout", "3", "the interleave"),
        ("swizzle_mode", "4", "the swizzle"),
        ("fill_mode", "2", "the fill"),
    ] {
        let error = made(&maker(space, false, &line(field, rest)), &[0; 128]).unwrap_err();
        assert_eq!(error.kind(), "tensor-map", "{error}");
        assert!(error.to_string().contains(&format!("tensor map: {name} is")), "{field} {rest}: {error}");
    }
    for (field, rest, expected) in [
        ("global_stride", "4, 16", "an ordinal, 0 to 3"),
        ("box_dim", "5, 16", "an ordinal, 0 to 4"),
        ("swizzle_atomicity", "1", "needs sm_100a"),
    ] {
        let error = made(&maker(space, false, &line(field, rest)), &[0; 128]).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let nothing = made(&maker(space, true, &line("rank", "1")), &[7; 128]).unwrap_err();
    assert!(nothing.to_string().contains("no tensor map"), "{nothing}");
    let tf32 = Tiled::new(TensorElement::Tf32Ftz, &[16], &[16]).at(0).unwrap().to_bytes();
    let becomes = |number: &str| made(&maker(space, true, &line("elemtype", number)), &tf32);
    assert!(becomes("11").is_ok());
    let error = becomes("7").unwrap_err();
    assert!(error.to_string().contains("11 or 12: a map of tf32 stays one on a GPU"), "{error}");
    let other = "cvta.shared.u64 %m, %m; add.s64 %m, %m, 32; tensormap.replace.tile.rank.b1024.b32 [%m], 1;";
    assert_eq!(made(&maker(space, false, other), &[0; 128]).unwrap_err().kind(), "misaligned");
    let interleaved = Tiled { interleave: Interleave::B16, ..Tiled::new(TensorElement::U8, &[16], &[16]) };
    assert!(interleaved.at(0).is_err(), "no copy takes such a map");
}

/// The thread that writes the map, and the thread that copies with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Users {
    Thread,
    Warps,
    Blocks,
}

/// A thread makes a map in global memory and releases it, another (or the same) acquires it and copies a box.
fn kernel(map: &TensorMap, users: Users, release: &str, acquire: &str, copied: bool) -> String {
    let space = if copied { ".shared::cta" } else { ".global" };
    let lines = replacements(map, space).join("\n");
    let (make, done) = match copied {
        false => ("mov.u64 %m, %map;", String::new()),
        true => (
            "mov.u32 %r0, s; cvt.u64.u32 %m, %r0;",
            "bar.warp.sync 0xffffffff; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.\
             SCOPE.sync.aligned [%map], [%m], 128;"
                .replace("SCOPE", release),
        ),
    };
    let fence = |what: &str, scope: &str, rest: &str| match scope {
        "" => String::new(),
        scope => format!("fence.proxy.tensormap::generic.{what}.{scope} {rest};"),
    };
    let release = if copied { done } else { fence("release", release, "") };
    let acquire = fence("acquire", acquire, "[%map], 128");
    // Which thread waits for which.
    let (maker, user, handed, taken) = match users {
        Users::Thread => ("setp.lt.u32 %maker, %t, 32;", "setp.eq.u32 %user, %t, 0;", "", ""),
        Users::Warps => ("setp.lt.u32 %maker, %t, 32;", "setp.eq.u32 %user, %t, 32;", "", "bar.sync 0;"),
        Users::Blocks => (
            "setp.eq.u32 %maker, %c, 0; setp.lt.and.u32 %maker, %t, 32, %maker;",
            "setp.eq.u32 %user, %c, 1; setp.eq.and.u32 %user, %t, 0, %user;",
            "@%first st.release.gpu.global.u32 [%flag], 1;",
            "@%maker bra END; POLL: ld.acquire.gpu.global.u32 %r1, [%flag]; setp.eq.u32 %q, %r1, 0; @%q bra POLL;",
        ),
    };
    module(&format!(
        ".visible .entry k(.param .u64 map, .param .u64 flag, .param .u64 out) {{
         .shared .align 128 .b8 s[128]; .shared .align 128 .b8 box[64]; .shared .align 8 .b64 bar;
         .reg .b64 %map, %flag, %out, %m; .reg .b32 %t, %c, %r<9>, %bar, %box; .reg .pred %maker, %user, %first, %q;
         ld.param.u64 %map, [map]; ld.param.u64 %flag, [flag]; ld.param.u64 %out, [out];
         mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %bar, bar; mov.u32 %box, box;
         setp.eq.u32 %first, %t, 0; {maker} {user} {make}
         @%first mbarrier.init.shared::cta.b64 [%bar], 1; fence.mbarrier_init.release.cluster; bar.sync 0;
         @!%maker bra MADE;
         @%first bra MAKE; bra WRITTEN;
         MAKE: mov.u32 %r0, 0; mov.u32 %r1, s;
         ZERO: st.shared.u32 [%r1], 0; add.u32 %r1, %r1, 4; add.u32 %r0, %r0, 1; setp.lt.u32 %q, %r0, 32; @%q bra ZERO;
         {lines}
         WRITTEN: bar.warp.sync 0xffffffff;
         {release}
         {handed}
         MADE: {taken}
         @!%user bra END;
         {acquire}
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 64;
         cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%box], [%map, {{16}}], [%bar];
         WAIT: mbarrier.try_wait.parity.shared::cta.b64 %q, [%bar], 0; @!%q bra WAIT;
         ld.shared.u32 %r2, [%box+4]; st.global.u32 [%out], %r2;
         END: ret; }}"
    ))
}

fn copy(users: Users, release: &str, acquire: &str, copied: bool, seed: u64) -> Result<u32, Error> {
    let memory = Memory::new();
    let data = upload(&memory, &(100..200).collect::<Vec<_>>());
    let map = Tiled::new(TensorElement::U32, &[100], &[16]).at(data).unwrap();
    let (at, flag, out) = (upload(&memory, &[0; 32]), upload(&memory, &[0]), upload(&memory, &[0]));
    let args = vec![u64_arg(at), u64_arg(flag), u64_arg(out)];
    let blocks = if users == Users::Blocks { 2 } else { 1 };
    let shape = Launch { args, ..shape(blocks, 64) };
    let text = kernel(&map, users, release, acquire, copied);
    launch(&text, &memory, &shape, &Options { seed, ..Options::checked() })?;
    Ok(download(&memory, out, 1)[0])
}

/// A copy sees the map if and only if it has been released and acquired in scopes that include both threads.
#[test]
fn a_map_is_released_and_acquired() {
    const SCOPES: [&str; 4] = ["", "cta", "cluster", "gpu"];
    for users in [Users::Thread, Users::Warps, Users::Blocks] {
        let needed = if users == Users::Blocks { 3 } else { 1 };
        for (r, release) in SCOPES.into_iter().enumerate() {
            for (a, acquire) in SCOPES.into_iter().enumerate() {
                for copied in [false, true] {
                    // A copy always releases.
                    if copied && r == 0 {
                        continue;
                    }
                    let found = copy(users, release, acquire, copied, r as u64);
                    let case = format!("{users:?} `{release}` `{acquire}` {copied}: {found:?}");
                    match (r >= needed, a >= needed) {
                        (true, true) => assert_eq!(found.unwrap(), 117, "{case}"),
                        (_, _) => {
                            let error = found.expect_err(&case);
                            assert_eq!(error.kind(), "tensor-map-unfenced", "{case}");
                            // There is an acquire, but it has met no release, or one whose scope was too narrow.
                            let lacks = if a == 0 { "generic.acquire" } else { "generic.release" };
                            assert!(error.to_string().contains(lacks), "{case}");
                        }
                    }
                }
            }
        }
    }
}

/// A map that is changed after it has been acquired must be acquired again.
#[test]
fn an_acquire_is_of_what_was_there() {
    let text = |again: &str| {
        let memory = Memory::new();
        let data = upload(&memory, &(0..100).collect::<Vec<_>>());
        let map = Tiled::new(TensorElement::U32, &[100], &[16]).at(data).unwrap();
        let at = upload(&memory, &[0; 32]);
        let text = kernel(&map, Users::Thread, "gpu", "gpu", false).replace(
            "WAIT: mbarrier",
            &format!(
                "NEXT: mbarrier.try_wait.parity.shared::cta.b64 %q, [%bar], 0; @!%q bra NEXT;
                 tensormap.replace.tile.global_dim.global.b1024.b32 [%map], 0, 20;
                 {again}
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 64;
                 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
                   [%box], [%map, {{16}}], [%bar];
                 WAIT: mbarrier"
            ),
        );
        let text = text.replace("%q, [%bar], 0; @!%q bra WAIT", "%q, [%bar], 1; @!%q bra WAIT");
        let (flag, out) = (upload(&memory, &[0]), upload(&memory, &[0]));
        let args = vec![u64_arg(at), u64_arg(flag), u64_arg(out)];
        launch(&text, &memory, &Launch { args, ..shape(1, 64) }, &Options::checked())
            .map(|_| download(&memory, out, 1)[0])
    };
    let (release, acquire) = (
        "fence.proxy.tensormap::generic.release.cta;",
        "fence.proxy.tensormap::generic.acquire.cta [%map], 128;",
    );
    assert_eq!(text(&format!("{release}{acquire}")).unwrap(), 17);
    for again in ["", release, acquire, &format!("{acquire}{release}")] {
        assert_eq!(text(again).unwrap_err().kind(), "tensor-map-unfenced", "{again}");
    }
}
