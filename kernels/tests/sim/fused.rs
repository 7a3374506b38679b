//! Epilogues on the simulator with every check enabled, and what is refused.

use girih_codegen::algorithm::write;
use girih_codegen::{Builder, Expr, Gmem, Scalar};
use girih_device::{Device, Pod};
use girih_kernels::gemm::{Epilogue, Gemms, Given, Input, KernelKind, Layout, Order, Problem};
use girih_layout::lay;
use girih_tensor::{DType, Element, Tensor};
use half::bf16;

use crate::checked;
use crate::common::{Data, Failure, filled, fused, padded};

/// Every epilogue runs by all three mainloops, on ragged sizes, with both orders of C.
#[test]
fn every_epilogue_by_every_mainloop() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for order in [Order::Row, Order::Column] {
        let f32s = Problem::new(DType::F32, [67, 132, 20], Layout::Tn)?.with_order(order);
        fused::verify_all::<f32>(&gemms, &device, &f32s, &[KernelKind::Simt], None)?;
        let odd = padded(Problem::new(DType::F32, [33, 7, 5], Layout::Nt)?.with_order(order), 1);
        fused::verify_all::<f32>(&gemms, &device, &odd, &[KernelKind::Simt], None)?;
        let wide = Problem::new(DType::Bf16, [136, 72, 48], Layout::Tn)?.with_order(order);
        fused::verify_all::<bf16>(&gemms, &device, &wide, &[KernelKind::Sm80, KernelKind::Sm90], None)?;
        let ragged = padded(Problem::new(DType::Bf16, [135, 71, 49], Layout::Tn)?.with_order(order), 2);
        fused::verify_all::<bf16>(&gemms, &device, &ragged, &[KernelKind::Sm80, KernelKind::Sm90], None)?;
    }
    Ok(())
}

/// The buffer of C has the dtype that the problem says.
#[test]
fn buffers_have_the_dtype_of_the_output() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    let (a, b) = (device.upload(&[bf16::ONE; 40 * 16])?, device.upload(&[bf16::from_f32(0.5); 24 * 16])?);
    let problem = Problem::new(DType::Bf16, [40, 24, 16], Layout::Tn)?;
    for kind in [KernelKind::Sm80, KernelKind::Sm90] {
        let wide = device.zeros::<f32>(40 * 24)?;
        gemms.get(&problem.with_output(DType::F32)?, kind)?.run(&a, &b, &wide)?;
        assert_eq!(wide.download()?, [8.0; 40 * 24], "{kind:?}");
        let half = device.zeros::<half::f16>(40 * 24)?;
        gemms.get(&problem.with_output(DType::F16)?, kind)?.run(&a, &b, &half)?;
        assert_eq!(half.download()?, [half::f16::from_f32(8.0); 40 * 24], "{kind:?}");
        let error = gemms.get(&problem, kind)?.run(&a, &b, &wide).expect_err("another dtype");
        assert_eq!(error.to_string(), "the problem is bf16, the buffers hold f32");
    }
    Ok(())
}

/// Over the numbers at which it is neither 0 nor the identity, in steps of 1/200.
#[test]
fn activations_are_exact() -> Result<(), Failure> {
    let device = checked();
    let values: Vec<f32> = (-1200..1200).map(|i| i as f32 / 200.0).collect();
    let problem = Problem::new(DType::F32, [2400, 1, 1], Layout::Tn)?;
    let (a, b, c) = (device.upload(&values)?, device.upload(&[1f32])?, device.zeros::<f32>(2400)?);
    type Function = fn(f64) -> f64;
    let functions: [(Epilogue, Function); 3] = [
        (Epilogue::new().gelu(), fused::gelu),
        (Epilogue::new().gelu_erf(), |x| x * fused::normal(x)),
        (Epilogue::new().silu(), |x| x / (1.0 + (-x).exp())),
    ];
    for (epilogue, function) in functions {
        Gemms::new(&device).fused(&problem, KernelKind::Simt, &epilogue)?.run(&a, &b, &c)?;
        for (x, found) in values.iter().zip(c.download()?) {
            let (x, found) = (f64::from(*x), f64::from(found));
            assert!((found - function(x)).abs() <= 3e-7 * x.abs(), "{} of {x} is {found}", epilogue.key());
        }
    }
    Ok(())
}

/// A safe launch runs what a node's function writes: it may compute, and access no memory.
#[test]
fn nodes_that_access_memory_are_refused() {
    let (device, problem) = device();
    let everywhere = |b: &mut Builder, value: &Scalar| {
        let place = Tensor::new(Gmem::new(Expr::from(4096), DType::F32), lay!("1:1"));
        write(b, &place, std::slice::from_ref(value))
    };
    let storing = Epilogue::new().node("store", [], move |b, e| {
        everywhere(b, e.value())?;
        Ok(e.value().clone())
    });
    let inline = Epilogue::new().node("inline", [], |b, e| {
        b.ptx("{ .reg .b64 %p; mov.b64 %p, 4096; st.global.b32 [%p], 0; }", &[])?;
        Ok(e.value().clone())
    });
    for epilogue in [storing, inline] {
        let error = Gemms::new(&device)
            .fused(&problem, KernelKind::Simt, &epilogue)
            .expect_err("refused")
            .to_string();
        assert!(
            error.starts_with("a node of an epilogue contains") && error.contains("st.global"),
            "{error}"
        );
    }
    let printing = Epilogue::new().node("print", [], |b, e| {
        b.printf("%f\n", &[e.value()])?;
        Ok(e.value().clone())
    });
    assert!(Gemms::new(&device).fused(&problem, KernelKind::Simt, &printing).is_ok());
}

fn device() -> (Device, Problem) {
    (checked(), Problem::new(DType::F32, [8, 12, 4], Layout::Tn).expect("within the limits"))
}

#[test]
fn what_is_given_must_fit_the_inputs() -> Result<(), Failure> {
    let (device, problem) = device();
    let epilogue = Epilogue::new()
        .scale("alpha")
        .plus(Input::row("bias", DType::F32))
        .plus(Input::matrix("x", DType::F32));
    let gemm = Gemms::new(&device).fused(&problem, KernelKind::Simt, &epilogue)?;
    let (a, b, c) = (device.zeros::<f32>(32)?, device.zeros::<f32>(48)?, device.zeros::<f32>(96)?);
    let (bias, x, short) = (device.zeros::<f32>(12)?, device.zeros::<f32>(96)?, device.zeros::<f32>(11)?);
    let halves = device.zeros::<bf16>(12)?;
    let (alias, half) = (c.slice(..)?, c.slice(48..)?);
    let (alpha, on_bias, on_x) =
        (("alpha", Given::from(1.0)), ("bias", Given::from(&bias)), ("x", Given::from(&x)));
    gemm.run_with(&a, &b, &c, &[alpha, on_bias, on_x])?;
    for (given, text) in [
        (vec![alpha, on_bias], "`x`: nothing, but accepted are: matrix(x: f32)"),
        (
            vec![alpha, on_bias, on_x, ("y", Given::from(&x))],
            "`y`: no input of the epilogue, but accepted are: each",
        ),
        (vec![alpha, on_bias, on_x, on_x], "`x`: given twice"),
        (
            vec![alpha, ("bias", Given::from(1.0)), on_x],
            "`bias`: a number of f32 or f64, but accepted are: row(bias: f32)",
        ),
        (
            vec![("alpha", Given::from(-1e39)), on_bias, on_x],
            "`alpha`: -1e39, but accepted are: scalar(alpha: f32), -3.4",
        ),
        (
            vec![("alpha", Given::bits(DType::F32, 0x1_3f80_0000)), on_bias, on_x],
            "`alpha`: the bits 0x13f800000, but accepted are: scalar(alpha: f32), the 32 bits of one",
        ),
        (vec![alpha, ("bias", Given::from(&halves)), on_x], "`bias`: a buffer of bf16"),
        (
            vec![alpha, ("bias", Given::from(&short)), on_x],
            "`bias`: 11 elements, but accepted are: 12 elements or more",
        ),
        (vec![alpha, ("bias", Given::pitched(&bias, 12)), on_x], "`bias`: a pitch of 12"),
        (vec![alpha, on_bias, ("x", Given::pitched(&x, 11))], "`x`: a pitch of 11, but accepted are: 12 to"),
        (
            vec![alpha, on_bias, ("x", Given::pitched(&x, 13))],
            "`x`: 96 elements, but accepted are: 103 elements",
        ),
        (vec![alpha, ("bias", Given::from(&alias)), on_x], "C and an input have 384 bytes in common"),
        (vec![alpha, on_bias, ("x", Given::from(&half))], "`x`: 48 elements, but accepted are: 96 elements"),
    ] {
        let error = gemm.run_with(&a, &b, &c, &given).expect_err(text).to_string();
        assert!(error.contains(text), "{error}\n{text}");
    }
    let both = device.zeros::<f32>(144)?;
    let (first, last) = (both.slice(..96)?, both.slice(48..)?);
    let given = [alpha, on_bias, ("x", Given::from(&last))];
    let error = gemm.run_with(&a, &b, &first, &given).expect_err("halves overlap").to_string();
    assert!(error.contains("C and an input have 192 bytes in common"), "{error}");
    let error = gemm.run(&a, &b, &c).expect_err("inputs are missing").to_string();
    assert!(error.contains("`alpha`: nothing"), "{error}");
    Ok(())
}

/// By addresses and by a tensor map, in a call and in an exchange.
#[test]
fn inputs_begin_where_kernels_can_read_them() -> Result<(), Failure> {
    let device = checked();
    let [m, n, k] = [264, 264, 136];
    let problem = Problem::new(DType::Bf16, [m, n, k].map(|extent| extent as i64), Layout::Tn)?;
    let [row, matrix] = [Input::row("bias", DType::Bf16), Input::matrix("x", DType::Bf16)];
    let epilogue = Epilogue::new().plus(row.clone()).plus(matrix.clone());
    let anywhere = Epilogue::new().plus(row.unaligned()).plus(matrix.unaligned());
    let zeros = |len: usize| device.zeros::<bf16>(len);
    let (a, b, c) = (zeros(m * k)?, zeros(n * k)?, zeros(m * n)?);
    let (bias, x, odd) = (zeros(n)?, zeros(m * n)?, zeros(m * n + 1)?.slice(1..)?);
    // Threads read pairs; tensor copies ask for more.
    for (kind, bytes) in [(KernelKind::Sm80, 4), (KernelKind::Sm90, 16)] {
        let begins = format!(
            "memory that begins at {:#x}, but accepted are: multiples of {bytes} bytes, and any address by `Input::unaligned`",
            odd.address()
        );
        let gemm = Gemms::new(&device).fused(&problem, kind, &epilogue)?;
        let right = [("bias", &bias), ("x", &x)];
        let given = right.map(|(name, buffer)| (name, Given::from(buffer)));
        let mut prepared = gemm.prepare(&a, &b, &c, &given)?.ok_or("C is not empty")?;
        for (name, least) in [("bias", n), ("x", m * n)] {
            let short = x.slice(..least - 1)?;
            let few = format!("{} elements, but accepted are: {least} elements or more", least - 1);
            for (wrong, text) in [(&odd, &begins), (&short, &few)] {
                let given = right
                    .map(|(other, right)| (other, Given::from(if other == name { wrong } else { right })));
                let text = format!("`{name}`: {text}");
                assert_eq!(gemm.run_with(&a, &b, &c, &given).expect_err(&text).to_string(), text);
                assert_eq!(prepared.set(name, wrong).expect_err(&text).to_string(), text);
            }
        }
        let odd = [("bias", Given::from(&odd)), ("x", Given::from(&odd))];
        Gemms::new(&device).fused(&problem, kind, &anywhere)?.run_with(&a, &b, &c, &odd)?;
    }
    Ok(())
}

/// `C = alpha * A * B + beta * C`, where the C that is read is the C that is written, by every mainloop and in both orders.
#[test]
fn c_is_updated_in_place() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for order in [Order::Row, Order::Column] {
        let f32s = Problem::new(DType::F32, [130, 37, 20], Layout::Nt)?.with_order(order);
        update::<f32>(&gemms, &device, &f32s, KernelKind::Simt)?;
        let halves = padded(Problem::new(DType::Bf16, [136, 72, 48], Layout::Tn)?.with_order(order), 8);
        update::<bf16>(&gemms, &device, &halves, KernelKind::Sm80)?;
        update::<bf16>(&gemms, &device, &halves, KernelKind::Sm90)?;
        let doubles = Problem::new(DType::F64, [130, 37, 20], Layout::Nn)?.with_order(order);
        update::<f64>(&gemms, &device, &doubles, KernelKind::Sm80)?;
        update::<f64>(&gemms, &device, &doubles, KernelKind::Sm90)?;
    }
    // With another pitch the input has other elements of C at the same coordinates.
    let (a, b, c) = (device.zeros::<f32>(32)?, device.zeros::<f32>(48)?, device.zeros::<f32>(8 * 13)?);
    let problem = Problem::new(DType::F32, [8, 12, 4], Layout::Tn)?;
    let gemm =
        gemms.fused(&problem, KernelKind::Simt, &Epilogue::new().plus(Input::matrix("x", DType::F32)))?;
    gemm.run_with(&a, &b, &c, &[("x", Given::from(&c))])?;
    let other = gemm.run_with(&a, &b, &c, &[("x", Given::pitched(&c, 13))]).expect_err("another pitch");
    assert!(other.to_string().starts_with("C and an input have "), "{other}");
    Ok(())
}

/// Multiplies matrices of ones, and adds a C whose neighbouring elements differ.
fn update<T: Element + Pod + PartialEq + std::fmt::Debug>(
    gemms: &Gemms,
    device: &Device,
    problem: &Problem,
    kind: KernelKind,
) -> Result<(), Failure> {
    let doubles = T::DTYPE == DType::F64;
    let scalar = |name| Input::scalar(name, if doubles { DType::F64 } else { DType::F32 });
    let before = Input::matrix("before", T::DTYPE);
    let update = Epilogue::new().scale(scalar("alpha")).plus_scaled(scalar("beta"), before);
    let ones = |span: i64| device.upload(&vec![T::from_f64(1.0); span as usize]);
    let (a, b, k) = (ones(problem.a().span())?, ones(problem.b().span())?, problem.mnk()[2]);
    // An f32 does not have so many bits.
    let more = if doubles { 2f64.powi(-40) } else { 0.0 };
    let before: Vec<f64> = (0..problem.c().span()).map(|i| (i % 61) as f64 + more).collect();
    let c = device.upload(&before.iter().map(|&x| T::from_f64(x)).collect::<Vec<T>>())?;
    let given = [
        ("alpha", Given::from(0.5)),
        ("beta", Given::from(2.0)),
        ("before", Given::pitched(&c, problem.c().ld())),
    ];
    gemms.fused(problem, kind, &update)?.run_with(&a, &b, &c, &given)?;
    let mut expected: Vec<T> = before.iter().map(|&x| T::from_f64(x)).collect();
    for (i, j) in (0..problem.mnk()[0]).flat_map(|i| (0..problem.mnk()[1]).map(move |j| (i, j))) {
        let at = problem.c().offset(i, j) as usize;
        expected[at] = T::from_f64(0.5 * k as f64 + 2.0 * before[at]);
    }
    assert_eq!(c.download()?, expected, "{problem:?} by {kind:?}");
    Ok(())
}

/// Sums of integers become f32 before the first node, and may become a float or an integer after the last one.
#[test]
fn sums_of_integers_are_scaled() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for order in [Order::Row, Order::Column] {
        let problem = Problem::new(DType::S8, [136, 80, 208], Layout::Tn)?.with_order(order);
        for kind in [KernelKind::Sm80, KernelKind::Sm90] {
            scale::<i32>(&gemms, &device, &problem, kind)?;
            scale::<f32>(&gemms, &device, &problem, kind)?;
            scale::<half::f16>(&gemms, &device, &problem, kind)?;
            scale::<bf16>(&gemms, &device, &problem, kind)?;
        }
    }
    Ok(())
}

/// Scales rows and columns as numbers that were quantised are.
fn scale<C: Element + Pod>(
    gemms: &Gemms,
    device: &Device,
    problem: &Problem,
    kind: KernelKind,
) -> Result<(), Failure> {
    let ([m, n, k], problem) = (problem.mnk(), problem.with_output(C::DTYPE)?);
    let (a, b) =
        (filled::<i8>((m * k) as usize, Data::Random, 1), filled::<i8>((n * k) as usize, Data::Random, 2));
    let (of_a, of_b) =
        (filled::<f32>(m as usize, Data::Random, 3), filled::<f32>(n as usize, Data::Random, 4));
    let (on_a, on_b) = (device.upload(&a)?, device.upload(&b)?);
    let (on_of_a, on_of_b) = (device.upload(&of_a)?, device.upload(&of_b)?);
    let c = device.zeros::<C>((m * n) as usize)?;
    let epilogue =
        Epilogue::new().times(Input::column("of_a", DType::F32)).times(Input::row("of_b", DType::F32));
    let given = [("of_a", Given::from(&on_of_a)), ("of_b", Given::from(&on_of_b))];
    gemms.fused(&problem, kind, &epilogue)?.run_with(&on_a, &on_b, &c, &given)?;
    let c = c.download()?;
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let products =
            (0..k).map(|l| i32::from(a[(i * k + l) as usize]) * i32::from(b[(j * k + l) as usize]));
        let scaled = products.sum::<i32>() as f32 * of_a[i as usize] * of_b[j as usize];
        let found = c[problem.c().offset(i, j) as usize];
        assert_eq!(found, C::from_f64(scaled.into()), "({i},{j}) of {problem:?} by {kind:?}");
    }
    Ok(())
}

/// Functions that the hardware approximates in f32 are refused for sums of f64, with the line of the node.
#[test]
fn nodes_of_f32_alone_are_refused_for_f64() -> Result<(), Failure> {
    let problem = Problem::new(DType::F64, [8, 8, 8], Layout::Tn)?;
    for (epilogue, text) in
        [(Epilogue::new().gelu(), "RecipApprox of f64"), (Epilogue::new().relu(), "Maximum of f64")]
    {
        let error =
            Gemms::new(&checked()).fused(&problem, KernelKind::Sm90, &epilogue).expect_err(text).to_string();
        assert!(error.contains(text) && error.contains("nodes.rs"), "{error}");
    }
    Ok(())
}

/// Epilogues that have the same key share a kernel. Another function under the same key is refused.
#[test]
fn epilogues_of_one_key_do_the_same() -> Result<(), Failure> {
    let (device, problem) = device();
    let gemms = Gemms::new(&device);
    let by = |factor: f64| Epilogue::new().map("scaled", move |x| x * factor);
    gemms.fused(&problem, KernelKind::Simt, &by(2.0))?;
    gemms.fused(&problem, KernelKind::Simt, &by(2.0))?;
    assert_eq!(gemms.modules(), 1);
    let error = gemms.fused(&problem, KernelKind::Simt, &by(3.0)).expect_err("another function").to_string();
    assert!(error.contains("the epilogue `scaled` is not the one that is loaded"), "{error}");
    // A node that asks for an input which it does not have is refused, with the line that asks.
    let unknown =
        Epilogue::new().node("unknown", [Input::row("bias", DType::F32)], |_, e| Ok(e.input("bais")));
    let error = gemms.fused(&problem, KernelKind::Simt, &unknown).expect_err("no such input").to_string();
    assert!(error.contains("input `bais` of an epilogue") && error.contains("fused.rs"), "{error}");
    let twice = Epilogue::new().plus(Input::row("x", DType::F32)).plus(Input::column("x", DType::F32));
    let error = gemms.fused(&problem, KernelKind::Simt, &twice).expect_err("two inputs").to_string();
    assert!(error.contains("column(x: f32) of an epilogue: inputs of different names"), "{error}");
    Ok(())
}
