//! Addresses by the names of the program: `s[1]`, `argument 0 (x) + 12`.

use std::fmt::Write;
use std::sync::Arc;

use crate::exec::RANK_SHIFT;
use crate::memory::{GAP, View};
use crate::{Error, Kernel, Launch, Space};

/// How far behind its end, or before its begin, an address is told by a variable or an argument, in bytes.
const NEAR: u64 = 1 << 16;

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: Arc<str>,
    /// Shared, global or local.
    pub(crate) space: Space,
    pub(crate) at: u64,
    /// Its bytes; none of a dynamic one, which has what the launch gives it.
    pub(crate) bytes: Option<u64>,
    /// Bytes of an element.
    pub(crate) element: u64,
}

impl Variable {
    /// A place so many bytes after its begin: `s[1]`, of an array of bytes `s + 12`.
    fn place(&self, offset: u64) -> String {
        let Variable { name, bytes, element, .. } = self;
        let (index, rest) = (offset / element, offset % element);
        let mut text = name.to_string();
        let array = *element > 1 && *bytes != Some(*element);
        let rest = if array { rest } else { offset };
        let _ = if array { write!(text, "[{index}]") } else { Ok(()) };
        let _ = if rest > 0 { write!(text, " + {rest}") } else { Ok(()) };
        if let Some(bytes) = bytes.filter(|&bytes| offset >= bytes) {
            let (count, what) = if array { (bytes / element, "elements") } else { (bytes, "bytes") };
            let _ = write!(text, ", behind its {count} {what}");
        }
        text
    }
}

impl Kernel {
    /// What the program calls the address that a finding is about.
    pub(crate) fn locate(&self, launch: &Launch, view: &View, error: &Error) -> Option<String> {
        let (space, address) = (error.space()?, error.address()?);
        match space {
            Space::Shared | Space::Cluster => {
                let rank = address >> RANK_SHIFT;
                let name = self.variable(Space::Shared, address - (rank << RANK_SHIFT))?;
                Some(if rank == 0 { name } else { format!("{name} of the cluster's block {rank}") })
            }
            Space::Global | Space::Generic => {
                self.variable(Space::Global, address).or_else(|| self.argument(launch, view, address))
            }
            Space::Local => self.variable(Space::Local, address),
            Space::Param => None,
        }
    }

    /// The variable that holds an address, or ends before it.
    fn variable(&self, space: Space, address: u64) -> Option<String> {
        let before = self.named.iter().filter(|variable| variable.space == space && variable.at <= address);
        let variable = before.max_by_key(|variable| variable.at)?;
        let offset = address - variable.at;
        (offset < variable.bytes.unwrap_or(NEAR).saturating_add(NEAR)).then(|| variable.place(offset))
    }

    /// The argument whose array holds an address, or is next to it.
    fn argument(&self, launch: &Launch, view: &View, address: u64) -> Option<String> {
        let words = launch.args.iter().zip(&self.params).enumerate().flat_map(|(index, (bytes, param))| {
            let words =
                bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
            words.map(move |value| (value, index, &param.name))
        });
        // Those that are the addresses of arrays, with how many bytes these have from there on.
        let pointers = words.filter_map(|(value, index, name)| {
            let (allocation, offset) = view.find(value, 0)?;
            Some((value, view.allocations[allocation].bytes - offset as u64, index, name))
        });
        let near = pointers.filter(|(value, bytes, ..)| match address.checked_sub(*value) {
            Some(beyond) => beyond < bytes + NEAR.min(GAP),
            None => value - address <= NEAR,
        });
        let (value, bytes, index, name) =
            near.min_by_key(|(value, ..)| (*value > address, value.abs_diff(address)))?;
        let text = format!("argument {index} ({name})");
        Some(match address.checked_sub(value) {
            None => format!("{text} - {}", value - address),
            Some(beyond) if beyond >= bytes => format!("{text} + {beyond}, behind its {bytes} bytes"),
            Some(0) => text,
            Some(beyond) => format!("{text} + {beyond}"),
        })
    }
}
