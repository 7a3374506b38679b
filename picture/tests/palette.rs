//! The colours of pictures.

use girih_picture::Palette;

/// The colours of threads are those of the definition in floats: hue by warp and group, lightness by shade, saturation 0.7.
#[test]
fn the_palette_is_its_definition_in_floats() {
    let channel = |hue: f64, lightness: f64, full: f64| {
        let chroma = (1.0 - (2.0 * lightness - 1.0).abs()) * 0.7;
        let distance = ((hue - full).rem_euclid(360.0) - 180.0).abs() / 60.0;
        ((lightness + chroma * ((distance - 1.0).clamp(0.0, 1.0) - 0.5)) * 255.0).round() as u32
    };
    for count in (-1..=64).chain([96, 128, 160, 192, 224, 256, 288, 1024, i64::MAX]) {
        let few = count.clamp(1, 256);
        let (warps, shades) = ((few + 31) / 32, (few.min(32) + 7) / 8);
        for thread in -40..300i64 {
            let (warp, lane) = (thread.div_euclid(32).rem_euclid(warps), thread.rem_euclid(32));
            let group = (lane / shades) as f64 / if warps == 1 { 8.0 } else { 16.0 };
            let hue = 360.0 / warps as f64 * (warp as f64 + group);
            let lightness = 0.9 - 0.21 * (lane % shades) as f64 / (shades - 1).max(1) as f64;
            let [red, green, blue] = [0.0, 120.0, 240.0].map(|full| channel(hue, lightness, full));
            let colour = Palette::of_threads(count).thread(thread);
            assert_eq!(colour, red << 16 | green << 8 | blue, "thread {thread} of {count}");
        }
    }
}
