//! Pictures of the banks of shared memory, and of the conflicts of an access.

use girih_codegen::plan::{Pieces, WarpAccess, warp_accesses};
use girih_layout::{Composed, Lay};
use girih_tensor::DType;

use crate::layouts::without_identity;
use crate::limits::{Result, bank, fits, index, size};
use crate::{Cell, Grid, Key, Palette, Sheet};

impl Sheet {
    /// The banks of a tile in shared memory, and how many words an access, (thread, value) to the number of the element in the tile, takes
    /// from each bank at a time. Each thread accesses `vector` elements at a time. The cells of the first conflict's two lanes are marked.
    ///
    /// # Errors
    /// [`crate::Error::Unknown`] for symbols, [`crate::Error::TooLarge`], [`crate::Error::Codegen`] for an access that is none.
    pub fn banks(memory: &Composed, dtype: DType, access: Option<&Lay>, vector: i64) -> Result<Sheet> {
        let bits = i64::from(dtype.bits());
        let shape = *memory.layout().shape();
        let (rows, columns) = match shape.rank() {
            1 => (1, size(memory.layout())?),
            _ => {
                let rows = size(&memory.layout().mode(0)?)?;
                (rows, size(memory.layout())? / rows.max(1))
            }
        };
        fits(rows, columns)?;
        let title = format!("banks of {}, {dtype}", without_identity(memory));
        let touched = match access {
            Some(tv) => touched(memory, tv, bits, vector, index(rows * columns))?,
            None => Touched { ways: vec![None; index(rows * columns)], ..Touched::default() },
        };
        let cell = |element: i64| -> Result<Cell> {
            let bank = bank(memory.at(element)?, dtype.bits());
            let (word, fill) = match (access, touched.ways[index(element)]) {
                (None, _) => (String::new(), Palette::bank(bank)),
                (Some(_), None) => (String::new(), Palette::UNTOUCHED),
                (Some(_), Some(ways)) => (format!("x{ways}"), Palette::ways(ways)),
            };
            let marked = touched.marked.contains(&element);
            Ok(Cell { words: [format!("b{bank}"), word], fill, marked, ..Cell::default() })
        };
        let row = |row: i64| (0..columns).map(|column| cell(row + rows * column)).collect::<Result<Vec<_>>>();
        let cells = (0..rows).map(row).collect::<Result<_>>()?;
        let grid = match access {
            Some(_) => "bank, and words that an access takes from the bank at a time",
            None => "bank",
        };
        let mut sheet = Sheet::new(title, [([0, 0], Grid { title: grid.into(), cells, ..Grid::default() })]);
        sheet.stacked = access.is_some();
        if let Some(tv) = access {
            sheet.title += &format!(" under {tv} by {vector}: wavefronts {}", touched.wavefronts);
            sheet.notes.extend(touched.conflict.clone());
            sheet.keys = touched.keys();
        }
        Ok(sheet)
    }
}

/// The effect of an access on the elements of a tile.
#[derive(Default)]
struct Touched {
    /// For each element, how many words the access of that element takes from the element's bank.
    ways: Vec<Option<i64>>,
    wavefronts: Pieces,
    /// The first conflict, and the elements of its two lanes.
    conflict: Option<String>,
    marked: Vec<i64>,
}

fn touched(memory: &Composed, tv: &Lay, bits: i64, vector: i64, elements: usize) -> Result<Touched> {
    let accesses = warp_accesses(memory, tv, bits, vector)?;
    let threads = size(&tv.mode(0)?)?;
    let mut touched = Touched {
        ways: vec![None; elements],
        wavefronts: accesses.iter().map(WarpAccess::wavefronts).sum(),
        ..Touched::default()
    };
    for one in &accesses {
        let values = one.value..one.value + vector;
        for (lane, count) in one.ways().into_iter().enumerate() {
            for value in values.clone() {
                let element = tv.at(one.warp * 32 + lane as i64 + threads * value)?;
                if let Some(way) = usize::try_from(element).ok().and_then(|at| touched.ways.get_mut(at)) {
                    *way = Some(way.unwrap_or(1).max(count));
                }
            }
        }
        if let (None, Some(conflict)) = (&touched.conflict, one.conflict()) {
            let at = |lane: i64| tv.at(one.warp * 32 + lane + threads * one.value);
            touched.conflict = Some(format!("warp {}, value {}: {conflict}", one.warp, one.value));
            touched.marked = vec![at(conflict.lanes[0])?, at(conflict.lanes[1])?];
        }
    }
    Ok(touched)
}

impl Touched {
    /// The legend of the colours that appear.
    fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = Vec::new();
        let mut found: Vec<Option<i64>> = self.ways.clone();
        found.sort_unstable();
        found.dedup();
        for ways in found {
            let (fill, text) = match ways {
                None => (Palette::UNTOUCHED, String::from("not accessed")),
                Some(1) => (Palette::ways(1), String::from("1 word: no conflict")),
                Some(ways) => (Palette::ways(ways), format!("{ways} words")),
            };
            match keys.last_mut() {
                Some(last) if last.fill == fill => last.text += &format!(", {text}"),
                _ => keys.push(Key { fill, text }),
            }
        }
        if !self.marked.is_empty() {
            keys.push(Key { fill: Palette::MARK, text: "the lanes of the first conflict".into() });
        }
        keys
    }
}
