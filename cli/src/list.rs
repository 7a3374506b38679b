//! `girih list`: the names that other commands accept.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::ValueEnum;
use girih_codegen::atom::{CopyAtom, MmaAtom};
use girih_kernels::gemm::{INPUTS, KernelKind, Layout, Problem, choose};
use girih_layout::Lay;
use girih_notation::names::near;
use girih_notation::ops;
use girih_programs::ENTRIES;
use girih_tensor::DType;
use serde_json::{Value, json};

use crate::{CommandResult, Error};

/// The arguments of `girih list`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  girih list atoms ldsm
  girih list kernels
  girih list operations --json")]
pub(crate) struct Args {
    /// What is listed
    what: What,
    /// List what has this in its name, in capitals or not
    #[arg(value_name = "PART")]
    part: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// The MMA and copy atoms of `girih show`
    Atoms,
    /// The kernels that `girih gemm`, `attention` and `copy` run, and programs over tiles by name
    Kernels,
    /// The operations of `girih layout` and `girih eval`
    Operations,
    /// The types of elements
    Dtypes,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Atoms => "atoms",
            What::Kernels => "kernels",
            What::Operations => "operations",
            What::Dtypes => "dtypes",
        }
    }
}

/// An entry of a list, in columns for people and in fields for programs.
struct Row {
    name: String,
    columns: Vec<String>,
    fields: Value,
}

pub(crate) fn run(args: Args) -> CommandResult {
    let mut rows = match args.what {
        What::Atoms => atoms(),
        What::Kernels => kernels(),
        What::Operations => operations(),
        What::Dtypes => dtypes(),
    };
    if let Some(part) = args.part {
        let wanted = part.to_lowercase();
        let is_asked = |row: &Row| row.name.to_lowercase().contains(&wanted);
        if !rows.iter().any(is_asked) {
            let near = near(&part, rows.into_iter().map(|row| row.name));
            return Err(Error::NothingListed { part, what: args.what.name(), near }.into());
        }
        rows.retain(is_asked);
    }
    let text = if args.json { objects(rows) } else { table(&rows) };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn objects(rows: Vec<Row>) -> String {
    let object = |Row { name, fields, .. }: Row| {
        let mut object = json!({ "name": name });
        if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
            object.extend(fields);
        }
        format!("{object}\n")
    };
    rows.into_iter().map(object).collect()
}

fn table(rows: &[Row]) -> String {
    let cells: Vec<Vec<&str>> = rows
        .iter()
        .map(|row| [&*row.name].into_iter().chain(row.columns.iter().map(|column| &**column)).collect())
        .collect();
    let width =
        |at: usize| cells.iter().filter_map(|line| line.get(at)).map(|cell| cell.len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..cells.iter().map(Vec::len).max().unwrap_or(0)).map(width).collect();
    let line = |cells: &Vec<&str>| {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        padded.join("  ").trim_end().to_owned() + "\n"
    };
    cells.iter().map(line).collect()
}

fn atoms() -> Vec<Row> {
    let threads = |layout: &Lay| layout.size().ok().and_then(|size| size.get()).unwrap_or(0);
    let mma = MmaAtom::all().map(|atom| {
        let ([m, n, k], threads) = (atom.shape_mnk, threads(&atom.threads));
        let types = [atom.a_type, atom.b_type, atom.c_type].map(|dtype| dtype.name());
        Row {
            name: atom.name(),
            columns: vec![
                "mma".into(),
                format!("{m}x{n}x{k}"),
                types.join(","),
                format!("{threads} threads"),
                format!("sm_{}", atom.sm),
            ],
            fields: json!({
                "kind": "mma", "shape": [m, n, k], "types": types, "threads": threads, "sm": atom.sm,
                "a": atom.a.to_string(), "b": atom.b.to_string(), "c": atom.c.to_string(),
            }),
        }
    });
    let copies = CopyAtom::all().into_iter().map(|atom| {
        let threads = threads(&atom.threads);
        Row {
            name: atom.name(),
            columns: vec![
                "copy".into(),
                format!("{} bits", atom.bits()),
                String::new(),
                format!("{threads} threads"),
                format!("sm_{}", atom.sm),
            ],
            fields: json!({
                "kind": "copy", "bits": atom.bits(), "threads": threads, "sm": atom.sm,
                "source": atom.src.to_string(), "destination": atom.dst.to_string(),
            }),
        }
    });
    let mut rows: Vec<Row> = mma.chain(copies).collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

/// The SMs of the GPU for which kernels are chosen.
const MULTIPROCESSORS: u32 = 132;

fn kernels() -> Vec<Row> {
    let row = |name: String, dtypes: Vec<&'static str>, command: String| Row {
        name,
        columns: vec![dtypes.join(","), command.clone()],
        fields: json!({ "dtypes": dtypes, "command": command }),
    };
    let gemm = [KernelKind::Simt, KernelKind::Sm80, KernelKind::Sm90].map(|kind| {
        let takes = |dtype: &DType| {
            let problem = Problem::new(*dtype, [512; 3], Layout::Tn);
            problem.is_ok_and(|problem| choose(&problem, kind, MULTIPROCESSORS).is_ok())
        };
        let dtypes = INPUTS.into_iter().filter(takes).map(DType::name).collect();
        row(format!("gemm {}", kind.name()), dtypes, format!("girih gemm --kernel {}", kind.name()))
    });
    use girih_kernels::attention::KernelKind as Attention;
    let attention = [Attention::Sm80, Attention::Sm90].map(|kind| {
        let dtypes = [DType::F32, DType::F16, DType::Bf16].into_iter().filter(|&dtype| {
            let order = girih_kernels::attention::Order::Bshd;
            girih_kernels::attention::Problem::new(dtype, order, [1, 1, 512, 512, 64]).is_ok_and(|problem| {
                let hardware =
                    girih_kernels::attention::Hardware { sm: 90, multiprocessors: MULTIPROCESSORS };
                girih_kernels::attention::choose(&problem, Some(kind), hardware).is_ok()
            })
        });
        let name = kind.name();
        row(
            format!("attention {name}"),
            dtypes.map(DType::name).collect(),
            format!("girih attention --kernel {name}"),
        )
    });
    let others = [
        row("attention decode".into(), vec!["f16", "bf16"], "girih attention decode".into()),
        row("copy".into(), vec!["any of whole bytes"], "girih copy SRC DST".into()),
    ];
    let programs = ENTRIES.iter().map(|entry| Row {
        name: format!("tile {}", entry.name),
        columns: vec![String::new(), format!("girih tile explain {}", entry.name)],
        fields: json!({ "command": format!("girih tile explain {}", entry.name) }),
    });
    gemm.into_iter().chain(attention).chain(others).chain(programs).collect()
}

fn operations() -> Vec<Row> {
    let operation = |op: &ops::Op| {
        let named = |param: &&str| match param.strip_prefix('?') {
            Some(optional) => format!("[{optional}]"),
            None => (*param).to_owned(),
        };
        let params: Vec<String> = op.params.iter().map(named).collect();
        let [required, optional]: [Vec<&str>; 2] = [false, true].map(|is_optional| {
            let these = op.params.iter().filter(|param| param.starts_with('?') == is_optional);
            these.map(|param| param.trim_start_matches('?')).collect()
        });
        Row {
            name: op.name.into(),
            columns: vec![format!("{}({})", op.name, params.join(", "))],
            fields: json!({ "arguments": required, "optional": optional }),
        }
    };
    let mut rows: Vec<Row> = ops::all().map(operation).collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

fn dtypes() -> Vec<Row> {
    let row = |dtype: &DType| Row {
        name: dtype.name().into(),
        columns: vec![format!("{} bits", dtype.bits())],
        fields: json!({ "bits": dtype.bits(), "float": dtype.is_float() }),
    };
    DType::ALL.iter().map(row).collect()
}
