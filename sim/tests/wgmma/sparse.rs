//! `wgmma.mma_async.sp`: A packed with metadata, B twice as long along K ("Matrix fragments for wgmma.mma_async.sp").

use girih_sim::{Memory, Options};

use super::case::{Case, SPACE};
use super::place::Place;
use super::values::{Random, TYPES, bits, is_integer, put, value};
use crate::common::{download, launch, shape, u32_arg, u64_arg, upload};

/// B of 64 bytes along K, packed.
fn right(n: usize, mn: bool, width: usize, shift: usize) -> Place {
    let start = 32 << 10;
    match (mn, width) {
        (false, 0) => Place { mn, width, start, leading: n * 16, stride: 128 },
        // Further along K in a row that holds more of it.
        (false, w) => {
            Place { mn, width, start: start + shift % (w / 64).max(1) * 64, leading: 16, stride: 8 * w }
        }
        (true, 0) => Place { mn, width, start, leading: n * 16, stride: 128 },
        (true, w) => Place { mn, width, start, leading: 32 * w, stride: 8 * w },
    }
}

/// The indices of what is there in a chunk, and its four bits of metadata.
fn chosen(random: &mut Random, ty: &str) -> (Vec<usize>, u32) {
    if ty == "tf32" {
        return if random.flip() { (vec![1], 0b1110) } else { (vec![0], 0b0100) };
    }
    let first = random.below(4) as usize;
    let second = (first + 1 + random.below(3) as usize) % 4;
    let pair = [first.min(second), first.max(second)];
    (pair.into(), (pair[0] | pair[1] << 2) as u32)
}

/// The thread, of a warp, and the first bit of a chunk's metadata, by the figures.
fn metadata_place(ty: &str, row: usize, c: usize, selector: usize) -> (usize, usize) {
    let (g, below) = (row % 8, row / 8);
    match bits(ty) {
        8 => (4 * g + below + if c < 8 { 0 } else { 2 }, 4 * (c % 8)),
        _ => (4 * g + 2 * selector + usize::from(c >= 4), 16 * below + 4 * (c % 4)),
    }
}

fn check(random: &mut Random, case: &Case, selector: usize, seed: u64) {
    let (n, half) = (case.n, case.k());
    let chunk = if case.a == "tf32" { 2 } else { 4 };
    let (mut dense, mut packed) = (vec![vec![0i64; 2 * half]; 64], vec![vec![]; 64]);
    let mut metadata = vec![0u32; 128];
    for row in 0..64 {
        for c in 0..2 * half / chunk {
            let (there, bits) = chosen(random, case.a);
            let (lane, from) = metadata_place(case.a, row % 16, c, selector);
            metadata[row / 16 * 32 + lane] |= bits << from;
            for i in there {
                let x = value(random, case.a);
                dense[row][c * chunk + i] = x;
                packed[row].push(x);
            }
        }
    }
    let b: Vec<Vec<i64>> = (0..n).map(|_| (0..2 * half).map(|_| value(random, case.b)).collect()).collect();
    let mut image: Vec<u8> = (0..SPACE).map(|_| random.next() as u8 & 0x03).collect();
    let sides = [(case.a, &packed, case.left.as_ref()), (case.b, &b, Some(&case.right))];
    for (ty, matrix, place) in sides {
        for (i, row) in matrix.iter().enumerate() {
            for (k, &x) in row.iter().enumerate() {
                if let Some(place) = place {
                    put(&mut image, place.offset(i, k, bits(ty)), ty, x);
                }
            }
        }
    }
    let large = case.d.starts_with("satfinite");
    let c: Vec<i64> = (0..64 * n)
        .map(|_| if large { random.pick(&[i32::MAX, i32::MIN]).into() } else { random.below(64) as i64 - 32 })
        .collect();
    let sign = if case.negate[0] != case.negate[1] && !is_integer(case.a) { -1 } else { 1 };
    let d: Vec<i64> = (0..64 * n)
        .map(|at| {
            let sum: i64 = (0..2 * half).map(|k| dense[at / n][k] * b[at % n][k]).sum();
            let d = sign * sum + if case.accumulate { c[at] } else { 0 };
            if large { d.clamp(i32::MIN.into(), i32::MAX.into()) } else { d }
        })
        .collect();
    let mut fragments = case.fragments(&packed);
    fragments.extend(metadata);
    let instruction = case
        .instruction()
        .replace("mma_async", "mma_async.sp")
        .replace(&format!("k{}.", half), &format!("k{}.", 2 * half))
        .replace("%db, %p", &format!("%db, %x0, {selector}, %p"));
    let body = format!(
        "ld.param.u64 %o, [a]; mul.wide.u32 %im, %t, 4; add.u64 %o, %o, %im; ld.global.b32 %x0, [%o+2048];
         wgmma.fence.sync.aligned;\n{instruction}\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
    );
    let memory = Memory::new();
    let words: Vec<u32> = image.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    let count = 128 * case.registers();
    let out = upload(&memory, &vec![0; count]);
    let mut config = shape(1, 128);
    config.dynamic_shared = SPACE as u32;
    config.args = vec![
        u64_arg(out),
        u64_arg(upload(&memory, &case.accumulators(&c))),
        u64_arg(upload(&memory, &fragments)),
        u64_arg(upload(&memory, &words)),
        u64_arg(case.left.map_or(0, |place| place.descriptor())),
        u64_arg(case.right.descriptor()),
        u32_arg(case.accumulate.into()),
    ];
    let options = Options { seed, ..Options::checked() };
    launch(&case.kernel(&body), &memory, &config, &options).unwrap_or_else(|e| panic!("{instruction}: {e}"));
    let what = format!("{instruction} A {:?} B {:?}", case.left, case.right);
    assert_eq!(download(&memory, out, count), case.accumulators(&d), "{what}");
}

/// Every type, with A in both places, every layout of B, and each selector.
#[test]
fn sparse_products_are_the_dense_ones() {
    let mut random = Random(0x5eed_5eed_5eed_5eed);
    for &(a, b, sums) in TYPES.iter().filter(|(a, _, _)| *a != "b1") {
        let majors: &[bool] = if bits(a) == 16 { &[false, true] } else { &[false] };
        for (i, (&mn, width)) in
            majors.iter().flat_map(|mn| [0, 32, 64, 128].map(|width| (mn, width))).enumerate()
        {
            if width == 32 && !mn {
                continue;
            }
            for shared in [false, true] {
                let n = random.pick(&[8, 16, 64, 96]);
                let a_mn = bits(a) == 16 && random.flip();
                let a_width = random.pick(&[0, 32, 64, 128]);
                let left =
                    shared.then(|| Place::random(&mut random, 64, bits(a), a_mn, a_width, 0, 32 << 10));
                let right = right(n, mn, width, random.below(2) as usize);
                let negate = [random.flip(), random.flip()];
                let d = sums[i % sums.len()];
                let case = Case { a, b, d, n, left, right, negate, accumulate: random.below(4) > 0 };
                let selector = if bits(a) == 8 { 0 } else { i % 2 };
                check(&mut random, &case, selector, i as u64 % 3);
            }
        }
    }
}

/// A body of one product of bf16 and its error, if it has one.
fn found(metadata: &str, after: &str, width: usize) -> String {
    let (left, right) = (None, right(8, false, width, 0));
    let case =
        Case { a: "bf16", b: "bf16", d: "f32", n: 8, left, right, negate: [false; 2], accumulate: true };
    let body = format!(
        "mov.b32 %x0, {metadata}; wgmma.fence.sync.aligned;
         wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {{%d0, %d1, %d2, %d3}}, {{%a0, %a1, %a2, %a3}}, %db, %x0, 0,
         %p, 1, 1, 0; wgmma.commit_group.sync.aligned; {after} wgmma.wait_group.sync.aligned 0;"
    );
    let mut random = Random(3);
    match case.run(&mut random, &body, &Options::checked()) {
        Ok(_) => "fine".into(),
        Err(error) => format!("{}: {error}", error.kind()),
    }
}

#[test]
fn sparse_misuse_is_told() {
    assert_eq!(found("0x44444444", "", 64), "fine");
    let nothing = found("0x44445444", "", 64);
    assert!(nothing.starts_with("bad-value") && nothing.contains("sparse metadata"), "{nothing}");
    let changed = found("0x44444444", "mov.b32 %x0, 0;", 64);
    assert!(changed.starts_with("wgmma-in-flight"), "{changed}");
    let narrow = found("0x44444444", "", 32);
    assert!(narrow.starts_with("bad-value") && narrow.contains("the swizzle of B"), "{narrow}");
}
