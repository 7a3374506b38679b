//! Tables of tiles: each row of each head is in one tile, and blocks have about as much to do.

use std::collections::HashMap;

use girih_kernels::attention::{Diagonal, Mask, Order, Problem, QueryTile, Sequence, Table};
use girih_tensor::DType;
use rand::RngExt;

use crate::common::Failure;
use crate::common::attention::{generator, random};

/// The sequence of a tile, if the tile is of this problem.
fn sequence_of(problem: &Problem, tile: &QueryTile) -> Option<Sequence> {
    problem.sequences().find(|s| {
        let place = [s.batch, s.first_query, s.queries, s.first_key, s.keys];
        let of_tile = [tile.batch, tile.first_query, tile.queries, tile.first_key, tile.keys].map(i64::from);
        place == of_tile && i64::from(tile.diagonal) == problem.mask().diagonal().key(s.queries, s.keys)
    })
}

/// What a tile costs, by looking at each tile of keys: one for its begin and its end, and one for each tile of keys of which a query sees a key.
fn cost(problem: &Problem, tile: &QueryTile, [of_queries, of_keys]: [i64; 2]) -> i64 {
    let rows = i64::from(tile.row)..i64::from(tile.queries).min(i64::from(tile.row) + of_queries);
    let seen = |begin: i64| {
        rows.clone().any(|row| {
            let keys = problem.mask().keys(row, tile.queries.into(), tile.keys.into());
            keys.start < keys.end && keys.start < begin + of_keys && keys.end > begin
        })
    };
    1 + (0..i64::from(tile.keys)).step_by(of_keys as usize).filter(|&begin| seen(begin)).count() as i64
}

#[test]
fn each_row_is_in_one_tile_and_loads_are_even() -> Result<(), Failure> {
    for seed in 0..300 {
        let mut rng = generator(seed);
        let problem = random(&mut rng, DType::Bf16, 64, 700)?;
        let (tile, blocks) =
            ([64 * rng.random_range(1..5), 16 * rng.random_range(1..9)], rng.random_range(1..150));
        let table = Table::new(&problem, tile, blocks)?;
        let count = Table::count(&problem, tile[0]);
        assert_eq!(i64::from(table.blocks()), count.min(blocks.into()), "{seed}");
        let mut covered: HashMap<(u32, u32, u16), Vec<[i64; 2]>> = HashMap::new();
        let (mut loads, mut tiles) = (Vec::new(), 0);
        let mut most = 0;
        for block in 0..table.blocks() {
            let mut load = 0;
            for entry in table.tiles(block) {
                let sequence = sequence_of(&problem, entry).ok_or_else(|| format!("{seed}: {entry:?}"))?;
                assert_eq!(
                    i64::from(entry.group),
                    i64::from(entry.head) * problem.kv_heads() / problem.heads(),
                    "{seed}"
                );
                assert!(i64::from(entry.row) % tile[0] == 0 && entry.row < entry.queries, "{seed}");
                let rows = [i64::from(entry.row), sequence.queries.min(i64::from(entry.row) + tile[0])];
                covered.entry((entry.batch, entry.first_query, entry.head)).or_default().push(rows);
                let cost = cost(&problem, entry, tile);
                (load, most, tiles) = (load + cost, most.max(cost), tiles + 1);
            }
            assert!(load > 0, "{seed}: a block without tiles");
            loads.push(load);
        }
        assert_eq!(tiles, count, "{seed}");
        let sequences = || problem.sequences().filter(|s| s.queries > 0);
        assert_eq!(covered.len() as i64, sequences().count() as i64 * problem.heads(), "{seed}");
        for ((sequence, head), rows) in
            sequences().flat_map(|s| (0..problem.heads()).map(move |head| (s, head))).map(|(s, head)| {
                let rows = covered.get(&(s.batch as u32, s.first_query as u32, head as u16));
                ((s, head), rows.cloned().unwrap_or_default())
            })
        {
            let mut rows = rows;
            rows.sort_unstable();
            assert_eq!((rows[0][0], rows[rows.len() - 1][1]), (0, sequence.queries), "{seed} {head}");
            assert!(rows.windows(2).all(|pair| pair[0][1] == pair[1][0]), "{seed} {head}");
        }
        // No order of giving tiles to the least loaded block does worse.
        if let (Some(greatest), blocks) = (loads.iter().max(), loads.len() as i64) {
            let all: i64 = loads.iter().sum();
            assert!(
                greatest * blocks <= all + (blocks - 1) * most,
                "{seed}: {greatest} of {all} for {blocks}"
            );
        }
    }
    Ok(())
}

/// Whole tiles come head by head and last tiles after them; under a mask, heads whose keys and values stay in the cache come together, longest first.
#[test]
fn the_order_keeps_to_what_stays_in_the_cache() -> Result<(), Failure> {
    let problem = Problem::new(DType::Bf16, Order::Bhsd, [1, 3, 500, 500, 128])?;
    let table = Table::new(&problem, [192, 128], 1)?;
    let order: Vec<(u16, u32)> = table.tiles(0).map(|tile| (tile.head, tile.row)).collect();
    assert_eq!(order, [(0, 0), (0, 192), (1, 0), (1, 192), (2, 0), (2, 192), (0, 384), (1, 384), (2, 384)]);
    // A head has 8 MB: two heads at a time.
    let causal = Problem::new(DType::Bf16, Order::Bhsd, [1, 4, 16384, 16384, 128])?
        .with_mask(Mask::causal(Diagonal::TopLeft))?;
    let table = Table::new(&causal, [192, 128], 1)?;
    let heads: Vec<u16> = table.tiles(0).map(|tile| tile.head / 2).collect();
    assert!(heads.is_sorted());
    let of_first: Vec<u32> = table.tiles(0).filter(|tile| tile.head < 2).map(|tile| tile.row / 64).collect();
    assert!(
        of_first.windows(2).all(|pair| pair[0] + 3 >= pair[1]) && of_first[0] > of_first[of_first.len() - 1]
    );
    // Heads that share keys count them once, so that all four come together.
    let table = Table::new(&causal.with_kv_heads(1)?, [192, 128], 1)?;
    assert!(!table.tiles(0).map(|tile| tile.head).collect::<Vec<_>>().is_sorted());
    Ok(())
}

#[test]
fn more_tiles_than_a_table_has_are_refused() -> Result<(), Failure> {
    let problem = Problem::new(DType::F16, Order::Bshd, [1 << 20, 64, 64, 1, 8])?;
    let error = Table::new(&problem, [64, 64], 132).expect_err("too many").to_string();
    assert_eq!(
        error,
        "67108864 tiles of 64 queries are more than a grid's 16777216 blocks: smaller extents are accepted"
    );
    Ok(())
}
