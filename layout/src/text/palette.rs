//! The colours of pictures, in integers, since `core` has no functions of floats.

/// Threads of a warp.
const WARP: i64 = 32;
/// The hues of a picture: this many can be distinguished.
const HUES: i64 = 8;

/// The colours of threads: a hue for each warp and a shade for each thread. The threads of a single warp share the whole circle of hues,
/// so that each fourth thread begins another hue. Black text is legible on all of them.
///
/// Colours are `0xRRGGBB`.
///
/// ```
/// use girih_layout::Palette;
///
/// let one_warp = Palette::of_threads(32);
/// assert_eq!((one_warp.thread(0), one_warp.thread(31)), (0xf7d4d4, 0xe779cc));
/// // Of two warps, each has its half of the circle.
/// assert_eq!(Palette::of_threads(64).thread(32), 0xd4f7f7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Warps that have hues of their own.
    warps: i64,
    /// Neighbouring threads that have shades of one hue.
    shades: i64,
}

impl Palette {
    /// The colours of `count` threads.
    ///
    /// ```
    /// use girih_layout::Palette;
    /// // Nine warps have the hues of eight.
    /// assert_eq!(Palette::of_threads(288).thread(256), Palette::of_threads(288).thread(0));
    /// ```
    pub const fn of_threads(count: i64) -> Palette {
        // At least one and at most as many as can be told apart.
        let few = if count < 1 { 1 } else { count };
        let warps = if few > WARP * HUES { HUES } else { (few + WARP - 1) / WARP };
        let lanes = if few > WARP { WARP } else { few };
        Palette { warps, shades: (lanes + HUES - 1) / HUES }
    }

    /// The colour of a thread.
    ///
    /// ```
    /// use girih_layout::Palette;
    /// assert_eq!(Palette::of_threads(1).thread(0), 0xf7d4d4);
    /// ```
    pub const fn thread(&self, thread: i64) -> u32 {
        let (warp, lane) = (thread.div_euclid(WARP), thread.rem_euclid(WARP));
        let (group, shade) = (lane / self.shades, lane % self.shades);
        // Hue in sixths of the circle, times `of`. Two warps' hues stay apart, so that the groups of a warp have but a part of the warp's band.
        let of = 2 * HUES * self.warps;
        let spread = if self.warps == 1 { 2 } else { 1 };
        let hue = 6 * (2 * HUES * warp.rem_euclid(self.warps) + spread * group);
        // Lightness from 0.9 to 0.69, times `whole`.
        let steps = if self.shades > 1 { self.shades - 1 } else { 1 };
        let (whole, lightness) = (100 * steps, 90 * steps - 21 * shade);
        channel(hue, of, lightness, whole, 0) << 16
            | channel(hue, of, lightness, whole, 2) << 8
            | channel(hue, of, lightness, whole, 4)
    }

    /// The colour of an index: eight shades of grey.
    ///
    /// ```
    /// use girih_layout::Palette;
    /// assert_eq!([0, 7, 8].map(Palette::index), [0xffffff, 0xa2a2a2, 0xffffff]);
    /// ```
    pub const fn index(index: i64) -> u32 {
        let grey = 0xff - (index.rem_euclid(8) * 0x5d / 7) as u32;
        grey << 16 | grey << 8 | grey
    }
}

/// A channel of a colour of saturation 0.7, of 0 to 255. The channel is full for a third of the circle around `full` sixths, empty for a third,
/// and goes evenly between these.
const fn channel(hue: i64, of: i64, lightness: i64, whole: i64, full: i64) -> u32 {
    let distance = ((hue - full * of).rem_euclid(6 * of) - 3 * of).abs() - of;
    let part = if distance < 0 {
        0
    } else if distance > of {
        of
    } else {
        distance
    };
    // lightness + 2 (1 - lightness) 0.7 (part - 1/2), rounded.
    let (numerator, denominator) =
        (255 * (20 * of * lightness + 14 * (whole - lightness) * (2 * part - of)), 20 * whole * of);
    ((2 * numerator + denominator) / (2 * denominator)) as u32
}
