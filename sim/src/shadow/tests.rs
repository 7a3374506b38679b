//! The shadow against vector clocks of every thread, straight from the definition.

use super::*;

/// What a thread did, in the order of execution.
#[derive(Clone, Copy, Debug)]
enum Event {
    Touch {
        thread: usize,
        at: usize,
        bytes: usize,
        write: bool,
        /// A relaxed load, or a relaxed atomic if it writes.
        strong: bool,
    },
    /// A barrier of the whole block.
    Block,
    /// `bar.warp.sync` of these lanes of a warp.
    Lanes { warp: usize, mask: u32 },
}

const THREADS: usize = 2 * WARP;

/// An access of the log and when it was.
#[derive(Clone, Copy)]
struct Seen {
    thread: usize,
    at: usize,
    bytes: usize,
    write: bool,
    strong: bool,
    time: usize,
}

impl Seen {
    fn has(&self, byte: usize) -> bool {
        (self.at..self.at + self.bytes).contains(&byte)
    }
}

/// Whether somebody that has read `x`, or an atomic that goes on from it, comes before an access ("Causality order").
fn has_been_seen(touches: &[Seen], x: &Seen, byte: usize, before: impl Fn(&Seen) -> bool) -> bool {
    let mut later = touches.iter().filter(|z| z.time > x.time && z.has(byte));
    let goes_on = |z: &&Seen| z.strong && z.bytes == x.bytes;
    let mut broken = false;
    later.any(|z| {
        let reads = !broken && goes_on(&z);
        broken |= z.write && !goes_on(&z);
        reads && before(z)
    })
}

/// Vector clocks of every thread over the whole log, straight from the definition of happens-before: whether the
/// last event races with an earlier one.
fn races(log: &[Event]) -> bool {
    let mut clocks = vec![[0usize; THREADS]; THREADS];
    let mut touches: Vec<Seen> = Vec::new();
    let mut raced = false;
    for (time, event) in log.iter().enumerate() {
        let mut join = |members: &[usize]| {
            let mut all = [0; THREADS];
            for &m in members {
                (0..THREADS).for_each(|t| all[t] = all[t].max(clocks[m][t]));
                all[m] = time;
            }
            members.iter().for_each(|&m| clocks[m] = all);
        };
        match *event {
            Event::Block => join(&(0..THREADS).collect::<Vec<_>>()),
            Event::Lanes { warp, mask } => {
                let lanes = (0..WARP).filter(|l| mask >> l & 1 == 1);
                join(&lanes.map(|l| warp * WARP + l).collect::<Vec<_>>());
            }
            Event::Touch { thread, at, bytes, write, strong } => {
                let new = Seen { thread, at, bytes, write, strong, time };
                let before = |z: &Seen| z.thread == thread || clocks[thread][z.thread] >= z.time;
                raced = touches.iter().any(|x| {
                    let together = strong && x.strong && x.bytes == bytes;
                    (write || x.write)
                        && !together
                        && !before(x)
                        && (at..at + bytes)
                            .filter(|b| x.has(*b))
                            .any(|byte| !(x.strong && x.write && has_been_seen(&touches, x, byte, before)))
                });
                touches.push(new);
            }
        }
    }
    raced
}

fn apply(shadow: &mut Shadow, event: Event) -> Result<(), Finding> {
    match event {
        Event::Touch { thread, at, bytes, write, strong } => {
            let who = Who { warp: (thread / WARP) as u32, lane: (thread % WARP) as u32, source: 0 };
            let kind = if write { Kind::Update } else { Kind::Read };
            match (strong, write) {
                (true, _) => {
                    let manner = Manner { bytes: bytes as u8, ..Manner::default() };
                    shadow.strong(who, at, bytes, kind, Order { manner, ..Order::default() })
                }
                (false, true) => shadow.write(who, at, bytes, false),
                (false, false) => shadow.read(who, at, bytes),
            }
        }
        Event::Block => {
            (0..2).for_each(|warp| shadow.arrive(warp, 0, true));
            shadow.complete(0, 0, 3);
            Ok(())
        }
        Event::Lanes { warp, mask } => {
            shadow.sync_lanes(warp, mask);
            Ok(())
        }
    }
}

/// Random programs of few threads on few bytes: the shadow reports a race at exactly the event where the log has
/// its first one.
#[test]
fn finds_the_first_race_of_every_log_and_no_other() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % n
    };
    let (mut raced, mut clean) = (0, 0);
    for round in 0..4000 {
        let partial = round % 2 == 0;
        let mut shadow = Shadow::new((true, false), 16, 0, (1, false), THREADS);
        let mut log = vec![Event::Block];
        for _ in 0..40 {
            let event = match below(10) {
                0 | 1 => Event::Block,
                2 | 3 if partial => Event::Lanes {
                    warp: below(2) as usize,
                    mask: [0x3, 0x6, 0x7, u32::MAX][below(4) as usize],
                },
                kind => {
                    let bytes = 1 << below(3);
                    let at = below(16 / bytes) as usize * bytes as usize;
                    let thread = [0, 1, 2, 32, 33][below(5) as usize];
                    let (write, strong) = (matches!(kind, 8 | 9), round % 3 != 0 && matches!(kind, 7 | 8));
                    Event::Touch { thread, at, bytes: bytes as usize, write, strong }
                }
            };
            log.push(event);
            let found = apply(&mut shadow, event);
            let want = matches!(event, Event::Touch { .. }) && races(&log);
            assert_eq!(found.is_err(), want, "{log:?}");
            if want {
                raced += 1;
                break;
            }
        }
        clean += 1;
    }
    assert!(raced > 1000 && clean > raced, "{raced} of {clean}");
}

/// Lanes that are served together find and leave what they find and leave one by one, wherever they are.
#[test]
fn lanes_together_do_what_they_do_one_by_one() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % n
    };
    let (mut together, mut raced) = (0, 0);
    'round: for _ in 0..4000 {
        let mut one = Shadow::new((true, false), 64, 0, (1, false), THREADS);
        let mut all = one.clone();
        for _ in 0..30 {
            let (warp, mask) = (below(2) as u32, [0x3, 0x6, 0xf0f, 1 << 5, u32::MAX][below(5) as usize]);
            let kind = below(8);
            if kind < 3 {
                let event = if kind < 2 { Event::Block } else { Event::Lanes { warp: warp as usize, mask } };
                assert!([&mut one, &mut all].into_iter().all(|shadow| apply(shadow, event).is_ok()));
                continue;
            }
            let (bytes, reads, first) = (1 << below(3), kind < 7, below(8) as usize);
            // All at one place, some, or each at its own.
            let shift = [5, 2, 1, 0][below(4) as usize];
            let places = std::array::from_fn(|lane| (first + (lane >> shift)) * bytes % 64);
            let served = all.together(Who { warp, lane: 0, source: 0 }, mask, &places, bytes, reads);
            together += u32::from(served.count_ones() > 1);
            for lane in crate::exec::lanes(mask) {
                let thread = warp as usize * WARP + lane;
                let touch = Event::Touch { thread, at: places[lane], bytes, write: !reads, strong: false };
                let found = apply(&mut one, touch).is_err();
                let other = served >> lane & 1 == 0 && apply(&mut all, touch).is_err();
                assert_eq!(found, other, "lane {lane} of {mask:#x}, {served:#x} together, at {places:?}");
                if found {
                    raced += 1;
                    continue 'round;
                }
            }
        }
    }
    assert!(raced > 1000 && together > raced, "{raced}, {together}");
}

/// What all lanes issue as one comes after what any of them is ordered after; what one issues does not.
#[test]
fn lanes_together_know_what_one_of_them_knows() {
    let mut shadow = Shadow::new((true, false), 32, 0, (1, false), THREADS);
    let who = |warp, lane| Who { warp, lane, source: 0 };
    let (flag, order) = (16, |acquire| Order { acquire, release: !acquire, ..Order::default() });
    assert!(shadow.write(who(1, 7), 0, 16, false).is_ok());
    shadow.fence_proxy(1, 1 << 7, &[Window::Cluster]);
    assert!(shadow.strong(who(1, 7), flag, 4, Kind::Write, order(false)).is_ok());
    assert!(shadow.strong(who(0, 5), flag, 4, Kind::Read, order(true)).is_ok());
    let mut read = |lanes| shadow.begin_async_read(who(0, 0), lanes, 0, 16);
    assert!(matches!(read(1), Err(Finding::Race { other: Stamp { thread: 39, .. }, .. })));
    assert!(read(1 << 5).is_ok() && read(u32::MAX).is_ok());
    // Without a proxy fence on the way not even then.
    assert!(shadow.write(who(1, 7), 16 + 4, 4, false).is_ok());
    assert!(shadow.strong(who(1, 7), flag, 4, Kind::Write, order(false)).is_ok());
    assert!(shadow.strong(who(0, 5), flag, 4, Kind::Read, order(true)).is_ok());
    let unfenced = shadow.begin_async_read(who(0, 0), u32::MAX, 16 + 4, 4);
    assert!(matches!(unfenced, Err(Finding::Unfenced { .. })));
}
