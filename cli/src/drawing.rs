//! The options of all commands that draw pictures.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::Value;

use crate::CommandResult;
use crate::output::Output;
use crate::picture::Sheet;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The picture as text
    Text,
    /// The picture as a standalone SVG file
    Svg,
    /// The picture as a LaTeX document (TikZ)
    Latex,
}

/// How pictures are drawn, and where to.
#[derive(clap::Args)]
pub(crate) struct Drawing {
    /// The format of what is printed
    #[arg(long, global = true, default_value = "text", value_enum)]
    format: Format,
    /// The file for what is printed [default: standard output]
    #[arg(short, long, global = true, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the picture also as SVG, into this file
    #[arg(long, global = true, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw the picture also as a LaTeX document (TikZ), into this file
    #[arg(long, global = true, value_name = "FILE")]
    latex: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, global = true, conflicts_with = "format")]
    pub(crate) json: bool,
}

/// What can be printed of a picture, or why it can't.
pub(crate) type Printed<T> = Result<T, Box<dyn std::error::Error>>;

/// What can be printed of a picture. Each is made when it is asked for.
pub(crate) trait Drawn {
    fn text(&self) -> Printed<String>;
    fn json(&self) -> Printed<Value>;
    fn sheet(&self) -> Printed<Cow<'_, Sheet>>;
}

impl Drawn for Sheet {
    fn text(&self) -> Printed<String> {
        Ok(Sheet::text(self))
    }

    fn json(&self) -> Printed<Value> {
        Ok(Sheet::json(self))
    }

    fn sheet(&self) -> Printed<Cow<'_, Sheet>> {
        Ok(Cow::Borrowed(self))
    }
}

impl Drawing {
    /// Prints and writes what the options ask for.
    pub(crate) fn finish(self, drawn: &impl Drawn) -> CommandResult {
        let [svg, latex, output] =
            [&self.svg, &self.latex, &self.output].map(|path| path.as_deref().map(Output::new).transpose());
        let write = |output: Option<Output>, text: String| match output {
            Some(output) => output.write(|to| to.write_all(text.as_bytes())),
            None => Ok(()),
        };
        let (svg, latex, output) = (svg?, latex?, output?);
        let text = match self.format {
            _ if self.json => format!("{}\n", drawn.json()?),
            Format::Text => drawn.text()?,
            Format::Svg => drawn.sheet()?.svg(),
            Format::Latex => drawn.sheet()?.latex(),
        };
        if svg.is_some() {
            write(svg, drawn.sheet()?.svg())?;
        }
        if latex.is_some() {
            write(latex, drawn.sheet()?.latex())?;
        }
        match output {
            Some(_) => write(output, text)?,
            None => io::stdout().lock().write_all(text.as_bytes())?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
