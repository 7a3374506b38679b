//! A plan: what can be configured of a kernel of warpgroups.

use std::fmt;
use std::str::FromStr;

use girih_codegen::gemm::{GemmConfig, Major, Schedule, Store};
use girih_layout::{Lay, lay};

use super::facts::Facts;
use crate::Error;
use crate::gemm::records::Fields;
use crate::gemm::{Problem, fits};

/// Bytes of a tile along K: the widest swizzle.
pub(super) const ROW: i64 = 128;
/// With fewer stages copies do not stay ahead of products, and with more nothing becomes faster.
pub(super) const LEAST_STAGES: i64 = 3;
pub(super) const MOST_STAGES: i64 = 12;
/// The warpgroups that multiply: (AtomM,1) -> warpgroup.
pub(super) const ATOMS: [Lay; 3] = [lay!("(1,1):(0,0)"), lay!("(2,1):(1,0)"), lay!("(3,1):(1,0)")];
/// The most columns of an atom whose accumulators are promoted: there are registers for these accumulators beside all accumulators of the tile.
const PROMOTED: i64 = 192;

/// All that can be configured of a kernel of warpgroups. What else its configuration has are facts about the problem.
///
/// Its text has fields, `name=value` each, with spaces between them: `tile`, rows x columns; `depth`, bytes of a tile along K; `warpgroups` that
/// multiply a tile; `teams` of these, which take tiles in alternation; `multicast`, blocks that bring tiles of B together; `schedule`, which is
/// `persistent`, `stream`, `raster` or `split`, of which K is shared by `parts` blocks in clusters of `cluster`; `order`, which is `columns` if the
/// columns of the kernel's C are contiguous and else `rows`; `early`, which is `yes` if the kernel may begin before the one before it has ended. Two
/// may be left out, and are then as the problem leaves room for: `stages` of A and B, and `staged`, rows x columns x count of the parts of a tile of
/// C in shared memory.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::choose::Plan;
/// use girih_kernels::gemm::{KernelKind, Layout, Problem, choose};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::Bf16, [512, 256, 640], Layout::Tn)?;
/// let config = choose(&problem, KernelKind::Sm90, 132)?;
/// let plan = Plan::of(&config).expect("a plan of warpgroups");
/// assert_eq!(plan.config(&problem)?, config);
/// assert_eq!(plan.to_string().parse::<Plan>()?, plan);
/// let wrong = plan.to_string().replace("teams=1", "teams=0").parse::<Plan>();
/// assert_eq!(wrong.unwrap_err().to_string(), "the field `teams` of a record is `0`; accepted: 1 to 3");
/// # Ok::<(), girih_kernels::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// Rows and columns of the tile.
    pub(super) tile: [i64; 2],
    /// Bytes of the tile along K: one or two rows of the widest swizzle.
    pub(super) depth: i64,
    /// The warpgroups that multiply a tile, 1 to 3.
    pub(super) warpgroups: usize,
    /// The teams of this many warpgroups that take a block's tiles in alternation.
    pub(super) teams: i64,
    /// The blocks that bring tiles of B together.
    pub(super) multicast: i64,
    /// How blocks share tiles; whether they go through K backwards too, the problem says.
    pub(super) schedule: Schedule,
    /// Whether the columns of C are contiguous, and not its rows.
    pub(super) columns: bool,
    /// Whether the kernel may begin before the one before it has ended.
    pub(super) early: bool,
    /// Stages of A and B, if not as many as there is room for.
    pub(super) stages: Option<i64>,
    /// Rows and columns of C that are in shared memory at once, and how many times.
    pub(super) staged: Option<([i64; 2], i64)>,
}

/// The columns of an atom whose accumulators are promoted.
pub(super) const fn promoted(columns: i64) -> i64 {
    if columns > PROMOTED { columns / 2 } else { columns }
}

impl Plan {
    /// Persistent blocks, for a C with contiguous rows.
    pub(super) const fn new(tile: [i64; 2], warpgroups: usize) -> Plan {
        Plan {
            tile,
            depth: ROW,
            warpgroups,
            teams: 1,
            multicast: 1,
            schedule: Schedule::Persistent { alternate: true },
            columns: false,
            early: false,
            stages: None,
            staged: None,
        }
    }

    /// With blocks that bring tiles of B together.
    pub(super) const fn multicast(self, multicast: i64) -> Plan {
        Plan { multicast, ..self }
    }

    /// With teams that take tiles in alternation, so that one stores its tile while another one multiplies.
    pub(super) const fn teams(self, teams: i64) -> Plan {
        Plan { teams, ..self }
    }

    /// With these rows and columns of a tile of C in shared memory at once.
    pub(super) const fn staged(self, tile: [i64; 2]) -> Plan {
        Plan { staged: Some((tile, 1)), ..self }
    }

    /// With `parts` blocks that share the K of a tile, in clusters of `cluster`.
    pub(super) const fn split(self, parts: i64, cluster: i64) -> Plan {
        Plan { schedule: Schedule::SplitK { parts, cluster }, ..self }
    }

    /// With persistent blocks that have as much to do each: tiles that would leave some of them without work are cut along K.
    pub(super) const fn stream(self) -> Plan {
        Plan { schedule: Schedule::StreamK { alternate: true }, ..self }
    }

    /// With tiles twice as long along K.
    pub(super) const fn deep(self) -> Plan {
        Plan { depth: 2 * ROW, ..self }
    }

    /// For a C with contiguous columns.
    pub(super) const fn of_columns(self) -> Plan {
        Plan { columns: true, ..self }
    }

    /// With kernels that begin before the kernel before them has ended.
    pub(super) const fn early(self) -> Plan {
        Plan { early: true, ..self }
    }

    /// The blocks that share the K of a tile, and those of them that are a cluster.
    pub(super) const fn parts(&self) -> [i64; 2] {
        if let Schedule::SplitK { parts, cluster } = self.schedule { [parts, cluster] } else { [1; 2] }
    }

    /// The contiguous mode of C.
    pub(super) const fn c_major(&self) -> Major {
        if self.columns { Major::Mn } else { Major::K }
    }

    /// The plan of a configuration, with its stages and what is staged of C, if the configuration is one of warpgroups.
    pub fn of(config: &GemmConfig) -> Option<Plan> {
        let parts = config.mainloop.warp_specialized()?;
        let [rows, columns, depth] = config.tile;
        let all = usize::try_from(parts.threads().ok()? / 128).ok()?.checked_sub(1)?;
        Some(Plan {
            tile: [rows, columns],
            depth: depth * i64::from(parts.atom.a_type.bits()) / 8,
            warpgroups: all.checked_div(usize::try_from(parts.teams).ok()?)?,
            teams: parts.teams,
            multicast: parts.multicast,
            schedule: match config.schedule {
                Schedule::Persistent { .. } => Schedule::Persistent { alternate: true },
                Schedule::StreamK { .. } => Schedule::StreamK { alternate: true },
                other => other,
            },
            columns: config.c_major == Major::Mn,
            early: config.programmatic,
            stages: Some(parts.stages),
            staged: match config.store {
                Store::Tma { tile, stages } => Some((tile, stages)),
                Store::Coalesced { tile, .. } => Some((tile, 1)),
                Store::Direct { .. } => None,
            },
        })
    }

    /// The configuration by this plan for a problem.
    ///
    /// # Errors
    /// [`Error::Kernel`] for a problem that warpgroups do not solve, [`Error::Codegen`] for what cannot be built, for instance of more stages than
    /// shared memory has room for, [`Error::Configuration`] for what does not solve the problem.
    pub fn config(&self, problem: &Problem) -> Result<GemmConfig, Error> {
        let config = Facts::of(problem, self.c_major())?.config(self)?;
        config.check()?;
        // Of some tiles nothing is staged.
        if let (Some(_), Store::Direct { .. }) = (self.staged, config.store) {
            let (found, accepted) = (self.to_string(), String::from("one that stages nothing of C"));
            return Err(Error::Configuration { what: "fields", found, accepted });
        }
        fits(&problem.oriented(self.c_major()).0, &config)?;
        Ok(config)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { tile: [rows, columns], depth, warpgroups, teams, multicast, .. } = self;
        write!(f, "tile={rows}x{columns} depth={depth} warpgroups={warpgroups} teams={teams} ")?;
        write!(f, "multicast={multicast} ")?;
        match self.schedule {
            Schedule::Persistent { .. } => write!(f, "schedule=persistent")?,
            Schedule::StreamK { .. } => write!(f, "schedule=stream")?,
            Schedule::Raster { .. } => write!(f, "schedule=raster")?,
            Schedule::SplitK { parts, cluster } => {
                write!(f, "schedule=split parts={parts} cluster={cluster}")?;
            }
        }
        let order = if self.columns { "columns" } else { "rows" };
        write!(f, " order={order} early={}", if self.early { "yes" } else { "no" })?;
        self.stages.iter().try_for_each(|stages| write!(f, " stages={stages}"))?;
        let mut staged = self.staged.iter();
        staged.try_for_each(|([rows, columns], count)| write!(f, " staged={rows}x{columns}x{count}"))
    }
}

/// The tiles of a group of a raster.
pub(super) const RASTER: Schedule = Schedule::Raster { group: 8 };

impl FromStr for Plan {
    type Err = Error;

    /// # Errors
    /// [`Error::Field`] for a field that is missing, unknown, there twice, or has another value than there are.
    fn from_str(text: &str) -> Result<Plan, Error> {
        let mut fields = Fields::read(text)?;
        let number = |least: i64, most: i64| {
            move |text: &str| text.parse().ok().filter(|number| (least..=most).contains(number))
        };
        let extents = |text: &str| {
            let all: Vec<i64> = text.split('x').map(number(1, 256)).collect::<Option<_>>()?;
            Some(all)
        };
        let tile =
            fields.take("tile", "rows x columns, 256 at most", |text| extents(text)?.try_into().ok())?;
        let schedule = fields.take("schedule", "persistent, stream, raster or split", |text| match text {
            "persistent" => Some(Some(Plan::new(tile, 1).schedule)),
            "stream" => Some(Some(Plan::new(tile, 1).stream().schedule)),
            "raster" => Some(Some(RASTER)),
            "split" => Some(None),
            _ => None,
        })?;
        let schedule = match schedule {
            Some(schedule) => schedule,
            None => Schedule::SplitK {
                parts: fields.take("parts", "2 to 256", number(2, 256))?,
                cluster: fields.take("cluster", "1 to 8", number(1, 8))?,
            },
        };
        let plan = Plan {
            tile,
            depth: fields.take("depth", "128 or 256", |text| {
                number(ROW, 2 * ROW)(text).filter(|depth| depth % ROW == 0)
            })?,
            warpgroups: fields.take("warpgroups", "1 to 3", |text| {
                text.parse().ok().filter(|count| (1..=ATOMS.len()).contains(count))
            })?,
            teams: fields.take("teams", "1 to 3", number(1, 3))?,
            multicast: fields.take("multicast", "1 to 4", number(1, 4))?,
            schedule,
            columns: fields.take("order", "rows or columns", |text| either(text, ["rows", "columns"]))?,
            early: fields.take("early", "yes or no", |text| either(text, ["no", "yes"]))?,
            stages: fields.find("stages", "3 to 12", number(LEAST_STAGES, MOST_STAGES))?,
            staged: fields.find("staged", "rows x columns x count", |text| match extents(text)?[..] {
                [rows, columns, count] => Some(([rows, columns], count)),
                _ => None,
            })?,
        };
        fields.end("tile, depth, warpgroups, teams, multicast, schedule, order, early, stages and staged")?;
        Ok(plan)
    }
}

/// Whether a text is the second of two.
fn either(text: &str, [no, yes]: [&str; 2]) -> Option<bool> {
    if text == no { Some(false) } else { (text == yes).then_some(true) }
}
