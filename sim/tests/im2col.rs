//! Im2col copies, compared with their definition: the pixels of the map's box from that of the coordinates on, image
//! after image, each moved by the offsets.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{launch, module, u64_arg};
use girih_ptx::{Columns, OobFill, TENSOR_MAP_BYTES, TensorElement, TensorMap, TensorSwizzle, Tiled};
use girih_sim::{Error, Launch, Memory, Options};

/// Loads a column, copies shared memory as it is to the output, and stores the column from there through a second map.
fn kernel(rank: usize, at: &[i32], offsets: &[u32], to: &[i32]) -> String {
    let list = |values: Vec<String>| values.join(", ");
    let numbers = |values: &[i32]| list(values.iter().map(|value| value.to_string()).collect());
    let (at, to) = (numbers(at), numbers(to));
    let offsets = list(offsets.iter().map(|value| value.to_string()).collect());
    module(&format!(
        ".visible .entry k(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u64 out,
          .param .u64 bytes) {{
         .shared .align 1024 .b8 s[16384]; .shared .align 8 .b64 bar;
         .reg .b32 %s, %b, %n, %r<9>; .reg .b64 %from, %to, %o, %p, %m; .reg .pred %p<3>;
         ld.param.u64 %o, [out]; ld.param.u64 %m, [bytes]; cvt.u32.u64 %n, %m;
         mov.b64 %from, from; cvta.param.u64 %from, %from; mov.b64 %to, to; cvta.param.u64 %to, %to;
         mov.u32 %s, s; mov.u32 %b, bar;
         mbarrier.init.shared::cta.b64 [%b], 1; fence.mbarrier_init.release.cluster;
         cp.async.bulk.prefetch.tensor.{rank}d.L2.global.im2col [%from, {{{at}}}], {{{offsets}}};
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], %n;
         cp.async.bulk.tensor.{rank}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
           [%s], [%from, {{{at}}}], [%b], {{{offsets}}};
         WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT;
         mov.u32 %r0, 0;
         COPY: add.u32 %r1, %s, %r0; ld.shared.u32 %r2, [%r1]; cvt.u64.u32 %p, %r0; add.s64 %p, %p, %o;
         st.global.u32 [%p], %r2; add.u32 %r0, %r0, 4; setp.lt.u32 %p1, %r0, %n; @%p1 bra COPY;
         fence.proxy.async;
         cp.async.bulk.tensor.{rank}d.global.shared::cta.im2col_no_offs.bulk_group [%to, {{{to}}}], [%s];
         cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }}"
    ))
}

struct Run {
    shared: Vec<u16>,
    stored: Vec<u16>,
}

/// Elements of 16 bits: each its own number, from 1.
fn run(from: &Tiled, to: &Tiled, text: &str, seed: u64) -> Result<Run, Error> {
    let memory = Memory::new();
    let halves = |values: &[u16]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let count = |tiled: &Tiled| tiled.dims.iter().product::<u64>() as usize;
    let source: Vec<u16> = (0..count(from)).map(|i| i as u16 + 1).collect();
    let (a, b) = (memory.alloc(2 * count(from)).unwrap(), memory.alloc(2 * count(to)).unwrap());
    memory.write(a, &halves(&source)).unwrap();
    let out = memory.alloc(16384).unwrap();
    let (from, to) = (from.at(a).unwrap(), to.at(b).unwrap());
    let bytes = from.box_bytes();
    let args = vec![from.to_bytes().into(), to.to_bytes().into(), u64_arg(out), u64_arg(bytes)];
    let shape = Launch { grid: [1; 3], block: [1; 3], args, ..Launch::default() };
    launch(text, &memory, &shape, &Options { seed, ..Options::checked() })?;
    let read = |at: u64, bytes: usize| {
        let mut out = vec![0; bytes];
        memory.read(at, &mut out).unwrap();
        out.chunks_exact(2).map(|half| u16::from_le_bytes([half[0], half[1]])).collect::<Vec<u16>>()
    };
    Ok(Run {
        shared: read(out, bytes as usize),
        stored: read(b, to.tiled().tensor_bytes().unwrap() as usize),
    })
}

/// The coordinates of pixels, images last, in the order in which columns go through them, from the first of the first image on.
fn box_of(tiled: &Tiled, images: i64) -> Vec<Vec<i64>> {
    let (columns, last) = (tiled.columns.as_ref().unwrap(), tiled.dims.len() - 1);
    let mut all: Vec<Vec<i64>> = (0..images).map(|n| vec![n]).collect();
    for i in (1..last).rev() {
        let (low, high) = (columns.lower[i - 1], tiled.dims[i] as i64 - 1 + i64::from(columns.upper[i - 1]));
        let steps = (i64::from(low)..=high).step_by(tiled.element_strides[i] as usize);
        all = all
            .iter()
            .flat_map(|rest| {
                steps.clone().map(|at| std::iter::once(at).chain(rest.iter().copied()).collect())
            })
            .collect();
    }
    all
}

/// The number of an element, counted from 1, or nothing outside.
fn element(tiled: &Tiled, channel: i64, pixel: &[i64]) -> Option<u16> {
    (0..tiled.dims[0] as i64).contains(&channel).then_some(())?;
    let (mut number, mut scale) = (channel, tiled.dims[0] as i64);
    for (&at, &dim) in pixel.iter().zip(&tiled.dims[1..]) {
        (0..dim as i64).contains(&at).then_some(())?;
        number += at * scale;
        scale *= dim as i64;
    }
    Some(number as u16 + 1)
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
        ((self.0 >> 33) % n as u64) as i64
    }
}

#[test]
fn columns_are_the_definitions_pixels() {
    let mut random = Random(7);
    let mut outside = 0;
    for round in 0..300 {
        let pixels = 1 + round % 3;
        let channels = 8 << random.below(4);
        let mut dims = vec![8 * (1 + random.below(5)) as u64];
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for _ in 0..pixels {
            dims.push(2 + random.below(6) as u64);
            lower.push(random.below(4) as i32 - 2);
            upper.push(random.below(3) as i32 - 1 + *lower.last().unwrap());
        }
        dims.push(1 + random.below(3) as u64);
        let columns = Columns { lower, upper: upper.iter().map(|&u| u.clamp(-1, 2)).collect() };
        let swizzle = TensorSwizzle::ALL[random.below(4) as usize];
        // The padding of padded rows has no values to compare.
        if swizzle.span().is_some_and(|span| i64::from(span) != 2 * channels) {
            continue;
        }
        let fill = if random.below(2) == 0 { OobFill::Zero } else { OobFill::Nan };
        let mut steps = vec![1; pixels + 2];
        steps[1..=pixels].iter_mut().for_each(|step| *step = 1 + random.below(3) as u32);
        let shape = [channels as u32, 1 + random.below(40) as u32];
        let from = Tiled::im2col(TensorElement::F16, &dims, shape, columns.clone())
            .with_swizzle(swizzle)
            .with_fill(fill)
            .with_element_strides(&steps);
        if from.at(0).is_err() {
            continue;
        }
        let all = box_of(&from, 90);
        let first = random.below(all.len() as i64 / 30) as usize;
        let channel = 8 * random.below(dims[0] as i64 / 8);
        let offsets: Vec<u32> = (0..pixels).map(|_| random.below(3) as u32).collect();
        let at: Vec<i32> = std::iter::once(channel).chain(all[first].clone()).map(|at| at as i32).collect();
        // The stored data: the same rows, in a tensor without borders.
        let none = Columns { lower: vec![0; pixels], upper: vec![0; pixels] };
        let to = Tiled::im2col(TensorElement::F16, &dims, shape, none).with_swizzle(swizzle);
        let places = box_of(&to, 1 + dims.last().copied().unwrap() as i64 + 90);
        let start = random.below(places.len() as i64 / 30) as usize;
        let put: Vec<i32> = std::iter::once(0).chain(places[start].clone()).map(|at| at as i32).collect();
        let text = kernel(pixels + 2, &at, &offsets, &put);
        let got = run(&from, &to, &text, round as u64 % 4).unwrap_or_else(|e| panic!("{from:?} {at:?}: {e}"));
        let outer = if fill == OobFill::Nan { 0x7ff7 } else { 0 };
        let mut stored = vec![0; got.stored.len()];
        for p in 0..shape[1] as usize {
            for c in 0..channels {
                let mut pixel = all[first + p].clone();
                pixel.iter_mut().zip(&offsets).for_each(|(at, &offset)| *at += i64::from(offset));
                let want = element(&from, channel + c, &pixel);
                outside += usize::from(want.is_none());
                let want = want.unwrap_or(outer);
                let place = swizzle.apply(2 * (p as i64 * channels + c) as u64) as usize / 2;
                let found = got.shared[place];
                assert_eq!(found, want, "{from:?} at {at:?} offsets {offsets:?}: pixel {p}, channel {c}");
                if let Some(number) = element(&to, c, &places[start + p]) {
                    stored[number as usize - 1] = want;
                }
            }
        }
        assert_eq!(got.stored, stored, "{to:?} at {put:?}");
    }
    assert!(outside > 1000, "{outside}");
}

/// A convolution, one output pixel after another, is the sum over a filter's elements of the values that im2col copies
/// bring.
#[test]
fn a_convolution_is_made_of_columns() {
    let (width, height, channels, images) = (6i64, 5i64, 8i64, 2i64);
    let dims = [channels as u64, width as u64, height as u64, images as u64];
    let columns = Columns { lower: vec![-1, -1], upper: vec![-1, -1] };
    let pixels = width * height * images;
    let from = Tiled::im2col(TensorElement::F16, &dims, [8, pixels as u32], columns);
    let none = Columns { lower: vec![0, 0], upper: vec![0, 0] };
    let to = Tiled::im2col(TensorElement::F16, &dims, [8, pixels as u32], none);
    let mut sums = vec![0i64; pixels as usize];
    for s in 0..3u32 {
        for r in 0..3u32 {
            let text = kernel(4, &[0, -1, -1, 0], &[s, r], &[0, 0, 0, 0]);
            let got = run(&from, &to, &text, 0).unwrap();
            for (sum, pixel) in sums.iter_mut().zip(got.shared.chunks_exact(8)) {
                *sum += i64::from(1 + s + 3 * r) * pixel.iter().map(|&x| i64::from(x)).sum::<i64>();
            }
        }
    }
    for pixel in 0..pixels {
        let (x, y, n) = (pixel % width, pixel / width % height, pixel / width / height);
        let mut want = 0;
        for (dx, dy) in (0..9).map(|i| (i % 3, i / 3)) {
            let inside = (0..width).contains(&(x + dx - 1)) && (0..height).contains(&(y + dy - 1));
            for c in 0..if inside { channels } else { 0 } {
                let number = c + channels * (x + dx - 1 + width * (y + dy - 1 + height * n)) + 1;
                want += (1 + dx + 3 * dy) * number;
            }
        }
        assert_eq!(sums[pixel as usize], want, "{pixel}");
    }
}

#[test]
fn misuse_is_told() {
    let columns = Columns { lower: vec![-1, -1], upper: vec![-1, -1] };
    let from = Tiled::im2col(TensorElement::F16, &[8, 6, 5, 2], [8, 16], columns);
    let none = Columns { lower: vec![0, 0], upper: vec![0, 0] };
    let to = Tiled::im2col(TensorElement::F16, &[8, 6, 5, 2], [8, 16], none);
    let tiled = Tiled::new(TensorElement::F16, &[8, 6, 5, 2], &[8, 6, 2, 1]);
    let fine = ([0, -1, 2, 0], [2, 0]);
    let told = |from: &Tiled, (at, offsets): ([i32; 4], [u32; 2]), put: [i32; 4]| match run(
        from,
        &to,
        &kernel(4, &at, &offsets, &put),
        0,
    ) {
        Ok(_) => "fine".to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(told(&from, fine, [0; 4]), "fine");
    for (found, expected) in [
        (told(&from, ([0, 5, 2, 0], [0, 0]), [0; 4]), "a coordinate of the first pixel"),
        (told(&from, ([0, -2, 2, 0], [0, 0]), [0; 4]), "-1 to 4"),
        (told(&from, ([0, 0, 4, 0], [0, 0]), [0; 4]), "-1 to 3"),
        (told(&from, ([0, 0, 0, 0], [256, 0]), [0; 4]), "0 to 255"),
        (told(&from, ([4, 0, 0, 0], [0, 0]), [0; 4]), "a multiple of 8"),
        (told(&tiled, fine, [0; 4]), ".tile, as the map"),
        (told(&from, fine, [0, 6, 0, 0]), "0 to 5"),
    ] {
        assert!(found.contains(expected), "{expected}: {found}");
    }
    // Stores, as an H200 has it, take no map whose columns leave the tensor, wherever they begin themselves.
    for (lower, upper, expected) in [
        ([0, 1], [0, -2], "fine"),
        ([-1, 0], [0, 0], "the lower corner of the map of a store"),
        ([0, 0], [0, 1], "the upper corner of the map of a store"),
    ] {
        let bordered = Columns { lower: lower.into(), upper: upper.into() };
        let to = Tiled::im2col(TensorElement::F16, &[8, 6, 5, 2], [8, 16], bordered);
        let found = run(&from, &to, &kernel(4, &fine.0, &fine.1, &[0, 1, 1, 0]), 0);
        let found = found.map_or_else(|error| error.to_string(), |_| "fine".into());
        assert!(found.contains(expected), "{expected}: {found}");
    }
    // A tile of a map of columns.
    let text = kernel(4, &[0; 4], &[0, 0], &[0; 4]).replace(".im2col_no_offs", ".tile");
    let error = run(&from, &to, &text, 0).err().unwrap().to_string();
    assert!(error.contains(".im2col, as the map"), "{error}");
}

/// What `cuTensorMapEncodeIm2col` is documented to refuse, and the encoding.
#[test]
fn maps_of_columns() {
    let make = |dims: &[u64], shape, lower: &[i32], upper: &[i32]| {
        Tiled::im2col(TensorElement::U8, dims, shape, Columns { lower: lower.into(), upper: upper.into() })
            .at(0)
    };
    let field = |map: Result<TensorMap, girih_ptx::Error>| match map {
        Ok(_) => "fine".into(),
        Err(girih_ptx::Error::TensorMap { field, .. }) => field,
        Err(error) => panic!("{error}"),
    };
    let square = [64, 16, 16, 4];
    for (found, expected) in [
        (make(&square, [64, 1024], &[-128, 0], &[127, 0]), "fine"),
        (make(&square, [64, 1025], &[0, 0], &[0, 0]), "extents[1]"),
        (make(&square, [272, 8], &[0, 0], &[0, 0]), "extents[0]"),
        (make(&square, [8, 8], &[0, 0], &[0, 0]), "the size of extents[0] in bytes"),
        (make(&square, [64, 8], &[0], &[0, 0]), "the number of lower corners"),
        (make(&square, [64, 8], &[0, 0], &[0, 0, 0]), "the number of upper corners"),
        (make(&square, [64, 8], &[0, -129], &[0, 0]), "lower[1]"),
        (make(&square, [64, 8], &[0, 0], &[128, 0]), "upper[0]"),
        (make(&square, [64, 8], &[0, 0], &[0, -15]), "fine"),
        (make(&square, [64, 8], &[0, 0], &[0, -16]), "upper[1]"),
        (make(&[64, 16], [64, 8], &[], &[]), "the rank"),
        (make(&[64, 16, 4], [64, 8], &[-32768], &[32767]), "fine"),
        (make(&[64, 16, 4], [64, 8], &[-32769], &[0]), "lower[0]"),
        (make(&[64, 16, 16, 16, 4], [64, 8], &[-16; 3], &[15; 3]), "fine"),
        (make(&[64, 16, 16, 16, 4], [64, 8], &[-16; 3], &[15, 16, 15]), "upper[1]"),
    ] {
        assert_eq!(field(found.clone()), expected);
        if let Ok(map) = found {
            let bytes = map.to_bytes();
            assert_eq!(TensorMap::from_bytes(&bytes).unwrap(), map);
            for at in 0..TENSOR_MAP_BYTES {
                let mut other = bytes;
                other[at] ^= 1;
                if let Ok(changed) = TensorMap::from_bytes(&other) {
                    assert!(changed != map && changed.to_bytes() == other, "byte {at}");
                }
            }
        }
    }
}
