//! Arrays and launches from text.

use std::collections::HashMap;

use girih_sim::{Launch, Memory};

use crate::Error;
use crate::argument::{Argument, Bound, extents};
use crate::boxed::Boxed;

/// How arguments are written, for people.
pub const ARGUMENTS: &str = "\
Arguments are given in the order of the kernel's parameters, one --arg each:

  u32:5  s64:-1  u16:0xffff       an integer: u8 to u64, s8 to s64
  f32:0.5  f64:1e-3  f16:2        a number; types may also be called i32, int32, float32, half, ...
  bytes:0100ff00                  the bytes of a structure, in hexadecimal
  in:A.npy                        the address of a copy of the array
  out:f32:4096:C.npy              the address of an array that nothing has written yet, and that is
                                  written to the file afterwards; 4096 or 64x64 elements of u8 to
                                  u64, s8 to s64, f16, bf16, f32, f64
  inout:H.npy:H2.npy              the address of a copy of H, which is written to H2 afterwards
  zeros:f32:64x64  ones:s32:7     the address of an array of zeros or ones
  rand:f32:4096                   the address of an array of random floats from -1 to 1, or of
                                  random integers, the same in every run; with a file, as in
                                  zeros:f32:7:Z.npy, the array is written afterwards
  tensormap:16x64,128B:in:A.npy   the tensor map of such an array: the box in the order of the
                                  array's dimensions, then a swizzle (32B, 64B, 128B), nan to fill
                                  what lies outside with NaN, and a type that numpy has no name for
                                  (bf16, tf32, tf32.ftz, f32.ftz)

Files have numpy's format and any numeric type; a file has u16 for bf16.";

/// How arrays and launches are written, for people.
pub const LAUNCHES: &str = "\
A file of launches has a line for each array and for each launch, in order. # begins a comment:

  x = in:x.npy                     gives a name to an array or another argument
  part = zeros:f32:32
  sum = out:f32:1:sum.npy
  reduce --grid 32 --block 256 --arg x --arg part --arg u32:8192
  finish --grid 1 --block 32 --smem 128 --arg part --arg sum

An array is made once, and each launch finds in the array what the launches before have left. --arg
takes a name, tensormap:BOX:NAME, or an argument as above. A launch with an error is the last one.
Files are written when all launches have passed.";

/// The shape of a launch.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster, if the kernel does not say it.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks are launched together, for kernels that wait for the whole grid.
    pub cooperative: bool,
    /// Bytes of dynamic shared memory.
    pub smem: u32,
}

/// A line that is a launch: the kernel, the shape, and the texts of the arguments.
fn launch(line: &str) -> Result<(String, Shape, Vec<&str>), String> {
    const LINE: &str = "a launch is KERNEL --grid X,Y,Z --block X,Y,Z, with --cluster X,Y,Z, --cooperative, --smem BYTES and --arg ARGUMENT where they are needed";

    fn once<T>(place: &mut Option<T>, name: &str, value: T) -> Result<(), String> {
        match place.replace(value) {
            None => Ok(()),
            Some(_) => Err(format!("{name} is given twice")),
        }
    }
    let mut words = line.split_whitespace();
    let (mut kernel, mut grid, mut block, mut cluster, mut cooperative, mut smem) =
        (None, None, None, None, None, None);
    let mut arguments = Vec::new();
    while let Some(word) = words.next() {
        let (name, given) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let mut value =
            || given.or_else(|| words.next()).ok_or_else(|| format!("{name} has no value: {LINE}"));
        let three = |text: &str| extents(text).map_err(|error| format!("{name} {error}"));
        match name {
            "--grid" => once(&mut grid, name, three(value()?)?)?,
            "--block" => once(&mut block, name, three(value()?)?)?,
            "--cluster" => once(&mut cluster, name, three(value()?)?)?,
            "--cooperative" if given.is_none() => once(&mut cooperative, name, true)?,
            "--smem" => {
                let text = value()?;
                let bytes =
                    text.parse().map_err(|_| format!("--smem `{text}`: expected a number of bytes"))?;
                once(&mut smem, name, bytes)?;
            }
            "--arg" => arguments.push(value()?),
            _ if !word.starts_with('-') && kernel.is_none() => kernel = Some(word),
            _ => return Err(format!("there is no `{word}`: {LINE}")),
        }
    }
    let missing = |name: &str| format!("{name} is missing: {LINE}");
    let shape = Shape {
        grid: grid.ok_or_else(|| missing("--grid"))?,
        block: block.ok_or_else(|| missing("--block"))?,
        cluster,
        cooperative: cooperative.unwrap_or(false),
        smem: smem.unwrap_or(0),
    };
    Ok((kernel.ok_or_else(|| missing("the kernel"))?.into(), shape, arguments))
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
/// use girih_notation::Plan;
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
    /// The error in the line, and the accepted text.
    pub message: String,
}

impl Plan {
    /// The plan of one launch.
    pub fn one(kernel: String, shape: Shape, arguments: &[Argument]) -> Plan {
        let arguments = arguments.iter().cloned().map(Given::Plain).collect();
        Plan { named: Vec::new(), launches: vec![Planned { kernel, shape, arguments }] }
    }

    /// The kernel of the first launch.
    pub fn first(&self) -> Option<&str> {
        self.launches.first().map(|launch| &*launch.kernel)
    }

    /// The plan of a text, as [`LAUNCHES`] describes it.
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
    pub fn bytes(&self) -> u64 {
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
        let (kernel, shape, arguments) = launch(line)?;
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

    /// Puts all arguments into memory. The result is the launches in order, and the arguments in memory, some of which are written to
    /// files after the launches.
    ///
    /// # Errors
    /// A file that cannot be read; arrays that do not fit the memory; a tensor map that there cannot be.
    pub fn bind(&self, memory: &Memory) -> Result<(Vec<Ready>, Vec<Bound>), Error> {
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
                            Some(boxed) => bound.mapped(boxed, name)?,
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
