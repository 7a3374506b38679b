//! A graph that is being captured: the operations that its stream has recorded.

use std::{
    sync::Arc,
    thread::{self, ThreadId},
};

use super::{Allocation, Loaded};
use crate::{Error, backend::Backend};

pub(crate) type Operation = Box<dyn Fn(&dyn Backend) -> Result<(), Error> + Send + Sync>;

/// A capture that has not ended.
pub(crate) struct Capture {
    pub(crate) thread: ThreadId,
    /// The operations that a replay calls; `None` if the driver captures the operations itself.
    pub(crate) recorded: Option<Vec<Operation>>,
    pub(crate) memory: Vec<Arc<Allocation>>,
    pub(crate) code: Vec<Arc<Loaded>>,
}

impl Capture {
    /// Refuses an operation of another thread than the one that captures.
    pub(crate) fn of_this_thread(&self, operation: &'static str) -> Result<(), Error> {
        if self.thread == thread::current().id() { Ok(()) } else { Err(Error::CapturedByOther { operation }) }
    }

    pub(crate) fn add<'a>(
        &mut self,
        backend: &dyn Backend,
        uses: impl IntoIterator<Item = &'a Arc<Allocation>>,
        code: Option<&Arc<Loaded>>,
        operation: impl Fn(&dyn Backend) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Result<(), Error> {
        match &mut self.recorded {
            Some(recorded) => recorded.push(Box::new(operation)),
            None => operation(backend)?,
        }
        keep(&mut self.memory, uses);
        keep(&mut self.code, code);
        Ok(())
    }
}

/// Adds what is not in the list yet.
fn keep<'a, T: 'a>(kept: &mut Vec<Arc<T>>, more: impl IntoIterator<Item = &'a Arc<T>>) {
    for one in more {
        if !kept.iter().any(|known| Arc::ptr_eq(known, one)) {
            kept.push(one.clone());
        }
    }
}
