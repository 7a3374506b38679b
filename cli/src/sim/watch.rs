//! `--trace`, `--break` and `--tile`: show the instructions of a warp, and what registers and shared memory hold at a line.

use std::fmt::Write;
use std::str::FromStr;
use std::sync::Mutex;

use girih_notation::{Tile, values};
use girih_sim::{Kernel, Launch, Moment, Observer, Origin, Register};

use crate::Error;
use crate::output::tell;

/// A line at which registers are shown, when a warp comes to the line for the n-th time.
#[derive(Clone, Debug)]
pub(crate) struct Break {
    /// The end of the path of a source file; `None` for a line of the PTX.
    file: Option<String>,
    line: u32,
    nth: u32,
}

impl FromStr for Break {
    type Err = Error;

    fn from_str(text: &str) -> Result<Break, Error> {
        let positive = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
        let of = |file: Option<&str>, line: &str, nth: &str| {
            let file = file.map(str::to_string);
            Some(Break { file, line: positive(line)?, nth: positive(nth)? })
        };
        let parts: Vec<&str> = text.split(':').collect();
        let read = match parts[..] {
            [line] => of(None, line, "1"),
            [line, nth] if line.bytes().all(|c| c.is_ascii_digit()) => of(None, line, nth),
            [file, line] if !file.is_empty() => of(Some(file), line, "1"),
            [file, line, nth] if !file.is_empty() => of(Some(file), line, nth),
            _ => None,
        };
        let expected = "LINE, LINE:N, FILE:LINE or FILE:LINE:N, with numbers from 1".into();
        read.ok_or_else(|| Error::Argument { text: text.into(), expected })
    }
}

impl std::fmt::Display for Break {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.file.as_ref().map_or(Ok(()), |file| write!(f, "{file}:"))?;
        write!(f, "{}", self.line)
    }
}

impl Break {
    /// Whether an instruction comes from the line, which may be a source line into which the instruction was inlined.
    fn is_of(&self, line: u32, origin: Option<&Origin>) -> bool {
        let Some(file) = &self.file else { return line == self.line };
        let ends = |path: &str| {
            path.strip_suffix(&**file).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        };
        origin.is_some_and(|origin| origin.chain().any(|at| at.line == self.line && ends(&at.file)))
    }

    /// The PTX lines at which warps stop: for a source line, where a run of its instructions begins.
    fn stops(&self, kernel: &Kernel) -> Result<Vec<u32>, Error> {
        let (mut stops, mut inside) = (Vec::new(), false);
        for (line, origin) in kernel.origins() {
            let is_of = self.is_of(line, origin);
            if is_of && !(inside && self.file.is_some()) {
                stops.push(line);
            }
            inside = is_of;
        }
        if !stops.is_empty() {
            return Ok(stops);
        }
        let text = format!("--break {self}");
        let name = kernel.name();
        let expected = match &self.file {
            None => {
                let next = kernel.lines().filter(|&other| other > self.line).min();
                let next = next.or_else(|| kernel.lines().max()).unwrap_or(0);
                format!("a line with an instruction of `{name}`, such as {next}")
            }
            Some(_) => match nearest(kernel, self.line) {
                Some(near) => format!("a source line with an instruction of `{name}`, such as {near}"),
                None => format!("a line of the PTX: `{name}` has no `.loc` (nvcc -lineinfo writes them)"),
            },
        };
        Err(Error::Argument { text, expected })
    }
}

/// The source line with instructions that is nearest to this line.
fn nearest(kernel: &Kernel, line: u32) -> Option<String> {
    let origins = kernel.origins().filter_map(|(_, origin)| origin).flat_map(Origin::chain);
    let near = origins.min_by_key(|origin| (origin.line.abs_diff(line), origin.line))?;
    Some(format!("{}:{}", near.file_name(), near.line))
}

/// The arguments that ask for instructions, registers and shared memory to be shown.
#[derive(clap::Args, Debug)]
pub(crate) struct WatchArgs {
    /// Print on stderr each instruction that a warp of the block executes; WARP is the index of the warp in the block
    #[arg(long, value_name = "WARP")]
    trace: Option<u32>,
    /// Print on stderr what registers hold when a warp of the block comes to this line of the PTX, or of a source file that
    /// `.loc`s of the PTX name; with :N when a warp comes to the line for the N-th time
    #[arg(long = "break", value_name = "[FILE:]LINE[:N]")]
    breaks: Vec<Break>,
    /// Print a part of shared memory as a matrix too, wherever --break prints registers; PITCH is in elements
    #[arg(long = "tile", value_name = "OFFSET:ROWSxCOLUMNS:TYPE[:PITCH]", requires = "breaks")]
    tiles: Vec<Tile>,
    /// The block that --trace, --break and --record look at: x, or x,y or x,y,z [default: 0,0,0]
    #[arg(long, value_name = "BLOCK", value_parser = place)]
    at_block: Option<[u32; 3]>,
}

/// Parses `3`, `3,2` or `3,2,1`, where a missing number is 0.
fn place(text: &str) -> Result<[u32; 3], Error> {
    let refused = || Error::Argument { text: text.into(), expected: "x, or x,y or x,y,z".into() };
    let given: Vec<u32> =
        text.split(',').map(u32::from_str).collect::<Result<_, _>>().map_err(|_| refused())?;
    let mut place = [0; 3];
    place.get_mut(..given.len()).ok_or_else(refused)?.copy_from_slice(&given);
    Ok(place)
}

impl WatchArgs {
    /// The block that is looked at, which the launch has.
    pub(crate) fn block(&self, launch: &Launch) -> Result<[u32; 3], Error> {
        let block = self.at_block.unwrap_or_default();
        let [x, y, z] = block;
        let [grid_x, grid_y, grid_z] = launch.grid;
        if x >= grid_x || y >= grid_y || z >= grid_z {
            let text = format!("--at-block {x},{y},{z}");
            return Err(Error::Argument {
                text,
                expected: format!("a block of the grid {grid_x},{grid_y},{grid_z}"),
            });
        }
        Ok(block)
    }

    /// The observer that the arguments ask for, if they ask for one.
    pub(crate) fn observer(&self, kernel: &Kernel, launch: &Launch) -> Result<Option<Watch>, Error> {
        if self.trace.is_none() && self.breaks.is_empty() {
            return Ok(None);
        }
        let block = self.block(launch)?;
        let warps = launch.block.iter().map(|&extent| u64::from(extent)).product::<u64>().div_ceil(32);
        if let Some(warp) = self.trace.filter(|&warp| u64::from(warp) >= warps) {
            let text = format!("--trace {warp}");
            return Err(Error::Argument {
                text,
                expected: format!("the number of a warp of the block, 0 to {}", warps.saturating_sub(1)),
            });
        }
        let mut breaks = Vec::new();
        for at in &self.breaks {
            breaks.push(Stop { lines: at.stops(kernel)?, at: at.clone(), seen: 0 });
        }
        let shared = kernel.shared(launch.dynamic_shared);
        if let Some(tile) = self.tiles.iter().find(|tile| tile.end() > u128::from(shared)) {
            let text = format!("--tile {tile}");
            let expected = format!(
                "a tile that ends within the block's {shared} bytes of shared memory, not at {}",
                tile.end()
            );
            return Err(Error::Argument { text, expected });
        }
        Ok(Some(Watch { block, trace: self.trace, breaks: breaks.into(), tiles: self.tiles.clone() }))
    }
}

/// Writes what warps do to stderr.
#[derive(Debug)]
pub(crate) struct Watch {
    block: [u32; 3],
    trace: Option<u32>,
    breaks: Mutex<Vec<Stop>>,
    tiles: Vec<Tile>,
}

/// A line to stop at.
#[derive(Debug)]
struct Stop {
    at: Break,
    /// The lines of the PTX at which warps stop.
    lines: Vec<u32>,
    /// How often a warp has come to one of these lines.
    seen: u32,
}

impl Watch {
    /// A message for each line to which warps did not come as often as the arguments ask for.
    pub(crate) fn missed(&self) -> Vec<String> {
        let breaks = self.breaks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let missed = breaks.iter().filter(|stop| stop.seen < stop.at.nth);
        let [x, y, z] = self.block;
        missed
            .map(|Stop { at, seen, .. }| {
                format!(
                    "no stop at line {at}: the warps of block ({x},{y},{z}) came to the line {seen} times"
                )
            })
            .collect()
    }
}

impl Observer for Watch {
    fn chooses(&self, block: [u32; 3], warp: u32) -> bool {
        block == self.block && self.trace.is_none_or(|traced| traced == warp)
    }

    fn before(&self, moment: &Moment<'_>) {
        let mut stops = 0;
        {
            let mut breaks = self.breaks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            for stop in breaks.iter_mut().filter(|stop| stop.lines.contains(&moment.line())) {
                stop.seen += 1;
                stops += u32::from(stop.seen == stop.at.nth);
            }
        }
        if stops > 0 {
            tell(stop(moment, &self.tiles).trim_end());
        }
    }

    fn after(&self, moment: &Moment<'_>) {
        if self.trace.is_some() {
            tell(&step(moment));
        }
    }
}

/// The text that says what registers and tiles hold.
fn stop(moment: &Moment<'_>, tiles: &[Tile]) -> String {
    let ([x, y, z], warp, line) = (moment.block(), moment.warp(), line(moment));
    let mut text = String::new();
    let _ = writeln!(
        text,
        "block ({x},{y},{z}), warp {warp}, {} before {line}: {}",
        lanes(moment),
        moment.instruction()
    );
    let registers: Vec<Register<'_>> = moment.registers().collect();
    let width = registers.iter().map(|register| register.name.len()).max().unwrap_or(0);
    for register in registers {
        let Register { name, ty, .. } = register;
        let _ =
            writeln!(text, "  {name:<width$} .{:<6} {}", ty.to_string(), values(&register, moment.active()));
    }
    for tile in tiles {
        let _ = writeln!(text, "  {}", tile.shown(moment.shared()));
    }
    text
}

/// The text that says what an instruction has written.
fn step(moment: &Moment<'_>) -> String {
    let mut text = format!("{}, {}: {}", line(moment), lanes(moment), moment.instruction());
    if moment.failed() {
        text += "; failed";
    } else if moment.active() != 0 {
        for register in moment.writes() {
            let _ = write!(text, "; {} = {}", register.name, values(&register, moment.active()));
        }
    }
    text
}

/// The line of the instruction, with the source line where the source line is known.
fn line(moment: &Moment<'_>) -> String {
    match moment.origin() {
        Some(origin) => format!("{origin} (PTX line {})", moment.line()),
        None => format!("line {}", moment.line()),
    }
}

fn lanes(moment: &Moment<'_>) -> String {
    match moment.active() {
        u32::MAX => "all lanes".into(),
        0 => "no lane".into(),
        some => format!("lanes {some:#010x}"),
    }
}
