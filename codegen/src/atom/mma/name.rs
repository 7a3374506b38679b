//! CuTe's names of atoms.

use girih_layout::Message;

use super::{Major, MmaAtom, MmaKind, Product};

/// A major mode in an atom's name.
pub(super) const fn major(major: Major) -> &'static str {
    match major {
        Major::K => "K",
        Major::Mn => "MN",
    }
}

/// A kind of instruction in errors.
pub(super) const fn kind(kind: MmaKind) -> &'static str {
    match kind {
        MmaKind::Fma => "Fma",
        MmaKind::Dot => "Dot",
        MmaKind::Mma => "Mma",
        MmaKind::WgmmaSs => "WgmmaSs",
        MmaKind::WgmmaRs => "WgmmaRs",
    }
}

/// A way to multiply in errors.
pub(super) const fn product(product: Product) -> &'static str {
    match product {
        Product::Multiply => "Multiply",
        Product::Saturate => "Saturate",
        Product::Xor => "Xor",
        Product::And => "And",
    }
}

const fn words(out: &mut Message, words: &[&str]) {
    let mut i = 0;
    while i < words.len() {
        out.text(words[i]);
        i += 1;
    }
}

impl MmaAtom {
    /// CuTe's name, with arguments where CuTe has a template. An atom of types that CuTe does not have is named by the same pattern.
    ///
    /// ```
    /// use girih_codegen::atom::{SM80_16X8X16_F32BF16BF16F32_TN, UNIVERSAL_FMA_F32};
    /// assert_eq!(SM80_16X8X16_F32BF16BF16F32_TN.name(), "SM80_16x8x16_F32BF16BF16F32_TN");
    /// assert_eq!(UNIVERSAL_FMA_F32.name(), "UniversalFMA_F32");
    /// ```
    pub fn name(&self) -> String {
        let mut name = Message::EMPTY;
        self.spell(&mut name);
        name.as_str().to_owned()
    }

    /// Writes the name; constants can call this.
    pub(crate) const fn spell(&self, out: &mut Message) {
        let [a, b, c] = [self.a_type.format().cute, self.b_type.format().cute, self.c_type.format().cute];
        match self.kind {
            MmaKind::Fma => {
                out.text("UniversalFMA_");
                return out.text(c);
            }
            MmaKind::Dot => {
                out.text("SM61_DP");
                out.number(self.shape_mnk[2] as usize);
                return out.text("A");
            }
            MmaKind::Mma if self.arch == 90 => out.text("SM90::MMA"),
            MmaKind::Mma => {
                out.text("SM");
                out.number(self.arch as usize);
            }
            MmaKind::WgmmaSs | MmaKind::WgmmaRs => out.text("SM90::GMMA::MMA"),
        }
        let [m, n, k] = self.shape_mnk;
        out.text("_");
        out.number(m as usize);
        out.text("x");
        out.number(n as usize);
        out.text("x");
        out.number(k as usize);
        let suffix = match self.product {
            Product::Multiply => "",
            Product::Saturate => "_SATURATE",
            Product::Xor => "_XORPOPC",
            Product::And => "_ANDPOPC",
        };
        words(out, &["_", c, a, b]);
        match self.kind {
            MmaKind::Mma => return words(out, &[c, "_", self.letters(), suffix]),
            MmaKind::WgmmaSs => out.text("_SS"),
            _ => out.text("_RS"),
        }
        if self.a_type.bits() == 16 {
            let [a, b] = [major(self.majors[0]), major(self.majors[1])];
            words(out, &["<GMMA::Major::", a, ", GMMA::Major::", b, ">"]);
        } else {
            words(out, &["_TN", suffix]);
        }
    }

    /// BLAS's letters: A is transposed where K is contiguous in A, B where K is not contiguous in B.
    const fn letters(&self) -> &'static str {
        match self.majors {
            [Major::K, Major::K] => "TN",
            [Major::K, Major::Mn] => "TT",
            [Major::Mn, Major::K] => "NN",
            [Major::Mn, Major::Mn] => "NT",
        }
    }

    /// The atom of a name, in upper or lower case. The name of a template without arguments means its K-major atom.
    /// `SM90_64x64x16_...` is CuTe's earlier spelling of `SM90::GMMA::MMA_64x64x16_...`, and `SM90_16x8x4_...` is short for
    /// `SM90::MMA_16x8x4_...`.
    ///
    /// ```
    /// use girih_codegen::atom::MmaAtom;
    /// let atom = MmaAtom::find("SM80_16X8X16_F32F16F16F32_TN").unwrap();
    /// assert_eq!(atom.shape_mnk, [16, 8, 16]);
    /// let atom = MmaAtom::find("SM90::GMMA::MMA_64x128x16_F32BF16BF16_SS").unwrap();
    /// assert_eq!(atom.name(), "SM90::GMMA::MMA_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>");
    /// assert!(MmaAtom::find("SM80_16x8x17_F32F16F16F32_TN").is_none());
    /// ```
    pub fn find(name: &str) -> Option<MmaAtom> {
        let plain = |name: &str| {
            let name = name.to_ascii_lowercase().replace(' ', "");
            name.replace("sm90::gmma::mma_", "sm90_")
                .replace("sm90::mma_", "sm90_")
                .replace("gmma::major::", "")
        };
        let wanted = plain(name);
        MmaAtom::all().find(|atom| {
            let name = plain(&atom.name());
            name == wanted || name.strip_suffix("<k,k>").is_some_and(|base| base == wanted)
        })
    }
}

impl std::fmt::Display for MmaAtom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}
