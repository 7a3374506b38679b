//! Functions element by element, selections, casts, constants.

use girih_tile::dtype::Const;
use girih_tile::ir::Rounding;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::{Each, TABLE};
use girih_tile::ops::{Arg, Mode};

use super::case::{Asked, Case, dims};
use super::record::Record;
use super::{Stop, array};

pub(super) fn answer(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    Ok(match record.op {
        "strict_const_value" => Asked::Tile(case.value(record, 0)?),
        "broadcast_to" => {
            let value = case.value(record, 0)?;
            Asked::Tile(case.b.broadcast_to(value, dims(&record.ints("shape")?)?)?)
        }
        "astype" => {
            let value = case.value(record, 0)?;
            let rounding = record.mode()?.rounding.unwrap_or(Rounding::Nearest);
            Asked::Tile(case.b.cast(value, record.dtype()?, rounding)?)
        }
        "store_implicit_cast" => {
            let (_, shape) = array::typed(record.input(1)?)?;
            let value = case.operand(record, 0)?;
            let array = case.input_array(record, 1, true)?;
            let index = vec![Arg::Loose(Const::Int(0)); shape.len()];
            case.b.store(&Tiles::new(array, dims(&shape)?), &index, value)?;
            Asked::Accepted
        }
        "where_xy" => {
            let args = [vec![Arg::Loose(Const::Bool(true))], case.operands(record, 0)?].concat();
            Asked::Tile(case.b.each(Each::Select, &args, Mode::default())?)
        }
        "divmod" => {
            let args = case.operands(record, 0)?;
            let mut part = |op| case.b.each(op, &args, Mode::default());
            Asked::Tiles(vec![part(Each::FloorDiv)?, part(Each::Mod)?])
        }
        name => {
            let row = TABLE.iter().find(|row| row.name == name).ok_or(Stop::Unsupported)?;
            let args = case.operands(record, 0)?;
            if args.len() != row.arity {
                return Err(Stop::Record(format!(
                    "`{name}` of {} inputs; it takes {}",
                    args.len(),
                    row.arity
                )));
            }
            Asked::Tile(case.b.each(row.op, &args, record.mode()?)?)
        }
    })
}
