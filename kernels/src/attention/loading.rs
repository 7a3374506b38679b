//! Loading: the kernels of a device.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use girih_codegen::attention::{AttentionConfig, AttentionKernel, generate};
use girih_device::{Buffer, Device, Kernel};

use super::choose::{KernelKind, blocks, choose};
use super::few::{Few, few_queries};
use super::run::{By, Tiles};
use super::{Attention, Problem, Table};
use crate::Error;

/// A loaded module. It serves every problem for which its configuration is chosen.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) config: AttentionConfig,
    pub(super) kernel: Kernel,
    pub(super) generated: AttentionKernel,
}

/// A table of tiles on the device.
#[derive(Debug)]
pub(super) struct OnDevice {
    pub(super) words: Buffer<u32>,
    pub(super) entries: usize,
    pub(super) blocks: u32,
}

/// What a table depends on: the problem without what says nothing of its tiles, the tile, and the most blocks.
type OfTable = (Problem, [i64; 2], u32);
/// The most tables that are kept.
const MOST_TABLES: usize = 1 << 8;
/// The most problems whose configurations are remembered.
const MOST_CHOSEN: usize = 1 << 12;

/// The attention kernels loaded on a device, one for each configuration that was asked for, and the tables of their tiles.
#[derive(Debug)]
pub struct Attentions {
    device: Device,
    loaded: Mutex<Vec<Arc<Loaded>>>,
    tables: Mutex<HashMap<OfTable, Arc<OnDevice>>>,
    chosen: Mutex<HashMap<(Problem, Option<KernelKind>), Chosen>>,
}

/// What a problem is computed by.
#[derive(Clone, Debug)]
enum Chosen {
    Config(AttentionConfig),
    Few(Arc<Few>),
}

impl Attentions {
    /// An empty set of kernels for a device.
    pub fn new(device: &Device) -> Attentions {
        let (loaded, tables, chosen) = Default::default();
        Attentions { device: device.clone(), loaded, tables, chosen }
    }

    /// How many modules are loaded.
    pub fn modules(&self) -> usize {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Attention for `problem` by the fastest kernel that the device and the problem allow, from a module that is loaded already if one with its facts
    /// is. Few queries go to the kernels of decoding ([`few_queries`]).
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
        let known = {
            let chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
            chosen.get(&(problem.clone(), kind)).cloned()
        };
        let chosen = match known {
            Some(known) => known,
            None => {
                let made = self.choose(problem, kind)?;
                let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
                if chosen.len() == MOST_CHOSEN {
                    chosen.clear();
                }
                chosen.insert((problem.clone(), kind), made.clone());
                made
            }
        };
        match chosen {
            Chosen::Config(config) => self.configured(problem, config),
            Chosen::Few(few) => Ok(Attention { problem: problem.clone(), by: By::Few(few) }),
        }
    }

    fn choose(&self, problem: &Problem, kind: Option<KernelKind>) -> Result<Chosen, Error> {
        match few_queries(problem).filter(|_| kind.is_none()) {
            Some(decode) => Few::new(&self.device, &decode).map(Chosen::Few),
            None => choose(problem, kind, self.device.limits()).map(Chosen::Config),
        }
    }

    /// The same by a configuration of the caller's choice, as a tuner tries them.
    ///
    /// # Errors
    /// [`Error::Configuration`] for one of another dtype, of fewer columns or of other features than the problem's, or that copies more elements at once than
    /// divide strides, columns and addresses; as [`Attentions::by`].
    pub fn configured(&self, problem: &Problem, config: AttentionConfig) -> Result<Attention, Error> {
        super::choose::accepts(problem, &config)?;
        let module = self.module(config)?;
        let table = self.table(problem, &config)?;
        let is_without_keys = problem.keys() == 0 && table.is_some();
        let spare = is_without_keys.then(|| self.device.zeros::<u8>(SPARE)).transpose()?;
        let call = Arc::default();
        let tiles = Tiles { module, table, spare: spare.map(Arc::new), call };
        Ok(Attention { problem: problem.clone(), by: By::Tiles(tiles) })
    }

    fn module(&self, config: AttentionConfig) -> Result<Arc<Loaded>, Error> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = loaded.iter().find(|module| module.config == config) {
            return Ok(known.clone());
        }
        let generated = generate(&config)?;
        let kernel = self.device.load(&generated.kernel)?.kernel(config.name)?;
        let module = Arc::new(Loaded { config, kernel, generated });
        loaded.push(module.clone());
        Ok(module)
    }

    /// The table of a problem's tiles; none where there are no tiles.
    fn table(&self, problem: &Problem, config: &AttentionConfig) -> Result<Option<Arc<OnDevice>>, Error> {
        let count = Table::count(problem, config.tile[0]);
        let blocks = blocks(config, count, self.device.limits().multiprocessors);
        if blocks == 0 {
            return Ok(None);
        }
        let key = (problem.tiled(), config.tile, blocks);
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tables.get(&key) {
            return Ok(Some(known.clone()));
        }
        let table = Table::new(problem, config.tile, blocks)?;
        let words = self.device.upload(&table.words())?;
        let table = Arc::new(OnDevice { words, entries: table.entries().len(), blocks: table.blocks() });
        if tables.len() == MOST_TABLES {
            tables.clear();
        }
        tables.insert(key, table.clone());
        Ok(Some(table))
    }
}

/// The bytes of a row of the widest head.
const SPARE: usize = 1024;
