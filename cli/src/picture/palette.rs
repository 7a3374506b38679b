//! The colours of pictures: those of threads and indices, which `girih_layout` has, and those of what is drawn here alone.

/// Threads of a warp, and banks of shared memory.
const WARP: i64 = 32;
/// The text of most cells, and the thickest lines.
pub(super) const BLACK: u32 = 0x11_11_11;

/// The colours of threads: a hue for each warp and a shade for each thread. The threads of a single warp share the whole circle of hues,
/// so that each fourth thread begins another hue.
///
/// Colours are `0xRRGGBB`.
///
/// ```
/// use girih_cli::picture::Palette;
///
/// let one_warp = Palette::of_threads(32);
/// assert_eq!((one_warp.thread(0), one_warp.thread(31)), (0xf7d4d4, 0xe779cc));
/// // Black text is legible on the colour of a thread, white text on that of a conflict of 32 words.
/// assert_eq!([Palette::ink(one_warp.thread(3)), Palette::ink(Palette::ways(32))], [0x111111, 0xffffff]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette(girih_layout::Palette);

impl Palette {
    /// What a picture is drawn on, where the surroundings are light.
    pub const PAPER: u32 = 0xff_ff_ff;
    /// The text of titles.
    pub const INK: u32 = 0x22_22_22;
    /// The numbers of rows and columns.
    pub const FAINT: u32 = 0x66_66_66;
    /// [`Palette::PAPER`], [`Palette::INK`] and [`Palette::FAINT`] in dark surroundings.
    pub const DARK: [u32; 3] = [0x16_18_1d, 0xe8_e8_e8, 0xa5_ad_ba];
    /// A cell that all threads share.
    pub const SHARED: u32 = 0xee_ee_ee;
    /// A cell that an access does not touch.
    pub const UNTOUCHED: u32 = 0xf8_f8_f8;
    /// The ring around a cell that is pointed at.
    pub const MARK: u32 = 0x0b_57_d0;

    /// The colours of `count` threads.
    pub fn of_threads(count: i64) -> Palette {
        Palette(girih_layout::Palette::of_threads(count))
    }

    /// The colour of a thread.
    pub fn thread(&self, thread: i64) -> u32 {
        self.0.thread(thread)
    }

    /// The colour of an index: eight shades of grey.
    pub fn index(index: i64) -> u32 {
        girih_layout::Palette::index(index)
    }

    /// The colour of a bank of shared memory.
    pub fn bank(bank: i64) -> u32 {
        Palette::of_threads(WARP).thread(bank.rem_euclid(WARP))
    }

    /// The colour of a cell whose bank has to give this many words at a time: green for one word, which is no conflict, then from yellow to
    /// dark red.
    pub fn ways(ways: i64) -> u32 {
        match ways {
            ..=1 => 0xd8_f0_dc,
            2 => 0xfd_ec_b4,
            3..=4 => 0xf9_bf_7f,
            5..=8 => 0xee_85_60,
            9..=16 => 0xc4_3d_34,
            _ => 0x8c_18_26,
        }
    }

    /// The colour of text on a fill: black or white, of which the one with more contrast; grey on [`Palette::UNTOUCHED`].
    pub fn ink(fill: u32) -> u32 {
        if fill == Palette::UNTOUCHED {
            return 0x76_76_76;
        }
        // Relative luminance as WCAG 2 defines it.
        let channel = |shift: u32| {
            let c = f64::from(fill >> shift & 0xff) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let luminance = 0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0);
        if luminance > 0.179 { BLACK } else { 0xff_ff_ff }
    }
}
