//! Describes addresses by the names that the program uses: `s[1]`, `argument 0 (x) + 12`.

use std::fmt::Write;

use crate::memory::{GAP, View};
use crate::program::Variable;
use crate::space::RANK_SHIFT;
use crate::{Error, Kernel, Launch, Space, plain_name};

/// How far outside of a variable or an argument's array an address may be and still be described by it, in bytes.
const NEAR: u64 = 1 << 16;

impl Variable {
    /// Describes the place `offset` bytes after the variable's begin: `s[1]`, or for an array of bytes `s + 12`.
    fn place(&self, offset: u64) -> String {
        let Variable { name, bytes, element, .. } = self;
        let (index, rest) = (offset / element, offset % element);
        let mut text = plain_name(name);
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
    /// Describes the address that an error is about.
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

    /// Describes an address by the variable that contains it, or ends before it.
    fn variable(&self, space: Space, address: u64) -> Option<String> {
        let before = self.named.iter().filter(|variable| variable.space == space && variable.at <= address);
        let variable = before.max_by_key(|variable| variable.at)?;
        let offset = address - variable.at;
        (offset < variable.bytes.unwrap_or(NEAR).saturating_add(NEAR)).then(|| variable.place(offset))
    }

    /// Describes an address by the argument whose array contains it, or is near it.
    fn argument(&self, launch: &Launch, view: &View, address: u64) -> Option<String> {
        let words = launch.args.iter().zip(&self.params).enumerate().flat_map(|(index, (bytes, param))| {
            let words =
                bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
            words.map(move |value| (value, index, &param.name))
        });
        // The words of arguments that are addresses in allocations, and the number of bytes from there to the
        // allocation's end.
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
