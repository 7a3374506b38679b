//! Which lane accesses which address, from an instruction's text and the registers before it.

use girih_sim::Moment;

use super::class::opcode;

/// What lanes access by an instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Access {
    pub(super) write: bool,
    /// The state space as the instruction names it; generic if it names none.
    pub(super) space: &'static str,
    /// Bytes of each lane.
    pub(super) bytes: u32,
    /// The lanes, and the first address of each.
    pub(super) lanes: Vec<(usize, u64)>,
}

/// The accesses of `ld`, `st`, `atom`, `red`, `cp.async`, `ldmatrix` and `stmatrix`, if the address is a register plus a number.
pub(super) fn of(moment: &Moment<'_>) -> Vec<Access> {
    let text = moment.instruction();
    let words = opcode(text);
    let mut operands = text.split('[').skip(1).filter_map(|rest| rest.split(']').next());
    let lanes = |operand: &str, most: usize| {
        let (name, offset) = operand.split_once('+').unwrap_or((operand, "0"));
        let offset: i64 = offset.trim().parse().ok()?;
        let register = moment.registers().find(|register| register.name == name.trim())?;
        let lanes = moment.active_lanes().filter(|&lane| lane < most);
        Some(lanes.map(|lane| (lane, register.lanes[lane].wrapping_add_signed(offset))).collect::<Vec<_>>())
    };
    let access =
        |write: bool, space, bytes: u32, lanes: Vec<(usize, u64)>| Access { write, space, bytes, lanes };
    let family = words.split('.').next().unwrap_or_default();
    let all = match family {
        // Bulk copies and copies of tensors are no accesses of lanes.
        "cp" if words.starts_with("cp.async.c") => {
            let bytes = text.rsplit(']').next().and_then(|rest| rest.split([',', ';']).nth(1));
            let bytes = bytes.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
            let [to, from] = [operands.next(), operands.next()].map(|operand| lanes(operand?, 32));
            vec![
                from.map(|lanes| access(false, "global", bytes, lanes)),
                to.map(|lanes| access(true, "shared", bytes, lanes)),
            ]
        }
        "ldmatrix" | "stmatrix" => {
            // A lane has the address of a row.
            let matrices =
                ["x4", "x2"].iter().zip([4, 2]).find(|(word, _)| words.split('.').any(|part| part == **word));
            let rows = matrices.map_or(8, |(_, matrices)| 8 * matrices);
            let lanes = operands.next().and_then(|operand| lanes(operand, rows));
            vec![lanes.map(|lanes| access(family == "stmatrix", "shared", 16, lanes))]
        }
        "ld" | "ldu" | "st" | "atom" | "red" if !words.contains(".param") && !words.contains(".async") => {
            let lanes = operands.next().and_then(|operand| lanes(operand, 32));
            vec![lanes.map(|lanes| access(!family.starts_with("ld"), space(words), width(words), lanes))]
        }
        _ => Vec::new(),
    };
    all.into_iter().flatten().filter(|of| !of.lanes.is_empty()).collect()
}

fn space(words: &str) -> &'static str {
    let named = ["shared", "global", "local", "const"];
    named
        .into_iter()
        .find(|name| words.split('.').any(|word| word.split("::").next() == Some(name)))
        .unwrap_or("generic")
}

/// Bytes of a lane: those of the type, times the elements of a vector.
fn width(words: &str) -> u32 {
    let number = |word: &str| {
        word.trim_start_matches(|c: char| !c.is_ascii_digit()).split('x').next()?.parse::<u32>().ok()
    };
    let bits = words.rsplit('.').next().and_then(number).unwrap_or(8);
    let count = words.split('.').find_map(|word| word.strip_prefix('v')?.parse::<u32>().ok()).unwrap_or(1);
    bits / 8 * count
}
