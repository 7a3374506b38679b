//! Pictures: that nothing in them is clipped or touches, and what they show.

use girih_codegen::atom::{CopyAtom, MmaAtom};
use girih_layout::{Composed, Lay, Shape};
use girih_picture::{Error, Palette, Sheet};
use girih_tensor::DType;

fn lay(text: &str) -> Lay {
    Lay::parse(text).expect("a layout")
}

fn mma(name: &str) -> Sheet {
    Sheet::mma(&MmaAtom::find(name).expect("an atom")).expect("a picture")
}

fn composed(text: &str) -> Composed {
    match Composed::parse(text) {
        Ok(composed) => composed,
        Err(_) => Composed::new(girih_layout::Swizzle::NONE, 0, lay(text)),
    }
}

/// Pictures of all kinds.
fn sheets() -> Vec<Sheet> {
    let copy = CopyAtom::find("SM75_U32x4_LDSM_N").expect("an atom");
    let access = lay("(32,8):(1,32)");
    let banks = |text| Sheet::banks(&composed(text), DType::Bf16, Some(&access), 8).expect("a picture");
    let mut long = Sheet::indices(&composed("(2,2):(1,1000000000)")).expect("a picture");
    long.title = "no place to break a line ".repeat(9) + &"x".repeat(200);
    long.grids[0].title = "a title, longer than its grid,".repeat(3);
    vec![
        mma("SM80_16x8x16_F32BF16BF16F32_TN"),
        mma("SM90_64x256x16_F32BF16BF16_RS"),
        Sheet::copy(&copy, 16).expect("a picture"),
        Sheet::indices(&composed("((2,(2,(2,2))),((2,2),(2,2))):((1,(4,(16,64))),((2,8),(32,128)))"))
            .expect("one"),
        Sheet::indices(&composed("(1,2000):(0,1)")).expect("a picture"),
        Sheet::indices(&composed("7:-3")).expect("a picture"),
        banks("(32,64):(64,1)"),
        banks("Sw<3,3,3> o 0 o (32,64):(64,1)"),
        Sheet::owners(&lay("(2,3):(1,2)"), &Shape::parse("(4,2)").expect("a shape")).expect("a picture"),
        long,
    ]
}

/// A text of an SVG: from where to where it goes, its base line, and what it says.
#[derive(Debug)]
struct Text {
    from: f64,
    to: f64,
    y: f64,
    words: String,
}

/// The size of a picture and its texts. A monospaced character is at most 0.61 times as wide as the font is tall.
fn texts(svg: &str) -> ([f64; 2], Vec<Text>) {
    let attribute = |tag: &str, name: &str| -> Option<String> {
        let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
        Some(rest.split('"').next()?.to_owned())
    };
    let number = |tag: &str, name: &str| attribute(tag, name).and_then(|text| text.parse::<f64>().ok());
    let mut open: Vec<(String, f64)> = Vec::new();
    let (mut size, mut found) = ([0.0; 2], Vec::new());
    for piece in svg.split('<').skip(1) {
        let (tag, words) = piece.split_once('>').expect("a tag");
        let (anchor, font) = open.last().cloned().unwrap_or((String::new(), 0.0));
        let here =
            (attribute(tag, "text-anchor").unwrap_or(anchor), number(tag, "font-size").unwrap_or(font));
        match tag.split(' ').next() {
            Some("svg") => {
                size = ["width", "height"].map(|name| number(tag, name).expect("a number"));
                open.push(here);
            }
            Some("g") => open.push(here),
            Some("/g" | "/svg") => drop(open.pop()),
            Some("text") => {
                let words = words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
                let width = words.chars().count() as f64 * here.1 * 0.61;
                let (x, y) = (number(tag, "x").expect("x"), number(tag, "y").expect("y"));
                let from = x - width
                    * match &*here.0 {
                        "start" => 0.0,
                        "end" => 1.0,
                        _ => 0.5,
                    };
                found.push(Text { from, to: from + width, y, words });
            }
            _ => {}
        }
    }
    assert!(open.is_empty());
    (size, found)
}

#[test]
fn no_text_is_clipped_and_none_touches_another() {
    for sheet in sheets() {
        let ([width, height], mut texts) = texts(&sheet.svg());
        for text in &texts {
            assert!(text.from >= 0.0 && text.to <= width, "{width} {text:?}");
            assert!(text.y >= 10.0 && text.y <= height - 3.0, "{height} {text:?}");
        }
        texts.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.from.total_cmp(&b.from)));
        for pair in texts.windows(2).filter(|pair| pair[0].y == pair[1].y) {
            assert!(pair[1].from - pair[0].to >= 2.0, "{}: {pair:?}", sheet.title);
        }
        // Lines of text that are not the same are as far apart as their letters are tall, wherever they could touch.
        for (i, text) in texts.iter().enumerate() {
            let below = texts[i + 1..].iter().take_while(|other| other.y < text.y + 11.0);
            let touching =
                below.filter(|other| other.y > text.y && other.from < text.to && text.from < other.to);
            assert_eq!(touching.count(), 0, "{}: {text:?}", sheet.title);
        }
        let cells: usize = sheet.grids.iter().map(|grid| grid.rows() * grid.columns()).sum();
        assert!(texts.len() >= cells / 2, "{}", sheet.title);
    }
}

/// The whole title is there, in whatever lines.
#[test]
fn titles_are_whole() {
    for sheet in sheets() {
        let (_, texts) = texts(&sheet.svg());
        let joined: String = texts.iter().flat_map(|text| text.words.chars()).filter(|c| *c != ' ').collect();
        for title in sheet.grids.iter().map(|grid| &grid.title).chain([&sheet.title]) {
            let lines: String = title.chars().filter(|c| *c != ' ').collect();
            // The lines of a grid's title stand in the file from the last to the first.
            let pieces =
                texts.iter().filter(|text| !text.words.is_empty() && title.contains(text.words.trim()));
            let long: usize = pieces.map(|text| text.words.chars().filter(|c| *c != ' ').count()).sum();
            assert!(joined.contains(&lines) || long >= lines.chars().count(), "{title}");
        }
    }
}

/// A hue for each warp, a shade for each thread: the threads of a warp differ, and two of different warps have hues that are apart.
#[test]
fn hues_are_those_of_warps_and_shades_those_of_threads() {
    let hue = |colour: u32| {
        let [r, g, b] = [16, 8, 0].map(|shift| f64::from(colour >> shift & 0xff));
        let (most, least) = (r.max(g).max(b), r.min(g).min(b));
        let turn = if most == r {
            (g - b) / (most - least)
        } else if most == g {
            2.0 + (b - r) / (most - least)
        } else {
            4.0 + (r - g) / (most - least)
        };
        turn.rem_euclid(6.0) * 60.0
    };
    for warps in [2i64, 4, 8] {
        let palette = Palette::of_threads(warps * 32);
        let band = 360.0 / warps as f64;
        for thread in 0..warps * 32 {
            let in_band = (hue(palette.thread(thread)) - (thread / 32) as f64 * band + 2.0).rem_euclid(360.0);
            assert!(in_band <= band * 0.5 + 4.0, "thread {thread} of {warps} warps: {in_band}");
        }
    }
    for threads in [1, 2, 4, 8, 16, 32, 128] {
        let palette = Palette::of_threads(threads);
        let mut colours: Vec<u32> = (0..threads.min(32)).map(|thread| palette.thread(thread)).collect();
        colours.sort_unstable();
        colours.dedup();
        assert_eq!(colours.len() as i64, threads.min(32), "{threads}");
    }
}

/// Text has a contrast of 4.5 to 1 to what it stands on, as WCAG asks of text.
#[test]
fn text_is_legible_on_every_colour() {
    let luminance = |colour: u32| {
        let channel = |shift: u32| {
            let c = f64::from(colour >> shift & 0xff) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    };
    let contrast = |a: u32, b: u32| {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    };
    let threads = [32, 64, 128, 256]
        .into_iter()
        .flat_map(|count| (0..count).map(move |thread| Palette::of_threads(count).thread(thread)));
    let rest = (0..8).map(Palette::index).chain((1..=32).map(Palette::ways));
    let fills = threads.chain(rest).chain([Palette::SHARED, Palette::PAPER]);
    for fill in fills {
        assert!(contrast(fill, Palette::ink(fill)) >= 4.5, "{fill:06x}");
    }
    let [paper, ink, faint] = Palette::DARK;
    for (paper, text) in
        [(Palette::PAPER, Palette::INK), (Palette::PAPER, Palette::FAINT), (paper, ink), (paper, faint)]
    {
        assert!(contrast(paper, text) >= 4.5, "{text:06x} on {paper:06x}");
    }
}

/// Lines before coordinates at which a mode of the hierarchy begins anew are thicker, and the thickest are between warps.
#[test]
fn lines_show_the_hierarchy_and_the_warps() {
    let sheet = Sheet::indices(&composed("((2,3),(2,(2,2))):((1,2),(6,(12,24)))")).expect("a picture");
    assert_eq!(sheet.grids[0].levels, [vec![0, 0, 1, 0, 1, 0], vec![0, 0, 1, 0, 2, 0, 1, 0]]);
    // Four warps of 16 rows each, in wgmma's accumulator.
    let sheet = mma("SM90_64x16x16_F32BF16BF16_RS");
    let groups: Vec<i64> = sheet.grids[2].cells.iter().map(|row| row[0].group).collect();
    assert_eq!(groups, (0..64).map(|row| row / 16).collect::<Vec<_>>());
    // Rows of 8 lie in one warp, then come the values of the lower half, then another warp.
    let levels: Vec<usize> = (0..64).filter(|&row| sheet.grids[2].levels[0][row] > 0).collect();
    assert_eq!(levels, [8, 16, 24, 32, 40, 48, 56]);
}

#[test]
fn conflicts_are_marked_and_explained() {
    let access = lay("(32,8):(1,32)");
    let banks = |text| Sheet::banks(&composed(text), DType::Bf16, Some(&access), 8).expect("a picture");
    let marked = |sheet: &Sheet| sheet.grids[0].cells.iter().flatten().filter(|cell| cell.marked).count();
    let plain = banks("(32,64):(64,1)");
    assert_eq!(
        plain.notes,
        ["warp 0, value 0: 8-way conflict: lanes 0 and 1 ask bank 0 for different words"]
    );
    assert_eq!((marked(&plain), plain.grids[0].cells[0][0].fill), (2, Palette::ways(8)));
    assert!(plain.keys.iter().any(|key| key.text == "8 words" && key.fill == Palette::ways(8)));
    let swizzled = banks("Sw<3,3,3> o 0 o (32,64):(64,1)");
    assert_eq!((marked(&swizzled), swizzled.notes.len()), (0, 0));
    assert!(
        swizzled
            .keys
            .iter()
            .all(|key| key.text.starts_with("not accessed") || key.text.starts_with("1 word"))
    );
}

#[test]
fn what_has_no_picture_is_refused() {
    let tile = Shape::parse("(4,4)").expect("a shape");
    let refused = |result: Result<Sheet, Error>| result.expect_err("no picture").to_string();
    let cube = Shape::parse("(2,2,2)").expect("a shape");
    assert!(refused(Sheet::owners(&lay("(4,2):(1,4)"), &cube)).contains("rank 3: tiles of rank 1 or 2"));
    assert!(refused(Sheet::indices(&composed("(s0,2)"))).contains("the size of s0:1 is not known"));
    assert!(refused(Sheet::indices(&composed("(4096,4096)"))).contains("4096 x 4096 cells are too many"));
    assert!(refused(Sheet::owners(&lay("(4,8):(1,4)"), &tile)).contains("value 4 of thread 0 is element 16"));
    assert!(refused(Sheet::owners(&lay("16:1"), &tile)).contains("rank 1"));
}

/// Mode 0 counts rows, and all modes after it columns, the second fastest.
#[test]
fn layouts_of_any_rank_are_drawn() {
    for text in ["(3,2,4):(8,4,1)", "((2,2),3,(2,2)):((1,24),2,(6,12))", "(2,2,2,2):(1,8,2,4)", "5:-2"] {
        let layout = lay(text);
        let sheet = Sheet::indices(&composed(text)).expect("a picture");
        let cells = &sheet.grids[0].cells;
        let rows = cells.len() as i64;
        for (row, cells) in (0..).zip(cells) {
            for (column, cell) in (0..).zip(cells) {
                assert_eq!(
                    cell.text(),
                    layout.at(row + rows * column).expect("an index").to_string(),
                    "{text}"
                );
            }
        }
        let size: usize = cells.iter().map(Vec::len).sum();
        assert_eq!(Some(size as i64), layout.size().expect("a size").get(), "{text}");
    }
    assert_eq!(Sheet::indices(&composed("(3,2,4)")).expect("a picture").grids[0].cells.len(), 3);
}

/// The caller's colours stand in the place of the greys, those that a swizzle moves together sharing one.
#[test]
fn indices_have_the_colours_of_the_caller() {
    let colours = [0xffffff, 0xffcc00, 0x00ccff];
    for (text, together) in [("(4,8):(8,1)", 1), ("Sw<1,1,2> o 0 o (4,8):(8,1)", 2), ("4:-1", 1)] {
        let sheet = Sheet::indices_in(&composed(text), &colours).expect("a picture");
        for cell in sheet.grids[0].cells.iter().flatten() {
            let index: i64 = cell.text().parse().expect("an index");
            assert_eq!(
                cell.fill,
                colours[index.div_euclid(together).rem_euclid(3) as usize],
                "{text}: {index}"
            );
        }
    }
    let none = Sheet::indices_in(&composed("(2,2)"), &[]).expect("a picture");
    assert!(none.grids[0].cells.iter().flatten().all(|cell| cell.fill == Palette::PAPER));
}

/// The greys of a swizzled tile show what the swizzle moves: in each row, vectors of 8 elements are exchanged.
#[test]
fn a_swizzled_tile_does_not_look_like_one_that_is_not() {
    let greys = |text| {
        let sheet = Sheet::indices(&composed(text)).expect("a picture");
        sheet.grids[0]
            .cells
            .iter()
            .map(|row| row.iter().map(|cell| cell.fill).collect())
            .collect::<Vec<Vec<u32>>>()
    };
    let swizzled = greys("Sw<3,3,3> o 0 o (8,64):(64,1)");
    for (row, cells) in swizzled.iter().enumerate() {
        let wanted: Vec<u32> =
            (0..64).map(|column| Palette::index(((column / 8) ^ row as i64) % 8)).collect();
        assert_eq!(*cells, wanted, "row {row}");
    }
    // Without a swizzle, and with one that moves single elements, neighbours differ.
    for text in ["(8,64):(64,1)", "Sw<2,0,3> o 0 o (8,8):(8,1)"] {
        assert!(greys(text).iter().flat_map(|row| row.windows(2)).all(|pair| pair[0] != pair[1]), "{text}");
    }
}
