//! Loads tiles of K and V into shared memory.

use girih_layout::{Int, Lay};
use girih_tensor::{DType, Slice, Tensor};

use super::interface::{Interface, Keys};
use super::share::{KEYS, Share};
use super::{MAX_KEYS, MAX_PAGES};
use crate::algorithm::{CopyWith, copy, read};
use crate::builder::{Builder, Width};
use crate::engine::element_bytes;
use crate::sizes::{shape_tiler, static_size};
use crate::{Error, Expr, Gmem, Memory, Scalar, Smem, ThrCopy, TiledCopy};

/// The most groups of keys in a tile, each of which is in a page.
pub(super) const GROUPS: usize = 4;

/// K or V of one head, and the ring of its tiles.
struct Ring {
    whole: Tensor<Gmem>, // (Key,HeadDim)
    /// The stride of keys, and that of pages.
    step: Int,
    page: Expr,
    ring: Tensor<Smem>, // (Keys,HeadDim,Stage)
}

/// The loads of tiles of K and V by all threads of a block.
pub(super) struct Loader {
    rings: [Ring; 2],
    copy: TiledCopy,
    /// The keys that are loaded together, and the extents of such a group.
    group: i64,
    extents: [i64; 2],
    /// The keys of a page and the pages of the sequence, if there are pages.
    pages: Option<(i64, Tensor<Gmem>, Expr)>,
    /// The first key that is loaded, if not key 0, and the one after the last.
    begin: Option<Expr>,
    end: Expr,
}

impl Loader {
    /// The loads of the keys of a tile of rows from head `head` of a batch.
    pub(super) fn new(
        b: &mut Builder,
        interface: &Interface<'_>,
        [batch, head]: [&Expr; 2],
        share: &Share,
    ) -> Result<Loader, Error> {
        let config = interface.config;
        let bytes = element_bytes("cache", config.cache)?;
        let swizzle = config.swizzle()?;
        let stage = Lay::strided([KEYS, config.head_dim], [config.head_dim, 1])?; // (Keys,HeadDim)
        let ring = stage.append(&Lay::strided([config.stages], [KEYS * config.head_dim])?.mode(0)?)?; // (Keys,HeadDim,Stage)
        // The length takes the place of this symbol in each tile.
        let extent = Int::symbol(b.unbound_symbol(|s| s.at_most(MAX_KEYS))?);
        let mut of = |keys: &Keys| -> Result<Ring, Error> {
            let first = head * &keys.head;
            let first = if config.page.is_some() { first } else { &first + &(batch * &keys.outer) };
            let layout = Lay::strided([extent, interface.columns], [keys.step, Int::ONE])?;
            let whole = Gmem::bounded(&keys.pointer + &(&first * bytes), config.cache, &layout)?;
            let ring = Smem::alloc(b, config.cache, swizzle, &ring)?;
            Ok(Ring { whole, step: keys.step, page: keys.outer.clone(), ring })
        };
        let [k, v] = [of(&interface.cache[0])?, of(&interface.cache[1])?];
        let copy = config.loader()?;
        let pages = match (&interface.table, config.page) {
            (Some(table), Some(page)) => {
                let list = Lay::strided([extent], [Int::ONE])?;
                let list = Gmem::bounded(table.pointer.clone(), DType::U32, &list)?;
                let own = (&share.end + (page - 1)).div(page)?;
                let engine = list.engine().part_of(0, [&(batch * &table.stride), &Expr::from(0), &own]);
                Some((page, Tensor::new(engine, *list.layout()), table.last.clone()))
            }
            _ => None,
        };
        let (group, extents) = (config.group(), [config.group(), config.head_dim]);
        let (begin, end) = (share.begin.clone(), share.end.clone());
        Ok(Loader { rings: [k, v], copy, group, extents, pages, begin, end })
    }

    /// The ring of K or of V, (Keys,HeadDim,Stage).
    pub(super) fn ring(&self, of_values: bool) -> &Tensor<Smem> {
        &self.rings[usize::from(of_values)].ring
    }

    /// The pages in which the groups of a tile are, 0 for groups after the end. These loads have the latency of any other load, so they
    /// are issued one iteration early.
    pub(super) fn pages(&self, b: &mut Builder, tile: &Expr) -> Result<[Scalar; GROUPS], Error> {
        let mut pages = std::array::from_fn(|_| Scalar::new(DType::U32, 0.0));
        if let Some((page, table, _)) = &self.pages {
            for (group, number) in pages.iter_mut().enumerate().take((KEYS / self.group) as usize) {
                let key = &(tile * KEYS) + group as i64 * self.group;
                let entry = read(b, &table.slice(Slice::At(key.div(*page)?))?)?;
                *number = entry[0].clone();
            }
        }
        Ok(pages)
    }

    /// Writes the loads of a tile by `thread`, whose groups are in these pages, into a stage. Keys that no row of the tile of rows sees become zeros: a power
    /// of 0 times a value that is not a number would be none either.
    pub(super) fn load(
        &self,
        b: &mut Builder,
        thread: &Expr,
        tile: &Expr,
        pages: &[Scalar; GROUPS],
        stage: &Expr,
    ) -> Result<(), Error> {
        let mine = self.copy.get_slice(thread)?;
        for group in 0..KEYS / self.group {
            let key = &(tile * KEYS) + group * self.group;
            let page = match &self.pages {
                Some((page, _, last)) => {
                    let number = b.index_of(&pages[group as usize])?.minimum(last);
                    let register = b.value(&number, Width::W32)?;
                    Some((key.rem(*page)?, b.var(&register, 0, MAX_PAGES - 1, 1)))
                }
                None => None,
            };
            for ring in &self.rings {
                let (origin, engine) = match &page {
                    Some((inside, number)) => (inside, ring.whole.engine().further(&(number * &ring.page))),
                    None => (&key, ring.whole.engine().clone()),
                };
                // Counted from the first key that is loaded.
                let (before, count) = match &self.begin {
                    Some(begin) => (begin - &key, &self.end - begin),
                    None => (Expr::from(0), &self.end - &key),
                };
                let engine = engine.part_of(0, [origin, &Expr::from(0), &count]);
                let target = ring.ring.slice((Slice::All, Slice::All, Slice::At(stage.clone())))?; // (Keys,HeadDim)
                self.load_group(b, (ring, &mine), engine, [&before, &count], (&target, group))?;
            }
        }
        Ok(())
    }

    /// Loads the `count` keys of a group from key `first` of the group on. The address goes from one row of the thread to the
    /// next, since an address for each row takes registers that are not there.
    fn load_group(
        &self,
        b: &mut Builder,
        (ring, mine): (&Ring, &ThrCopy<Expr>),
        engine: Gmem,
        [first, count]: [&Expr; 2],
        (target, group): (&Tensor<Smem>, i64),
    ) -> Result<(), Error> {
        let tiler = shape_tiler(&self.extents)?;
        let whole = Tensor::new(engine, *ring.whole.layout());
        let source = whole.local_tile(&tiler, Slice::tuple([Slice::at(0), Slice::at(0)]))?; // (Group,HeadDim)
        let target = target.local_tile(&tiler, Slice::tuple([Slice::at(group), Slice::at(0)]))?; // (Group,HeadDim)
        let (source, target) = (mine.partition_s(&source)?, mine.partition_d(&target)?); // (Val,RestX,RestY)
        let rows = self.copy.extents()?[0];
        let step = &Expr::from_int(&ring.step) * (rows * element_bytes("cache", source.engine().dtype())?);
        let mut address = source.engine().address()?;
        for row in 0..static_size("cache", &source.layout().mode(1)?)? {
            let at = (Slice::All, Slice::at(row), Slice::All);
            let (source, target) = (source.slice(at.clone())?, target.slice(at)?); // (Val,RestY)
            address = b.hold_index(&address, Width::W64)?;
            let passed = Expr::from(rows * row);
            // Without a first key the thread's row stays as it is, and what is left gets less.
            let (before, count) = match self.begin {
                Some(_) => (first.clone(), count.clone()),
                None => (passed.clone(), count - &passed),
            };
            let engine = source.engine().part_of(0, [&Expr::from(0), &before, &count]);
            let source = Tensor::new(engine.at_address(address.clone()), *source.layout());
            copy(b, CopyWith::from(&self.copy).zero_fill(), &source, &target)?;
            address = &address + &step;
        }
        Ok(())
    }
}
