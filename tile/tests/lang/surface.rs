//! Every operation as a method or function: each row of the table, and what has a shape of its own.

use std::collections::BTreeSet;

use expect_test::expect;
use girih_tile::ir::{Func, Kind};
use girih_tile::ops::table::{Each, TABLE};
use girih_tile::prelude::*;

fn kinds(func: &Func) -> (BTreeSet<Each>, BTreeSet<String>) {
    let (mut rows, mut others) = (BTreeSet::new(), BTreeSet::new());
    func.walk(func.body(), &mut |_, op| match &op.kind {
        Kind::Each { op, .. } => {
            rows.insert(*op);
        }
        other => {
            let name = format!("{other:?}");
            others.insert(name.split([' ', '(', '{']).next().unwrap_or_default().to_string());
        }
    });
    (rows, others)
}

#[kernel]
fn element_by_element(x: &Array<f32, 1>, n: &Array<i32, 1>, y: &mut Array<f32, 1>, m: &mut Array<i32, 1>) {
    let (x, n) = (x.tiles([8]).load((0,)), n.tiles([8]).load((0,)));
    let mut a = x + 1.0 - x * x / 2.0;
    a += pow(x, 2.0) + atan2(x, a) + minimum(x, 1.0) + maximum(x, 0) + fma(x, a, 1.0);
    a -= -x + x.abs() + x.exp() + x.exp2() + x.log() + x.log2() + x.sqrt() + x.rsqrt();
    a *= x.sin() + x.cos() + x.tan() + x.sinh() + x.cosh() + x.tanh() + x.erf() + x.sigmoid();
    a /= x.floor() + x.ceil() + x.round() + x.trunc() + clamp(x, -1.0, 1.0);
    a %= x;
    let mut b = floordiv(n, 3) + n % 3 + mulhi(n, n) + cdiv(n, 7);
    b &= n | 1;
    b ^= !n;
    b <<= 2;
    b >>= n;
    let (q, r) = divmod(n, 5);
    let flags = (x < 1.0 && x <= 2.0) || (x > 3.0 && x >= a) || x == 0.0 || x != 1.0;
    let flags = flags ^ x.isnan() ^ x.isinf() & !flags;
    y.tiles_mut([8]).store((0,), select(flags, a, where_(n, x, 0)));
    m.tiles_mut([8]).store((0,), b + q + r);
}

#[test]
fn every_row_of_the_table_has_a_handle() {
    let func = match element_by_element::ir() {
        Ok(func) => func,
        Err(error) => panic!("{error}"),
    };
    let (rows, _) = kinds(&func);
    let missing: Vec<&str> = TABLE.iter().filter(|row| !rows.contains(&row.op)).map(|row| row.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[kernel]
fn of_shape(
    x: &Array<f32, 2>,
    y: &mut Array<f32, 2>,
    c: &mut Array<i32, 1>,
    bytes: &mut Array<u8, 1>,
    rows: &mut Array<f32, 1>,
) {
    let t = x.tiles([4, 8]).padding(Padding::Zero).latency(2).load((bid(0), num_blocks(0) - 1));
    let t = t + x.tiles([8, 4]).axes([1, 0]).load((0, 0)).broadcast_to([8, 4]).t();
    let t = cat((t, t.flip(0)), 0).permute([1, 0]).reshape([2, -1, 8]).swapaxes(0, 1).reshape([8, 8]);
    let part = t.extract([1, 0], [4, 8]).insert([0, 1], ones::<f32>([4, 4]));
    let product = part.mma(part.t(), part.matmul(part.t()));
    let (top, at) = part.top_k(2, 1);
    let sorted = part.sort(-1) + part.sort_descending(-1);
    let (order, with) = part.sort_with(arange::<i32>(8).expand_dims(0).broadcast_to([4, 8]), 1, false);
    let sums = part.cumsum(1) + part.cumprod(1) + part.cummax(0) + part.cummin(0);
    let sums = sums + part.scan(Running::Sum, 1, Scan::exclusive().reversed());
    let all = part.sum(..)
        + part.prod(..)
        + part.max(..)
        + part.min([0, 1])
        + top.sum(keep(..)).sum(..)
        + product.sum(..);
    let index = part.argmax(1) + part.argmin(1) + part.argsort(1, true).sum(1) + at.sum(1) + with.sum(1);
    let any = (part > 0.0).any(1) & (part > 0.0).all(1);
    let gathered = x.gather((index.expand_dims(1), arange::<i32>(8)));
    let gathered =
        gathered + x.elements().mask(gathered > 0.0).padding(1.0).gather((index.expand_dims(1), 0));
    let gathered = gathered + x.load_rows((index, span(bid(1), 8)));
    let drawn = rand(7, arange::<i32>(8)) + randn(7, arange::<i32>(8));
    let bits = randint(7, index).bitcast::<i32>() + astile::<i32>([1, 2, 3, 4]) + strict(5);
    y.tiles_mut([4, 8]).store((0, 0), sorted + sums + all + order + gathered + drawn);
    y.scatter((index, 0), top.sum(1));
    y.tiles_mut([4, 8]).atomic_add((1, 0), part);
    let old = c.atomic_add((index,), 1) + c.atomic_cas((bits,), 0, 1) + c.atomic_xchg((0,), 3);
    c.elements_mut().memory_order(Order::Relaxed, Scope::System).atomic_max((index,), index.histogram(4));
    bytes.tiles_mut([16]).store((0,), part.extract([0, 0], [1, 4]).pack_to_bytes());
    rows.slice_mut(0, 4, 12)
        .tiles_mut([4])
        .store((0,), select(any, bytes.tiles([16]).load((0,)).unpack_from_bytes::<f32>(), 0.0));
    printf!("%d %f\n", index, part.sum(1));
    assert_((old >= 0).all(..), "counts are not negative");
}

#[test]
fn every_kind_of_operation_has_a_handle() {
    let func = match of_shape::ir() {
        Ok(func) => func,
        Err(error) => panic!("{error}"),
    };
    let (_, others) = kinds(&func);
    let names: Vec<&str> = others.iter().map(String::as_str).collect();
    expect!["Assert Atomic Bid Bitcast Broadcast Cast Cat Dense Extract Flip Full Gather Histogram Insert Iota Load Mma NumBlocks Pack Permute Print Reduce Reshape Scan Scatter Sort Store Unpack"].assert_eq(&names.join(" "));
    // What is written parses back as itself.
    let text = func.to_string();
    assert_eq!(girih_tile::ir::parse(&text).map(|func| func.to_string()).ok(), Some(text));
}
