//! The verdict, the report and the final memory depend only on the seed, and not on the number of workers.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{download, load, module, shape, u64_arg, upload};
use girih_sim::{Memory, Options, Program, Verdict, judge};

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % n
    }

    fn of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A kernel of accesses to 64 words that all blocks share, and to 64 further words for each of 16 blocks.
fn kernel(random: &mut Random) -> String {
    let mut text = String::from(
        ".visible .entry k(.param .u64 out) { .shared .align 16 .b8 s[512];
         .reg .b32 %i, %me, %s, %m, %v, %r<9>; .reg .b64 %p, %o, %w, %a; .reg .pred %p<9>;
         ld.param.u64 %p, [out]; mov.u32 %me, %ctaid.x; mov.u32 %i, %tid.x; mov.u32 %s, s; mad.lo.u32 %m, %i, 4, %s;
         mad.lo.u32 %r0, %me, 64, %i; add.u32 %r0, %r0, 64; mul.wide.u32 %o, %r0, 4; add.s64 %o, %o, %p;
         mov.u32 %v, 1; mov.u32 %r1, 0;\n",
    );
    let communicates = random.below(4) == 0;
    for _ in 0..1 + random.below(5) {
        // The thread's own word, or one of a few words that all threads share, in two sizes.
        let word = 4 * random.below(6);
        let place = match random.below(5) {
            0 | 1 => "[%o]".to_string(),
            2 => format!("[%p+{word}]"),
            3 => format!("[%p+{}]", 4 * random.below(2)),
            _ => "[%o+4]".to_string(),
        };
        let value = random.of(&["%v", "%v", "%me", "%i", "%r1"]);
        let guard = match random.below(3) {
            0 => String::new(),
            1 => format!("setp.eq.u32 %p0, %me, {}; @%p0 ", random.below(4)),
            _ => format!("setp.lt.u32 %p0, %i, {}; @%p0 ", 1 + random.below(40)),
        };
        let line = match random.below(if communicates { 8 } else { 6 }) {
            0 | 1 => format!("st.global.u32 {place}, {value};"),
            2 => format!("ld.global.u32 %r1, {place};"),
            3 => format!("red.global.add.u32 {place}, 1;"),
            4 => format!("st.global.u8 [%p+{}], %v;", word + random.below(4)),
            5 => "bar.sync 0;".into(),
            6 => format!("atom.global.add.u32 %r1, {place}, 1;"),
            _ => format!("st.relaxed.gpu.global.u32 {place}, {value}; fence.acq_rel.gpu;"),
        };
        text += &if line.starts_with("bar") { line } else { format!("{guard}{line}") };
        text.push('\n');
    }
    text + "ret; }"
}

fn outcome(program: &Program, options: &Options, blocks: u32, threads: u32) -> (Verdict, Vec<u32>) {
    let memory = Memory::new();
    let out = upload(&memory, &[0; 64 * 18]);
    let mut shape = shape(blocks, threads);
    shape.args = vec![u64_arg(out)];
    let verdict = judge(program.kernel("k").unwrap(), &memory, &shape, options).unwrap();
    (verdict, download(&memory, out, 64 * 18))
}

#[test]
fn findings_depend_on_the_seed_alone() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut clean, mut warned, mut wrong) = (0, 0, 0);
    for nth in 0..60 {
        let text = module(&kernel(&mut random));
        let program = load(&text).unwrap();
        let (blocks, threads) = (2 + random.below(12) as u32, 33 + random.below(31) as u32);
        let seed = nth % 3;
        let with = |workers| Options { threads: Some(workers), seed, ..Options::checked() };
        let one = outcome(&program, &with(1), blocks, threads);
        for repeat in 0..50 {
            let workers = [1, 2, 4][repeat % 3];
            let again = outcome(&program, &with(workers), blocks, threads);
            assert_eq!(again, one, "{nth}, {workers} workers, {blocks} blocks of {threads}\n{text}");
        }
        *match (one.0.passed(), one.0.findings.is_empty()) {
            (_, true) => &mut clean,
            (true, false) => &mut warned,
            (false, _) => &mut wrong,
        } += 1;
    }
    assert!(clean > 10 && warned > 2 && wrong > 10, "{clean} {warned} {wrong}");
}

/// Accesses by many threads of other blocks before a write; not all of these accesses are remembered.
#[test]
fn which_block_comes_first_does_not_decide_whether_there_is_a_race() {
    // Two threads of every block read a word that a third thread of the last block writes after a barrier.
    let text = module(
        ".visible .entry k(.param .u64 out) { .reg .b32 %i, %me, %n, %r<9>; .reg .b64 %p; .reg .pred %p<9>;
         ld.param.u64 %p, [out]; mov.u32 %me, %ctaid.x; mov.u32 %n, %nctaid.x; mov.u32 %i, %tid.x;
         ld.global.u32 %r0, [%p]; sub.u32 %n, %n, 1; setp.eq.u32 %p0, %me, %n; setp.eq.and.u32 %p0, %i, 5, %p0;
         bar.sync 0; @%p0 st.global.u32 [%p], 7; ret; }",
    );
    let program = load(&text).unwrap();
    for repeat in 0..300 {
        let options = Options { threads: Some([1, 2, 4][repeat % 3]), ..Options::checked() };
        let (verdict, _) = outcome(&program, &options, 2 + repeat as u32 % 7, 64);
        assert_eq!(verdict.findings.len(), 1, "{repeat}");
        assert_eq!(verdict.findings[0].error.kind(), "race");
    }
}
