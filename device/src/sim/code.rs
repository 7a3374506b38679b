//! Modules and kernels on the simulator.

use std::sync::Arc;

use girih_ptx::KernelInfo;
use girih_sim::{Launch, Program};

use super::{Last, State};
use crate::{
    Error, LaunchConfig, Resources,
    backend::{Backend, Code, Entry, each_argument},
};

pub(super) struct SimCode {
    state: Arc<State>,
    program: Arc<Program>,
    threads: u32,
}

impl SimCode {
    /// A program, for blocks of at most `threads` threads.
    pub(super) fn new(state: Arc<State>, program: Arc<Program>, threads: u32) -> SimCode {
        SimCode { state, program, threads }
    }
}

impl Code for SimCode {
    fn log(&self) -> &str {
        ""
    }

    fn kernel(&self, info: &Arc<KernelInfo>) -> Result<Arc<dyn Entry>, Error> {
        self.program.kernel(&info.name)?;
        Ok(Arc::new(SimEntry {
            state: self.state.clone(),
            program: self.program.clone(),
            info: info.clone(),
            resources: Resources {
                registers: None,
                local_bytes: None,
                spill_bytes: None,
                // The simulator has refused kernels with more than 48 KiB.
                static_shared: u32::try_from(info.static_shared_bytes).unwrap_or(u32::MAX),
                max_threads: info
                    .max_threads
                    .and_then(|n| u32::try_from(n).ok())
                    .map_or(self.threads, |n| n.min(self.threads)),
                instructions: info.instructions,
            },
        }))
    }
}

struct SimEntry {
    state: Arc<State>,
    program: Arc<Program>,
    info: Arc<KernelInfo>,
    resources: Resources,
}

impl Entry for SimEntry {
    fn resources(&self) -> Resources {
        self.resources
    }

    fn function(&self) -> Option<u64> {
        None
    }

    fn allow(&self, _: &LaunchConfig) -> Result<(), Error> {
        Ok(())
    }

    #[allow(unsafe_code, reason = "the trait's contract; the simulator checks every access itself")]
    unsafe fn launch(&self, _: &dyn Backend, config: &LaunchConfig, args: &[u8]) -> Result<(), Error> {
        // The simulator runs kernels one after the other.
        let &LaunchConfig { grid, block, cluster, dynamic_shared, cooperative, programmatic: _ } = config;
        let mut last = self.state.turn();
        let kernel = self.program.kernel(&self.info.name)?;
        let args = each_argument(&self.info, args).map(<[u8]>::to_vec).collect();
        let launch = Launch { grid, block, cluster, dynamic_shared, cooperative, args };
        let State { memory, options, .. } = &*self.state;
        if !options.races && !options.uninitialised && options.seeds <= 1 {
            let Last { report, findings } = &mut *last;
            findings.clear();
            *report = Some(girih_sim::run(kernel, memory, &launch, options)?);
            return Ok(());
        }
        let verdict = girih_sim::judge(kernel, memory, &launch, options)?;
        let error = verdict.errors().next().map(|finding| finding.error.clone());
        last.findings = verdict.findings;
        match error {
            Some(error) => Err(error.into()),
            None => {
                last.report = Some(verdict.report);
                Ok(())
            }
        }
    }
}
