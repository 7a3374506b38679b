//! Accesses to registers and to shared memory, and actions of the warps of a warpgroup, that are not allowed.

use girih_sim::{Error, Memory, Options};

use super::case::{Case, SPACE};
use super::place::Place;
use super::values::Random;
use crate::common::{self, shape, u32_arg, u64_arg, upload};

/// A small product of bf16 with A in shared memory, or in registers.
fn small(in_registers: bool) -> Case {
    let place = |start| Place { mn: false, width: 128, start, leading: 16, stride: 1024 };
    Case {
        a: "bf16",
        b: "bf16",
        d: "f32",
        n: 16,
        left: (!in_registers).then(|| place(0)),
        right: place(32 << 10),
        negate: [false; 2],
        accumulate: true,
    }
}

/// Runs a body in which `wgmma` stands for the product and F, C, W for fence, commit and wait.
fn outcome(case: &Case, body: &str) -> Result<(), Error> {
    let body = body
        .replace("WGMMA", &case.instruction())
        .replace("F;", "wgmma.fence.sync.aligned;")
        .replace("C;", "wgmma.commit_group.sync.aligned;")
        .replace("W ", "wgmma.wait_group.sync.aligned ");
    let seeds = [0, 1, 2, 3];
    let mut outcomes = seeds.map(|seed| {
        let options = Options { seed, ..Options::checked() };
        case.run(&mut Random(0x1111_2222_3333_4444), &body, &options).map(|_| ())
    });
    for other in &outcomes[1..] {
        assert_eq!(other.is_ok(), outcomes[0].is_ok(), "{body}");
    }
    std::mem::replace(&mut outcomes[0], Ok(()))
}

#[test]
fn registers_in_flight_are_left_alone() {
    for case in [small(false), small(true)] {
        outcome(&case, "F; WGMMA C; W 0;").unwrap();
        outcome(&case, "F; WGMMA C; F; WGMMA C; W 1; W 0;").unwrap();
        let flight = |body: &str| match outcome(&case, body) {
            Err(Error::WgmmaInFlight { register, wgmma, .. }) => {
                assert!(wgmma.place.instruction.starts_with("wgmma.mma_async"), "{wgmma}");
                register
            }
            other => panic!("{body}: {other:?}"),
        };
        assert_eq!(flight("F; WGMMA C;"), "%d0");
        assert_eq!(flight("F; WGMMA W 0;"), "%d0");
        assert_eq!(flight("F; WGMMA C; W 1;"), "%d0");
        assert_eq!(flight("F; WGMMA C; WGMMA W 0;"), "%d0");
        assert_eq!(flight("F; WGMMA C; mov.b32 %d3, 0; W 0;"), "%d3");
        assert_eq!(flight("F; WGMMA C; mov.b32 %t, %d5; W 0;"), "%d5");
    }
    let touch = "F; WGMMA C; mov.b32 %a2, 0; W 0;";
    outcome(&small(false), touch).unwrap();
    assert!(matches!(outcome(&small(true), touch), Err(Error::WgmmaInFlight { .. })));
}

#[test]
fn a_fence_comes_between_other_accesses_and_the_next() {
    for case in [small(false), small(true)] {
        let unfenced = |body: &str| match outcome(&case, body) {
            Err(Error::WgmmaUnfenced { register, .. }) => register,
            other => panic!("{body}: {other:?}"),
        };
        assert_eq!(unfenced("WGMMA C; W 0;"), "its registers");
        assert_eq!(unfenced("F; mov.b32 %d1, 0; WGMMA C; W 0;"), "%d1");
        assert_eq!(unfenced("F; WGMMA C; W 0; mov.b32 %t, %d2; WGMMA C; W 0;"), "%d2");
        outcome(&case, "F; WGMMA C; W 0; mov.b32 %t, %d2; F; WGMMA C; W 0;").unwrap();
        // Products of the same shape may follow one another without a fence; those of different shapes may not.
        outcome(&case, "F; WGMMA WGMMA C; WGMMA C; W 0;").unwrap();
        let narrow = Case { n: 8, ..small(case.left.is_none()) }.instruction();
        assert_eq!(unfenced(&format!("F; WGMMA {narrow} C; W 0;")), "%d0");
        outcome(&case, &format!("F; WGMMA C; W 0; F; {narrow} C; W 0;")).unwrap();
    }
    let touch = "F; mov.b32 %a1, 0; WGMMA C; W 0;";
    outcome(&small(false), touch).unwrap();
    assert!(matches!(outcome(&small(true), touch), Err(Error::WgmmaUnfenced { .. })));
}

#[test]
fn accumulators_are_read_if_scale_d_says_so() {
    let fresh = small(false).instruction().replace("%d", "%e");
    let body = |scale| {
        format!(
            "{{ .reg .b32 %e<8>; .reg .pred %s; setp.eq.u32 %s, 1, {scale}; F; {} C; W 0; }}",
            fresh.replace("%eb", "%db").replace("%ea", "%da").replace("%p", "%s")
        )
    };
    outcome(&small(false), &body(0)).unwrap();
    // An undefined sum matters where it is stored: the operation itself passes it on.
    outcome(&small(false), &body(1)).unwrap();
    let stored = body(1).replace("W 0; }", "W 0; mov.b32 %d0, %e0; }");
    let error = outcome(&small(false), &stored).unwrap_err();
    assert!(matches!(error, Error::UninitialisedRegister { .. }), "{error}");
    assert!(error.to_string().contains("`%e0` is read before it is written"), "{error}");
}

#[test]
fn the_warps_of_a_warpgroup_agree() {
    let case = small(false);
    let error = outcome(&case, "F; setp.ne.u32 %q, %t, 77; @%q WGMMA C; W 0;").unwrap_err();
    assert!(matches!(error, Error::Divergent { active, .. } if active == !(1 << 13)), "{error}");
    for (register, what) in [("%da", "the descriptor of A"), ("%db", "the descriptor of B")] {
        let other =
            format!("setp.ge.u32 %q, %t, 96; @%q add.u64 {register}, {register}, 2; F; WGMMA C; W 0;");
        let error = outcome(&case, &other).unwrap_err();
        assert!(matches!(error, Error::Warpgroup { what: found, .. } if found == what), "{error}");
        let lanes =
            format!("setp.ge.u32 %q, %t, 100; @%q add.u64 {register}, {register}, 2; F; WGMMA C; W 0;");
        let error = outcome(&case, &lanes).unwrap_err();
        assert!(matches!(error, Error::BadValue { what: found, .. } if found == what), "{error}");
    }
    let error = outcome(&case, "setp.lt.u32 %p, %t, 32; F; WGMMA C; W 0;").unwrap_err();
    assert!(matches!(error, Error::Warpgroup { what: "scale-d", value: 0, expected: 1, .. }), "{error}");
    let error =
        outcome(&case, "F; setp.lt.u32 %q, %t, 64; @%q bra M; WGMMA C; W 0; bra N; M: WGMMA C; W 0; N:");
    assert!(matches!(error, Err(Error::Warpgroup { what: "the instruction", .. })), "{error:?}");
}

#[test]
fn descriptors_stay_in_shared_memory() {
    let mut case = small(false);
    case.right.start = SPACE - 2048;
    let (body, mut random) = ("wgmma.fence.sync.aligned;\nWGMMA", Random(1));
    let body = body.replace("WGMMA", &format!("add.u64 %db, %db, 64; {}", case.instruction()));
    let error = case.run(&mut random, &body, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::OutOfBounds { .. }), "{error}");
}

/// The first warp that waits needs all four; a warp that stays away is reported, whether it has exited or waits for
/// something else.
#[test]
fn a_warpgroup_needs_all_its_warps() {
    let case = small(false);
    let error = outcome(&case, "setp.ge.u32 %q, %t, 96; @%q bra N; F; WGMMA C; W 0; N:").unwrap_err();
    assert!(matches!(error, Error::WarpgroupIncomplete { warp: 3, .. }), "{error}");
    let error =
        outcome(&case, "setp.lt.u32 %q, %t, 32; @%q bra N; F; WGMMA C; W 0; N: bar.sync 0;").unwrap_err();
    assert!(matches!(error, Error::Deadlock { .. }), "{error}");
    assert!(error.to_string().contains("the same wgmma in warp 0 of its warpgroup"), "{error}");
    let threads = case.kernel(&format!("wgmma.fence.sync.aligned;\n{}", case.instruction()));
    let program = common::load(&threads).unwrap();
    let mut config = shape(1, 96);
    config.dynamic_shared = SPACE as u32;
    let memory = Memory::new();
    let some = upload(&memory, &vec![0; SPACE / 4]);
    let descriptor = u64_arg(case.right.descriptor());
    config.args = [vec![u64_arg(some); 4], vec![descriptor.clone(), descriptor, u32_arg(0)]].concat();
    let error =
        girih_sim::run(program.kernel("k").unwrap(), &memory, &config, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::BadValue { value: 96, .. }), "{error}");
}

/// Memory that an operation reads must not be written before the operation's end: neither by the warp itself nor by
/// others that do not know of the end.
#[test]
fn shared_memory_is_left_alone_while_it_is_read() {
    let case = small(false);
    let store = "mov.u32 %x0, mem; setp.eq.u32 %q, %t, 0; @%q st.shared.b32 [%x0+32768], %t;";
    let error = outcome(&case, &format!("F; WGMMA C; {store} W 0;")).unwrap_err();
    assert!(matches!(error, Error::InFlight { .. }), "{error}");
    outcome(&case, &format!("F; WGMMA C; W 0; {store}")).unwrap();
    // Without a proxy fence the operation does not see earlier writes.
    let error = outcome(&case, &format!("{store} bar.sync 0; F; WGMMA C; W 0;")).unwrap_err();
    assert!(matches!(error, Error::Unfenced { .. }), "{error}");
    outcome(&case, &format!("{store} fence.proxy.async; bar.sync 0; F; WGMMA C; W 0;")).unwrap();
    // Written by one warp, read by all: a barrier too.
    let error = outcome(&case, &format!("{store} fence.proxy.async; F; WGMMA C; W 0;")).unwrap_err();
    assert!(matches!(error, Error::Race { .. } | Error::InFlight { .. }), "{error}");
}

/// Undefined elements of A, of B and of D are undefined where they are multiplied or added, and nowhere else.
#[test]
fn undefined_elements_stay_in_their_rows_and_columns() {
    let case = small(true);
    // Lanes 4 to 31 of each warp have no values in their first register of A: rows 1 to 7.
    let rows =
        "mov.u32 %i, %laneid; setp.lt.u32 %q, %i, 4; { .reg .b32 %u; @%q mov.b32 %u, 0; mov.b32 %a0, %u; }
        F; WGMMA C; W 0;";
    let stored = outcome(&case, rows).unwrap_err();
    assert!(stored.to_string().contains("`%u` is read before it is written"), "{stored}");
    let cleared = |guard: &str| -> String {
        [0, 1, 4, 5].iter().map(|d| format!("{guard} mov.b32 %d{d}, 0; ")).collect()
    };
    outcome(&case, &format!("{rows} {}", cleared("@!%q"))).unwrap();
    assert!(outcome(&case, &format!("{rows} {}", cleared("@%q"))).is_err());
    // An accumulator of a ragged tile: the undefined elements of D are not stored.
    let ragged =
        "mov.u32 %i, %laneid; setp.lt.u32 %q, %i, 4; { .reg .b32 %u; @%q mov.b32 %u, 0; mov.b32 %d5, %u; }
        F; WGMMA C; F; WGMMA C; W 0;";
    assert!(outcome(&case, ragged).is_err());
    outcome(&case, &format!("{ragged} @!%q mov.b32 %d5, 0;")).unwrap();
}
