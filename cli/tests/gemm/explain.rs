//! `girih explain gemm` says what is chosen, why, and what limits it.

use girih_kernels::gemm::{INPUTS, KernelKind, Layout, Problem, choose, described};

use super::{folder, girih_in, json, succeeds, text};

/// The configuration is the one that is chosen, of every dtype and layout, and each reason is a sentence.
#[test]
fn what_is_explained_is_what_is_chosen() -> Result<(), Box<dyn std::error::Error>> {
    for dtype in INPUTS {
        for layout in Layout::ALL {
            let line =
                format!("explain gemm --m 48 --n 4096 --k 1000 --dtype {dtype} --layout {layout} --json");
            let report = json(folder().path(), &line);
            let problem = Problem::new(dtype, [48, 4096, 1000], layout)?;
            let chosen = choose(&problem, KernelKind::for_problem(&problem, 90), 132)?;
            assert_eq!(report["config"], described(&chosen), "{line}");
            let reasons = report["reasons"].as_array().ok_or("no reasons")?;
            let whats: Vec<_> = reasons.iter().filter_map(|reason| reason["what"].as_str()).collect();
            assert_eq!(whats[..2], ["kernel", "tile"], "{line}");
            let [m, n, _] = chosen.tile;
            assert!(
                reasons[1]["why"].as_str().is_some_and(|why| why.starts_with(&format!("{m}x{n}x"))),
                "{line}"
            );
        }
    }
    Ok(())
}

/// What limits a product is what takes longest.
#[test]
fn the_limit_is_the_largest_bound() {
    let folder = folder();
    for (extents, limit) in [
        ("--m 8192 --n 8192 --k 8192", "products"),
        ("--m 16 --n 28672 --k 4096", "memory"),
        ("--m 128 --n 128 --k 128", "start"),
    ] {
        let report = json(folder.path(), &format!("explain gemm {extents} --json"));
        assert_eq!(report["limit"], limit, "{extents}");
        let us = |name: &str| report[name].as_f64().unwrap_or(f64::NAN);
        assert!(us("expected_us") >= us("products_us").max(us("memory_us")), "{extents}");
        let tiles = &report["tiles"];
        let (turns, busy) = (tiles["turns"].as_f64().unwrap_or(0.0), tiles["busy"].as_f64().unwrap_or(0.0));
        let blocks = tiles["count"].as_f64().unwrap_or(0.0) * tiles["parts"].as_f64().unwrap_or(0.0);
        // The blocks of a stream are all busy, and the last tiles are cut along K.
        let shared = busy == 1.0 && turns * 132.0 >= blocks;
        let whole = (turns * busy * 132.0 - blocks).abs() < 1e-6 * blocks && busy <= 1.0;
        assert!(shared || whole, "{extents}");
    }
}

/// The choice is the one of the least expected time, or one that was measured; the parts make up its time, and the next three follow in order.
#[test]
fn expected_times_are_told_in_parts() -> Result<(), Box<dyn std::error::Error>> {
    let folder = folder();
    for (extents, measured) in [
        ("--m 4096 --n 4096 --k 4096", false),
        ("--m 24 --n 24 --k 100328", false),
        ("--m 300 --n 7000 --k 900 --batch 3 --dtype e4m3", false),
        ("--m 128 --n 128 --k 65536", true),
    ] {
        let report = json(folder.path(), &format!("explain gemm {extents} --json"));
        let model = &report["model"];
        let all = model["configurations"].as_array().ok_or("no configurations")?;
        assert!(all.len() == 4 && all[0]["config"] == report["config"], "{model}");
        let totals: Vec<f64> = all.iter().filter_map(|each| each["total_us"].as_f64()).collect();
        for (each, total) in all.iter().zip(&totals) {
            let us = |part: &str| each[part].as_f64().unwrap_or(f64::NAN);
            let computed = us("products_us") + us("stores_us") + us("exchange_us");
            let sum = us("start_us") + computed.hypot(us("memory_us"));
            assert!((sum - total).abs() < 1e-9 * total, "{each}");
        }
        assert!(totals[1..].is_sorted() && (measured || totals[0] <= totals[1]), "{totals:?}");
        assert!(
            model["next"]
                .as_f64()
                .is_some_and(|next| (next * totals[0] - totals[1]).abs() < 1e-9 * totals[1])
        );
        assert!(model["measured"] == measured && model["off_by"].as_f64() > Some(1.0), "{model}");
    }
    // There are no formulas for the CUDA cores.
    assert!(json(folder.path(), "explain gemm --dtype f32 --json")["model"].is_null());
    Ok(())
}

#[test]
fn reasons_name_what_is_unusual() {
    let folder = folder();
    let explained = |rest: &str| succeeds(folder.path(), &format!("explain gemm {rest}"));
    let odd = explained("--m 4096 --n 4096 --k 127");
    assert!(
        odd.contains("is copied to rows of 128 elements: rows of 127 do not begin at multiples of 8"),
        "{odd}"
    );
    assert!(!explained("--m 4096 --n 4096 --k 128").contains("is copied"));
    let eight = explained("--dtype s8 --layout nn");
    let transposed =
        "is copied to rows of 512 elements along K: wgmma takes s8 only where it is contiguous along K";
    assert!(eight.contains(&format!("A                         {transposed}")), "{eight}");
    assert!(!explained("--dtype s8").contains(transposed));
    let few = explained("--m 16 --n 4096 --k 4096");
    assert!(few.contains("share the K of each") && few.contains("computes the transpose"), "{few}");
    // Tiles that are cut along K keep all multiprocessors busy.
    let streamed = explained("--m 256 --n 4096 --k 14336");
    assert!(
        streamed.contains("StreamK") && streamed.contains("64, in 1 wave that keeps 100 %"),
        "{streamed}"
    );
    let recorded = explained("--m 512 --n 512 --k 512 --dtype f16 --ldc 520");
    let why = "64x64x64: the fastest that was measured for 512x512x512 bf16 to bf16: ";
    assert!(recorded.contains(why) && recorded.contains("on NVIDIA H200, sm_90, 132"), "{recorded}");
    assert!(!explained("--m 512 --n 512 --k 512 --multiprocessors 114").contains("H200, sm_90"));
    assert!(!girih_in(folder.path(), "explain gemm --dtype f32 --kernel sm90").status.success());
    let refused = text(&girih_in(folder.path(), "explain gemm --dtype f32 --kernel sm90").stderr);
    assert!(refused.contains("simt takes f32"), "{refused}");
}
