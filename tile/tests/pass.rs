//! Passes leave the meaning of programs as it is, and do what they say.

use expect_test::{Expect, expect};
use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{ArrayParam, Combine, Order};
use girih_tile::ir::{
    Build, Dims, End, Func, Kind, Known, Padding, Rounding, ScalarParam, Type, Value, View, parse, verify,
};
use girih_tile::ops::table::{Each, TABLE};
use girih_tile::ops::{Arg, Mode};
use girih_tile::pass;
use girih_tile_reference as reference;
use rand::RngExt;
use rand::rngs::StdRng;

use crate::common::differ::{Tolerance, array, cases, random, zeros};

const ROWS: u32 = 3;
const COLUMNS: u32 = 4;

/// A random program in the making: tiles of 3 x 4 of f32, f64 and s32, and how they come to be.
struct Random {
    rng: StdRng,
    b: Build,
    tiles: Vec<Value>,
}

impl Random {
    fn pick(&mut self) -> Value {
        let at = self.rng.random_range(0..self.tiles.len());
        self.tiles[at]
    }

    fn of(&mut self, dtype: DType) -> Value {
        let value = self.pick();
        self.b.cast(value, dtype, Rounding::Nearest).unwrap()
    }

    fn step(&mut self, depth: u32) {
        let x = self.pick();
        let ty = self.b.ty(x);
        let made = match self.rng.random_range(0..14) {
            0..5 => {
                let row = &TABLE[self.rng.random_range(0..TABLE.len())];
                let args: Vec<Arg> = (0..row.arity)
                    .map(|_| match self.rng.random_range(0..3) {
                        0 => Arg::Loose(Const::Int(self.rng.random_range(-1..3))),
                        _ => Arg::Value(self.of(ty.dtype)),
                    })
                    .collect();
                self.b.each(row.op, &args, Mode::default()).ok()
            }
            5 => {
                let dtype =
                    [DType::F32, DType::F64, DType::S32, DType::S64, DType::F16][self.rng.random_range(0..5)];
                Some(self.b.cast(x, dtype, Rounding::Nearest).unwrap())
            }
            6 => {
                let turned = self.b.permute(x, &[1, 0]).unwrap();
                Some(self.b.permute(turned, &[1, 0]).unwrap())
            }
            7 => {
                let flat = self.b.reshape(x, &[12]).unwrap();
                let other = self.b.reshape(flat, &[2, 6]).unwrap();
                Some(self.b.reshape(other, &[3, 4]).unwrap())
            }
            8 => {
                let combine = if ty.dtype == DType::Bool { Combine::And } else { Combine::Sum };
                let kind = Kind::Reduce { axis: 1, combine, identity: [].into() };
                let sums = self.b.push1(kind, &[x], Type { dims: ty.dims.with(1, 1), ..ty });
                Some(self.b.broadcast_to(sums, ty.dims).unwrap())
            }
            9 | 10 if depth > 0 => Some(self.looped(depth)),
            11 | 12 if depth > 0 => Some(self.branched(depth)),
            _ => None,
        };
        self.tiles.extend(
            made.filter(|&value| self.b.ty(value).dims == ty.dims && self.b.ty(value).dtype != DType::Bool),
        );
    }

    fn steps(&mut self, depth: u32) {
        for _ in 0..self.rng.random_range(1..5) {
            self.step(depth);
        }
    }

    fn looped(&mut self, depth: u32) -> Value {
        let outer = self.tiles.len();
        let scalar = |b: &mut Build, n| b.full(DType::S32, Dims::SCALAR, Const::Int(n));
        let bounds = [
            scalar(&mut self.b, 0),
            scalar(&mut self.b, i128::from(self.rng.random_range(0..4u32))),
            scalar(&mut self.b, 1),
        ];
        let carried = [self.pick(), self.pick(), self.pick()];
        let types: Vec<Type> = carried.iter().map(|&value| self.b.ty(value)).collect();
        let (_, args) = self.b.open(&[&[Type::scalar(DType::S32)], &types[..]].concat());
        self.tiles.extend(&args[1..]);
        self.steps(depth - 1);
        let mut next: Vec<Value> = (0..3)
            .map(|i| {
                let value = if self.rng.random_range(0..3) == 0 { args[1 + i] } else { self.pick() };
                self.b.cast(value, types[i].dtype, Rounding::Nearest).unwrap()
            })
            .collect();
        // Left early in turn 2, with other values.
        if self.rng.random::<bool>() {
            let two = scalar(&mut self.b, 2);
            let leaves =
                self.b.each(Each::Equal, &[Arg::Value(args[0]), Arg::Value(two)], Mode::default()).unwrap();
            self.b.open(&[]);
            let yes = self.b.close(End::Break(0, vec![next[0], args[2], args[3]]));
            self.b.open(&[]);
            let no = self.b.close(End::Yield(vec![next[1]]));
            next[1] = self.b.push_regions(Kind::If, &[leaves], &types[1..2], vec![yes, no])[0];
        }
        let region = self.b.close(End::Continue(0, next));
        self.tiles.truncate(outer);
        let results =
            self.b.push_regions(Kind::For, &[&bounds[..], &carried[..]].concat(), &types, vec![region]);
        self.tiles.extend(&results);
        results[0]
    }

    fn branched(&mut self, depth: u32) -> Value {
        let outer = self.tiles.len();
        let bid = self.b.push1(Kind::Bid(0), &[], Type::scalar(DType::S32));
        let cond =
            self.b.each(Each::Equal, &[Arg::Value(bid), Arg::Loose(Const::Int(1))], Mode::default()).unwrap();
        let ty = self.b.ty(self.tiles[outer - 1]);
        let sides: Vec<_> = (0..2)
            .map(|_| {
                self.b.open(&[]);
                self.steps(depth - 1);
                let value = self.of(ty.dtype);
                let other = self.of(DType::F32);
                self.tiles.truncate(outer);
                self.b.close(End::Yield(vec![value, other]))
            })
            .collect();
        let types = [ty, Type { dtype: DType::F32, ..ty }];
        let results = self.b.push_regions(Kind::If, &[cond], &types, sides);
        self.tiles.push(results[1]);
        results[0]
    }
}

fn program(seed: u64) -> Func {
    let mut b = Build::new("k");
    let mut param = |name: &str, dtype, mutable| {
        b.array(ArrayParam {
            name: name.into(),
            dtype,
            mutable,
            extents: vec![Known::MultipleOf(1); 2],
            strides: vec![Known::MultipleOf(1), Known::Is(1)],
            align: 8,
            assume_disjoint: None,
        })
    };
    let (x, n, y) =
        (param("x", DType::F32, false), param("n", DType::S32, false), param("y", DType::F32, true));
    let factor =
        b.scalar(ScalarParam { name: "factor".into(), dtype: DType::F64, known: Known::MultipleOf(1) });
    let tile = Dims::new(&[ROWS, COLUMNS]).unwrap();
    let view = |array, padding| View {
        array,
        tile,
        steps: tile,
        padding,
        check: true,
        latency: None,
        tma: true,
        order: Order::Weak,
        scope: None,
    };
    let bid = b.push1(Kind::Bid(0), &[], Type::scalar(DType::S32));
    let zero = b.full(DType::S32, Dims::SCALAR, Const::Int(0));
    let of = |dtype| Type { dtype, dims: tile };
    let xs = b.push1(Kind::Load(view(x, Padding::NegInf)), &[bid, zero], of(DType::F32));
    let ns = b.push1(Kind::Load(view(n, Padding::Zero)), &[bid, zero], of(DType::S32));
    let factors = b.broadcast_to(factor, tile).unwrap();
    let mut random = Random { rng: random(seed), b, tiles: vec![xs, ns, factors] };
    for _ in 0..4 {
        random.steps(2);
    }
    for _ in 0..2 {
        let out = random.of(DType::F32);
        random.b.push(Kind::Store(view(y, Padding::Undetermined)), &[out, bid, zero], &[]);
    }
    random.b.finish()
}

#[test]
fn passes_keep_what_random_programs_do() {
    let (mut meaningful, count) = (0, cases(150) as u64);
    for seed in 0..count {
        let func = program(seed);
        verify(&func).unwrap_or_else(|error| panic!("{seed}: {error}\n{func}"));
        let mut rng = random(seed + 1_000_000);
        let inputs = [
            array(&mut rng, DType::F32, &[5, 4]),
            array(&mut rng, DType::S32, &[5, 4]),
            zeros(DType::F32, &[5, 4]),
        ];
        let run = |func: &Func| {
            let mut arrays = inputs.to_vec();
            reference::run(func, [2, 1, 1], &mut arrays, &[1.5f64.to_bits()])
                .map(|_| arrays[2].elements().unwrap())
        };
        // A program that divides by 0 means nothing.
        let Ok(want) = run(&func) else { continue };
        meaningful += 1;
        type Pass = fn(&Func) -> Func;
        let passes: [(&str, Pass); 4] = [
            ("dce", pass::dce),
            ("licm", pass::licm),
            ("fold", pass::fold),
            ("all", |func| pass::dce(&pass::fold(&pass::licm(&pass::fold(func))))),
        ];
        for (name, pass) in passes {
            let after = pass(&func);
            verify(&after).unwrap_or_else(|error| panic!("{seed}, {name}: {error}\n{func}\n{after}"));
            let got = run(&after).unwrap_or_else(|error| panic!("{seed}, {name}: {error}\n{func}\n{after}"));
            for (got, want) in got.iter().zip(&want) {
                assert!(
                    Tolerance::EXACT.accepts(DType::F32, *got, *want),
                    "{seed}, {name}: {got:x} for {want:x}\n{func}\n{after}"
                );
            }
            assert_eq!(parse(&after.to_string()).unwrap(), after, "{seed}, {name}");
        }
        verify(&pass::simplify(&func)).unwrap_or_else(|error| panic!("{seed}: {error}"));
    }
    assert!(meaningful * 2 > count, "{meaningful} of {count} programs have a meaning");
}

fn pinned(pass: fn(&Func) -> Func, body: &str, after: Expect) {
    let text = format!(
        "kernel k(x: f32[?, ?] strides [?, 1] align 4, mut y: f32[?, ?] strides [?, 1] align 4) {{\n{body}}}\n"
    );
    let func = parse(&text).unwrap();
    verify(&func).unwrap();
    let func = pass(&func);
    verify(&func).unwrap();
    after.assert_eq(func.to_string().split_once('\n').unwrap().1);
}

#[test]
fn what_has_no_use_goes() {
    pinned(
        pass::dce,
        "  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = full 1.0 : f32[4, 4]
  %3 = exp %2 : f32[4, 4]
  %4, %5 = for %0 to %1 step %1 carry %2, %2 : f32[4, 4], f32[4, 4] { (%6: s32, %7: f32[4, 4], %8: f32[4, 4])
    %9 = add %7, %2 : f32[4, 4]
    %10 = mul %8, %7 : f32[4, 4]
    continue %9, %10
  }
  store %4 to y[4, 4] at (%0, %0)
",
        expect![[r#"
              %0 = full 0 : s32
              %1 = full 1 : s32
              %2 = full 1.0 : f32[4, 4]
              %3 = for %0 to %1 step %1 carry %2 : f32[4, 4] { (%4: s32, %5: f32[4, 4])
                %6 = add %5, %2 : f32[4, 4]
                continue %6
              }
              store %3 to y[4, 4] at (%0, %0)
            }
        "#]],
    );
}

#[test]
fn what_a_loop_does_not_change_moves_out() {
    pinned(
        pass::licm,
        "  %0 = full 0 : s32
  %1 = full 9 : s32
  %2 = full 1 : s32
  for %0 to %1 step %2 { (%3: s32)
    %4 = load x[4, 4] at (%0, %0) : f32[4, 4]
    %5 = load y[4, 4] at (%0, %0) : f32[4, 4]
    %6 = load x[4, 4] at (%0, %0) unchecked : f32[4, 4]
    %7 = exp %4 : f32[4, 4]
    %8 = add %7, %5 : f32[4, 4]
    %9 = add %6, %8 : f32[4, 4]
    store %9 to y[4, 4] at (%3, %0)
    continue
  }
",
        expect![[r#"
              %0 = full 0 : s32
              %1 = full 9 : s32
              %2 = full 1 : s32
              %3 = load x[4, 4] at (%0, %0) : f32[4, 4]
              %4 = exp %3 : f32[4, 4]
              for %0 to %1 step %2 { (%5: s32)
                %6 = load y[4, 4] at (%0, %0) : f32[4, 4]
                %7 = load x[4, 4] at (%0, %0) unchecked : f32[4, 4]
                %8 = add %4, %6 : f32[4, 4]
                %9 = add %7, %8 : f32[4, 4]
                store %9 to y[4, 4] at (%5, %0)
                continue
              }
            }
        "#]],
    );
}

#[test]
fn what_changes_nothing_folds() {
    pinned(
        pass::fold,
        "  %0 = full 0 : s32
  %1 = full 3 : s32
  %2 = full 1.0 : f32[4, 4]
  %3 = load x[4, 4] at (%0, %0) : f32[4, 4]
  %4 = mul %3, %2 : f32[4, 4]
  %5 = permute %4 by [1, 0] : f32[4, 4]
  %6 = permute %5 by [1, 0] : f32[4, 4]
  %7 = cast %6 : f64[4, 4]
  %8 = cast %7 : f16[4, 4]
  %9 = cast %8 : f32[4, 4]
  %10 = add %1, %1 : s32
  %11 = mul.ftz %9, %2 : f32[4, 4]
  %12, %13 = for %0 to %10 step %1 carry %11, %3 : f32[4, 4], f32[4, 4] { (%14: s32, %15: f32[4, 4], %16: f32[4, 4])
    %17 = add %15, %16 : f32[4, 4]
    continue %17, %16
  }
  %18 = add %12, %13 : f32[4, 4]
  store %18 to y[4, 4] at (%0, %0)
",
        expect![[r#"
              %0 = full 0 : s32
              %1 = full 3 : s32
              %2 = full 1.0 : f32[4, 4]
              %3 = load x[4, 4] at (%0, %0) : f32[4, 4]
              %4 = permute %3 by [1, 0] : f32[4, 4]
              %5 = cast %3 : f64[4, 4]
              %6 = cast %3 : f16[4, 4]
              %7 = cast %6 : f32[4, 4]
              %8 = full 6 : s32
              %9 = mul.ftz %7, %2 : f32[4, 4]
              %10 = for %0 to %8 step %1 carry %9 : f32[4, 4] { (%11: s32, %12: f32[4, 4])
                %13 = add %12, %3 : f32[4, 4]
                continue %13
              }
              %14 = add %10, %3 : f32[4, 4]
              store %14 to y[4, 4] at (%0, %0)
            }
        "#]],
    );
}
