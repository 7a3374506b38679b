//! What loops, conditions and ways out of them refuse.

use expect_test::expect;
use girih_tile::error::Error;
use girih_tile::prelude::*;

use super::check;

#[test]
fn control() {
    struct Rng {
        state: Tile<i32>,
    }
    impl Rng {
        fn next(&mut self) -> Tile<i32> {
            self.state = self.state * 5 + 1;
            self.state
        }
    }

    #[kernel]
    fn uncarried(y: &mut Array<i32, 1>, n: Scalar<i32>) {
        let mut rng = Rng { state: bid(0) };
        let mut sum = scalar::<i32>(0);
        for i in 0..n {
            sum += rng.next();
        }
        y.tiles_mut([1]).store((0,), sum.reshape([1]));
    }
    check(
        uncarried::ir(),
        &expect![[r#"
            +1:18 [unstable] the body of this loop is another one when it is built again (`add : s32[]` at +2:13 of one value and then of another): a body is accepted that changes only what the loop carries
        "#]],
    );

    #[kernel]
    fn unstable(y: &mut Array<i32, 1>, n: Scalar<i32>) {
        let seen = std::cell::Cell::new(0i64);
        let mut sum = scalar::<i32>(0);
        for i in 0..n {
            sum += seen.get();
            seen.set(seen.get() + 1);
        }
        y.tiles_mut([1]).store((0,), sum.reshape([1]));
    }
    check(
        unstable::ir(),
        &expect![[r#"
            +1:18 [unstable] the body of this loop is another one when it is built again (`add : s32[]` at +2:13 of one value and then of another): a body is accepted that changes only what the loop carries
        "#]],
    );

    #[kernel]
    fn host_state(n: Scalar<i32>) {
        let mut steps = 0;
        let mut list = Vec::new();
        for i in 0..n {
            steps += 1;
            list.push(i);
        }
        if n > 3 {
            steps += 1;
        }
        let name = if n > 3 { "many" } else { "few" };
    }
    check(
        host_state::ir(),
        &expect![[r#"
            +1:18 [host_state] `steps` is known while building and changes in a run-time loop, whose body is built once for all iterations: a scalar is accepted, or a region that is decided while building
            +5:12 [host_state] `steps` is known while building and changes in a run-time branch, of which both sides are built: a scalar is accepted, or a region that is decided while building
            +8:23 [host_state] a part of the value is known while building and differs between the branches of a run-time `if`: a scalar is accepted, or a region that is decided while building
        "#]],
    );

    #[kernel]
    fn shapes_of_carried(n: Scalar<i32>) {
        let mut grown = zeros::<f32>([64, 64]);
        for _ in 0..n {
            grown = grown.sum(keep(0));
        }
        let mut other = zeros::<f32>([4]);
        if n > 0 {
            other = zeros::<f32>([8]);
        }
        let t = if n > 0 { zeros::<f32>([4]) } else { zeros::<f32>([2, 2]) };
        while n < 0 {
            other = other.reshape([4, 1]);
        }
    }
    check(
        shapes_of_carried::ir(),
        &expect![[r#"
            +1:18 [carry] `grown` is f32[64, 64] before the loop and f32[1, 64] at the end of its body: one shape is accepted
            +5:12 [carry] `other` is f32[8] in one branch of `if` and f32[4] in the other: one shape is accepted
            +8:20 [carry] the value is f32[4] in one branch of `if` and f32[2, 2] in the other: one shape is accepted
        "#]],
    );

    #[kernel]
    fn conditions(x: &Array<f32, 1>, n: Scalar<i32>) {
        let x = x.tiles([4]).load((0,));
        if x > 0.0 {
            let y = x;
        }
        while x > 0.0 {}
        for i in 0..arange::<i32>(4) {}
        for i in irange(0, 10).step_by(0) {}
        for i in (0..n).step_by(-2) {}
    }
    check(
        conditions::ir(),
        &expect![[r#"
            +1:12 [condition] the condition of `if` is bool[4]: a scalar (`any` and `all` reduce, `select` chooses element by element) is accepted
            +4:15 [condition] the condition of `while` is bool[4]: a scalar (`any` and `all` reduce, `select` chooses element by element) is accepted
            +5:18 [condition] the end of a range is s32[4]: a scalar is accepted
            +6:32 [range_step] a range in steps of 0: steps of 1 or more are accepted
            +7:25 [range_step] a range in steps of -2: steps of 1 or more are accepted
        "#]],
    );

    #[kernel]
    fn ways_out(n: Scalar<i32>) {
        for i in 0..4 {
            if n > i as i64 {
                break;
            }
        }
        loop {
            let x = n;
        }
        early(n);
        blocks(n);
        let mut kept = n;
        for i in 0..n {
            kept = i;
            KEPT.with(|of| of.set(Some(i)));
        }
        let stale = KEPT.with(|of| of.get());
        if let Some(stale) = stale {
            let z = stale + 1;
        }
    }
    thread_local! {
        static KEPT: std::cell::Cell<Option<Tile<i32>>> = const { std::cell::Cell::new(None) };
    }
    #[function]
    fn early(n: Scalar<i32>) -> Tile<i32> {
        if n > 3 {
            return n;
        }
        n + 1
    }
    #[function]
    fn blocks(n: Scalar<i32>) -> Tile<i32> {
        'a: {
            if n > 3 {
                break 'a n;
            }
            n + 1
        }
    }
    check(
        ways_out::ir(),
        &expect![[r#"
            +1:17 [leave] `break` of a loop that runs while building, under a condition of the run time: a run-time loop is accepted, by `irange` or to a scalar
            +4:9 [leave] this `loop` has no `break`: a loop that ends is accepted
            +25:13 [leave] `return` inside of a run-time loop or branch: an `if` whose value is the result is accepted
              in `early`, called at +7:9
            +33:17 [leave] `break` inside of a run-time loop or branch: an `if` whose value is the result is accepted
              in `blocks`, called at +8:9
            +16:21 [uncarried] `add` of a value of a loop's body, or of a branch, that is closed: a variable that is carried is accepted; assign to it by its name where it is bound, or derive `Tiles` for its type
        "#]],
    );

    #[kernel]
    fn left_by_question_mark(n: Scalar<i32>) {
        fallible(n);
    }
    #[function]
    fn fallible(n: Scalar<i32>) -> Option<Tile<i32>> {
        if n > 3 {
            None?;
        }
        Some(n)
    }
    let Err(Error::Build(found)) = left_by_question_mark::ir() else { panic!("accepted") };
    assert_eq!(found.len(), 1);
    expect!["`?`, or a `break` out of a labelled block, inside of a run-time loop or branch: an `if` whose value is the result is accepted"].assert_eq(&found[0].fault.to_string());
}
