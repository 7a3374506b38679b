//! The options of all commands that draw pictures.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use girih_picture::{Cell, Grid, Key, Sheet};
use serde_json::{Value, json};

use crate::output::Output;
use crate::{CommandResult, Error};

/// The output format.
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
    /// The format of what is printed [default: that of --output's name, .svg or .tex; else text]
    #[arg(long, global = true, value_enum)]
    format: Option<Format>,
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

/// The printed text of a picture, or the reason why there is none.
pub(crate) type Printed<T> = Result<T, Box<dyn std::error::Error>>;

/// The forms in which a picture can be printed. Each is made on request.
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
        Ok(json(self))
    }

    fn sheet(&self) -> Printed<Cow<'_, Sheet>> {
        Ok(Cow::Borrowed(self))
    }
}

impl Drawing {
    /// The format of what is printed: what was asked for, or what the file's name ends with.
    fn format(&self) -> Result<Format, Error> {
        let named = self.output.as_deref().filter(|_| !self.json).and_then(Path::extension);
        Ok(match (self.format, named.and_then(OsStr::to_str)) {
            (Some(format), _) => format,
            (None, Some("svg")) => Format::Svg,
            (None, Some("tex")) => Format::Latex,
            (None, Some("png" | "pdf" | "jpg" | "jpeg" | "eps")) => {
                let text = self.output.as_deref().unwrap_or(Path::new("")).display().to_string();
                let expected = "a name that ends with .svg or .tex, or any other for text (of an SVG, `rsvg-convert -f png` makes a PNG)";
                return Err(Error::Argument { text, expected: expected.into() });
            }
            (None, _) => Format::Text,
        })
    }

    /// Prints and writes what the options ask for.
    pub(crate) fn finish(self, drawn: &impl Drawn) -> CommandResult {
        let format = self.format()?;
        let [svg, latex, output] =
            [&self.svg, &self.latex, &self.output].map(|path| path.as_deref().map(Output::new).transpose());
        let write = |output: Option<Output>, text: String| match output {
            Some(output) => output.write(|to| to.write_all(text.as_bytes())),
            None => Ok(()),
        };
        let (svg, latex, output) = (svg?, latex?, output?);
        let text = match format {
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

/// A picture as a JSON object: `title`, `notes`, `keys`, `grids` with their `place` in the coarse table, and of each the words of its `cells`,
/// their colours as `fills`, and the `marked` ones as `[row, column]`.
pub(crate) fn json(sheet: &Sheet) -> Value {
    let colour = |fill: u32| format!("#{fill:06x}");
    let grid = |(grid, place): (&Grid, [usize; 2])| {
        let rows = |of: &dyn Fn(&Cell) -> String| -> Vec<Vec<String>> {
            grid.cells.iter().map(|row| row.iter().map(of).collect()).collect()
        };
        let at = |row: usize, column: usize| grid.cells[row][column].marked.then_some([row, column]);
        let columns = grid.columns();
        let marked = (0..grid.rows()).flat_map(|row| (0..columns).filter_map(move |column| at(row, column)));
        json!({
            "title": grid.title, "place": place, "shape": [grid.rows(), columns],
            "cells": rows(&Cell::text), "fills": rows(&|cell| colour(cell.fill)),
            "marked": marked.collect::<Vec<_>>(),
        })
    };
    let key = |key: &Key| json!({ "fill": colour(key.fill), "text": key.text });
    json!({
        "title": sheet.title, "notes": sheet.notes, "keys": sheet.keys.iter().map(key).collect::<Vec<_>>(),
        "grids": sheet.placed().map(grid).collect::<Vec<_>>(),
    })
}
