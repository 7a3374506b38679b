//! The kernels of `docs/simulator.md`: the verdict on each must be the one that the document gives.

use girih_ptx::Module;
use girih_sim::{Launch, Memory, Options, Program, judge};

const DOCUMENT: &str = include_str!("../../docs/simulator.md");

/// Words of the kernels on which the verdict is wrong today. Those of kernels that have become right must be removed.
const WRONG_TODAY: &[&str] = &[];

/// The texts of fences with this word.
fn fences(word: &str) -> impl Iterator<Item = &str> {
    DOCUMENT.split("\n```").skip(1).step_by(2).filter_map(move |fence| {
        let (info, text) = fence.split_once('\n')?;
        (info == word).then_some(text)
    })
}

/// What stands in a kernel's comment that begins so.
fn comment<'a>(body: &'a str, begin: &str) -> Option<&'a str> {
    body.lines().find_map(|line| line.trim().strip_prefix("// ")?.strip_prefix(begin))
}

/// Blocks, threads and blocks of a cluster, from a kernel's comment.
fn shape(body: &str) -> [u32; 3] {
    let told = |text: &&str| text.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" block");
    let mut comments = body.lines().filter_map(|line| line.trim().strip_prefix("// "));
    let shape = comments.find(told).unwrap_or("1 block of 64 threads");
    let numbers: Vec<u32> =
        shape.split_whitespace().filter_map(|word| word.trim_end_matches(',').parse().ok()).collect();
    [numbers[0], numbers[1], numbers.get(2).copied().unwrap_or(1)]
}

#[test]
fn the_document_tells_the_verdicts() {
    let head = fences("text").find(|text| text.contains(".visible .entry")).unwrap();
    let dynamic = ".extern .shared .align 16 .b8 dynamic[];";
    let mut wrong = Vec::new();
    let mut count = 0;
    for body in fences("ptx") {
        let expected = comment(body, "verdict: ").unwrap();
        count += 1;
        let text = format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n{dynamic}\n{head}\n{body}\n  ret;\n}}\n"
        );
        let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let program = Program::load(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let memory = Memory::new();
        let words: Vec<u8> = (0..1024u32).flat_map(u32::to_le_bytes).collect();
        let buffers = [vec![0; 4096], words].map(|bytes| {
            let address = memory.alloc(4096).unwrap();
            memory.write(address, &bytes).unwrap();
            address.to_le_bytes().to_vec()
        });
        let [blocks, threads, cluster] = shape(body);
        let launch = Launch {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            cluster: Some([cluster, 1, 1]),
            dynamic_shared: 512,
            cooperative: false,
            args: buffers.into(),
        };
        let options = Options { seeds: 4, steps: Some(100_000), ..Options::checked() };
        let verdict = judge(&program.kernels()[0], &memory, &launch, &options).unwrap();
        let kinds: Vec<&str> = verdict.findings.iter().map(|finding| finding.error.kind()).collect();
        let right = match expected {
            "right" => kinds.is_empty(),
            _ => kinds.iter().any(|kind| expected.split(" or ").any(|word| word == *kind)),
        };
        let known = WRONG_TODAY.iter().find(|text| body.contains(**text));
        if let (true, Some(text)) = (right, known) {
            wrong.push(format!("right now, so take `{text}` out of WRONG_TODAY\n"));
        }
        if !right && known.is_none() {
            wrong.push(format!("{expected}, found {kinds:?}:\n{body}"));
        }
    }
    assert!(count > 20);
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
}
