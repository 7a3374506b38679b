//! The PTX of a program: one line an event.

use girih_sim::{Error, Launch, Memory, Options};

use super::program::{CELLS, Event, Program, SUMS, Scope, Shape, Until, What};
use crate::common::{launch, module, u64_arg, upload};

/// The line of the first event.
pub(crate) const FIRST: u32 = 13;

impl Program {
    /// One line an event.
    pub(crate) fn text(&self) -> String {
        let mut counts = vec![0; self.mbarriers.len()];
        for event in &self.events {
            if let What::Arrive { mbarrier, .. } = event.what {
                counts[mbarrier] += event.mask.count_ones();
            }
        }
        let inits = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let inits: String = inits
            .map(|(i, n)| format!("@%first mbarrier.init.shared::cta.b64 [%b+{}], {n};", 8 * i))
            .collect();
        // One for each bulk load, in its own block.
        let loads =
            self.events.iter().enumerate().filter(|(_, event)| matches!(event.what, What::Load { .. }));
        let loads: String = loads
            .map(|(k, _)| format!("@%first mbarrier.init.shared::cta.b64 [%lb+{}], 1;", 8 * k))
            .chain(["@%first fence.mbarrier_init.release.cluster;".to_owned()])
            .collect();
        // One for each sum, of which each block has its own; they complete once all its reductions have ended.
        let mut expected = vec![0; self.sums.len()];
        for event in &self.events {
            if let What::Reduce { sum, bulk, wide, .. } = event.what {
                expected[sum] += event.mask.count_ones() * size(bulk, wide);
            }
        }
        let sums = self.sums.iter().zip(&expected).enumerate();
        let sums: String = sums
            .map(|(i, (block, bytes))| {
                let at = 8 * i;
                format!(
                    "setp.eq.and.u32 %p0, %c, {block}, %first; @%p0 mbarrier.init.shared::cta.b64 [%rb+{at}], 1; \
                     @%p0 fence.mbarrier_init.release.cluster; \
                     @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%rb+{at}], {bytes};"
                )
            })
            .collect();
        let ended: String = (self.sums.iter().enumerate())
            .map(|(i, block)| {
                format!(
                    "setp.eq.u32 %on, %c, {block}; @!%on bra SUM{i}; T{i}: mbarrier.try_wait.parity.shared::cta.b64 %p1, \
                     [%rb+{}], 0; @!%p1 bra T{i}; SUM{i}:\n",
                    8 * i
                )
            })
            .collect();
        let (rank, warps) = (if self.shape.cluster { "0" } else { "%me" }, self.shape.warps);
        let everyone = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
        let mut text = format!(
            ".visible .entry k(.param .u64 out) {{ .shared .align 16 .b8 s[256]; .shared .align 8 .b64 bar[8];
            .shared .align 16 .b8 ld[1024]; .shared .align 8 .b64 lbar[64]; .reg .b32 %ld, %lb; mov.u32 %ld, ld; mov.u32 %lb, lbar;
            .shared .align 8 .b64 rbar[{SUMS}]; .reg .b32 %rb, %rc; mov.u32 %rb, rbar;
            .reg .b32 %t, %l, %w, %li, %s, %b, %sc, %bc, %me, %c, %r<9>; .reg .b64 %p, %q, %rd<9>; .reg .pred %first, %on, %p<9>;
            ld.param.u64 %p, [out]; mov.u32 %t, %tid.x; mov.u32 %s, s; mov.u32 %b, bar; mov.u32 %me, %cluster_ctarank;
            mov.u32 %c, %ctaid.x; and.b32 %l, %t, 31; shr.u32 %w, %t, 5; mad.lo.u32 %w, %c, {warps}, %w; setp.eq.u32 %first, %t, 0;
            setp.ge.u32 %p0, %l, 5; selp.b32 %li, 2, %l, %p0; setp.eq.u32 %p0, %l, 31; selp.b32 %li, 3, %li, %p0;
            mapa.shared::cluster.u32 %sc, %s, {rank}; mapa.shared::cluster.u32 %bc, %b, {rank}; mapa.shared::cluster.u32 %rc, %rb, {rank};
            {inits} {loads} {sums} {everyone}\n"
        );
        for (k, event) in self.events.iter().enumerate() {
            let (guard, body) = (self.guard(event), self.body(k, event));
            text += &format!("{guard} @!%on bra DONE{k}; {body} DONE{k}:\n");
        }
        module(&format!("{text}{ended}{everyone} ret; }}"))
    }

    /// %on in the threads that take part.
    fn guard(&self, Event { warp, mask, what }: &Event) -> String {
        match what {
            What::Block => format!("setp.eq.u32 %on, %c, {};", warp / self.shape.warps),
            What::Named { other, .. } => {
                format!("setp.eq.u32 %on, %w, {warp}; setp.eq.or.u32 %on, %w, {other}, %on;")
            }
            _ => format!(
                "setp.eq.u32 %on, %w, {warp}; shr.u32 %r0, {mask}, %l; and.b32 %r0, %r0, 1; \
                 setp.ne.and.u32 %on, %r0, 0, %on;"
            ),
        }
    }

    fn body(&self, k: usize, event: &Event) -> String {
        let order = |strong: bool, word: &'static str| if strong { word } else { "relaxed" };
        match event.what {
            What::Access { global, cell, write, strong } => access(k, (global, cell), write, strong),
            What::Bulk { quad, to, until } => format!(
                "add.s64 %q, %p, {}; cp.async.bulk.global.shared::cta.bulk_group [%q], [%s+{}], 16; \
                 cp.async.bulk.commit_group; cp.async.bulk.wait_group{} 0;",
                to.map_or(2048 + 16 * k, |quad| 16 * quad),
                16 * quad,
                if until == Until::Read { ".read" } else { "" }
            ),
            What::BulkWait => "cp.async.bulk.wait_group 0;".into(),
            What::Load { quad } => format!(
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%lb+{0}], 16; add.s64 %q, %p, {1}; \
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%ld+{2}], [%q], 16, [%lb+{0}]; \
                 W{k}: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%lb+{0}], 0; @!%p1 bra W{k};",
                8 * k,
                16 * quad,
                16 * k
            ),
            What::Reduce { sum, cell, bulk, wide } => {
                let (ty, at, to) = (if wide { "u64" } else { "u32" }, 8 * sum, 4 * cell);
                let value = if wide { "%rd1" } else { "%r1" };
                match bulk {
                    true => format!(
                        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.{ty} \
                         [%sc+{to}], [%ld+{}], 16, [%rc+{at}];",
                        16 * k
                    ),
                    false => format!(
                        "mov.{ty} {value}, 1; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.{ty} \
                         [%sc+{to}], {value}, [%rc+{at}];"
                    ),
                }
            }
            What::Reduced { sum } => format!(
                "W{k}: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%rb+{}], 0; @!%p1 bra W{k};",
                8 * sum
            ),
            What::Fence { scope, sequential } => {
                format!("fence.{}.{};", if sequential { "sc" } else { "acq_rel" }, scope.word())
            }
            What::FenceProxy { global: None } => "fence.proxy.async;".into(),
            What::FenceProxy { global: Some(true) } => "fence.proxy.async.global;".into(),
            What::FenceProxy { global: Some(false) } => "fence.proxy.async.shared::cluster;".into(),
            What::SyncLanes => format!("bar.warp.sync {};", event.mask),
            What::Set { flag, release, reduces, scope } => {
                let ((space, at), order) = (self.flag_place(flag, scope), order(release, "release"));
                match reduces {
                    true => format!("red.{order}{space}.add.u32 {at}, 1;"),
                    false => format!("st.{order}{space}.u32 {at}, 1;"),
                }
            }
            What::Await { flag, acquire, scope } => {
                let ((space, at), order) = (self.flag_place(flag, scope), order(acquire, "acquire"));
                format!("W{k}: ld.{order}{space}.u32 %r1, {at}; setp.eq.u32 %p1, %r1, 0; @%p1 bra W{k};")
            }
            What::Arrive { mbarrier, release } => {
                let (order, at) = (order(release, "release"), 8 * mbarrier);
                format!("mbarrier.arrive.{order}.cluster.shared::cluster.b64 _, [%bc+{at}];")
            }
            What::Wait { mbarrier, acquire } => {
                let (order, at) = (order(acquire, "acquire"), 8 * mbarrier);
                format!(
                    "W{k}: mbarrier.try_wait.parity.{order}.cluster.shared::cta.b64 %p1, [%b+{at}], 0; @!%p1 bra W{k};"
                )
            }
            What::Block => "bar.sync 0;".into(),
            What::Named { id, .. } | What::NamedSync { id } => format!("bar.sync {id}, 64;"),
            What::NamedArrive { id } => format!("bar.arrive {id}, 64;"),
            What::GateArrive { release } => format!("barrier.cluster.arrive.{};", order(release, "release")),
            What::GateWait => "barrier.cluster.wait.acquire;".into(),
        }
    }

    /// The scope, the space and the address of a flag.
    fn flag_place(&self, flag: usize, scope: Scope) -> (String, String) {
        let scope = scope.word();
        match self.flags[flag].global {
            true => (format!(".{scope}.global"), format!("[%p+{}]", 1024 + 4 * flag)),
            false => (format!(".{scope}.shared::cluster"), format!("[%sc+{}]", 64 + 4 * flag)),
        }
    }

    /// Runs it.
    pub(crate) fn run(&self, text: &str, seed: u64) -> Result<(), Error> {
        let memory = Memory::new();
        let out = upload(&memory, &[0; 1024]);
        let Shape { blocks, warps, cluster } = self.shape;
        let shape = Launch {
            grid: [blocks as u32, 1, 1],
            block: [32 * warps as u32, 1, 1],
            cluster: cluster.then_some([blocks as u32, 1, 1]),
            args: vec![u64_arg(out)],
            ..Launch::default()
        };
        launch(text, &memory, &shape, &Options { races: true, seed, ..Options::default() }).map(|_| ())
    }
}

/// The bytes of an asynchronous reduction.
fn size(bulk: bool, wide: bool) -> u32 {
    match (bulk, wide) {
        (true, _) => 16,
        (false, true) => 8,
        (false, false) => 4,
    }
}

/// An access of each lane to a word of its own, from this one on; what is written is so nowhere else.
fn access(k: usize, (global, cell): (bool, usize), write: bool, strong: Option<Scope>) -> String {
    let (base, space, at) = match global {
        true => ("cvt.u64.u32 %q, %r1; add.s64 %q, %q, %p;", "global", "%q"),
        false => ("add.u32 %r1, %r1, %sc;", "shared::cluster", "%r1"),
    };
    let order = strong.map_or(String::new(), |scope| format!(".relaxed.{}", scope.word()));
    let (most, value) = (CELLS - 1, 1000 * (k + 1));
    let place = format!("add.u32 %r1, %li, {cell}; and.b32 %r1, %r1, {most}; shl.b32 %r1, %r1, 2; {base}");
    match write {
        true => format!(
            "{place} mad.lo.u32 %r2, %w, 32, %l; add.u32 %r2, %r2, {value}; st{order}.{space}.u32 [{at}], %r2;"
        ),
        false => format!("{place} ld{order}.{space}.u32 %r2, [{at}];"),
    }
}
