//! The table of query tiles: one entry for each tile, from which a block reads its work.

use girih_ptx::{Opcode, Operand, Special, Type};
use girih_tensor::Space;

use super::AttentionConfig;
use super::interface::Interface;
use crate::builder::{Builder, Cond, Width};
use crate::{Error, Expr};

/// The most queries or keys of a sequence, rows of a tensor, batches, and the widest window: index arithmetic stays in 32 bits.
pub const MAX_LENGTH: i64 = 1 << 28;

/// A tile of queries of one head, as it is in the table: eight 32-bit words. In a table for `n` blocks, block `i` takes the entries
/// `i`, `i + n`, `i + 2 n` and so on, until one is [`QueryTile::END`].
///
/// # Examples
/// ```
/// use girih_codegen::attention::QueryTile;
///
/// // Rows 192 and following of 1000 queries, which see 1500 keys: the last query sees the last key.
/// let tile = QueryTile { row: 192, queries: 1000, keys: 1500, diagonal: 500, ..QueryTile::default() };
/// assert_eq!(tile.words()[..3], [192, 1000, 1500]);
/// assert_eq!(QueryTile::END.words()[1], 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueryTile {
    /// The first row of the tile in its sequence.
    pub row: u32,
    /// The queries of the sequence, 1 or more.
    pub queries: u32,
    /// The keys of the sequence, which may be none.
    pub keys: u32,
    /// The key that is on the diagonal of query 0: 0, or `keys - queries` where the last query and the last key belong together.
    pub diagonal: i32,
    /// Where the queries of the sequence begin among the rows of Q and O.
    pub first_query: u32,
    /// Where the keys of the sequence begin among the rows of K and V.
    pub first_key: u32,
    /// The head of Q and O.
    pub head: u16,
    /// The head of K and V.
    pub group: u16,
    /// The place along the mode of batches.
    pub batch: u32,
}

impl QueryTile {
    /// The words of an entry.
    pub const WORDS: usize = 8;
    /// The end of a block's list.
    pub const END: QueryTile = QueryTile {
        row: 0,
        queries: 0,
        keys: 0,
        diagonal: 0,
        first_query: 0,
        first_key: 0,
        head: 0,
        group: 0,
        batch: 0,
    };

    /// The entry as it is in memory. The diagonal, which may be negative, is [`MAX_LENGTH`] greater there.
    pub fn words(&self) -> [u32; QueryTile::WORDS] {
        let heads = u32::from(self.head) | u32::from(self.group) << 16;
        let diagonal = self.diagonal.wrapping_add(MAX_LENGTH as i32).cast_unsigned();
        [self.row, self.queries, self.keys, diagonal, self.first_query, self.first_key, heads, self.batch]
    }
}

/// Bytes of an entry.
pub(super) const ENTRY: i64 = 4 * QueryTile::WORDS as i64;

/// A tile as a kernel's threads know it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub row: Expr,
    pub queries: Expr,
    pub keys: Expr,
    /// The diagonal, moved up by [`MAX_LENGTH`].
    pub diagonal: Expr,
    pub first_query: Expr,
    pub first_key: Expr,
    pub head: Expr,
    pub group: Expr,
    pub batch: Expr,
}

impl Entry {
    /// Reads the entry at a byte address of the table, where `who` holds. Elsewhere its values are not known.
    #[track_caller]
    pub(super) fn read(
        b: &mut Builder,
        config: &AttentionConfig,
        address: &Expr,
        who: &Cond,
    ) -> Result<Entry, Error> {
        let words = b.regs(Type::U32, QueryTile::WORDS);
        for half in [0, 1] {
            let at = address + (half * 16);
            b.load(Space::Gmem, &words[half as usize * 4..][..4], &at, who)?;
        }
        let of_tile = config.tile[0];
        let mut number = |i: usize, upper: i64, multiple: i64| b.var(&words[i], 0, upper, multiple);
        let (row, queries) = (number(0, MAX_LENGTH - 1, of_tile), number(1, MAX_LENGTH, 1));
        let (keys, diagonal) = (number(2, MAX_LENGTH, 1), number(3, 2 * MAX_LENGTH, 1));
        let (first_query, first_key) = (number(4, MAX_LENGTH, 1), number(5, MAX_LENGTH, 1));
        let (heads, batch) = (number(6, u32::MAX.into(), 1), number(7, MAX_LENGTH, 1));
        let [head, group] = [heads.rem(1 << 16)?, heads.div(1 << 16)?];
        Ok(Entry { row, queries, keys, diagonal, first_query, first_key, head, group, batch })
    }
}

/// Runs `body` for each of the block's tiles.
#[track_caller]
pub(super) fn for_each_tile(
    b: &mut Builder,
    interface: &Interface<'_>,
    body: impl FnOnce(&mut Builder, &Entry) -> Result<(), Error>,
) -> Result<(), Error> {
    let next = b.reg(Type::U32);
    let [block, blocks] = [Special::CtaidX, Special::NctaidX].map(|special| b.special(special));
    let block = b.operand(&block, Width::W32)?;
    b.inst(Opcode::Mov, &[Type::U32.into()], vec![Operand::from(&next), block]);
    let tiles = b.open_repeat();
    let at = b.var(&next, 0, 2 * MAX_LENGTH, 1);
    b.leave(&tiles, &Cond::not(Cond::less(&at, &interface.entries)), true)?;
    let address = &interface.table + &(&at * ENTRY);
    let entry = Entry::read(b, interface.config, &address, &Cond::Always)?;
    let blocks = b.operand(&blocks, Width::W32)?;
    b.inst(Opcode::Add, &[Type::U32.into()], vec![Operand::from(&next), Operand::from(&next), blocks]);
    b.leave(&tiles, &Cond::less(&entry.queries, &Expr::from(1)), true)?;
    body(b, &entry)?;
    b.again(&tiles, &Cond::Always, true)?;
    b.close_block(tiles)
}
