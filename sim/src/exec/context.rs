//! What the warps of a cluster share: the shared memory, and the state of everything that checks the warps.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::memory::Allocation;
use crate::profile::Attribution;
use crate::shadow::{BARRIERS, Shadow, Who};
use crate::space::{RANK_SHIFT, SHARED_BASE};
use crate::{Access, Error, Nearest, Options, Report, Space};

use super::agents::Agents;
use super::block::Block;
use super::circles::mixed;
use super::discards::Discards;
use super::gate::Gate;
use super::machine::Machine;
use super::mbarrier::Mbarriers;
use super::pool::Pool;
use super::registers::Origin;
use super::wgmma::Warpgroup;

/// With seeds that do not let others run after every strong access, one in this many strong accesses does.
const CUTS: u64 = 2;

/// The state of a cluster apart from its warps.
pub(crate) struct Context<'a> {
    pub(crate) machine: &'a Machine<'a>,
    /// `%clusterid`.
    pub(super) cluster: [u32; 3],
    /// The `%cluster_ctarank` of the block whose warp runs.
    pub(super) rank: usize,
    /// The `%ctaid` of the block whose warp runs.
    pub(crate) block: [u32; 3],
    /// The first shared address of the block whose warp runs.
    window: u64,
    /// Where the memory of that block begins in `shared`.
    origin: usize,
    pub(super) blocks: Vec<Block>,
    /// The shared memory of all blocks, one block after another.
    pub(crate) shared: Vec<u8>,
    pub(crate) shadow: Option<Shadow>,
    pub(super) gate: Gate,
    pub(super) mbarriers: Mbarriers,
    pub(super) agents: Agents,
    pub(super) warpgroups: Vec<Warpgroup>,
    /// The registers that `setmaxnreg` moves, for each block.
    pub(super) pools: Vec<Pool>,
    /// For bytes of shared memory into which undefined values have been stored: where these come from.
    pub(super) origins: HashMap<usize, Origin>,
    /// The index of the allocation that was accessed last, which is tried first at the next access.
    pub(crate) last: usize,
    pub(crate) report: Report,
    /// What each instruction did, if a profile is asked for.
    pub(super) attribution: Option<Attribution>,
    /// Instructions that warps of the cluster have executed, including those whose guard was false in all lanes.
    pub(crate) steps: u64,
    /// Counts what a warp does that another warp could be waiting for.
    pub(super) changes: u64,
    /// Counts accesses that look for a change and find none: strong reads, atomics that change nothing, waits in vain.
    pub(super) looks: u64,
    /// A hash of what the cluster has changed in global memory. It is the same again only if atomics and strong stores have
    /// put there again what was there before.
    pub(super) written: u64,
    /// Whether there has been a finding at the instruction that runs.
    pub(super) noted: Cell<bool>,
    /// Races of reads whose values may be discarded.
    pub(super) discards: RefCell<Discards>,
    random: u64,
    /// Whether other clusters are to run before this one goes on.
    pub(super) cut: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(machine: &'a Machine<'a>) -> Self {
        let Options { races, uninitialised, .. } = *machine.options;
        let (granule, narrow) = (machine.kernel.code.granule, machine.kernel.code.narrow);
        let (ranks, threads) = (machine.ranks() as usize, machine.threads as usize);
        let shadow = (races || uninitialised).then(|| {
            let soft =
                machine.kernel.code.sources.iter().map(|source| source.guards || source.updated).collect();
            Shadow::new((races, uninitialised), machine.stride(), granule, (ranks, narrow), (threads, soft))
        });
        Context {
            machine,
            cluster: [0; 3],
            rank: 0,
            block: [0; 3],
            window: SHARED_BASE,
            origin: 0,
            blocks: Vec::with_capacity(ranks),
            shared: vec![0; ranks * machine.stride()],
            shadow,
            gate: Gate::default(),
            mbarriers: Mbarriers::default(),
            agents: Agents::default(),
            warpgroups: Vec::new(),
            pools: Vec::new(),
            origins: HashMap::new(),
            last: 0,
            report: Report::default(),
            attribution: machine
                .options
                .profile
                .as_ref()
                .map(|_| Attribution::new(machine.kernel.code.sources.len())),
            steps: 0,
            changes: 0,
            looks: 0,
            written: 0,
            noted: Cell::new(false),
            discards: RefCell::default(),
            random: 0,
            cut: false,
        }
    }

    /// Adds what each instruction did to the profile.
    pub(super) fn hand_in(&mut self) {
        if let (Some(attribution), Some(profile)) = (&mut self.attribution, &self.machine.options.profile) {
            attribution.next(&self.report, 0);
            profile.add(self.machine.kernel, &attribution.counts);
        }
    }

    /// Begins the cluster of this number.
    pub(super) fn start(&mut self, number: u64) {
        let machine = self.machine;
        self.cluster = self.clusterid(number);
        self.shared.fill(0);
        if let Some(shadow) = &mut self.shadow {
            shadow.reset(number as u32);
        }
        self.blocks.clear();
        self.blocks.resize(machine.ranks() as usize, Block::new(machine.warps() as usize));
        self.mbarriers.clear();
        self.agents.clear();
        self.warpgroups.clear();
        self.warpgroups.resize(machine.ranks() as usize * machine.warpgroups(), Warpgroup::default());
        self.origins.clear();
        self.discards.get_mut().clear();
        let pool = Pool::new(machine.kernel.registers, machine.warps());
        self.pools.clear();
        self.pools.resize(machine.ranks() as usize, pool);
        self.report = Report { blocks: machine.ranks().into(), ..Report::default() };
        if let Some(attribution) = &mut self.attribution {
            attribution.start(&self.report);
        }
        self.steps = 0;
        self.changes = 0;
        self.looks = 0;
        self.written = 0;
        self.random = machine.options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number << 1;
        self.enter(0);
    }

    /// The cluster has changed global memory in a way that is not kept account of.
    #[inline]
    pub(super) fn wrote_anew(&mut self) {
        self.written = mixed(self.written, 1);
    }

    /// The cluster has changed a value in global memory.
    pub(super) fn wrote(&mut self, address: u64, before: u64, after: u64) {
        self.written = self.written.wrapping_add(mixed(address, after)).wrapping_sub(mixed(address, before));
    }

    /// Makes this block the one whose warps run.
    pub(super) fn enter(&mut self, rank: usize) {
        self.rank = rank;
        self.block = self.ctaid(rank as u32);
        self.window = SHARED_BASE + ((rank as u64) << RANK_SHIFT);
        self.origin = rank * self.machine.stride();
    }

    /// `%cluster_ctaid` of a rank.
    pub(super) fn place_in_cluster(&self, rank: u32) -> [u32; 3] {
        let [x, y, _] = self.machine.cluster;
        [rank % x, rank / x % y, rank / x / y]
    }

    fn ctaid(&self, rank: u32) -> [u32; 3] {
        self.ctaid_in(self.cluster, rank)
    }

    pub(super) fn ctaid_in(&self, cluster: [u32; 3], rank: u32) -> [u32; 3] {
        let place = self.place_in_cluster(rank);
        std::array::from_fn(|i| cluster[i] * self.machine.cluster[i] + place[i])
    }

    /// Whether each `try_wait` gives up when a warp asks for a phase for the first time, and operations take effect as
    /// late as they may. This finds programs that do not ask again. One seed in four does so.
    pub(super) fn impatient(&self) -> bool {
        self.machine.options.seed % 4 == 1
    }

    /// Decides whether other warps run right after a strong access, and other clusters where clusters run in between at
    /// all.
    pub(super) fn cuts(&mut self) -> bool {
        let cuts = self.machine.mixes() && (self.impatient() || self.below(CUTS) == 0);
        self.cut |= cuts;
        cuts
    }

    /// A random number below `n`; 0 without a seed.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        if self.machine.options.seed == 0 {
            return 0;
        }
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random = self.random.max(1);
        self.random % n
    }

    /// A warp of the running block arrives at a barrier for `expected.0` threads (0: all that have not exited), with
    /// the votes `expected.1`. The error is the number of threads that the warps before it expected, if that is
    /// another.
    pub(super) fn arrive(
        &mut self,
        warp: u32,
        id: usize,
        expected: (u32, (u32, u32)),
        sync: bool,
    ) -> Result<(), u32> {
        self.blocks[self.rank].arrive(warp, id, expected, sync)?;
        self.changes += 1;
        if let Some(shadow) = &mut self.shadow {
            let number = self.rank * self.machine.warps() as usize + warp as usize;
            shadow.arrive(number, self.rank * BARRIERS + id, sync);
        }
        self.try_complete(id);
        Ok(())
    }

    /// Lets the warps at a barrier of the running block go if all have arrived.
    pub(super) fn try_complete(&mut self, id: usize) {
        let first = self.rank * self.machine.warps() as usize;
        self.blocks[self.rank].try_complete(id, self.rank, first, self.shadow.as_mut());
    }

    /// `%clusterid` of the cluster of this number.
    pub(super) fn clusterid(&self, number: u64) -> [u32; 3] {
        let machine = self.machine;
        let [x, y, _]: [u64; 3] =
            std::array::from_fn(|i| (machine.launch.grid[i] / machine.cluster[i]).into());
        [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
    }

    /// The first shared address of the running block, and where the block's memory begins in `shared`.
    pub(super) fn own_shared(&self) -> (u64, usize) {
        (self.window, self.origin)
    }

    /// The allocation of a global access, which becomes `last`.
    pub(super) fn allocation(&mut self, address: u64, bytes: u64) -> Option<&'a Allocation> {
        let view = &self.machine.view;
        let last = view.allocations.get(self.last).filter(|last| last.offset(address, bytes).is_some());
        if last.is_none() {
            self.last = view.find(address, bytes)?.0;
        }
        view.allocations.get(self.last).map(|allocation| &**allocation)
    }

    /// Where a `.shared::cta` access is in the cluster's memory.
    #[inline]
    pub(crate) fn shared_at(
        &self,
        who: Who,
        access: Access,
        address: u64,
        bytes: u32,
    ) -> Result<usize, Error> {
        let offset = address.wrapping_sub(self.window);
        let len = self.machine.shared as u64;
        if offset <= len && u64::from(bytes) <= len - offset {
            return Ok(self.origin + offset as usize);
        }
        Err(self.shared_out_of_bounds(who, access, address, bytes, self.window))
    }

    /// Where a `.shared::cluster` access is in the cluster's memory; the address may be one of another block.
    pub(crate) fn cluster_at(
        &self,
        who: Who,
        access: Access,
        address: u64,
        bytes: u32,
    ) -> Result<usize, Error> {
        let rank = address >> RANK_SHIFT;
        if rank == self.rank as u64 || rank >= u64::from(self.machine.ranks()) {
            return self.shared_at(who, access, address, bytes);
        }
        let window = SHARED_BASE + (rank << RANK_SHIFT);
        let offset = address.wrapping_sub(window);
        let len = self.machine.shared as u64;
        if offset > len || u64::from(bytes) > len - offset {
            return Err(self.shared_out_of_bounds(who, access, address, bytes, window));
        }
        self.check_alive(who, rank as usize, address)?;
        if self.shadow.as_ref().is_some_and(|shadow| !shadow.knows_running(who, rank as usize)) {
            let block = self.ctaid(rank as u32);
            self.note(Error::NotStarted { at: self.at(who), address, block })?;
        }
        Ok(rank as usize * self.machine.stride() + offset as usize)
    }

    /// Refuses an access to the shared memory of a block that has exited.
    pub(super) fn check_alive(&self, who: Who, rank: usize, address: u64) -> Result<(), Error> {
        if self.blocks[rank].live != 0 {
            return Ok(());
        }
        Err(Error::ExitedBlock { at: self.at(who), address, block: self.ctaid(rank as u32) })
    }

    #[cold]
    fn shared_out_of_bounds(&self, who: Who, access: Access, address: u64, bytes: u32, window: u64) -> Error {
        let len = self.machine.shared as u64;
        let nearest =
            if len == 0 { Nearest::None } else { Nearest::region(window, len, address, bytes.into()) };
        Error::OutOfBounds { at: self.at(who), access, space: Space::Shared, address, bytes, nearest }
    }

    /// The shared memory of the running block.
    pub(super) fn block_shared(&self) -> &[u8] {
        &self.shared[self.origin..self.origin + self.machine.shared]
    }

    /// The shared address of a byte of the cluster's memory.
    pub(super) fn shared_address(&self, at: usize) -> u64 {
        let stride = self.machine.stride().max(1);
        ((at / stride) as u64) << RANK_SHIFT | (SHARED_BASE + (at % stride) as u64)
    }

    /// The rank of the block to which a byte of the cluster's memory belongs.
    pub(super) fn rank_of(&self, at: usize) -> usize {
        at / self.machine.stride().max(1)
    }
}
