//! Lanes that access memory in one instruction, compared with the same lanes one by one; and what lanes of one
//! operation know.

use crate::common::{launch, load, module, shape, u32_arg, u64_arg, upload};
use girih_sim::{Error, Launch, Memory, Options};

/// Events of a block.
const EVENTS: usize = 30;
/// Kinds of events: a barrier of the block, one of lanes, a read or a write of a byte, a half or a word.
const BLOCK: u32 = 0;
const LANES: u32 = 1;
const READ: u32 = 2;
const WRITE: u32 = 5;

/// Does the events of a table: kind and warp; mask; first place; shift. Lane `l` is at place `first + (l >> shift)` of 64
/// bytes of shared or global memory. All lanes of a mask are in one instruction, or one after another.
fn text() -> String {
    let accesses: String = [8, 16, 32]
        .iter()
        .enumerate()
        .flat_map(|(i, bits)| {
            [(READ, format!("ld.u{bits} %u, [%p]")), (WRITE, format!("st.u{bits} [%p], %v"))].map(
                |(kind, access)| {
                    format!("setp.eq.and.u32 %q, %kind, {}, %on; @%q {access};\n", kind + i as u32)
                },
            )
        })
        .collect();
    module(&format!(
        ".visible .entry k(.param .u64 out, .param .align 16 .b8 table[{}], .param .u32 single, .param .u32 global) {{
         .shared .align 16 .b8 s[64]; .reg .b32 %i, %l, %w, %n, %kind, %mask, %first, %shift, %log, %now, %rest, %u, %v, %b, %x;
         .reg .b64 %out, %t, %p, %o; .reg .pred %single, %global, %on, %q, %mine, %more;
         ld.param.u64 %out, [out]; mov.b64 %t, table; mov.u32 %i, %tid.x; and.b32 %l, %i, 31; shr.u32 %w, %i, 5;
         ld.param.u32 %x, [single]; setp.ne.u32 %single, %x, 0; ld.param.u32 %x, [global]; setp.ne.u32 %global, %x, 0;
         mov.u32 %x, s; cvt.u64.u32 %o, %x; cvta.shared.u64 %o, %o; selp.b64 %out, %out, %o, %global; mov.u32 %n, 0;
         NEXT: ld.param.v4.u32 {{%kind, %mask, %first, %shift}}, [%t]; add.s64 %t, %t, 16;
         shr.u32 %x, %kind, 8; and.b32 %kind, %kind, 255; setp.eq.u32 %q, %kind, {BLOCK};
         @%q bar.sync 0; @%q bra DONE;
         setp.eq.u32 %mine, %x, %w; @!%mine bra DONE;
         shr.u32 %x, %mask, %l; and.b32 %x, %x, 1; setp.ne.u32 %on, %x, 0;
         setp.eq.and.u32 %q, %kind, {LANES}, %on; @%q bar.warp.sync %mask; setp.eq.u32 %q, %kind, {LANES}; @%q bra DONE;
         sub.u32 %log, %kind, {READ}; setp.ge.u32 %q, %log, 3; @%q sub.u32 %log, %log, 3;
         shr.u32 %x, %l, %shift; add.u32 %x, %x, %first; shl.b32 %x, %x, %log; and.b32 %x, %x, 63;
         cvt.u64.u32 %o, %x; add.s64 %p, %out, %o; mov.u32 %rest, %mask;
         AGAIN: sub.u32 %now, 0, %rest; and.b32 %now, %now, %rest; selp.b32 %now, %now, %rest, %single;
         xor.b32 %rest, %rest, %now; shr.u32 %b, %now, %l; and.b32 %b, %b, 1; setp.ne.u32 %on, %b, 0;
         mad.lo.u32 %v, %n, 64, %i;
         {accesses}
         setp.ne.u32 %more, %rest, 0; @%more bra AGAIN;
         DONE: add.u32 %n, %n, 1; setp.lt.u32 %more, %n, {EVENTS}; @%more bra NEXT; ret; }}",
        16 * EVENTS
    ))
}

/// Lanes that are served together find the same, and leave the same state, as one by one, wherever their addresses are.
#[test]
fn lanes_together_do_what_they_do_one_by_one() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % n
    };
    let program = load(&text()).unwrap();
    let memory = Memory::new();
    let out = upload(&memory, &[0; 16]);
    let (mut raced, mut clean) = (0, 0);
    for round in 0..4000u64 {
        let mut table = Vec::new();
        for _ in 0..EVENTS {
            let (warp, mask) = (below(2) as u32, [0x3, 0x6, 0xf0f, 1 << 5, u32::MAX][below(5) as usize]);
            let kind = match below(8) {
                0 | 1 => BLOCK,
                2 => LANES,
                3..7 => READ + below(3) as u32,
                _ => WRITE + below(3) as u32,
            };
            // All at one place, some, or each at its own.
            let shift = [5, 2, 1, 0][below(4) as usize];
            table.extend([kind | warp << 8, mask, below(8) as u32, shift]);
        }
        let table: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
        let outcome = |single| {
            let args = vec![u64_arg(out), table.clone(), u32_arg(single), u32_arg(u32::from(round % 4 == 3))];
            let shape = Launch { args, ..shape(1, 64) };
            let options = Options { races: true, ..Options::default() };
            girih_sim::run(program.kernel("k").unwrap(), &memory, &shape, &options).map(|_| ())
        };
        // Of several accesses that a later one races with, any may be reported.
        let told = |found: Result<(), Error>| match found {
            Ok(()) => None,
            Err(Error::Race { at, access, address, other, formal, .. }) => {
                Some((at, access, address, other.access, formal))
            }
            Err(other) => panic!("{other}"),
        };
        let (all, one) = (told(outcome(0)), told(outcome(1)));
        assert_eq!(all, one, "{round}");
        *if all.is_none() { &mut clean } else { &mut raced } += 1;
    }
    assert!(raced > 1000 && clean > 50, "{raced} {clean}");
}

/// A thread of the fifth warp writes 16 bytes, fences and releases. Lane 5 of each other warp waits for that, of the first
/// warps, so many, by an acquire; and then the async proxy reads them.
fn handed_over(fence: &str, warps: u32, issue: &str) -> Option<Error> {
    let text = module(&format!(
        ".visible .entry k(.param .u64 out) {{
         .shared .align 128 .b8 s[1024]; .reg .b32 %i, %l, %w, %s, %x, %a<4>; .reg .f32 %f<4>; .reg .b64 %p, %d;
         .reg .pred %p<3>, %q; ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; and.b32 %l, %i, 31; shr.u32 %w, %i, 5; mov.u32 %s, s;
         setp.eq.u32 %p1, %i, 135; setp.eq.u32 %p2, %l, 5; setp.lt.u32 %p0, %w, {warps};
         @%p1 st.shared.v4.u32 [%s], {{%i, %i, %i, %i}};
         @%p1 {fence}
         @%p1 st.release.cta.shared.u32 [%s+512], 1;
         setp.eq.u32 %q, %w, 4; @%q exit; @!%p2 bra WAITED;
         WAIT: @%p0 ld.acquire.cta.shared.u32 %x, [%s+512]; @!%p0 ld.relaxed.cta.shared.u32 %x, [%s+512];
         setp.eq.u32 %q, %x, 0; @%q bra WAIT;
         WAITED: {issue} ret; }}"
    ));
    let text = text.replace("sm_90", "sm_90a");
    let memory = Memory::new();
    let args = vec![u64_arg(upload(&memory, &[0; 16]))];
    let options = Options { races: true, ..Options::default() };
    launch(&text, &memory, &Launch { args, ..shape(1, 160) }, &options).err()
}

/// An operation that all lanes issue as one comes after what any of them is ordered after; an operation of one lane
/// does not.
#[test]
fn lanes_together_know_what_one_of_them_knows() {
    let (fence, none) = ("fence.proxy.async.shared::cta;", "fence.acq_rel.cta;");
    let bulk = |thread: u32| {
        format!(
            "setp.eq.u32 %q, %i, {thread}; @%q cp.async.bulk.global.shared::cta.bulk_group [%p], [%s], 16;
             @%q cp.async.bulk.commit_group; @%q cp.async.bulk.wait_group 0;"
        )
    };
    // B is 256 bytes from %s on: two core matrices of 128 bytes.
    let wgmma = "shr.u32 %x, %s, 4; and.b32 %x, %x, 0x3fff; cvt.u64.u32 %d, %x; or.b64 %d, %d, 0x1000080000;
        setp.ne.u32 %q, 0, 0; wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, %a3}, %d, %q, 1, 1, 0;
        wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";
    // The warp that reads what it is not ordered after.
    let raced = |found: Option<Error>| match found {
        Some(Error::Race { at, other, .. }) => {
            assert_eq!(other.at.thread, [135, 0, 0], "{other:?}");
            assert!(other.at.place.instruction.contains("st.shared.v4"), "{other:?}");
            at.thread[0] / 32
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(raced(handed_over(fence, 4, &bulk(0))), 0);
    assert_eq!(raced(handed_over(fence, 3, &bulk(96 + 5))), 3);
    assert_eq!(raced(handed_over(fence, 3, wgmma)), 3);
    for issue in [&bulk(5), &bulk(96 + 5), wgmma] {
        assert_eq!(handed_over(fence, 4, issue), None);
        // Without a proxy fence on the way it does not.
        let unfenced = handed_over(none, 4, issue);
        assert!(matches!(unfenced, Some(Error::Unfenced { .. })), "{unfenced:?}");
    }
}
