//! Copies on the simulator, against the definition: `dst(c) = src(c)` for every coordinate, and nothing else changes.

use girih_codegen::copy::{CopyConfig, Through};
use girih_kernels::Error;
use girih_kernels::copy::{Copy, Problem, Tuning, choose, tuned};
use girih_layout::{Lay, lay};
use girih_tensor::DType;
use rand::{SeedableRng, rngs::StdRng};

use super::checked;
use super::common::{Failure, layouts::random_copies};

#[test]
fn random_layouts_with_padding_or_indices() -> Result<(), Failure> {
    random_copies(&checked(), &mut StdRng::seed_from_u64(3), 400, 20_000)
}

/// A line and rows through registers, by blocks with one tile and with several, and by bulk copies, whose last tile may be shorter.
#[test]
fn lines_go_every_way() -> Result<(), Failure> {
    let device = checked();
    for (extents, pitches) in
        [(vec![100_000], vec![1]), (vec![3000, 7], vec![1, 3100]), (vec![1024, 3, 2], vec![1, 2048, 8192])]
    {
        let problem = Problem::strided(DType::F32, &extents, &pitches, &pitches)?;
        let last: i64 = extents.iter().zip(&pitches).map(|(extent, pitch)| (extent - 1) * pitch).sum();
        let data: Vec<f32> = (0..=last).map(|i| i as f32).collect();
        let from = device.upload(&data)?;
        let mut ways = Vec::new();
        for (blocks, bulk) in [(None, None), (Some(2), None), (Some(2), Some(2)), (Some(1), Some(5))] {
            let tuning = Tuning { threads: 64, tile: 4096, blocks, bulk, ..Tuning::default() };
            let chosen = tuned(&problem, [16, 16], &tuning)?;
            ways.push((chosen.config.through, chosen.config.walk.persistent));
            let to = device.alloc::<f32>(data.len())?;
            to.fill_bytes(0xff)?;
            Copy::configured(&device, &problem, chosen)?.run(&to, &from)?;
            let inside = |i: i64| {
                let mut rest = i;
                let within = |(extent, pitch): (&i64, &i64)| {
                    let position = rest / pitch;
                    rest %= pitch;
                    position < *extent
                };
                extents.iter().zip(&pitches).rev().all(within)
            };
            for (i, found) in to.download()?.into_iter().enumerate() {
                assert!(if inside(i as i64) { found == data[i] } else { found.is_nan() }, "{tuning:?}: {i}");
            }
        }
        let bulk = |stages| Through::Bulk { stages };
        assert_eq!(
            ways,
            [(Through::Registers, false), (Through::Registers, true), (bulk(2), true), (bulk(5), true)]
        );
    }
    Ok(())
}

/// What a problem takes and refuses, and with which words.
#[test]
fn layouts_without_a_copy_are_refused() -> Result<(), Failure> {
    let message = |result: Result<Problem, Error>| result.expect_err("bad input").to_string();
    let new = |src: &Lay, dst: &Lay| Problem::new(DType::F32, src, dst);
    for (src, dst, words) in [
        (
            lay!("(4,2):(1,4)"),
            lay!("(4,2):(1,3)"),
            "dst (4,2):(1,3) has one element, 3, at (3,0) and at (0,1)",
        ),
        (lay!("(2,3):(1,2)"), lay!("((2,3)):((1,0))"), "has one element, 0, at ((0,1)) and at ((0,0))"),
        (lay!("6:1"), lay!("(2,4):(1,2)"), "src 6 and dst (2,4): shapes of one size"),
        (lay!("(6,4):(1,6)"), lay!("(4,6):(1,4)"), "src (6,4) and dst (4,6): shapes of one size"),
        (lay!("(s0,4):(1,s0)"), lay!("(8,4):(1,8)"), "src (s0,4):(1,s0): layouts of known extents"),
        (lay!("(8,4):(1,8)"), lay!("(8,4):(1,s0)"), "dst (8,4):(1,s0): layouts of known extents"),
        (
            lay!("(2,3):(1,2)"),
            lay!("(2,3):(1,-1)"),
            "dst (2,3):(1,-1) has one element, 1, at (0,1) and at (1,2)",
        ),
        (lay!("(8,4):(^1,^8)"), lay!("(8,4):(1,8)"), "src (8,4):(^1,^8): layouts of known extents"),
    ] {
        let found = message(new(&src, &dst));
        assert!(found.contains(words), "{src} to {dst}: {found}");
    }
    // Broadcasts are fine, and so are coordinates that only the source has in common.
    new(&lay!("(4,2):(0,1)"), &lay!("(4,2):(2,1)"))?;
    new(&lay!("(4,2):(1,3)"), &lay!("(4,2):(1,4)"))?;
    let pad = |src: &Lay, dst: &Lay, low: &[i64]| Problem::pad(DType::F32, src, dst, low, 0.0);
    for (src, dst, low) in [
        (lay!("(4,4):(4,1)"), lay!("(5,5):(5,1)"), &[2, 0][..]),
        (lay!("(4,4):(4,1)"), lay!("(5,5):(5,1)"), &[-1, 0]),
        (lay!("(4,4):(4,1)"), lay!("(5,5):(5,1)"), &[0]),
        (lay!("(4,(2,2)):(4,(1,2))"), lay!("(5,5):(5,1)"), &[0, 0]),
    ] {
        let found = message(pad(&src, &dst, low));
        assert!(found.contains("as many modes on both sides are accepted"), "{found}");
    }
    let gather = |src: &Lay, dst: &Lay, mode, index| Problem::gather(DType::F32, src, dst, mode, index);
    let table = lay!("(4,4):(4,1)");
    for (src, dst, mode, index) in [
        (table, table, 2, DType::U32),
        (table, table, 0, DType::F32),
        (table, lay!("(4,2,2):(4,2,1)"), 0, DType::U32),
        (table, lay!("((2,2),4):((4,8),1)"), 0, DType::U32),
        (lay!("(4294967296,4):(4,1)"), table, 0, DType::S64),
        (lay!("(4,4):(4294967296,1)"), table, 0, DType::S64),
    ] {
        let found = message(gather(&src, &dst, mode, index));
        assert!(found.starts_with("a gather along mode"), "{found}");
    }
    let strided = |extents: &[i64], src: &[i64], dst: &[i64]| Problem::strided(DType::F32, extents, src, dst);
    assert_eq!(
        message(strided(&[-1], &[1], &[1])),
        "extent = -1: 0 to 9223372036854775807 elements are accepted"
    );
    assert!(message(strided(&[2, 2], &[1], &[1, 2])).starts_with("src [2, 2]:[1] and dst [2, 2]:[1, 2]"));
    assert!(message(strided(&[2], &[i64::MAX], &[1])).contains("64"));
    Ok(())
}

/// The buffers and indices that a copy is given are checked.
#[test]
fn buffers_that_do_not_fit_are_refused() -> Result<(), Failure> {
    let device = checked();
    let copy = Copy::new(&device, &Problem::strided(DType::F32, &[4, 5], &[1, 8], &[5, 1])?)?;
    let (x, y) = (device.zeros::<f32>(36)?, device.zeros::<f32>(20)?);
    copy.run(&y, &x)?;
    let refused =
        |result: Result<(), Error>, words: &str| assert_eq!(result.expect_err("refused").to_string(), words);
    refused(copy.run(&y, &x.slice(..35)?), "src needs 36 elements, its buffer has 35");
    refused(copy.run(&y.slice(1..)?, &x), "dst needs 20 elements, its buffer has 19");
    refused(
        copy.run(&device.zeros::<u32>(20)?, &device.zeros(36)?),
        "the problem is f32, the buffers hold u32",
    );
    let index = device.upload(&[0u32; 3])?;
    refused(copy.gather(&y, &x, &index), "`index`: 3 indices of u32, but accepted are: no indices");
    let table = lay!("(4,5):(5,1)");
    let copy = Copy::new(&device, &Problem::gather(DType::F32, &table, &table, 0, DType::U32)?)?;
    refused(copy.run(&y, &x), "`index`: no indices, but accepted are: at least 4 indices of u32");
    refused(
        copy.gather(&y, &x, &index),
        "`index`: 3 indices of u32, but accepted are: at least 4 indices of u32",
    );
    let signed = device.upload(&[0i32; 4])?;
    refused(
        copy.gather(&y, &x, &signed),
        "`index`: 4 indices of s32, but accepted are: at least 4 indices of u32",
    );
    // The list would be written while it is read.
    let words = device.zeros::<u32>(40)?;
    let copy = Copy::new(&device, &Problem::gather(DType::U32, &table, &table, 0, DType::U32)?)?;
    let own = words.slice(..20)?;
    refused(
        copy.gather(&own, &words.slice(20..)?, &own),
        "dst and index have 80 bytes in common: buffers or slices without a common part are accepted",
    );
    Ok(())
}

/// A module is specialised by facts and never by an extent of more than a few elements or a stride.
#[test]
fn sizes_with_the_same_facts_share_a_configuration() -> Result<(), Failure> {
    let transpose = |m: i64, n: i64| -> Result<CopyConfig, Failure> {
        Ok(choose(&Problem::strided(DType::F32, &[m, n], &[1, m], &[n, 1])?, [16, 16])?.config)
    };
    let first = transpose(16_384, 8192)?;
    for [m, n] in [[16_384, 16_384], [1024, 65_536], [8192, 512]] {
        assert_eq!(transpose(m, n)?, first, "({m},{n})");
    }
    assert_ne!(transpose(16_384, 8191)?, first);
    Ok(())
}

/// The pieces of a problem have every element once, fit a kernel's parameters, and need no memory to be known.
#[test]
fn large_problems_come_in_pieces() -> Result<(), Failure> {
    let many = 1i64 << 33;
    let problems: [(&[i64], &[i64], &[i64]); 7] = [
        (&[many + 7], &[1], &[1]),
        (&[many + 7], &[2], &[1]),
        (&[3, many / 2 + 1], &[1, 3], &[many / 2 + 1, 1]),
        (&[5, 6], &[many, 1], &[6, 1]),
        (&[5, 6], &[1, 5], &[1, many]),
        (&[1 << 20, 1 << 20], &[1, 1 << 20], &[1 << 20, 1]),
        (&[1, 1], &[1, 1], &[1, 1]),
    ];
    for (extents, src, dst) in problems {
        for aligned in [[16, 16], [1, 1]] {
            let chosen = choose(&Problem::strided(DType::U8, extents, src, dst)?, aligned)?;
            let scale = i64::from(chosen.config.dtype.bits() / 8);
            let pieces = chosen.pieces();
            let mut intervals = Vec::new();
            for piece in &pieces {
                let strides = || chosen.modes.iter().zip(&piece.extents).filter(|(_, extent)| **extent > 1);
                assert!(piece.extents.iter().all(|extent| (1..=1 << 30).contains(extent)), "{piece:?}");
                assert!(strides().all(|(mode, _)| mode.src.max(mode.dst) <= u32::MAX.into()), "{piece:?}");
                assert!(chosen.config.tiles(&piece.extents)? < 1 << 31);
                intervals.push((piece.dst, piece.src, piece.extents.iter().product::<i64>() * scale));
            }
            // Each element once: as many as there are, from different places.
            assert_eq!(intervals.iter().map(|(.., size)| size).sum::<i64>(), extents.iter().product::<i64>());
            for places in [
                intervals.iter().map(|piece| piece.0).collect(),
                intervals.iter().map(|piece| piece.1).collect(),
            ] {
                let places: Vec<i64> = places;
                let different: std::collections::BTreeSet<_> = places.iter().collect();
                assert_eq!(different.len(), pieces.len(), "{extents:?}: {pieces:?}");
            }
        }
    }
    Ok(())
}

/// The left half of a matrix is copied to the right half, but not to columns that it has itself.
#[test]
fn halves_of_one_buffer_are_told_apart() -> Result<(), Failure> {
    let device = checked();
    let copy = Copy::new(&device, &Problem::strided(DType::F32, &[4, 6], &[1, 8], &[1, 8])?)?;
    for to in 0..=5 {
        let x = device.upload(&(0..56).map(|i| i as f32).collect::<Vec<_>>())?;
        let ran = copy.run(&x.slice(to..)?, &x);
        assert_eq!(ran.is_ok(), to == 4, "{to}: {ran:?}");
        for (i, found) in x.download()?.into_iter().enumerate() {
            let copied = to == 4 && i < 48 && i % 8 >= 4;
            assert_eq!(found, if copied { i as f32 - 4.0 } else { i as f32 }, "{i}");
        }
    }
    Ok(())
}
