//! Recognition of a program's GEMM: a loop, its loads, and the one store after it.

use std::collections::HashSet;

use super::groups::Groups;
use super::operand::{self, Operand, Role};
use super::place::{Place, groups_of, located};
use super::scales::{self, Scales};
use super::{Matrix, refused, sums};
use crate::error::Refusal;
use crate::facts::{Index, Poly};
use crate::ir::{Def, End, Func, Kind, Op, OpId, Order, RegionId, Value};

/// The operations of a product.
pub(super) struct Sketch<'a> {
    pub(super) func: &'a Func,
    pub(super) index: Index<'a>,
    /// A, B and C.
    pub(super) matrices: [Matrix; 3],
    /// A and B as they are multiplied.
    pub(super) operands: [Operand; 2],
    /// The accumulators behind the loop, and the roles of their axes.
    pub(super) sums: Value,
    pub(super) roles: Vec<Role>,
    /// Rows and columns of a tile of C, and elements along K.
    pub(super) tile: [i64; 3],
    /// What is stored, its roles, the store, and the indices of C's rows, columns and matrices.
    pub(super) stored: Value,
    pub(super) stored_roles: Vec<Role>,
    pub(super) store: &'a Op,
    pub(super) at: [Poly; 2],
    pub(super) batch_at: Option<Poly>,
    pub(super) at_values: [Value; 2],
    pub(super) batch_value: Option<Value>,
    /// The end of the loop along K.
    pub(super) stop: Value,
    /// Loops and conditions around, the outermost first, and which of their regions.
    pub(super) path: Vec<(OpId, usize)>,
    /// What these say, if the product is one of groups of rows.
    pub(super) groups: Option<Groups>,
    /// The scales, if some operands have them.
    pub(super) scales: Option<Scales>,
}

/// What a program does besides computing.
#[derive(Default)]
struct Effects {
    stores: Vec<(OpId, Vec<(OpId, usize)>)>,
    loops: Vec<(OpId, Vec<(OpId, usize)>)>,
    products: Vec<OpId>,
}

fn effects(
    func: &Func,
    region: RegionId,
    path: &mut Vec<(OpId, usize)>,
    all: &mut Effects,
) -> Result<(), Refusal> {
    for &id in &func.region(region).ops {
        let op = func.op(id);
        match &op.kind {
            Kind::Mma => all.products.push(id),
            Kind::Store(_) => all.stores.push((id, path.clone())),
            Kind::For if multiplies(func, op) => {
                all.loops.push((id, path.clone()));
                func.walk(op.regions[0], &mut |inner, op| {
                    if op.kind == Kind::Mma {
                        all.products.push(inner);
                    }
                });
            }
            Kind::For | Kind::If if op.results.is_empty() || op.kind == Kind::For => {
                for (at, &inner) in op.regions.iter().enumerate() {
                    let end = &func.region(inner).end;
                    let goes_on = match op.kind {
                        Kind::For => matches!(end, End::Continue(0, _)),
                        _ => matches!(end, End::Yield(_)),
                    };
                    if !goes_on {
                        return Err(refused(op, "a loop around is left early, or an iteration of it"));
                    }
                    path.push((id, at));
                    effects(func, inner, path, all)?;
                    path.pop();
                }
            }
            // Of an array that the kernel writes, only what is loaded where it is stored is taken: the slice behind the loop says.
            Kind::Load(view) if view.order == Order::Weak => {}
            kind if func.is_pure(kind) => {}
            _ => return Err(refused(op, "the kernel does more than multiply and store")),
        }
    }
    Ok(())
}

/// Whether a product is in a loop itself.
fn multiplies(func: &Func, op: &Op) -> bool {
    !op.results.is_empty()
        && func.region(op.regions[0]).ops.iter().any(|&inner| func.op(inner).kind == Kind::Mma)
}

/// Finds the product of a program.
pub(super) fn sketch(func: &Func) -> Result<Sketch<'_>, Refusal> {
    let mut all = Effects::default();
    effects(func, func.body(), &mut Vec::new(), &mut all)?;
    let [product] = all.products[..] else {
        let count = all.products.len();
        return Err(Refusal::new(format!("the kernel has {count} products, one is accepted")));
    };
    let [(iterations, path)] = &all.loops[..] else {
        let count = all.loops.len();
        return Err(refused(
            func.op(product),
            format!("the product stands in {count} loops that carry something, one is accepted"),
        ));
    };
    let [(store, beside)] = &all.stores[..] else {
        let count = all.stores.len();
        return Err(Refusal::new(format!("the kernel stores {count} times, once is accepted")));
    };
    let (iterations, store) = (func.op(*iterations), func.op(*store));
    if path != beside {
        return Err(refused(store, "the store does not stand beside the loop"));
    }
    let index = Index::new(func);
    let inner = sums::inner(func, &index, iterations, product)?;
    let Kind::Store(view) = &store.kind else { return Err(refused(store, "no store")) };
    let rank = func.ty(inner.sums).dims.rank();
    let roles = operand::named(rank, [Role::M, Role::N]);
    let stored = store.operands[0];
    let stored_roles = operand::Follow::new(func, inner.sums, &roles)
        .of(stored)
        .ok_or_else(|| refused(store, "what is stored does not lie as the sums do"))?;
    let carrying = path.iter().any(|(id, _)| !func.op(*id).results.is_empty());
    let groups = carrying.then(|| groups_of(func, &index, path, (store, view), &stored_roles)).transpose()?;
    let groups = groups.as_ref();
    let c = located(func, store, view, &stored_roles, [Role::M, Role::N], 1, (&index, groups))?;
    let [a, b] = &inner.operands;
    let place = |operand: &Operand, roles, name: &str| {
        let op = func.op(operand.load);
        let Kind::Load(view) = &op.kind else { return Err(refused(op, "no load")) };
        if !func.is_pure(&op.kind) {
            return Err(refused(op, format!("{name} is an array that the kernel writes, or has an order")));
        }
        if !matches!(view.padding, crate::ir::Padding::Zero | crate::ir::Padding::Undetermined) {
            return Err(refused(op, format!("{name} is padded with something else than zero")));
        }
        located(func, op, view, &operand.roles, roles, 0, (&index, groups.filter(|_| roles[0] == Role::M)))
    };
    let a = place(a, [Role::M, Role::K], "the first operand")?;
    let b = place(b, [Role::N, Role::K], "the second operand")?;
    let iteration = func.region(iterations.regions[0]).args[0];
    let along = index.poly(iteration);
    for (place, op) in [(&a, inner.operands[0].load), (&b, inner.operands[1].load)] {
        let op = func.op(op);
        if place.at[1] != along {
            return Err(refused(op, "the index along K is not the number of the loop's iteration"));
        }
    }
    for (place, mode, op) in [(&a, 0, inner.operands[0].load), (&b, 1, inner.operands[1].load)] {
        if place.at[0] != c.at[mode] {
            let name = index.name(place.values[0]);
            let why = format!("the index {name} is not that of the tile of C that is stored");
            return Err(refused(func.op(op), why));
        }
        let of_group = groups.map(|groups| index.poly(groups.group));
        if place.batch.is_some() && place.batch_at != of_group.or(c.batch_at.clone()) {
            let why = "the index of the matrix is not that of the matrix of C that is stored";
            return Err(refused(func.op(op), why));
        }
    }
    let extent = |place: &Place, of: usize| i64::from(place.tile[of]);
    let tile = [extent(&c, 0), extent(&c, 1), extent(&a, 1)];
    if [extent(&a, 0), extent(&b, 0), extent(&b, 1)] != tile {
        return Err(refused(store, "the tiles of A, B and C do not fit each other"));
    }
    if groups.is_some() && (a.batch.is_some() || b.batch.is_none() || c.batch.is_some()) {
        return Err(refused(store, "each group of rows has a second operand of its own"));
    }
    let mut asked: Vec<Value> = c.values.iter().copied().chain(c.batch_value).collect();
    asked.push(iterations.operands[1]);
    asked.extend(path.iter().flat_map(|(id, _)| func.op(*id).operands.clone()));
    if is_given(func, asked) {
        return Err(refused(iterations, "which tiles a block goes through depends on a scalar argument"));
    }
    for (place, op) in [(&a, inner.operands[0].load), (&b, inner.operands[1].load)] {
        for value in place.values.iter().copied().chain(place.batch_value) {
            if index.narrows(value) {
                return Err(refused(func.op(op), "an index is computed in fewer bits than are there"));
            }
        }
    }
    let here = scales::At { index: &index, tile, at: [&c.at[0], &c.at[1], &along] };
    let scaled = scales::of(func, here, func.op(product), inner.scaled.as_deref(), &inner.operands)?;
    if scaled.is_some() && (groups.is_some() || c.batch.is_some()) {
        return Err(refused(store, "several products have scales, of one they are accepted"));
    }
    let matrix = |place: &Place| Matrix { array: place.array, modes: place.modes, batch: place.batch };
    let sketch = Sketch {
        func,
        matrices: [matrix(&a), matrix(&b), matrix(&c)],
        operands: inner.operands,
        sums: inner.sums,
        roles,
        tile,
        stored,
        stored_roles,
        store,
        at: c.at,
        batch_at: groups.map(|groups| index.poly(groups.group)).or(c.batch_at),
        at_values: c.values,
        batch_value: c.batch_value,
        stop: iterations.operands[1],
        path: path.clone(),
        groups: groups.copied(),
        scales: scaled.map(|(scales, _)| scales),
        index,
    };
    Ok(if scaled.is_some_and(|(_, turned)| turned) { sketch.turned() } else { sketch })
}

impl Sketch<'_> {
    /// The transpose: what was the second operand is A.
    fn turned(self) -> Self {
        let Sketch { matrices: [a, b, c], operands: [x, y], tile: [m, n, k], at, at_values, .. } = self;
        let swapped = |roles: Vec<Role>| {
            let role = |role| match role {
                Role::M => Role::N,
                Role::N => Role::M,
                other => other,
            };
            roles.into_iter().map(role).collect()
        };
        let [of_rows, of_columns] = at;
        Sketch {
            matrices: [b, a, Matrix { modes: [c.modes[1], c.modes[0]], ..c }],
            operands: [y, x],
            roles: swapped(self.roles),
            stored_roles: swapped(self.stored_roles),
            tile: [n, m, k],
            at: [of_columns, of_rows],
            at_values: [at_values[1], at_values[0]],
            ..self
        }
    }
}

/// Whether one of these scalars is computed from one that the kernel is called with.
fn is_given(func: &Func, values: Vec<Value>) -> bool {
    let (mut open, mut seen) = (values, HashSet::new());
    while let Some(value) = open.pop() {
        let Def::Result(id, _) = func.value(value).def else { continue };
        if seen.insert(value) {
            let op = func.op(id);
            if matches!(op.kind, Kind::Param(_)) {
                return true;
            }
            open.extend(&op.operands);
        }
    }
    false
}
