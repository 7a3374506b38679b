//! Failing launches are reduced to small ones.

use girih_sim::{Error, Launch, Memory, Options, Program, reduce};

/// Loads a module with the kernel `k` of an array's address and three words.
fn load(body: &str, entry: &str) -> Program {
    let text = format!(
        ".version 8.0 .target sm_90 .address_size 64
         .global .u32 count;
         .visible .entry k(.param .u64 pa, .param .u32 px, .param .u32 py, .param .u32 pz) {entry}
         {{ .reg .b32 %x, %y, %z, %px, %py, %pz, %t; .reg .b64 %a, %at; .reg .pred %p, %q;
           ld.param.u64 %a, [pa]; ld.param.u32 %px, [px]; ld.param.u32 %py, [py]; ld.param.u32 %pz, [pz];
           mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %z, %ctaid.z;
           {body}
           ret; }}"
    );
    Program::load(&girih_ptx::Module::parse(&text).expect("PTX")).expect("a program")
}

/// Every block writes the first word; those at and past (px, py, pz) go beyond the array.
const BEYOND: &str = "
    atom.global.add.u32 %t, [count], 1;
    st.global.u32 [%a], %x;
    setp.ge.u32 %p, %x, %px; setp.ge.u32 %q, %y, %py; and.pred %p, %p, %q;
    setp.ge.u32 %q, %z, %pz; and.pred %p, %p, %q;
    @%p st.global.u32 [%a+64], %x;";

fn launch(memory: &Memory, grid: [u32; 3], corner: [u32; 3]) -> Launch {
    let mut args = vec![memory.alloc(64).expect("memory").to_le_bytes().to_vec()];
    args.extend(corner.map(|x| x.to_le_bytes().to_vec()));
    Launch { grid, block: [32, 1, 1], args, ..Launch::default() }
}

#[test]
fn the_least_grid_is_found_wherever_the_fault_is() {
    let program = load(BEYOND, "");
    let kernel = program.kernel("k").unwrap();
    for corner in [[0, 0, 0], [1, 0, 0], [2, 3, 1], [12, 6, 2], [5, 1, 0], [7, 2, 1]] {
        let memory = Memory::new();
        let launch = launch(&memory, [13, 7, 3], corner);
        let small = reduce(kernel, &memory, &launch, &Options::default()).unwrap().unwrap();
        assert_eq!(small.launch.grid, corner.map(|x| x + 1));
        assert!(matches!(small.error, Error::OutOfBounds { .. }), "{}", small.error);
        assert!(small.runs < 30, "{} runs", small.runs);
        assert_eq!(Launch { grid: launch.grid, ..small.launch }, launch);
    }
}

#[test]
fn memory_and_variables_are_as_they_were() {
    let program = load(BEYOND, "");
    let kernel = program.kernel("k").unwrap();
    let memory = Memory::new();
    let launch = launch(&memory, [9, 1, 1], [4, 0, 0]);
    let array = u64::from_le_bytes(launch.args[0][..].try_into().unwrap());
    memory.write(array, &[7; 64]).unwrap();
    for _ in 0..2 {
        assert_eq!(
            reduce(kernel, &memory, &launch, &Options::default()).unwrap().unwrap().launch.grid,
            [5, 1, 1]
        );
        let mut bytes = [0; 64];
        memory.read(array, &mut bytes).unwrap();
        assert_eq!(bytes, [7; 64]);
    }
    // The variable counts blocks: if it had kept what the runs wrote, this would not be the first block's index.
    let first =
        load("atom.global.add.u32 %t, [count], 1; shr.u32 %t, %t, 5; setp.ne.u32 %p, %t, %x; @%p trap;", "");
    let fine = Options { threads: Some(1), ..Options::default() };
    for _ in 0..2 {
        assert!(reduce(first.kernel("k").unwrap(), &memory, &launch, &fine).unwrap().is_none());
    }
}

#[test]
fn whole_clusters_are_kept() {
    let program = load(BEYOND, ".explicitcluster .reqnctapercluster 2, 1, 1");
    let memory = Memory::new();
    let launch = launch(&memory, [16, 2, 1], [6, 0, 0]);
    let small = reduce(program.kernel("k").unwrap(), &memory, &launch, &Options::default()).unwrap().unwrap();
    assert_eq!(small.launch.grid, [8, 1, 1]);
}

#[test]
fn another_fault_is_not_taken_for_this_one() {
    // Blocks 1 to 3 alone trap in a grid of up to 4; in a larger one block 9 goes out of bounds.
    let body = "
        mov.u32 %t, %nctaid.x; setp.le.u32 %p, %t, 4; setp.ge.u32 %q, %x, 1; and.pred %p, %p, %q;
        @%p trap;
        setp.ge.u32 %p, %x, %px; @%p st.global.u32 [%a+64], %x;";
    let program = load(body, "");
    let memory = Memory::new();
    let launch = launch(&memory, [40, 1, 1], [9, 0, 0]);
    let small = reduce(program.kernel("k").unwrap(), &memory, &launch, &Options::default()).unwrap().unwrap();
    assert_eq!(small.launch.grid, [10, 1, 1]);
    assert!(matches!(small.error, Error::OutOfBounds { .. }), "{}", small.error);
}

#[test]
fn launches_that_pass_or_do_not_fit_are_told() {
    let program = load(BEYOND, "");
    let kernel = program.kernel("k").unwrap();
    let memory = Memory::new();
    let fine = launch(&memory, [2, 2, 2], [9, 9, 9]);
    assert_eq!(reduce(kernel, &memory, &fine, &Options::default()).unwrap(), None);
    let refused = Launch { args: Vec::new(), ..fine };
    let error = reduce(kernel, &memory, &refused, &Options::default()).unwrap_err();
    assert!(error.is_refusal(), "{error}");
}
