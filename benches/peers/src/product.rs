//! A row that is a matrix product: girih beside its peer.

use float8::F8E4M3;
use girih_device::{Device, Pod};
use girih_tensor::{DType, Element};
use half::{bf16, f16};
use serde_json::Value;

use crate::contest::Failure;
use crate::fields;
use crate::measure::{Bench, Side, streamed};
use crate::operands::{Bounds, Operands};
use crate::ours::{Ours, Wrong};
use crate::rows::{Peer, Product, Row, Work};
use crate::theirs::{finalists, plan};
use crate::tiles;

/// Calls a function of the element types of a product.
macro_rules! typed {
    ($product:expr, $call:ident($($arg:expr),*)) => {
        match ($product.dtype, $product.output) {
            (DType::F32 | DType::Tf32, DType::F32) => $call::<f32, f32>($($arg),*),
            (DType::F16, DType::F16) => $call::<f16, f16>($($arg),*),
            (DType::Bf16, DType::Bf16) => $call::<bf16, bf16>($($arg),*),
            (DType::E4m3, DType::Bf16) => $call::<F8E4M3, bf16>($($arg),*),
            (DType::S8, DType::S32) => $call::<i8, i32>($($arg),*),
            (DType::F64, DType::F64) => $call::<f64, f64>($($arg),*),
            (input, output) => Err(format!("no bench has operands of {input} and {output}").into()),
        }
    };
}
pub(crate) use typed;

impl Bench {
    /// Measures a row that is a product.
    ///
    /// # Errors
    /// What neither girih nor the peer is to blame for: the device's.
    pub(crate) fn product(&self, row: &Row, product: &Product) -> Result<Value, Failure> {
        if product.tile.is_some() {
            if (product.dtype, product.output) != (DType::Bf16, DType::Bf16) {
                return Err("tiles are measured of bf16".into());
            }
            return measure(self, row, product, tiles::ours);
        }
        typed!(product, chosen(self, row, product))
    }
}

/// girih's side of a product on operands of these types.
type Make<T, C> = for<'o> fn(&Bench, &Product, &'o Operands<'_, T, C>) -> Result<Ours<'o>, Failure>;

/// By the kernel that girih chooses.
fn chosen<T: Element + Pod, C: Element + Pod>(
    bench: &Bench,
    row: &Row,
    product: &Product,
) -> Result<Value, Failure> {
    measure::<T, C>(bench, row, product, |bench, product, operands| Ours::new(bench, product, None, operands))
}

fn measure<T: Element + Pod, C: Element + Pod>(
    bench: &Bench,
    row: &Row,
    product: &Product,
    make: Make<T, C>,
) -> Result<Value, Failure> {
    let device = &bench.device;
    let operands = Operands::<T, C>::new(bench, product)?;
    let ours = make(bench, product, &operands);
    alive(device, &ours)?;
    // The peer's operands, if it is another row.
    let other = match &row.peer {
        Peer::Row(name) => Some(bench.product_of(name)?),
        _ => None,
    };
    let others = other.map(|other| Operands::<T, C>::new(bench, other)).transpose()?;
    let plan = if other.is_none() { Some(plan(bench, product, &operands)) } else { None };
    let theirs = match (&plan, other, &others) {
        (_, Some(other), Some(others)) => {
            Ours::new(bench, other, None, others).map(|ours| vec![ours.side.named(row_name(row))])
        }
        (Some(Ok(plan)), ..) => finalists(bench, plan, &operands),
        (Some(Err(error)), ..) => Err(error.to_string().into()),
        (None, ..) => Err("no peer".into()),
    };
    alive(device, &theirs)?;
    let side = ours.as_ref().ok().map(|ours| &ours.side);
    let (mut record, best) = bench.duel(row, side, theirs.as_deref().unwrap_or_default())?;
    record["product"] = fields::product(product);
    after_ours(&mut record, device, &ours, &operands)?;
    let winner = theirs.as_ref().map(|theirs| best.map(|best| &theirs[best]));
    after_theirs(&mut record, device, winner, others.is_none().then_some(&operands))?;
    Ok(record)
}

/// girih without a graph, and its result once more, by its graph.
fn after_ours<T: Element + Pod, C: Element + Pod>(
    record: &mut Value,
    device: &Device,
    ours: &Result<Ours<'_>, Failure>,
    operands: &Operands<'_, T, C>,
) -> Result<(), Failure> {
    match ours {
        Ok(ours) => {
            record["config"] = ours.config.as_str().into();
            record["fields"] = ours.fields.clone();
            record["girih_stream_us"] = ours.side.streamed(device)?.into();
            record["girih_run_us"] = streamed(device, &ours.by_call, operands.sets())?.into();
            operands.poison()?;
            ours.side.replay()?;
            if let Err(wrong) = operands.check_own(operands.sets() - 1) {
                record["girih_wrong"] = wrong.to_string().into();
            }
        }
        Err(wrong) if wrong.is::<Wrong>() => record["girih_wrong"] = wrong.to_string().into(),
        Err(missing) => record["girih_missing"] = missing.to_string().into(),
    }
    Ok(())
}

/// The winner among the peers without a graph, and its result, if it works on these operands.
fn after_theirs<T: Element + Pod, C: Element + Pod>(
    record: &mut Value,
    device: &Device,
    winner: Result<Option<&Side<'_>>, &Failure>,
    operands: Option<&Operands<'_, T, C>>,
) -> Result<(), Failure> {
    match winner {
        Ok(Some(winner)) => {
            record["peer_stream_us"] = winner.streamed(device)?.into();
            let Some(operands) = operands else { return Ok(()) };
            operands.poison()?;
            (winner.run)(0)?;
            if let Err(wrong) = operands.check(0, Bounds::Rough) {
                record["peer_wrong"] = wrong.to_string().into();
            }
        }
        Ok(None) => {}
        Err(missing) => record["peer_missing"] = missing.to_string().into(),
    }
    Ok(())
}

/// Says what a side did before the device failed: then nothing that comes can be measured.
pub(crate) fn alive<S>(device: &Device, side: &Result<S, Failure>) -> Result<(), Failure> {
    let said = side.as_ref().err().map_or(String::new(), |error| format!(" after: {error}"));
    device.synchronize().map_err(|error| format!("{error}{said}").into())
}

fn row_name(row: &Row) -> String {
    match &row.peer {
        Peer::Row(name) => format!("girih: {name}"),
        Peer::CublasLt | Peer::DeviceToDevice => String::from("girih"),
    }
}

impl Bench {
    /// The product of the row of a name.
    fn product_of(&self, name: &str) -> Result<&Product, Failure> {
        match self.rows.iter().find(|row| row.name == name).map(|row| &row.work) {
            Some(Work::Product(product)) => Ok(product),
            _ => Err(format!("no row of products is called {name}").into()),
        }
    }
}
