//! No program makes the simulator panic or exceed its limits: kernels with words exchanged, dropped and changed.

use crate::common::kernels::{mma, simt};
use crate::common::{self, u32_arg, u64_arg};
use girih_sim::{Error, Launch, Memory, Options, Program, run};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Words and what stands between them.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '%' || c == '_' || c == '.';
        let end = rest.find(|c| word(c) != word(first)).unwrap_or(rest.len());
        let end = if word(first) { end } else { first.len_utf8() };
        out.push(&rest[..end]);
        rest = &rest[end..];
    }
    out
}

fn mutate(text: &str, random: &mut Random) -> String {
    const VALUES: &[&str] = &[
        "0",
        "1",
        "-1",
        "3",
        "4294967295",
        "9223372036854775807",
        "%tid.x",
        "%clock",
        "_",
        "{%r0, %r1}",
        "%r0",
        "%p",
    ];
    let mut words = tokens(text);
    for _ in 0..1 + random.below(3) {
        // Past the header, which is the same everywhere.
        let at = 20 + random.below(words.len() - 20);
        let from = 20 + random.below(words.len() - 20);
        words[at] = match random.below(4) {
            0 => words[from],
            1 => VALUES[random.below(VALUES.len())],
            2 => "",
            _ => {
                words.swap(at, from);
                words[at]
            }
        };
    }
    words.concat()
}

#[test]
fn mutated_kernels_end_with_a_report_or_an_error() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut parsed, mut loaded, mut finished, mut stopped) = (0, 0, 0, 0);
    for source in [simt(), mma()] {
        for round in 0..400 {
            let text = mutate(&source, &mut random);
            let Ok(module) = girih_ptx::Module::parse(&text) else { continue };
            parsed += 1;
            let Ok(program) = Program::load(&module) else { continue };
            loaded += 1;
            let memory = Memory::new();
            let [a, b, c] = [0; 3].map(|_| memory.alloc(64 * 64 * 4).unwrap());
            let args = vec![u64_arg(c), u64_arg(a), u64_arg(b), u32_arg(64), u32_arg(64)];
            let launch = Launch {
                grid: [1, 1, 1],
                block: [128, 1, 1],
                dynamic_shared: 30720,
                args,
                ..Launch::default()
            };
            let checks = if round % 2 == 0 { Options::checked() } else { Options::default() };
            let options =
                Options { steps: Some(10_000), counts: true, seed: round, threads: Some(1), ..checks };
            let Some(kernel) = program.kernels().first() else { continue };
            match run(kernel, &memory, &launch, &options) {
                Ok(_) => finished += 1,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    stopped += 1;
                }
            }
        }
    }
    // The mutations reach every stage.
    assert!(
        parsed > loaded && loaded > 50 && finished > 10 && stopped > 10,
        "{parsed} {loaded} {finished} {stopped}"
    );
}

#[test]
fn extreme_declarations_are_refused_or_small() {
    let cases = [
        ".reg .b32 %r<4294967295>; mov.u32 %r4294967294, 1; ret;",
        ".shared .align 1073741824 .b8 s[16]; .reg .b32 %r; mov.u32 %r, s; ret;",
        ".shared .b8 s[9223372036854775807]; ret;",
        ".shared .b64 s[9223372036854775807]; ret;",
        ".local .b8 l[9223372036854775807]; ret;",
        ".local .b8 l[65537]; ret;",
        ".shared .align 3 .b8 s[16]; ret;",
        ".reg .b32 %r; ld.shared.b32 %r, [9223372036854775807]; ret;",
        ".reg .b32 %r; ld.b32 %r, [-4]; ret;",
        ".reg .b64 %r; ld.global.b64 %r, [-8]; ret;",
        ".reg .b32 %r; ld.param.b32 %r, [0]; ret;",
        ".reg .b128 %q; ret;",
        ".reg .b64 %q; ld.global.b128 %q, [0]; ret;",
        "bra L; L:",
        "",
    ];
    let mut errors = 0;
    for body in cases {
        let text = common::module(&format!(".visible .entry k() {{ {body} }}"));
        let Ok(module) = girih_ptx::Module::parse(&text) else { continue };
        let result = Program::load(&module).and_then(|program| {
            let launch = common::shape(1, 1024);
            run(program.kernel("k")?, &Memory::new(), &launch, &Options::checked())
        });
        errors += usize::from(matches!(
            result,
            Err(Error::Unsupported { .. } | Error::OutOfBounds { .. } | Error::SharedTooLarge { .. })
        ));
        assert!(result.is_ok() || !result.unwrap_err().to_string().is_empty());
    }
    assert!(errors >= 8, "{errors}");
    // Blocks nested deeper than anything sensible.
    let deep = format!("{}{}", "{".repeat(2000), "}".repeat(2000));
    let text = common::module(&format!(".visible .entry k() {{ {deep} }}"));
    if let Ok(module) = girih_ptx::Module::parse(&text) {
        assert!(Program::load(&module).is_err());
    }
}
