//! What one call launches: the one launch of the command line, or the arrays and launches of a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Parser;
use girih_sim::{Launch, Memory};

use super::argument::{Argument, Bound, extents};
use super::tensor::Boxed;
use crate::Error;

/// How a file of launches is written, for the long help.
pub const FILE: &str = "\
A file of launches has a line for each array and for each launch, in order. # begins a comment:

  x = in:x.npy                     gives a name to an array or another argument
  part = zeros:f32:32
  sum = out:f32:1:sum.npy
  reduce --grid 32 --block 256 --arg x --arg part --arg u32:8192
  finish --grid 1 --block 32 --smem 128 --arg part --arg sum

An array is made once, and each launch finds in the array what the launches before have left. --arg
takes a name, tensormap:BOX:NAME, or an argument as above. A launch with an error is the last one.
Files are written when all launches have passed.";

/// The shape of a launch, which the command line and the lines of a file give by the same options.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Shape {
    /// Blocks: x, or x,y or x,y,z
    #[arg(long, value_parser = extents)]
    pub(crate) grid: [u32; 3],
    /// Threads of a block: x, or x,y or x,y,z
    #[arg(long, value_parser = extents)]
    pub(crate) block: [u32; 3],
    /// Blocks of a cluster: x, or x,y or x,y,z [default: what the kernel asks for]
    #[arg(long, value_parser = extents)]
    pub(crate) cluster: Option<[u32; 3]>,
    /// Launch all blocks together, for kernels that wait for the whole grid
    #[arg(long)]
    pub(crate) cooperative: bool,
    /// Bytes of dynamic shared memory
    #[arg(long, default_value_t = 0)]
    pub(crate) smem: u32,
}

/// A line of a file that is a launch.
#[derive(Parser, Debug)]
#[command(no_binary_name = true, disable_help_flag = true, disable_version_flag = true)]
struct Line {
    kernel: String,
    #[command(flatten)]
    shape: Shape,
    #[arg(long = "arg")]
    arguments: Vec<String>,
}

/// An argument of a launch.
#[derive(Debug)]
enum Given {
    /// The argument that a name stands for, or a tensor map of that argument's array.
    Named(String, Option<Boxed>),
    Plain(Argument),
}

/// A launch, before its arguments are in memory.
#[derive(Debug)]
struct Planned {
    kernel: String,
    shape: Shape,
    arguments: Vec<Given>,
}

/// Launches of kernels, and the arguments that have names.
///
/// ```
/// use girih_cli::sim::Plan;
/// use girih_sim::Memory;
///
/// let plan = Plan::parse("x = ones:f32:64\nscale --grid 2 --block 32 --arg x --arg f32:0.5")?;
/// let memory = Memory::new();
/// let ready = plan.bind(&memory)?.0;
/// assert_eq!((ready[0].kernel.as_str(), ready[0].launch.grid), ("scale", [2, 1, 1]));
/// assert_eq!(ready[0].launch.args[1], 0.5f32.to_le_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Plan {
    named: Vec<(String, Argument)>,
    launches: Vec<Planned>,
}

/// A launch whose arguments are in memory.
#[derive(Debug)]
pub struct Ready {
    /// The kernel's name.
    pub kernel: String,
    /// The launch.
    pub launch: Launch,
}

/// Why a text says no launches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct Refused {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with the line, and what would be accepted.
    pub message: String,
}

impl Plan {
    /// The plan of the one launch of the command line.
    pub(crate) fn one(kernel: String, shape: Shape, arguments: &[Argument]) -> Plan {
        let arguments = arguments.iter().cloned().map(Given::Plain).collect();
        Plan { named: Vec::new(), launches: vec![Planned { kernel, shape, arguments }] }
    }

    /// The kernel of the first launch.
    pub fn first(&self) -> Option<&str> {
        self.launches.first().map(|launch| &*launch.kernel)
    }

    /// The plan of a file.
    pub(crate) fn read(file: &Path) -> Result<Plan, Error> {
        let text = std::fs::read_to_string(file).map_err(Error::read(file))?;
        Plan::parse(&text).map_err(|Refused { line, message }| Error::Launches {
            file: file.into(),
            line,
            message,
        })
    }

    /// The plan of a text, as [`FILE`] describes it.
    ///
    /// # Errors
    /// The first line that says no array and no launch, or the last line if no line says a launch.
    pub fn parse(text: &str) -> Result<Plan, Refused> {
        let mut plan = Plan::default();
        for (line, number) in text.lines().zip(1..) {
            let line = line.split('#').next().unwrap_or_default().trim();
            let added = if line.is_empty() { Ok(()) } else { plan.add(line) };
            added.map_err(|message| Refused { line: number, message })?;
        }
        if plan.launches.is_empty() {
            let message =
                "the file has no launch: expected lines such as `kernel --grid 4 --block 128 --arg in:x.npy`"
                    .into();
            return Err(Refused { line: text.lines().count(), message });
        }
        Ok(plan)
    }

    /// The first argument that is read from a file or written to one, in words.
    pub fn file(&self) -> Option<String> {
        let given =
            self.launches.iter().flat_map(|launch| &launch.arguments).filter_map(|given| match given {
                Given::Plain(argument) => Some(argument),
                Given::Named(..) => None,
            });
        let mut all = self.named.iter().map(|(_, argument)| argument).chain(given);
        all.find_map(Argument::file).map(|path| path.display().to_string())
    }

    /// The bytes of all arrays.
    pub(crate) fn bytes(&self) -> u64 {
        let given = self.launches.iter().flat_map(|launch| &launch.arguments);
        let given = given.filter_map(|given| match given {
            Given::Plain(argument) => Some(argument),
            Given::Named(..) => None,
        });
        let all = self.named.iter().map(|(_, argument)| argument).chain(given);
        all.map(Argument::bytes).fold(0, u64::saturating_add)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let word =
            |text: &str| !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || ":-".contains(c));
        if let Some((name, argument)) = line.split_once('=').map(|(name, rest)| (name.trim(), rest.trim()))
            && word(name)
        {
            if self.named.iter().any(|(other, _)| other == name) {
                return Err(format!("`{name}` stands for something already"));
            }
            self.named.push((name.into(), argument.parse().map_err(|error: Error| error.to_string())?));
            return Ok(());
        }
        let parsed = Line::try_parse_from(line.split_whitespace());
        // The first paragraph of clap's message is enough: the rest is the usage of a program that does not exist.
        let Line { kernel, shape, arguments } = parsed.map_err(|error| {
            let text = error.to_string();
            let first = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
            first.split_whitespace().collect::<Vec<_>>().join(" ")
        })?;
        let arguments = arguments.iter().map(|text| self.given(text)).collect::<Result<_, _>>()?;
        self.launches.push(Planned { kernel, shape, arguments });
        Ok(())
    }

    fn given(&self, text: &str) -> Result<Given, String> {
        let known = |name: &str| self.named.iter().any(|(other, _)| other == name);
        if known(text) {
            return Ok(Given::Named(text.into(), None));
        }
        if let Some((boxed, name)) = text.strip_prefix("tensormap:").and_then(|rest| rest.split_once(':'))
            && known(name)
            && let Some(boxed) = Boxed::parse(boxed)
        {
            return Ok(Given::Named(name.into(), Some(boxed)));
        }
        text.parse().map(Given::Plain).map_err(|error: Error| {
            match self.named.is_empty() || text.contains(':') {
                true => error.to_string(),
                false => {
                    let names: Vec<&str> = self.named.iter().map(|(name, _)| &**name).collect();
                    format!("no line before gives the name `{text}`; the names are: {}", names.join(", "))
                }
            }
        })
    }

    /// Puts all arguments into memory. Returns the launches in order, and the arrays that are written to files after the launches.
    ///
    /// # Errors
    /// A file that cannot be read, or that could not be written; arrays that do not fit the memory; a tensor map that there cannot be.
    pub fn bind(&self, memory: &Memory) -> Result<(Vec<Ready>, Vec<Bound>), Box<dyn std::error::Error>> {
        let mut bound = Vec::new();
        let mut places = HashMap::new();
        for (name, argument) in &self.named {
            places.insert(name, bound.len());
            bound.push(argument.bind(memory)?);
        }
        let mut ready = Vec::new();
        for Planned { kernel, shape, arguments } in &self.launches {
            let mut args = Vec::new();
            for given in arguments {
                args.push(match given {
                    Given::Plain(argument) => {
                        bound.push(argument.bind(memory)?);
                        bound.last().map(|bound| bound.bytes.clone()).unwrap_or_default()
                    }
                    Given::Named(name, boxed) => {
                        let bound = &bound[places[name]];
                        match boxed {
                            None => bound.bytes.clone(),
                            Some(boxed) => bound.mapped(boxed, &PathBuf::from(name))?,
                        }
                    }
                });
            }
            let &Shape { grid, block, cluster, cooperative, smem } = shape;
            let launch = Launch { grid, block, cluster, cooperative, dynamic_shared: smem, args };
            ready.push(Ready { kernel: kernel.clone(), launch });
        }
        Ok((ready, bound))
    }
}
