//! Gated pairs of columns on the simulator with every check enabled, judged against f64, and what is refused.

use girih_codegen::gemm::Store;
use girih_kernels::gemm::{
    Activation, Epilogue, GemmConfig, Gemms, Input, KernelKind, Layout, Order, Output, Problem, Reduction,
    check, check_gated, choose,
};
use girih_tensor::DType;
use half::bf16;

use crate::checked;
use crate::common::{
    Data, Failure, filled,
    gated::{self, ALL},
};

/// By warps and by warpgroups, on ragged sizes of one and of several tiles.
#[test]
fn by_every_mainloop() -> Result<(), Failure> {
    let sizes = [
        [135, 70, 49],
        [3, 2, 8],
        [264, 330, 48],
        [20, 264, 72],
        [200, 336, 72],
        [16, 272, 200],
        [300, 48, 40],
        [520, 544, 24],
    ];
    [KernelKind::Sm80, KernelKind::Sm90]
        .into_iter()
        .try_for_each(|kind| gated::verify_all(&checked(), kind, &sizes))
}

/// Rows of C that are whole vectors are stored by tensor copies, others element by element.
#[test]
fn tensor_copies_store_what_they_can() -> Result<(), Failure> {
    let epilogue = Epilogue::new().gated(Activation::Silu);
    for (n, by_maps) in [(544, true), (4096, true), (542, false), (536, false)] {
        let problem = Problem::new(DType::Bf16, [520, n, 64], Layout::Tn)?.gated()?;
        let chosen = choose(&problem.with_epilogue(&epilogue), KernelKind::Sm90, 132)?;
        let config = choose::with_room(chosen, &epilogue);
        assert_eq!(matches!(config.store, Store::Tma { .. }), by_maps, "{n}: {config:?}");
        let turns = choose::with_room(gated::in_turns(chosen), &epilogue).store;
        assert_eq!(matches!(turns, Store::Tma { tile: [_, 16], .. }), by_maps, "{turns:?}");
        let wide = GemmConfig { store: chosen.store, ..config };
        assert!(!by_maps || wide.takes(&epilogue).is_err(), "{wide:?}");
    }
    Ok(())
}

#[test]
fn what_cannot_be_gated_is_refused() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let even = Problem::new(DType::Bf16, [8, 16, 8], Layout::Tn)?;
    let told = Problem::new(DType::Bf16, [8, 15, 8], Layout::Tn)?.gated().expect_err("odd").to_string();
    assert!(told.contains("an N of 15, but accepted is an even N"), "{told}");
    let told = even.with_order(Order::Column).gated().expect_err("columns").to_string();
    assert!(told.contains("a row-major C"), "{told}");
    let (problem, gated) = (even.gated()?, Epilogue::new().gated(Activation::Silu));
    let both = [Input::matrix("x", DType::Bf16), Input::matrix("x", DType::Bf16)];
    let [before, behind] = both.map(|input| Epilogue::new().plus(input));
    for (problem, kind, epilogue, text) in [
        (even, KernelKind::Sm80, gated.clone(), "`Problem::gated`"),
        (problem, KernelKind::Sm80, Epilogue::new().relu(), "`Epilogue::gated`"),
        (problem, KernelKind::Sm80, gated.clone().gated(Activation::Relu), "one gate"),
        (problem, KernelKind::Sm90, gated.clone().amax("amax"), "one without outputs besides C"),
        (
            problem,
            KernelKind::Sm90,
            gated.clone().reduce(Output::row("sums", Reduction::Sum)),
            "one without outputs besides C",
        ),
        (problem, KernelKind::Sm80, before.then(gated.clone()).then(behind), "inputs of different names"),
        (problem.with_order(Order::Column), KernelKind::Sm80, gated.clone(), "a C of contiguous rows"),
        (
            Problem::new(DType::F32, [8, 16, 8], Layout::Tn)?.gated()?,
            KernelKind::Simt,
            gated.clone(),
            "atoms of tensor cores",
        ),
    ] {
        let told = gemms.fused(&problem, kind, &epilogue).expect_err(text).to_string();
        assert!(told.contains(text), "{told}\n{text}");
    }
    Ok(())
}

/// The check of a product with gated pairs alone, which tells of an element that is wrong.
#[test]
fn the_check_tells() -> Result<(), Failure> {
    let device = checked();
    for (kind, activation) in
        [KernelKind::Sm80, KernelKind::Sm90].into_iter().flat_map(|kind| ALL.map(|a| (kind, a)))
    {
        let problem = Problem::new(DType::Bf16, [19, 22, 40], Layout::Tn)?.gated()?;
        let random = |len: i64, seed| filled::<bf16>(len as usize, Data::Random, seed);
        let (a, b) = (random(problem.a().span(), 1), random(problem.b().span(), 2));
        let (on_a, on_b, on_c) = (device.upload(&a)?, device.upload(&b)?, device.zeros::<bf16>(19 * 11)?);
        Gemms::new(&device)
            .fused(&problem, kind, &Epilogue::new().gated(activation))?
            .run(&on_a, &on_b, &on_c)?;
        let mut c = on_c.download()?;
        assert!(check_gated(&problem, activation, &a, &b, &c, None)?.passed(), "{kind:?} {activation}");
        let wrong = c[100].to_f64() + 0.05 * (1.0 + c[100].to_f64().abs());
        c[100] = bf16::from_f64(wrong);
        let told = check_gated(&problem, activation, &a, &b, &c, None)?;
        assert!(!told.passed() && told.worst_at == [9, 1], "{told:?}");
        assert!(check(&problem, &a, &b, &c, None).is_err());
    }
    Ok(())
}
