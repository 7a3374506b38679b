//! The colours of pictures.

/// Threads of a warp, and banks of shared memory.
const WARP: i64 = 32;
/// The hues of a picture: a reader distinguishes this many.
const HUES: i64 = 8;
/// The text of most cells, and the thickest lines.
pub(crate) const BLACK: u32 = 0x11_11_11;

/// The colours of threads: a hue for each warp and a shade for each thread. The threads of a single warp share the whole circle of hues,
/// so that each fourth thread begins another hue. Black text is legible on all of them.
///
/// Colours are `0xRRGGBB`.
///
/// ```
/// use girih_picture::Palette;
///
/// let one_warp = Palette::of_threads(32);
/// assert_eq!((one_warp.thread(0), one_warp.thread(31)), (0xf7d4d4, 0xe779cc));
/// // Of two warps, each has its half of the circle.
/// assert_eq!(Palette::of_threads(64).thread(32), 0xd4f7f7);
/// // Black text is legible on the colour of a thread, white text on that of a conflict of 32 words.
/// assert_eq!([Palette::ink(one_warp.thread(3)), Palette::ink(Palette::ways(32))], [0x111111, 0xffffff]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Warps that have hues of their own.
    warps: i64,
    /// Neighbouring threads that have shades of one hue.
    shades: i64,
}

impl Palette {
    /// The background of a picture in light surroundings.
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
    ///
    /// ```
    /// use girih_picture::Palette;
    /// // Nine warps have the hues of eight.
    /// assert_eq!(Palette::of_threads(288).thread(256), Palette::of_threads(288).thread(0));
    /// ```
    pub fn of_threads(count: i64) -> Palette {
        // At least one and at most as many as can be distinguished.
        let few = count.max(1);
        let warps = if few > WARP * HUES { HUES } else { (few + WARP - 1) / WARP };
        Palette { warps, shades: (few.min(WARP) + HUES - 1) / HUES }
    }

    /// The colour of a thread.
    ///
    /// ```
    /// use girih_picture::Palette;
    /// assert_eq!(Palette::of_threads(1).thread(0), 0xf7d4d4);
    /// ```
    pub fn thread(&self, thread: i64) -> u32 {
        let (warp, lane) = (thread.div_euclid(WARP), thread.rem_euclid(WARP));
        let (group, shade) = (lane / self.shades, lane % self.shades);
        // Hue in sixths of the circle, times `of`. Two warps' hues stay apart, so that the groups of a warp have but a part of the warp's band.
        let of = 2 * HUES * self.warps;
        let spread = if self.warps == 1 { 2 } else { 1 };
        let hue = 6 * (2 * HUES * warp.rem_euclid(self.warps) + spread * group);
        // Lightness from 0.9 to 0.69, times `whole`.
        let steps = (self.shades - 1).max(1);
        let (whole, lightness) = (100 * steps, 90 * steps - 21 * shade);
        channel(hue, of, lightness, whole, 0) << 16
            | channel(hue, of, lightness, whole, 2) << 8
            | channel(hue, of, lightness, whole, 4)
    }

    /// The colour of an index: eight shades of grey.
    ///
    /// ```
    /// use girih_picture::Palette;
    /// assert_eq!([0, 7, 8].map(Palette::index), [0xffffff, 0xa2a2a2, 0xffffff]);
    /// ```
    pub fn index(index: i64) -> u32 {
        let grey = 0xff - whole(index.rem_euclid(8) * 0x5d / 7);
        grey << 16 | grey << 8 | grey
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

/// A channel of a colour of saturation 0.7, of 0 to 255. The channel is full for a third of the circle around `full` sixths, empty for a third,
/// and goes evenly between these.
fn channel(hue: i64, of: i64, lightness: i64, whole_light: i64, full: i64) -> u32 {
    let distance = ((hue - full * of).rem_euclid(6 * of) - 3 * of).abs() - of;
    let part = distance.clamp(0, of);
    // lightness + 2 (1 - lightness) 0.7 (part - 1/2), rounded.
    let numerator = 255 * (20 * of * lightness + 14 * (whole_light - lightness) * (2 * part - of));
    let denominator = 20 * whole_light * of;
    whole((2 * numerator + denominator) / (2 * denominator))
}

/// A number of 0 to 255.
fn whole(channel: i64) -> u32 {
    u32::try_from(channel).unwrap_or(0)
}
