//! Rows as they are written.

use girih_kernels::gemm::{KernelKind, Layout};
use girih_tensor::DType;
use serde::Deserialize;

use super::{Error, Kind, Movement, Peer, Product, Row, Work};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) frozen: Vec<Entry>,
    pub(super) more: Vec<Entry>,
}

/// A row as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    bar: f64,
    #[serde(default = "gemm")]
    op: String,
    dtype: Option<String>,
    out: Option<String>,
    mnk: Option<[i64; 3]>,
    layout: Option<String>,
    ld: Option<[i64; 3]>,
    batch: Option<i64>,
    #[serde(default)]
    fast: bool,
    epilogue: Option<String>,
    weights: Option<String>,
    kernel: Option<String>,
    tile: Option<[i64; 3]>,
    shape: Option<Vec<i64>>,
    order: Option<Vec<usize>>,
    peer: Option<String>,
}

fn gemm() -> String {
    String::from("gemm")
}

fn refuse<T>(field: &'static str, value: impl ToString, accepted: &'static str) -> Result<T, Error> {
    Err(Error::Field { field, value: value.to_string(), accepted })
}

fn dtype(field: &'static str, text: Option<&str>, otherwise: DType) -> Result<DType, Error> {
    let Some(text) = text else { return Ok(otherwise) };
    text.parse().or_else(|_| refuse(field, text, "a dtype's name is accepted"))
}

impl Entry {
    pub(super) fn row(self, frozen: bool) -> Result<Row, Error> {
        let work = match &*self.op {
            "gemm" | "grouped" => Work::Product(self.product()?),
            _ => Work::Movement(self.movement()?),
        };
        let peer = match self.peer.as_deref() {
            None | Some("cublaslt") => Peer::CublasLt,
            Some("device-to-device") => Peer::DeviceToDevice,
            Some(row) => Peer::Row(row.into()),
        };
        Ok(Row { name: work.to_string(), frozen, work, peer, bar: self.bar })
    }

    fn product(&self) -> Result<Product, Error> {
        let (Some(mnk), None, None) = (self.mnk, &self.shape, &self.order) else {
            return refuse("op", &self.op, "a product has mnk, and neither shape nor order");
        };
        let input = dtype("dtype", self.dtype.as_deref(), DType::Bf16)?;
        let usual = match input {
            float if float.is_narrow_float() => DType::Bf16,
            DType::S8 => DType::S32,
            DType::Tf32 => DType::F32,
            other => other,
        };
        let fused = match self.epilogue.as_deref() {
            None => false,
            Some("gelu bias residual") => true,
            Some(other) => return refuse("epilogue", other, "\"gelu bias residual\" is accepted"),
        };
        let weights = self.weights.as_deref();
        Ok(Product {
            dtype: input,
            output: dtype("out", self.out.as_deref(), usual)?,
            mnk,
            layout: layout(self.layout.as_deref().unwrap_or("tn"))?,
            ld: self.ld,
            batch: self.batch.unwrap_or(1),
            grouped: self.op == "grouped",
            fast: self.fast,
            fused,
            weights: weights.map(|text| dtype("weights", Some(text), input)).transpose()?,
            kernel: self.kernel.as_deref().map(kernel).transpose()?,
            tile: self.tile,
        })
    }

    fn movement(&self) -> Result<Movement, Error> {
        let (Some(shape), None, None) = (&self.shape, self.mnk, self.tile) else {
            return refuse("op", &self.op, "a movement has a shape, and neither mnk nor tile");
        };
        let order = self.order.clone().unwrap_or_else(|| (0..shape.len()).collect());
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if sorted.iter().ne((0..shape.len()).collect::<Vec<_>>().iter()) {
            return refuse("order", format!("{order:?}"), "each mode of the shape once is accepted");
        }
        let kind = match &*self.op {
            "copy" => Kind::Copy,
            "transpose" | "permute" => Kind::Permute,
            "gather" => Kind::Gather,
            other => return refuse("op", other, "gemm, grouped, copy, transpose, permute, gather"),
        };
        let dtype = dtype("dtype", self.dtype.as_deref(), DType::Bf16)?;
        Ok(Movement { kind, dtype, shape: shape.clone(), order })
    }
}

fn layout(text: &str) -> Result<Layout, Error> {
    text.parse().or_else(|_| refuse("layout", text, "tn, tt, nn and nt are accepted"))
}

fn kernel(text: &str) -> Result<KernelKind, Error> {
    text.parse().or_else(|_| refuse("kernel", text, "simt, sm80 and sm90 are accepted"))
}
