//! Files of several parts with a checksum, which are validated by their content.

/// Bytes of a number: the checksum, the count and the lengths.
const WORD: usize = size_of::<u64>();

/// The file of these parts. `magic` says what the file is, and the version of its format.
pub(crate) fn encode(magic: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let counts = [parts.len()].into_iter().chain(parts.iter().map(|part| part.len()));
    let mut body: Vec<u8> = counts.flat_map(|count| (count as u64).to_le_bytes()).collect();
    parts.iter().for_each(|part| body.extend_from_slice(part));
    [magic, &fnv1a(&body).to_le_bytes(), &body].concat()
}

/// The parts of a file, if it is whole and its first bytes are `magic`.
pub(crate) fn decode<'a>(magic: &[u8], file: &'a [u8]) -> Option<Vec<&'a [u8]>> {
    let (checksum, body) = file.strip_prefix(magic)?.split_first_chunk::<WORD>()?;
    if fnv1a(body) != u64::from_le_bytes(*checksum) {
        return None;
    }
    let (count, lengths) = body.split_first_chunk::<WORD>()?;
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    let (lengths, mut rest) = lengths.split_at_checked(count.checked_mul(WORD)?)?;
    let mut parts = Vec::new();
    for length in lengths.as_chunks::<WORD>().0 {
        let (part, behind) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        parts.push(part);
        rest = behind;
    }
    rest.is_empty().then_some(parts)
}

/// The hash FNV-1a of 64 bits: of names, and against damage. Each byte changes it, and the order of bytes does.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published vectors of FNV-1a of 64 bits.
    #[test]
    fn the_hash_is_fnv_1a() {
        for (bytes, hash) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(fnv1a(bytes.as_bytes()), hash, "{bytes}");
        }
    }

    /// Every bit of a file is under the checksum, and every shorter, longer or other file is none.
    #[test]
    fn a_file_is_whole_or_none() {
        for parts in [&[][..], &[&b""[..]], &[b"a part", b"", b"\0\0"]] {
            let file = encode(b"magic", parts);
            assert_eq!(decode(b"magic", &file), Some(parts.to_vec()));
            assert_eq!(decode(b"MAGIC", &file), None);
            for bit in 0..8 * file.len() {
                let mut damaged = file.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(decode(b"magic", &damaged), None, "bit {bit}");
            }
            for length in 0..file.len() {
                assert_eq!(decode(b"magic", &file[..length]), None, "{length} of {} bytes", file.len());
            }
            assert_eq!(decode(b"magic", &[&file[..], b"."].concat()), None);
        }
    }

    /// Counts and lengths beyond the file are refused, also where the checksum is that of the body.
    #[test]
    fn lengths_beyond_the_file_are_refused() {
        for words in [&[1u64][..], &[1, 1], &[u64::MAX], &[u64::MAX / 8 + 2, 0], &[2, 0], &[1, u64::MAX]] {
            let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let file = [b"magic", &fnv1a(&body).to_le_bytes()[..], &body].concat();
            assert_eq!(decode(b"magic", &file), None, "{words:?}");
        }
    }
}
