//! Several streams of one device, independent of each other, ordered by events, or ordered by the buffers that they share.

use std::thread;

use girih_device::{Arg, Buffer, Device, Kernel, LaunchConfig};

use super::kernel;

/// Runs `rounds` rounds of a computation that no compiler can shorten, and then writes `to[0] = from[0] + value`; the result of the
/// computation goes to `to[1]`.
pub const LATE: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry late(.param .u64 to, .param .u64 from, .param .u32 value, .param .u32 rounds) {
  .reg .b64 %to, %from; .reg .b32 %v, %n, %x, %y; .reg .pred %p;
  ld.param.u64 %to, [to]; ld.param.u64 %from, [from]; ld.param.u32 %v, [value]; ld.param.u32 %n, [rounds];
  mov.u32 %x, %n;
ROUND:
  mad.lo.u32 %x, %x, 1664525, 1013904223; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra ROUND;
  ld.global.u32 %y, [%from]; add.u32 %y, %y, %v; st.global.u32 [%to], %y; st.global.u32 [%to+4], %x; ret;
}";

/// The words of a buffer for the kernel `late`. The tests look at the first one.
pub const WORDS: usize = 2;

/// The kernel `late`, with its number of rounds.
pub struct Late {
    kernel: Kernel,
    rounds: u32,
}

impl Late {
    pub fn new(device: &Device, rounds: u32) -> Late {
        Late { kernel: kernel(device, LATE, "late"), rounds }
    }

    /// Launches `to[0] = from[0] + value` into a stream.
    pub fn run(&self, stream: &Device, to: Arg<'_>, from: Arg<'_>, value: u32) {
        let args = [to, from, Arg::U32(value), Arg::U32(self.rounds)];
        // SAFETY: the kernel reads the first word of `from` and writes two of `to`, which both have two.
        unsafe { self.kernel.on(stream).unwrap().launch(&LaunchConfig::new([1; 3], [1; 3]), &args) }.unwrap();
    }
}

fn first(buffer: &Buffer<u32>) -> u32 {
    buffer.download().unwrap()[0]
}

/// Two threads, each with its own stream, run the programs that one stream runs.
pub fn two_at_once_agree(device: &Device) {
    thread::scope(|scope| {
        for _ in 0..2 {
            let stream = device.new_stream().unwrap();
            assert!(stream.is_same(device) && stream.limits() == device.limits());
            scope.spawn(move || {
                super::saxpy_agrees(&stream);
                super::reverse_agrees(&stream);
                super::scalars_arrive(&stream);
                super::buffers_hold(&stream);
            });
        }
    });
}

/// An event orders streams that the device does not order by itself, since one is given the address of the other's buffer.
pub fn events_order(device: &Device, rounds: u32) {
    let (late, other) = (Late::new(device, rounds), device.new_stream().unwrap());
    let (x, y) = (device.zeros::<u32>(WORDS).unwrap(), other.zeros::<u32>(WORDS).unwrap());
    for value in 1..=5 {
        x.fill_bytes(0).unwrap();
        late.run(device, (&x).into(), (&x).into(), value);
        let written = device.record().unwrap();
        other.wait(&written).unwrap();
        late.run(&other, (&y).into(), Arg::U64(x.address()), 100);
        assert_eq!(first(&y), 100 + value);
        assert!(written.is_done().unwrap());
        written.synchronize().unwrap();
    }
}

/// Operations that use a buffer of another stream wait for that stream, and later operations of that stream wait for them.
pub fn shared_buffers_are_ordered(device: &Device, rounds: u32) {
    let late = Late::new(device, rounds);
    let [a, b] = [(); 2].map(|()| device.new_stream().unwrap());
    let (x, y) = (a.zeros::<u32>(WORDS).unwrap(), b.zeros::<u32>(WORDS).unwrap());
    // One stream writes late, and the other reads.
    late.run(&a, (&x).into(), (&x).into(), 7);
    y.copy_from(&x).unwrap();
    assert_eq!(first(&y), 7);
    late.run(&a, (&x).into(), (&x).into(), 1);
    late.run(&b, (&y).into(), (&x).into(), 10);
    // One stream reads late, and the other overwrites after it; then a third stream uses both buffers.
    x.fill_bytes(0).unwrap();
    assert_eq!((first(&y), first(&x)), (18, 0));
    late.run(&b, (&x).into(), (&y).into(), 1);
    late.run(device, (&y).into(), (&x).into(), 1);
    assert_eq!((first(&x), first(&y)), (19, 20));
    // The buffer is dropped while the other stream still reads it, and its memory is allocated again.
    x.write(&[100, 0]).unwrap();
    late.run(&b, (&y).into(), (&x).into(), 3);
    drop(x);
    let again = a.alloc::<u32>(WORDS).unwrap();
    again.fill_bytes(0xFF).unwrap();
    assert_eq!(first(&y), 103);
    // The streams are dropped before their buffers, and before their kernels have finished.
    late.run(&a, (&again).into(), (&y).into(), 1);
    drop((a, b));
    assert_eq!(first(&again), 104);
}

/// Threads that use the buffers of one another's streams do not deadlock.
pub fn threads_do_not_wait_in_a_circle(device: &Device) {
    let streams = [(); 3].map(|()| device.new_stream().unwrap());
    let buffers = streams.each_ref().map(|stream| stream.zeros::<u32>(64).unwrap());
    thread::scope(|scope| {
        for start in 0..3 {
            let buffers = &buffers;
            scope.spawn(move || {
                for i in start..start + 200 {
                    buffers[i % 3].copy_from(&buffers[(i + 1 + start) % 3]).unwrap();
                }
            });
        }
    });
    assert_eq!(buffers[0].download().unwrap(), [0; 64]);
}
