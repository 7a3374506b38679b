//! Writes attention kernels as PTX.
use girih_codegen::attention::{AttentionConfig, Features, Form, Ring, generate};
use girih_tensor::DType;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or("a folder")?;
    let plain = Features { lse: true, ..Features::default() };
    let causal = Features { right: true, ..plain };
    let window = Features { left: true, ..causal };
    let packed = Features { packed: true, ..causal };
    let all = Features { softcap: true, bias: Some(DType::Bf16), ..packed };
    let variants =
        [("plain", plain), ("causal", causal), ("window", window), ("packed", packed), ("all", all)];
    let wanted = args.next().ok_or("variants")?;
    for arg in args {
        // name:d,bm,bn,wg,stages,buffers,r0,r1
        let (name, rest) = arg.split_once(':').ok_or("name:...")?;
        let n: Vec<i64> = rest.split(',').map(|x| x.parse()).collect::<Result<_, _>>()?;
        let ring =
            Ring { warpgroups: n[3], stages: n[4], buffers: n[5], registers: [n[6] as u32, n[7] as u32] };
        for (suffix, features) in variants.iter().filter(|(v, _)| wanted.contains(v)) {
            let config = AttentionConfig {
                name: "attention",
                form: Form::Ring(ring),
                dtype: DType::Bf16,
                head_dim: n[0],
                tile: [n[1], n[2]],
                features: *features,
            };
            match generate(&config) {
                Ok(kernel) => {
                    std::fs::write(format!("{dir}/{name}-{suffix}.ptx"), kernel.kernel.module().to_string())?
                }
                Err(e) => println!("{name} {suffix}: {e}"),
            }
        }
    }
    Ok(())
}
