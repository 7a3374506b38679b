//! [`Attentions`]: loads the attention kernels of a device.

use std::sync::Arc;

use girih_codegen::attention::{AttentionConfig, AttentionKernel, Form, generate};
use girih_device::sizes::word;
use girih_device::{Buffer, Device};

use super::bind::arguments;
use super::choose::{KernelKind, blocks, choose, shares};
use super::few::{Few, few_queries};
use super::run::{By, Tiles};
use super::{Attention, Problem, Table};
use crate::Error;
use crate::family::{Cache, Launches, Loaded, Step, words};

/// A table of tiles on the device.
#[derive(Clone, Debug)]
struct OnDevice {
    words: Arc<Buffer<u8>>,
    entries: usize,
    blocks: u32,
}

/// The key of a table: the problem without facts that do not affect its tiles, the tile, and the largest number of blocks.
type OfTable = (Problem, [i64; 2], u32);
/// The most tables that are kept.
const MOST_TABLES: usize = 1 << 8;
/// The most problems whose configurations are remembered.
const MOST_CHOSEN: usize = 1 << 12;

/// The attention kernels loaded on a device, one for each configuration that was asked for, and the tables of their tiles. Threads may ask for
/// kernels at the same time: those that ask for different ones do not wait for each other.
#[derive(Debug)]
pub struct Attentions {
    device: Device,
    loaded: Cache<AttentionConfig, Arc<Loaded<AttentionKernel>>>,
    tables: Cache<OfTable, OnDevice>,
    chosen: Cache<(Problem, Option<KernelKind>), Chosen>,
}

/// The kernel that is chosen for a problem.
#[derive(Clone, Debug)]
enum Chosen {
    Config(AttentionConfig),
    Few(Arc<Few>),
}

impl Attentions {
    /// An empty set of kernels for a device.
    pub fn new(device: &Device) -> Attentions {
        let (tables, chosen) = (Cache::new(MOST_TABLES), Cache::new(MOST_CHOSEN));
        Attentions { device: device.clone(), loaded: Cache::default(), tables, chosen }
    }

    /// How many modules are loaded.
    pub fn modules(&self) -> usize {
        self.loaded.len()
    }

    /// Attention for `problem` by the fastest kernel that the device and the problem allow. A module with the same facts is loaded once. Problems
    /// with few queries use the decoding kernels ([`few_queries`]).
    ///
    /// # Errors
    /// As [`Attentions::by`].
    pub fn get(&self, problem: &Problem) -> Result<Attention, Error> {
        self.by(problem, None)
    }

    /// The same by a family of kernels.
    ///
    /// # Errors
    /// [`Error::Misfit`] for a problem that the family does not take; [`Error::Grid`] for more tiles than a table has;
    /// [`Error::Codegen`], [`Error::Device`].
    pub fn by(&self, problem: &Problem, kind: Option<KernelKind>) -> Result<Attention, Error> {
        let chosen = self.chosen.get(&(problem.clone(), kind), || match few_queries(problem) {
            Some(decode) if kind.is_none() => Few::new(&self.device, &decode).map(Chosen::Few),
            _ => choose(problem, kind, self.device.limits()).map(Chosen::Config),
        })?;
        match chosen {
            Chosen::Config(config) => self.configured(problem, config),
            Chosen::Few(few) => Attention::new(problem, By::Few(few)),
        }
    }

    /// The same by a configuration of the caller's choice, as a tuner tries them.
    ///
    /// # Errors
    /// [`Error::Configuration`] for one of another dtype, of fewer columns or of other features than the problem's, or that copies more elements at once than
    /// divide strides, columns and addresses; as [`Attentions::by`].
    pub fn configured(&self, problem: &Problem, config: AttentionConfig) -> Result<Attention, Error> {
        super::choose::accepts(problem, &config)?;
        let module =
            self.loaded.get(&config, || Loaded::new(&self.device, generate(&config)?).map(Arc::new))?;
        let steps = self.step(problem, &config, &module)?.into_iter().collect();
        let launches = Arc::new(Launches::new(steps));
        Attention::new(problem, By::Tiles(Tiles { config, module, launches }))
    }

    /// The launch; `None` where there are no tiles.
    fn step(
        &self,
        problem: &Problem,
        config: &AttentionConfig,
        module: &Loaded<AttentionKernel>,
    ) -> Result<Option<Step>, Error> {
        let (count, shares) = (Table::count(problem, config.tile[0]), word(shares(problem, config)));
        let blocks = blocks(config, count, (self.device.limits().multiprocessors / shares).max(1));
        if blocks == 0 {
            return Ok(None);
        }
        let key = (problem.tiled(), config.tile, blocks);
        let table = self.tables.get(&key, || {
            let table = Table::new(problem, config.tile, blocks)?;
            let words = words(&self.device, &table.words())?;
            Ok::<_, Error>(OnDevice { words, entries: table.entries().len(), blocks: table.blocks() })
        })?;
        let launch = module.kernel.config([table.blocks, shares, 1])?;
        // Blocks of sm_90 run their prologue while the previous kernel ends.
        let launch = if matches!(config.form, Form::Ring(_)) { launch.programmatic() } else { launch };
        let values = module.generated.params.values(&arguments(problem, table.entries))?;
        let step = Step::new(&module.kernel, launch, values).with_own("table", table.words);
        if problem.keys() > 0 {
            return Ok(Some(step));
        }
        // The tensor maps of K and V are those of one row of other memory, which is not read.
        let spare = Arc::new(self.device.zeros::<u8>(SPARE)?);
        Ok(Some(step.with_own("k", spare.clone()).with_own("v", spare)))
    }
}

/// The bytes of a row of the widest head.
const SPARE: usize = 2048;
