//! The formats of C's `printf` (ISO C, "The fprintf function"), for values that a device program has packed into
//! memory.

/// A part of a format.
pub(super) enum Piece<'f> {
    Text(&'f str),
    Conversion(Conversion),
}

/// `%-+ #0width.precision(length)kind`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conversion {
    pub(super) left: bool,
    plus: bool,
    blank: bool,
    alternative: bool,
    zero: bool,
    pub(super) width: usize,
    /// Whether the width is `*`, an argument.
    pub(super) width_argument: bool,
    pub(super) precision: Option<usize>,
    pub(super) precision_argument: bool,
    /// Bytes of an integer argument.
    bytes: u64,
    pub(super) kind: char,
}

/// The value that a conversion prints.
pub(super) enum Argument {
    None,
    Bits(u64),
    Text(String),
}

/// Larger widths and precisions are reduced to this, since a program may ask for gigabytes.
const MOST: usize = 1024;

/// The parts of a format in order. Whatever is not a valid conversion is text.
pub(super) fn parse(format: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while !rest.is_empty() {
        let plain = rest.find('%').unwrap_or(rest.len());
        if plain > 0 {
            pieces.push(Piece::Text(&rest[..plain]));
            rest = &rest[plain..];
            continue;
        }
        match conversion(&rest[1..]) {
            Some((conversion, after)) => {
                pieces.push(Piece::Conversion(conversion));
                rest = after;
            }
            None => {
                pieces.push(Piece::Text(&rest[..1]));
                rest = &rest[1..];
            }
        }
    }
    pieces
}

/// The conversion with which `text` begins, after its percent sign, and the text after it.
fn conversion(text: &str) -> Option<(Conversion, &str)> {
    let mut c = Conversion { bytes: 4, ..Conversion::default() };
    let mut rest = text;
    loop {
        match rest.as_bytes().first()? {
            b'-' => c.left = true,
            b'+' => c.plus = true,
            b' ' => c.blank = true,
            b'#' => c.alternative = true,
            b'0' => c.zero = true,
            _ => break,
        }
        rest = &rest[1..];
    }
    let number = |rest: &mut &str| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, after) = rest.split_at(end);
        *rest = after;
        digits.bytes().fold(0usize, |n, digit| (10 * n + usize::from(digit - b'0')).min(MOST))
    };
    match rest.strip_prefix('*') {
        Some(after) => (c.width_argument, rest) = (true, after),
        None => c.width = number(&mut rest),
    }
    if let Some(after) = rest.strip_prefix('.') {
        match after.strip_prefix('*') {
            Some(after) => (c.precision_argument, rest) = (true, after),
            None => {
                rest = after;
                c.precision = Some(number(&mut rest));
            }
        }
    }
    for (length, bytes) in [("hh", 1), ("h", 2), ("ll", 8), ("l", 8), ("j", 8), ("z", 8), ("t", 8), ("L", 8)]
    {
        if let Some(after) = rest.strip_prefix(length) {
            (c.bytes, rest) = (bytes, after);
            break;
        }
    }
    c.kind = rest.chars().next()?;
    "diouxXfFeEgGaAcsp%".contains(c.kind).then(|| (c, &rest[1..]))
}

impl Conversion {
    /// Bytes of the argument as it is passed: an integer narrower than `int` is passed as an `int`.
    pub(super) fn size(&self) -> u64 {
        match self.kind {
            '%' => 0,
            'c' => 4,
            'd' | 'i' | 'o' | 'u' | 'x' | 'X' => self.bytes.max(4),
            _ => 8,
        }
    }

    /// Appends the argument's text.
    pub(super) fn print(&self, argument: &Argument, out: &mut String) {
        let body = match (self.kind, argument) {
            ('%', _) => return out.push('%'),
            ('s', Argument::Text(text)) => {
                let end = self.precision.map_or(text.chars().count(), |most| most);
                return self.pad("", &text.chars().take(end).collect::<String>(), false, out);
            }
            ('c', &Argument::Bits(bits)) => {
                return self.pad("", &char::from(bits as u8).to_string(), false, out);
            }
            ('p', Argument::Bits(bits)) => return self.pad("", &format!("{bits:#x}"), false, out),
            ('d' | 'i' | 'o' | 'u' | 'x' | 'X', &Argument::Bits(bits)) => self.integer(bits),
            (_, &Argument::Bits(bits)) => self.float(f64::from_bits(bits)),
            _ => return,
        };
        let (sign, digits, zeros) = body;
        self.pad(&sign, &digits, zeros, out);
    }

    /// Sign or prefix, digits, and whether zeros may fill the width between them.
    fn integer(&self, bits: u64) -> (String, String, bool) {
        let unused = 64 - 8 * self.bytes as u32;
        let signed = (bits << unused) as i64 >> unused;
        let unsigned = bits << unused >> unused;
        let (mut sign, mut digits) = match self.kind {
            'd' | 'i' => (self.sign(signed < 0), signed.unsigned_abs().to_string()),
            'o' => (String::new(), format!("{unsigned:o}")),
            'x' => (String::new(), format!("{unsigned:x}")),
            'X' => (String::new(), format!("{unsigned:X}")),
            _ => (String::new(), unsigned.to_string()),
        };
        if let Some(least) = self.precision {
            if unsigned == 0 && least == 0 {
                digits.clear();
            }
            let missing = least.min(MOST).saturating_sub(digits.len());
            digits.insert_str(0, &"0".repeat(missing));
        }
        match self.kind {
            'x' if self.alternative && unsigned != 0 => sign.push_str("0x"),
            'X' if self.alternative && unsigned != 0 => sign.push_str("0X"),
            'o' if self.alternative && !digits.starts_with('0') => digits.insert(0, '0'),
            _ => {}
        }
        (sign, digits, self.precision.is_none())
    }

    fn sign(&self, negative: bool) -> String {
        match (negative, self.plus, self.blank) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
        .into()
    }

    fn float(&self, x: f64) -> (String, String, bool) {
        let sign = self.sign(x.is_sign_negative());
        let magnitude = x.abs();
        let upper = self.kind.is_ascii_uppercase();
        let cased = |text: String| if upper { text.to_ascii_uppercase() } else { text };
        if !x.is_finite() {
            return (sign, cased(if x.is_nan() { "nan" } else { "inf" }.into()), false);
        }
        let precision = self.precision.unwrap_or(6).min(MOST);
        let digits = match self.kind.to_ascii_lowercase() {
            'f' => self.fixed(magnitude, precision),
            'e' => self.scientific(magnitude, precision),
            'g' => self.general(magnitude, precision.max(1)),
            _ => {
                let (prefix, digits) = (if upper { "0X" } else { "0x" }, self.hexadecimal(magnitude));
                return (sign + prefix, cased(digits), true);
            }
        };
        (sign, cased(digits), true)
    }

    fn fixed(&self, x: f64, precision: usize) -> String {
        let point = if precision == 0 && self.alternative { "." } else { "" };
        format!("{x:.precision$}{point}")
    }

    /// One digit, a point, `precision` digits, and an exponent of at least two digits.
    fn scientific(&self, x: f64, precision: usize) -> String {
        let text = format!("{x:.precision$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
        let point = if precision == 0 && self.alternative { "." } else { "" };
        format!("{digits}{point}e{sign}{exponent:0>2}")
    }

    /// `precision` significant digits: fixed, or scientific if the exponent is below -4 or at least `precision`;
    /// without trailing zeros.
    fn general(&self, x: f64, precision: usize) -> String {
        let text = format!("{x:.*e}", precision - 1);
        let exponent =
            text.split_once('e').and_then(|(_, exponent)| exponent.parse::<i64>().ok()).unwrap_or(0);
        let fixed = (-4..precision as i64).contains(&exponent);
        let text = match fixed {
            true => self.fixed(x, (precision as i64 - 1 - exponent) as usize),
            false => self.scientific(x, precision - 1),
        };
        if self.alternative || !text.contains('.') {
            return text;
        }
        let (digits, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        format!("{digits}{exponent}")
    }

    /// The hexadecimal form without the prefix `0x`: a digit, a point, the fraction's digits, and a power of two.
    fn hexadecimal(&self, x: f64) -> String {
        let bits = x.to_bits();
        let biased = (bits >> 52) as i64;
        let (mut exponent, lead) = if biased == 0 { (-1022, 0) } else { (biased - 1023, 1u64) };
        if x == 0.0 {
            exponent = 0;
        }
        let fraction = bits & ((1 << 52) - 1);
        let mut significand = lead << 52 | fraction;
        let mut digits = 13;
        if let Some(precision) = self.precision.filter(|&precision| precision < 13) {
            let drop = 4 * (13 - precision);
            let (kept, rest, half) =
                (significand >> drop, significand & ((1 << drop) - 1), 1u64 << (drop - 1));
            significand = (kept + u64::from(rest > half || rest == half && kept & 1 == 1)) << drop;
            digits = precision;
        }
        let mut text = format!("{:013x}", significand & ((1 << 52) - 1));
        text.truncate(digits);
        match self.precision {
            None => text = text.trim_end_matches('0').into(),
            Some(precision) => text.push_str(&"0".repeat(precision.min(MOST).saturating_sub(13))),
        }
        let point = if text.is_empty() && !self.alternative { "" } else { "." };
        format!("{}{point}{text}p{exponent:+}", significand >> 52)
    }

    /// Fills up to the width: with zeros between sign and digits, or with blanks on one side.
    fn pad(&self, sign: &str, digits: &str, zeros: bool, out: &mut String) {
        let missing = self.width.min(MOST).saturating_sub(sign.len() + digits.chars().count());
        let (blanks, filled) = match (self.left, self.zero && zeros) {
            (true, _) => (0, 0),
            (false, true) => (0, missing),
            (false, false) => (missing, 0),
        };
        out.push_str(&" ".repeat(blanks));
        out.push_str(sign);
        out.push_str(&"0".repeat(filled));
        out.push_str(digits);
        if self.left {
            out.push_str(&" ".repeat(missing));
        }
    }
}
