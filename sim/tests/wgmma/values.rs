//! Elements: which there are, their values and bits.

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    pub(crate) fn flip(&mut self) -> bool {
        self.below(2) == 1
    }
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Element types of A and B, and those of D that go with them.
pub(crate) const TYPES: &[(&str, &str, &[&str])] = &[
    ("f16", "f16", &["f32", "f16"]),
    ("bf16", "bf16", &["f32"]),
    ("tf32", "tf32", &["f32"]),
    ("e4m3", "e4m3", &["f32", "f16"]),
    ("e4m3", "e5m2", &["f32", "f16"]),
    ("e5m2", "e4m3", &["f32", "f16"]),
    ("e5m2", "e5m2", &["f32", "f16"]),
    ("s8", "s8", &["s32", "satfinite.s32"]),
    ("s8", "u8", &["s32", "satfinite.s32"]),
    ("u8", "s8", &["s32", "satfinite.s32"]),
    ("u8", "u8", &["s32", "satfinite.s32"]),
    ("b1", "b1", &["s32"]),
];

pub(crate) fn bits(ty: &str) -> usize {
    match ty {
        "b1" => 1,
        "tf32" => 32,
        "f16" | "bf16" => 16,
        _ => 8,
    }
}

pub(crate) fn is_integer(ty: &str) -> bool {
    matches!(ty, "s8" | "u8" | "b1")
}

/// A value whose sums of products with its like are exact in every accumulator.
pub(crate) fn value(random: &mut Random, ty: &str) -> i64 {
    match ty {
        "b1" => random.below(2) as i64,
        "s8" => random.below(256) as i64 - 128,
        "u8" => random.below(256) as i64,
        _ => random.below(9) as i64 - 4,
    }
}

/// The bits of a value.
pub(crate) fn encode(ty: &str, x: i64) -> u32 {
    let magnitude = x.unsigned_abs() as usize;
    match ty {
        "f16" => half::f16::from_f64(x as f64).to_bits().into(),
        "bf16" => half::bf16::from_f64(x as f64).to_bits().into(),
        // The low bits are not read.
        "tf32" => (x as f32).to_bits() | 0x1234 & 0x1fff,
        "e4m3" => [0, 0x38, 0x40, 0x44, 0x48][magnitude] | u32::from(x < 0) << 7,
        "e5m2" => [0, 0x3c, 0x40, 0x42, 0x44][magnitude] | u32::from(x < 0) << 7,
        _ => (x & 0xff) as u32,
    }
}

/// Puts element `index` (of `bits(ty)` bits) into bytes from `at` on.
pub(crate) fn put(memory: &mut [u8], at: usize, ty: &str, x: i64) {
    let word = encode(ty, x).to_le_bytes();
    memory[at..at + bits(ty) / 8].copy_from_slice(&word[..bits(ty) / 8]);
}
