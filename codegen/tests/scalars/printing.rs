//! What kernels print, and the registers that inline PTX captures.

use std::sync::{Arc, Mutex};

use girih_codegen::{Builder, BuilderError, Cond, Error, Expr, Scalar, ptx};
use girih_ptx::{Special, Type};
use girih_sim::{Launch, Memory, Options, Program};
use girih_tensor::DType;

/// What 32 threads print, in the order of the threads.
fn printed(body: impl FnOnce(&mut Builder, &Scalar) -> Result<(), Error>) -> Result<String, Error> {
    let mut b = Builder::new("k", 80, 32);
    let thread = Scalar::index(&b.special(Special::TidX), DType::S32);
    body(&mut b, &thread)?;
    let kernel = b.finish()?;
    let told = Arc::new(Mutex::new(String::new()));
    let sink = told.clone();
    let print: girih_sim::Print = Arc::new(move |text| sink.lock().unwrap().push_str(text));
    let options = Options { print: Some(print), ..Options::checked() };
    let launch = Launch { grid: [1; 3], block: [32, 1, 1], ..Launch::default() };
    let program = Program::load(kernel.module()).unwrap_or_else(|e| panic!("{e}\n{}", kernel.module()));
    girih_sim::run(program.kernel("k").unwrap(), &Memory::new(), &launch, &options)
        .unwrap_or_else(|e| panic!("{e}\n{}", kernel.module()));
    let told = told.lock().unwrap().clone();
    Ok(told)
}

#[test]
fn values_of_all_dtypes_are_printed() {
    let text = printed(|b, thread| {
        let last = Cond::not(thread.less(30));
        b.if_(&last, |b| {
            let wide = thread.to(DType::S64) * 1e10 - 1.0;
            let bits = thread.to(DType::U32) | f64::from(0x8000_0000u32);
            let float = thread.to(DType::F32) * 0.5;
            b.printf("%d %u %lld 100%% %x\n", &[thread, &bits, &wide, &bits])?;
            let [half, double] = [DType::F16, DType::F64].map(|dtype| float.to(dtype));
            b.printf("%.2f %g %e|", &[&float, &half, &double])?;
            b.printf("\"end\"\n", &[])
        })
    })
    .unwrap();
    let line = |t: i64| {
        let half = t as f64 / 2.0;
        let (mantissa, bits) = (half / 10.0, 0x8000_0000u32 | t as u32);
        format!(
            "{t} {bits} {} 100% {bits:x}\n{half:.2} {half} {mantissa:.6}e+01|\"end\"\n",
            t * 10_000_000_000 - 1
        )
    };
    let (a, b) = (line(30), line(31));
    // A warp's lanes print statement by statement.
    let mut wanted: Vec<&str> =
        a.split_inclusive(['\n', '|']).chain(b.split_inclusive(['\n', '|'])).collect();
    let mut found: Vec<&str> = text.split_inclusive(['\n', '|']).collect();
    wanted.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, wanted);
}

#[test]
fn formats_that_do_not_fit_are_refused() {
    let (float, wide) = (Scalar::new(DType::F32, 1.0), Scalar::new(DType::S64, 1.0));
    let mut b = Builder::new("k", 80, 32);
    for (format, values) in [
        ("%d", vec![]),
        ("", vec![&float]),
        ("%d", vec![&float]),
        ("%f", vec![&wide]),
        ("%d", vec![&wide]),
        ("%ld", vec![&wide]),
        ("%s", vec![&wide]),
        ("%*d", vec![&wide]),
        ("%%d", vec![&wide]),
        ("%f\0", vec![&float]),
    ] {
        let found = b.printf(format, &values);
        assert!(
            matches!(
                found,
                Err(Error::Builder(BuilderError::Format { .. } | BuilderError::Conversion { .. }))
            ),
            "{format:?} {found:?}"
        );
    }
    assert!(b.printf("%5.1f%%", &[&float]).is_ok());
    // Two texts, one declaration.
    b.printf("again", &[]).unwrap();
    let text = b.finish().unwrap().module().to_string();
    assert_eq!(
        (text.matches(".extern .func").count(), text.matches(".global .align").count()),
        (1, 2),
        "{text}"
    );
}

#[test]
fn inline_ptx_captures_registers_by_name() {
    let mut b = Builder::new("k", 80, 32);
    let [x, y] = [2.0, 3.0].map(|value| Scalar::new(DType::F32, value));
    let [x, y] = [x, y].map(|scalar| b.scalar(&scalar).unwrap());
    let (largest, pair) = (b.reg(Type::F32), b.reg(Type::B64));
    ptx!(b, "max.f32 {largest}, {x}, {y}; mov.b64 {pair}, {{{x}, {y}}};").unwrap();
    ptx!(b, "max.f32 {0}, {0}, {x};", largest).unwrap();
    let computed = b.scalar(&(Scalar::index(&Expr::from(3), DType::S32) + 1)).unwrap();
    ptx!(b, "mov.b32 {computed}, 0;").unwrap();
    assert!(matches!(b.finish(), Err(Error::Computed { .. })));
    assert!(ptx!(Builder::new("k", 80, 32), "no such {}", 1).is_err());
}
