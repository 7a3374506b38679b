//! Conversions of fragments, on the simulator and on a GPU. Skips the GPU with one line where there is none.

use std::io::Write;

use girih_codegen::atom::SM80_16X8X16_F32BF16BF16F32_TN;
use girih_codegen::plan::{Conversion, Means};
use girih_codegen::{Builder, Cond, Error, Expr};
use girih_device::{Arg, Device, LaunchConfig, Select, SimOptions};
use girih_layout::{Lay, lay};
use girih_ptx::{Module, Special, Type};
use girih_tensor::Space;

/// The kernel of a warp that converts the registers in `from` to the registers in `to`, of which each lane has `count`.
fn kernel(conversion: &Conversion, count: usize) -> Result<Module, Error> {
    let mut b = Builder::new("convert", 80, 32);
    let (from, to) = (b.pointer("from", 16), b.pointer("to", 16));
    let lane = b.special(Special::TidX);
    let at = |i: usize| &(&lane * (4 * count as i64)) + &Expr::from(4 * i as i64);
    let values = b.regs(Type::B32, count);
    for (i, value) in values.iter().enumerate() {
        b.load(Space::Gmem, std::slice::from_ref(value), &(&from + &at(i)), &Cond::Always)?;
    }
    let scratch = match conversion.means() {
        Means::Shared => Some(b.alloc_shared(conversion.scratch_bytes().into(), 16)?),
        _ => None,
    };
    for (i, value) in conversion.emit(&mut b, &lane, &values, scratch.as_ref())?.into_iter().enumerate() {
        b.store(Space::Gmem, &(&to + &at(i)), &[value], &Cond::Always)?;
    }
    Ok(b.finish()?.into_module())
}

/// The registers of every lane where element `i` of the tile holds the lowest bits of `i`.
fn registers(tv: &Lay, values: usize, bits: usize) -> Vec<u32> {
    let packed = 32 / bits;
    let element = |lane: usize, value: usize| {
        tv.at((lane + 32 * value) as i64).expect("inside") as u32 & (u32::MAX >> (32 - bits))
    };
    let register =
        |lane, r| (0..packed).fold(0, |word, i| word | element(lane, r * packed + i) << (i * bits));
    (0..32)
        .flat_map(|lane| (0..values / packed).map(move |r| (lane, r)))
        .map(|(lane, r)| register(lane, r))
        .collect()
}

#[test]
fn fragments_are_converted() {
    let c = lay!("((4,8),(2,2,2)):((32,1),(16,8,128))"); // two accumulators of m16n8 side by side
    let cases = [
        // As attention needs it: the accumulators of one product become the operand of the next one.
        (c, SM80_16X8X16_F32BF16BF16F32_TN.a, 16, Means::Rename),
        // Each lane gets eight values of a row: from its quad, as halves too, and from any lane.
        (c, lay!("((2,2,8),8):((128,8,1),16)"), 32, Means::Shuffle),
        (c, lay!("((2,2,8),8):((128,8,1),16)"), 16, Means::Shuffle),
        (c, lay!("((2,16),8):((128,1),16)"), 32, Means::Shuffle),
        // Bytes change places within a lane; the bits of the lane's index rotate; two neighbours go to different lanes.
        (lay!("(32,(4,4)):(1,(32,128))"), lay!("(32,(4,4)):(1,(128,32))"), 8, Means::Permute),
        (lay!("((4,8),2):((8,1),32)"), lay!("(32,2):(1,32)"), 32, Means::Shuffle),
        (lay!("(32,2):(2,1)"), lay!("(32,2):(1,32)"), 16, Means::Shared),
    ];
    let mut devices = vec![Device::open_sim(SimOptions::fast()).unwrap()];
    match Device::open(Select::Cuda(0)) {
        Ok(gpu) => devices.push(gpu),
        // The harness swallows what eprintln! writes.
        Err(error) => writeln!(std::io::stderr(), "skipped on a GPU: {error}").unwrap(),
    }
    for (src, dst, bits, means) in cases {
        let conversion = Conversion::new(&src, &dst, bits).unwrap();
        assert_eq!(conversion.means(), means, "{conversion}");
        let values = (src.size().unwrap().get().unwrap() / 32) as usize;
        let (before, after) =
            (registers(&src, values, bits as usize), registers(&dst, values, bits as usize));
        let module = kernel(&conversion, before.len() / 32).unwrap();
        for device in &devices {
            let kernel = device.load(&module).unwrap().kernel("convert").unwrap();
            let (from, to) = (device.upload(&before).unwrap(), device.alloc::<u32>(after.len()).unwrap());
            to.fill_bytes(0xff).unwrap();
            let config =
                LaunchConfig::new([1; 3], [32, 1, 1]).with_dynamic_shared(conversion.scratch_bytes());
            // SAFETY: the kernel reads and writes as many registers of 32 lanes as the buffers hold.
            #[expect(unsafe_code, reason = "launching a generated kernel")]
            unsafe {
                kernel.launch(&config, &[Arg::from(&from), Arg::from(&to)]).unwrap();
            }
            assert_eq!(to.download().unwrap(), after, "{conversion} on {}", device.name());
        }
        println!("{conversion}");
    }
}
