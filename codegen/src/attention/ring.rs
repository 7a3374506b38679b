//! Attention on Hopper: a producer warpgroup, and consumer warpgroups that ping-pong on the tensor cores.
//!
//! One thread loads tiles of Q, K and V by TMA. Each of 2 to 4 consumer warpgroups has 64 queries. It iterates over the KV tiles that these queries
//! see, from the last to the first. In an iteration, a warpgroup issues the MMAs of P V for its last KV tile and of Q K for the next one. Then it
//! signals the next warpgroup. While one warpgroup issues its MMAs, the others compute exponentials. Nothing overlaps within a warpgroup, so a
//! thread has enough registers for 64 queries times 128 keys and 128 columns.

mod consumer;
mod producer;
mod softmax;
mod store;
mod tails;

use girih_layout::{Int, Lay, Stride, Swizzle, lay};
use girih_ptx::Special;
use girih_tensor::{DType, Slice, Tensor};

use super::config::AttentionConfig;
use super::interface::{Interface, Tensor4};
use crate::algorithm::{fence_barrier_init, prefetch_tma_descriptor};
use crate::atom::{GmmaLayout, Major, MmaAtom, MmaKind, Product, Transfer};
use crate::builder::{Builder, Cond, MAX_SHARED};
use crate::engine::element_bytes;
use crate::error::{AttentionError, narrow};
use crate::{Error, Expr, Pipeline, Smem, TiledMma, TmaCopy};
use consumer::Consumer;
use producer::Producer;
use tails::Tails;

/// The rows of a warpgroup's queries, and its threads.
const ROWS: i64 = 64;
const WARPGROUP: i64 = 128;
/// The bits by which the indices of the four lanes that share a row differ.
const SHARING: [u32; 2] = [1, 2];
/// The registers of an SM.
const REGISTERS: i64 = 65536;

/// The configuration of the kernel: warpgroups, stages, buffers, registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    /// The consumer warpgroups, 2 to 4; each has 64 rows of the tile.
    pub warpgroups: i64,
    /// The tiles of K and as many of V that shared memory holds.
    pub stages: i64,
    /// The tiles of Q that shared memory holds, 1 or 2. A tile of O is stored from the place of its tile of Q.
    pub buffers: i64,
    /// The registers of a thread of the producer warpgroup, and of a consumer warpgroup.
    pub registers: [u32; 2],
}

/// The state that producer and consumers share.
struct Parts<'a> {
    ring: Ring,
    interface: &'a Interface<'a>,
    qk: TiledMma,
    pv: TiledMma,
    q: Tensor<Smem>, // (64,HeadDim,Warpgroup,Buffer)
    k: Tensor<Smem>, // (Keys,HeadDim,Stage)
    v: Tensor<Smem>, // (Keys,HeadDim,Stage)
    /// The TMA copies of 64 rows of Q, of tiles of K and V, and of 64 rows of O.
    copies: [Option<TmaCopy>; 4],
    of_q: Pipeline,
    of_k: Pipeline,
    of_v: Pipeline,
    /// The zero-fill of V, if tiles of keys may contain keys after the last one that a query of a tile sees, other than after the end of the tensors.
    tails: Option<Tails>,
}

impl Ring {
    /// Threads of a block.
    ///
    /// # Errors
    /// [`Error::Wide`] for more than 32 bits hold.
    pub fn threads(&self) -> Result<u32, Error> {
        narrow("threads", (self.warpgroups + 1) * WARPGROUP)
    }

    /// Bytes of the tiles of Q, K and V in shared memory.
    pub fn tile_bytes(&self, config: &AttentionConfig) -> Result<i64, Error> {
        let ([rows, keys], of) = (config.tile, |tensor| config.columns(tensor));
        let of_keys = keys * self.stages * (of(Tensor4::K) + of(Tensor4::V));
        let elements = rows * self.buffers * of(Tensor4::Q) + of_keys;
        Ok(elements * element_bytes("dtype", config.dtype)?)
    }

    pub(super) fn check(&self, config: &AttentionConfig) -> Result<(), Error> {
        let Ring { warpgroups, stages, buffers, registers } = *self;
        let [rows, keys] = config.tile;
        if !matches!(config.dtype, DType::F16 | DType::Bf16) {
            return Err(
                AttentionError::DType { dtype: config.dtype, accepted: &[DType::F16, DType::Bf16] }.into()
            );
        }
        if !(2..=4).contains(&warpgroups) {
            return Err(AttentionError::Warpgroups { warpgroups }.into());
        }
        if rows != ROWS * warpgroups {
            let accepted = format!("{}, 64 for each warpgroup,", ROWS * warpgroups);
            return Err(AttentionError::Queries { queries: rows, accepted }.into());
        }
        if keys % 16 != 0 || !(16..=256).contains(&keys) {
            return Err(AttentionError::Keys { keys, accepted: "multiples of 16" }.into());
        }
        let fits = |columns: i64, most: i64| columns % 32 == 0 && (32..=most).contains(&columns);
        if !fits(config.head_dim, 512) {
            let accepted = String::from("multiples of 32 up to 512");
            return Err(AttentionError::HeadDim { head_dim: config.head_dim, accepted }.into());
        }
        // A thread has registers for 256 columns of O, and a tile of O is where its tile of Q was.
        let (value_dim, most) = (config.columns(Tensor4::V), config.head_dim.min(256));
        if !fits(value_dim, most) {
            let accepted = format!("multiples of 32 up to {most}");
            return Err(AttentionError::ValueDim { value_dim, accepted }.into());
        }
        if !(1..=2).contains(&buffers) {
            return Err(AttentionError::Buffers { buffers }.into());
        }
        if stages < 1 {
            return Err(AttentionError::NoStages { stages }.into());
        }
        let bytes = self.tile_bytes(config)?;
        let barriers = 2 * (Pipeline::barrier_bytes(stages) + Pipeline::barrier_bytes(buffers));
        if bytes + barriers > MAX_SHARED {
            let bytes = bytes + barriers;
            return Err(AttentionError::SharedMemory { bytes, most: MAX_SHARED }.into());
        }
        let begin = REGISTERS / i64::from(self.threads()?) / 8 * 8;
        let all = i64::from(registers[0]) + i64::from(registers[1]) * warpgroups;
        if all > begin * (warpgroups + 1) {
            let ([producer, consumer], most) = (registers, begin * (warpgroups + 1));
            return Err(AttentionError::Registers { producer, consumer, warpgroups, most }.into());
        }
        Ok(())
    }

    /// Writes the kernel's body.
    pub(super) fn emit(&self, b: &mut Builder, interface: &mut Interface<'_>) -> Result<(), Error> {
        let copies = self.copies(b, interface)?;
        let parts = self.parts(b, interface, copies)?;
        let partitions = parts.describe()?;
        let thread = b.special(Special::TidX);
        let config = interface.config;
        b.if_(&Cond::less(&thread, &Expr::from(1)), |b| {
            for tensor in Tensor4::ALL.into_iter().filter(|tensor| config.is_mapped(*tensor)) {
                prefetch_tma_descriptor(b, &interface.places[tensor as usize])?;
            }
            [&parts.of_q, &parts.of_k, &parts.of_v].into_iter().try_for_each(|pipeline| pipeline.init(b))?;
            parts.tails.iter().try_for_each(|tails| tails.init(b))?;
            fence_barrier_init(b);
            Ok(())
        })?;
        b.barrier();
        b.wait_on_dependent_grids();
        let group = b.canonical_warp_group_idx(&thread)?;
        b.if_else(
            &Cond::less(&group, &Expr::from(1)),
            |b| Producer::run(b, &parts, &thread),
            |b| Consumer::run(b, &parts, &thread, &group),
        )?;
        interface.partitions = partitions;
        Ok(())
    }

    /// The layout of `rows` rows of a tensor in shared memory, (Rows,HeadDim), and its swizzle.
    fn rows(config: &AttentionConfig, tensor: Tensor4, rows: i64) -> Result<(Swizzle, Lay), Error> {
        let extents = [rows, config.columns(tensor)];
        let tile = GmmaLayout::select(Major::K, config.dtype, extents).tile(config.dtype, extents)?;
        Ok((tile.swizzle(), *tile.layout()))
    }

    fn copies(&self, b: &mut Builder, interface: &mut Interface<'_>) -> Result<[Option<TmaCopy>; 4], Error> {
        let config = interface.config;
        let mut copies = [const { None }; 4];
        for tensor in Tensor4::ALL.into_iter().filter(|tensor| config.is_mapped(*tensor)) {
            let (rows, transfer) = match tensor {
                Tensor4::Q => (ROWS, Transfer::Load),
                Tensor4::K | Tensor4::V => (config.tile[1], Transfer::Load),
                Tensor4::O => (ROWS, Transfer::Store),
            };
            let (swizzle, rows) = Ring::rows(config, tensor, rows)?;
            copies[tensor as usize] = Some(interface.tma_copy(b, tensor, transfer, &rows, swizzle)?);
        }
        Ok(copies)
    }

    fn parts<'a>(
        &self,
        b: &mut Builder,
        interface: &'a Interface<'a>,
        copies: [Option<TmaCopy>; 4],
    ) -> Result<Parts<'a>, Error> {
        let config = interface.config;
        let ([_, keys], dtype) = (config.tile, config.dtype);
        let [of_q, of_k, of_v, _] = Tensor4::ALL.map(|tensor| config.columns(tensor));
        let types = [DType::F32, dtype, dtype];
        let one = lay!("(1,1):(0,0)");
        // K is (Keys,HeadDim), and V, whose K mode is the keys, (HeadDim,Keys); both have contiguous columns.
        let qk = MmaAtom::wgmma(MmaKind::WgmmaSs, keys, types, [Major::K, Major::K], Product::Multiply)?;
        let pv = MmaAtom::wgmma(MmaKind::WgmmaRs, of_v, types, [Major::K, Major::Mn], Product::Multiply)?;
        let many = |count: i64, each: i64| Lay::leaf(Int::fixed(count), Stride::Int(Int::fixed(each)));
        let [one_of_q, one_of_k, one_of_v] = [ROWS * of_q, keys * of_k, keys * of_v];
        let (swizzle, of_q) = Ring::rows(config, Tensor4::Q, ROWS)?;
        let of_q = of_q.append(&many(self.warpgroups, one_of_q)?)?;
        let of_q = of_q.append(&many(self.buffers, one_of_q * self.warpgroups)?)?;
        let q = Smem::alloc(b, dtype, Some(swizzle), &of_q)?;
        let mut stages = |tensor, one: i64| {
            let (swizzle, rows) = Ring::rows(config, tensor, keys)?;
            Smem::alloc(b, dtype, Some(swizzle), &rows.append(&many(self.stages, one)?)?)
        };
        let (k, v) = (stages(Tensor4::K, one_of_k)?, stages(Tensor4::V, one_of_v)?);
        let bytes = element_bytes("dtype", dtype)?;
        let of_q = Pipeline::new(b, self.buffers, one_of_q * self.warpgroups * bytes, self.warpgroups)?;
        let [of_k, of_v] =
            [one_of_k, one_of_v].map(|one| Pipeline::new(b, self.stages, one * bytes, self.warpgroups));
        let tails = match config.features.packed || config.features.right {
            true => Some(Tails::new(b, self.buffers, one_of_v * bytes)?),
            false => None,
        };
        Ok(Parts {
            ring: *self,
            interface,
            qk: TiledMma::new(qk, one)?,
            pv: TiledMma::new(pv, one)?,
            q,
            k,
            v,
            copies,
            of_q,
            of_k: of_k?,
            of_v: of_v?,
            tails,
        })
    }
}

impl Parts<'_> {
    fn config(&self) -> &AttentionConfig {
        self.interface.config
    }

    /// V as the MMAs take it, (HeadDim,Keys,Stage).
    fn transposed_v(&self) -> Result<Tensor<Smem>, Error> {
        let modes = [1, 0, 2].map(|mode| self.v.layout().mode(mode));
        let modes = modes.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(Tensor::new(self.v.engine().clone(), Lay::concat(&modes)?))
    }

    /// The rows of a warpgroup in all buffers of Q, (64,HeadDim,Buffer).
    fn rows_of(&self, warpgroup: &Expr) -> Result<Tensor<Smem>, Error> {
        let at = [Slice::All, Slice::All, Slice::At(warpgroup.clone()), Slice::All];
        Ok(self.q.slice(Slice::tuple(at))?)
    }

    /// The layouts from which the kernel is derived, each with its name.
    fn describe(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let [rows, keys] = self.config().tile;
        let [columns, of_values] = [Tensor4::K, Tensor4::V].map(|tensor| self.config().columns(tensor));
        let tv = |mma: &TiledMma, extents: [i64; 2]| -> Result<String, Error> {
            Ok(mma.thrfrg(crate::Operand::C, &Lay::col_major(extents)?)?.to_string())
        };
        let shared = |tensor: &Tensor<Smem>| match tensor.engine().swizzle() {
            Some(swizzle) => format!("{swizzle} o 0 o {}", tensor.layout()),
            None => tensor.layout().to_string(),
        };
        let copy = |tensor: Tensor4| {
            let copy = self.copies[tensor as usize].as_ref();
            copy.map_or(String::from("by threads"), |copy| copy.copy().atom.to_string())
        };
        Ok(vec![
            ("tile (Query,Key,Dim)", format!("({rows},{keys},{columns})")),
            ("MMA atom of scores", self.qk.atom.name()),
            ("MMA atom of values", self.pv.atom.name()),
            ("TV of scores", tv(&self.qk, [ROWS, keys])?),
            ("TV of O", tv(&self.pv, [ROWS, of_values])?),
            ("Q in shared memory", shared(&self.q)),
            ("K in shared memory", shared(&self.k)),
            ("V in shared memory", shared(&self.v)),
            ("Q: global to shared", copy(Tensor4::Q)),
            ("K, V: global to shared", copy(Tensor4::K)),
            ("O: shared to global", copy(Tensor4::O)),
        ])
    }
}
