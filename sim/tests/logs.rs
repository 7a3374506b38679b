//! Races, compared with vector clocks of every thread straight from the definition, over the accesses in the order in
//! which they were executed. There are overlapping bytes, halves and words, and weak and relaxed accesses.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::common::{load, module, shape};
use girih_sim::{Access, Error, Memory, Moment, Observer, Options, Site, run};

/// The threads that access memory, of two warps.
const THREADS: [u32; 5] = [0, 1, 2, 32, 33];
const MASKS: [u32; 4] = [0x3, 0x6, 0x7, u32::MAX];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    /// A relaxed read.
    Load,
    Store,
    /// A relaxed atomic.
    Update,
}

impl Kind {
    fn writes(self) -> bool {
        !matches!(self, Kind::Read | Kind::Load)
    }

    fn strong(self) -> bool {
        !matches!(self, Kind::Read | Kind::Write)
    }
}

/// What a thread does, by its number in `THREADS`.
#[derive(Clone, Copy, Debug)]
enum Event {
    Touch {
        thread: usize,
        at: usize,
        bytes: usize,
        kind: Kind,
    },
    /// A barrier of the whole block.
    Block,
    /// `bar.warp.sync` of the lanes of a mask.
    Lanes {
        warp: u32,
        mask: usize,
    },
}

/// An access, and the time when it was made.
#[derive(Clone, Copy, Debug)]
struct Seen {
    event: usize,
    thread: usize,
    at: usize,
    bytes: usize,
    kind: Kind,
    time: usize,
}

impl Seen {
    fn range(&self) -> Range<usize> {
        self.at..self.at + self.bytes
    }

    /// Whether it is strong and of as many bytes as `x`.
    fn goes_with(&self, x: &Seen) -> bool {
        self.kind.strong() && self.bytes == x.bytes
    }
}

/// Whether a thread that has read `x`, or an atomic that continues `x`, comes before an access (PTX ISA, "Causality
/// Order").
fn has_been_seen(touches: &[Seen], x: &Seen, byte: usize, before: impl Fn(&Seen) -> bool) -> bool {
    let mut broken = false;
    touches.iter().filter(|z| z.time > x.time && z.range().contains(&byte)).any(|z| {
        let reads = !broken && z.goes_with(x) && z.kind != Kind::Store;
        broken |= z.kind.writes() && !(z.goes_with(x) && z.kind == Kind::Update);
        reads && before(z)
    })
}

/// Vector clocks of the threads.
#[derive(Default)]
struct History {
    clocks: [[usize; THREADS.len()]; THREADS.len()],
    touches: Vec<Seen>,
    time: usize,
    /// Warps that have come to a barrier of the block.
    come: u32,
}

impl History {
    fn join(&mut self, members: impl Fn(u32) -> bool) {
        let members: Vec<usize> = (0..THREADS.len()).filter(|&m| members(THREADS[m])).collect();
        let mut all = [0; THREADS.len()];
        for &m in &members {
            (0..THREADS.len()).for_each(|t| all[t] = all[t].max(self.clocks[m][t]));
            all[m] = self.time;
        }
        members.iter().for_each(|&m| self.clocks[m] = all);
    }

    /// A warp executes an event; returns the earlier accesses that race with it.
    fn next(&mut self, number: usize, event: Event) -> Vec<Seen> {
        self.time += 1;
        match event {
            Event::Block => {
                self.come += 1;
                if self.come.is_multiple_of(2) {
                    self.join(|_| true);
                }
            }
            Event::Lanes { warp, mask } => {
                self.join(|thread| thread / 32 == warp && MASKS[mask] >> (thread % 32) & 1 == 1);
            }
            Event::Touch { thread, at, bytes, kind } => {
                let new = Seen { event: number, thread, at, bytes, kind, time: self.time };
                let before = |z: &Seen| z.thread == thread || self.clocks[thread][z.thread] >= z.time;
                let races = |x: &&Seen| {
                    let together = kind.strong() && new.goes_with(x) && x.kind.strong();
                    let told = x.kind.strong() && x.kind.writes();
                    (kind.writes() || x.kind.writes())
                        && !together
                        && !before(x)
                        && new
                            .range()
                            .filter(|byte| x.range().contains(byte))
                            .any(|byte| !(told && has_been_seen(&self.touches, x, byte, before)))
                };
                let races = self.touches.iter().filter(races).copied().collect();
                self.touches.push(new);
                return races;
            }
        }
        Vec::new()
    }
}

const HEAD: &str = ".visible .entry k() { .shared .align 16 .b8 s[16];
    .reg .b32 %i, %l, %w, %s, %r, %v; .reg .b16 %h; .reg .pred %t<5>, %m<8>;
    mov.u32 %i, %tid.x; and.b32 %l, %i, 31; shr.u32 %w, %i, 5; mov.u32 %s, s;\n";

/// The text of events, one a line, and the line of the first. No two accesses write the same value to a byte.
fn text(events: &[Event]) -> (String, u32) {
    let mut text = HEAD.to_owned();
    for (i, thread) in THREADS.iter().enumerate() {
        text += &format!("setp.eq.u32 %t{i}, %i, {thread};");
    }
    for (i, mask) in MASKS.iter().enumerate() {
        for warp in 0..2 {
            let m = 4 * warp + i;
            text += &format!("shr.u32 %r, {mask}, %l; and.b32 %r, %r, 1; setp.ne.u32 %m{m}, %r, 0;");
            text += &format!("setp.eq.and.u32 %m{m}, %w, {warp}, %m{m};");
        }
    }
    text += "\n";
    let first = module(&text).lines().count() as u32 + 1;
    for (nth, event) in events.iter().enumerate() {
        text += &match *event {
            Event::Block => "bar.sync 0;\n".into(),
            Event::Lanes { warp, mask } => {
                format!("@%m{} bar.warp.sync {};\n", 4 * warp as usize + mask, MASKS[mask])
            }
            Event::Touch { thread, at, bytes, kind } => {
                let value = (0..bytes).fold(0, |all, byte| all | (4 * nth + byte + 1) << (8 * byte));
                let (bits, place) = (8 * bytes, format!("[%s+{at}]"));
                let body = match (kind, bytes) {
                    (Kind::Read, _) => format!("ld.shared.u{bits} %v, {place}"),
                    (Kind::Write, _) => format!("st.shared.u{bits} {place}, {value}"),
                    (Kind::Load, _) => format!("ld.relaxed.cta.shared.u{bits} %v, {place}"),
                    (Kind::Store, _) => format!("st.relaxed.cta.shared.u{bits} {place}, {value}"),
                    (Kind::Update, 4) => format!("atom.relaxed.cta.shared.exch.b32 %v, {place}, {value}"),
                    (Kind::Update, _) => format!("atom.relaxed.cta.shared.cas.b16 %h, {place}, 0, {value}"),
                };
                format!("@%t{thread} {body};\n")
            }
        };
    }
    (module(&(text + "ret; }")), first)
}

/// The instructions that warps have begun, in order: line and warp.
#[derive(Default)]
struct Order(Mutex<Vec<(u32, u32)>>);

impl Observer for Order {
    fn chooses(&self, _: [u32; 3], _: u32) -> bool {
        true
    }

    fn before(&self, moment: &Moment<'_>) {
        if moment.active() != 0 {
            self.0.lock().unwrap().push((moment.line(), moment.warp()));
        }
    }
}

fn is(seen: &Seen, at: &Site, access: Access, first: u32) -> bool {
    let does = if access == Access::Write { seen.kind.writes() } else { seen.kind != Kind::Write };
    (at.place.line, at.thread[0]) == (first + seen.event as u32, THREADS[seen.thread]) && does
}

/// Random programs of few threads on few bytes. A race is reported at exactly the first access that races with an
/// earlier one, with the right earlier access.
#[test]
fn the_first_race_of_every_log_is_told_and_no_other() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % n
    };
    let (mut raced, mut clean, mut seen) = (0, 0, 0);
    for round in 0..1000u64 {
        let (partial, relaxed) = (round % 2 == 0, round % 3 != 0);
        let events: Vec<Event> = (0..40)
            .map(|_| match below(10) {
                0 | 1 => Event::Block,
                2 | 3 if partial => Event::Lanes { warp: below(2) as u32, mask: below(4) as usize },
                kind => {
                    let bytes = 1 << below(3) as usize;
                    let at = below(16 / bytes) as usize * bytes as usize;
                    let kind = match kind {
                        7 if relaxed => Kind::Load,
                        8 if relaxed && (bytes == 1 || below(3) == 0) => Kind::Store,
                        8 if relaxed => Kind::Update,
                        8 | 9 => Kind::Write,
                        _ => Kind::Read,
                    };
                    Event::Touch { thread: below(5) as usize, at, bytes: bytes as usize, kind }
                }
            })
            .collect();
        let (text, first) = text(&events);
        let program = load(&text).unwrap();
        for seed in 4 * round..4 * round + 4 {
            let order = Arc::new(Order::default());
            let options = Options { races: true, seed, observer: Some(order.clone()), ..Options::default() };
            let found = run(program.kernel("k").unwrap(), &Memory::new(), &shape(1, 64), &options);
            let mut history = History::default();
            let mut races = Vec::new();
            for &(line, _) in order.0.lock().unwrap().iter() {
                let Some(number) = line.checked_sub(first).map(|n| n as usize) else { continue };
                let Some(&event) = events.get(number) else { continue };
                assert!(races.is_empty(), "{found:?} after {races:?}\n{text}");
                races = history.next(number, event);
            }
            match &found {
                Ok(_) => assert!(races.is_empty(), "none, not {races:?}\n{text}"),
                Err(Error::Race { at, access, other, formal: None, .. }) => {
                    let last = history.touches.last().unwrap();
                    let other = races.iter().any(|race| is(race, &other.at, other.access, first));
                    assert!(is(last, at, *access, first) && other, "{found:?}, not {races:?}\n{text}");
                }
                Err(other) => panic!("{other}"),
            }
            raced += u32::from(found.is_err());
            clean += u32::from(found.is_ok());
            seen += history.touches.len();
        }
    }
    assert!(raced > 1000 && clean > 100 && seen > 20_000, "{raced} {clean} {seen}");
}
