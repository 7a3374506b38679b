//! What the assembler made of a module: instructions of the machine, and their order.

use std::{path::Path, process::Command};

use crate::shell::{Error, output};

/// The code of an assembled module as text.
pub(crate) fn disassemble(tools: &Path, cubin: &Path) -> Result<String, Error> {
    let mut dump = Command::new(tools.join("cuobjdump"));
    output(dump.arg("-sass").arg(cubin), "cuobjdump -sass")
}

/// The instructions of a disassembly, which are the lines that begin with an address in a comment. Those that fill the code up to whole
/// cache lines do nothing, and are left out.
pub(crate) fn instructions(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let (address, code) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
        u64::from_str_radix(address, 16).ok()?;
        let (code, _) = code.trim_start().split_once(';')?;
        (!code.starts_with("NOP")).then_some(code.trim_end())
    })
}

/// An instruction's operation, without its predicate and its operands.
fn operation(instruction: &str) -> &str {
    instruction.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default()
}

/// What is wrong with the order of attention whose warpgroups ping-pong on the tensor cores.
///
/// A warpgroup has its turn from a barrier of 256 threads at which it waits to one at which it arrives. Turns must be short, as others wait: they have no
/// exponential, and no register is moved between the products of a tile. And exponentials are after the wait for the products
/// that they are of, from which the assembler may move them away only if it does not know of the products' registers.
pub(crate) fn turns(code: &str) -> Vec<String> {
    const TWO_WARPGROUPS: &str = " 0x100";
    let (mut against, mut turn) = (Vec::new(), None::<Vec<&str>>);
    let (mut products, mut powers, mut waited) = (0, 0, false);
    for instruction in instructions(code) {
        let operation = operation(instruction);
        match operation {
            _ if operation.starts_with("HGMMA") => waited = false,
            "WARPGROUP.DEPBAR.LE" => waited = true,
            "MUFU.EX2" => {
                powers += 1;
                if !waited {
                    against.push(format!("no wait for products before `{instruction}`"));
                }
            }
            _ => {}
        }
        if operation.starts_with("BAR.SYNC") && instruction.ends_with(TWO_WARPGROUPS) {
            turn = Some(Vec::new());
        } else if operation == "BAR.ARV" && instruction.ends_with(TWO_WARPGROUPS) {
            let instructions = turn.take().unwrap_or_default();
            products += usize::from(instructions.iter().any(|i| i.contains("HGMMA")));
            against.extend(in_turn(&instructions));
        } else if let Some(turn) = &mut turn {
            turn.push(instruction);
        }
    }
    // The first scores; sums and the next scores.
    if products < 2 || powers == 0 {
        against.push(format!("{products} turns with products, {powers} exponentials"));
    }
    against
}

/// What is wrong with the order of a loop over tiles whose products are in flight while threads compute: between the turn on the tensor cores and the wait for
/// all products are exponentials, after a wait for all but the last.
pub(crate) fn overlap(code: &str) -> Vec<String> {
    const LEAST: usize = 8;
    let (mut most, mut powers, mut waited) = (0, None::<usize>, false);
    for instruction in instructions(code) {
        match operation(instruction) {
            "BAR.ARV" => (powers, waited) = (Some(0), false),
            "WARPGROUP.DEPBAR.LE" if instruction.ends_with("0x0") => {
                most = most.max(powers.take().filter(|_| waited).unwrap_or(0));
            }
            "WARPGROUP.DEPBAR.LE" => waited = true,
            "MUFU.EX2" => powers = powers.map(|count| count + 1),
            _ => {}
        }
    }
    let message = || format!("{most} exponentials while a product is under way, at least {LEAST} are wanted");
    (most < LEAST).then(message).into_iter().collect()
}

/// What is wrong with the instructions of a turn.
fn in_turn(instructions: &[&str]) -> Vec<String> {
    let mut against = Vec::new();
    // Whether the last product is not the last one of its tile.
    let mut open = false;
    for instruction in instructions {
        let operation = operation(instruction);
        if operation == "MUFU.EX2" {
            against.push(format!("`{instruction}` in a turn"));
        } else if operation.starts_with("HGMMA") {
            open = !instruction.contains("gsb0");
        } else if open && (operation == "MOV" || operation.starts_with("IMAD.MOV")) {
            against.push(format!("`{instruction}` between products"));
        }
    }
    against
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop as it should be.
    const GOOD: [&str; 15] = [
        "BAR.SYNC.DEFER_BLOCKING R4, 0x100",
        "WARPGROUP.ARRIVE",
        "HGMMA.64x96x16.F32.BF16 R24, gdesc[UR8], RZ, !UPT",
        "VIADD R158, R11, UR17",
        "HGMMA.64x96x16.F32.BF16 R24, gdesc[UR8], R24, gsb0",
        "BAR.ARV R5, 0x100",
        "WARPGROUP.DEPBAR.LE gsb0, 0x0",
        "MUFU.EX2 R24, R24",
        "BAR.SYNC.DEFER_BLOCKING R4, 0x100",
        "HGMMA.64x64x16.F32.BF16 R72, R24, gdesc[UR8].tnspB, R72",
        "HGMMA.64x64x16.F32.BF16 R72, R28, gdesc[UR8].tnspB, R72, gsb0",
        "@!P0 BRA 0x4420",
        "WARPGROUP.DEPBAR.LE gsb0, 0x0",
        "HGMMA.64x96x16.F32.BF16 R24, gdesc[UR8], RZ, !UPT, gsb0",
        "@P1 BAR.ARV R5, 0x100",
    ];

    fn code(instructions: &[&str]) -> String {
        instructions.iter().map(|i| format!("        /*0a10*/   {i} ;   /* 0x0 */\n")).collect()
    }

    #[test]
    fn instructions_begin_with_an_address() {
        let code = "        /*0000*/   LDC R1, c[0x0][0x28] ;   /* 0x0 */\n                    /* 0x00 */\n\
                    /*0010*/  @P0 BRA 0x10 ;\n /*0020*/ NOP;\n.L_x_0:\n";
        assert_eq!(instructions(code).collect::<Vec<_>>(), ["LDC R1, c[0x0][0x28]", "@P0 BRA 0x10"]);
    }

    #[test]
    fn turns_are_short() {
        assert_eq!(turns(&code(&GOOD)), Vec::<String>::new());
        let with = |at: usize, instruction| {
            let mut all = GOOD.to_vec();
            all.insert(at, instruction);
            turns(&code(&all))
        };
        assert_eq!(with(12, "MUFU.EX2 R7, R7").len(), 2);
        assert_eq!(with(6, "@P0 MUFU.EX2 R7, R7"), ["no wait for products before `@P0 MUFU.EX2 R7, R7`"]);
        assert_eq!(
            with(4, "IMAD.MOV.U32 R1, RZ, RZ, R2"),
            ["`IMAD.MOV.U32 R1, RZ, RZ, R2` between products"]
        );
        assert_eq!(with(9, "IMAD.MOV.U32 R1, RZ, RZ, R2"), Vec::<String>::new());
        assert_eq!(turns(""), ["0 turns with products, 0 exponentials"]);
    }

    #[test]
    fn products_are_under_way_while_threads_compute() {
        let order = |before: usize, middle: usize| {
            let power = "MUFU.EX2 R24, R24";
            let mut all = vec![
                "BAR.SYNC.DEFER_BLOCKING R4, 0x100",
                "HGMMA.64x96x16.F32.BF16 R24, gsb0",
                "BAR.ARV R5, 0x100",
            ];
            all.extend(vec![power; before]);
            all.push("WARPGROUP.DEPBAR.LE gsb0, 0x1");
            all.extend(vec![power; middle]);
            all.extend(["WARPGROUP.DEPBAR.LE gsb0, 0x0", power, power]);
            overlap(&code(&all))
        };
        assert_eq!(order(0, 8), Vec::<String>::new());
        assert_eq!(order(0, 0), ["0 exponentials while a product is under way, at least 8 are wanted"]);
        assert_eq!(
            overlap(&code(&GOOD)),
            ["0 exponentials while a product is under way, at least 8 are wanted"]
        );
    }
}
