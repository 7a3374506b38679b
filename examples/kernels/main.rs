//! Kernels as a user writes them: a softmax, a transpose, a product with what comes after it, a product whose sum over K is split
//! among blocks, a gather. Each checks what it has computed. `cargo run --release --example kernels`
#![expect(unsafe_code, reason = "launching one's own kernels")]

mod fused;
mod gather;
#[cfg(test)]
mod mistakes;
mod softmax;
mod split_k;
mod transpose;

use girih::codegen::atom::SM50_RED_ADD_F32_V1;
use girih::device::{Device, Select};
use girih::kernels::gemm::KernelKind;
use half::bf16;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let device = Device::open(Select::Auto)?;
    softmax::run(&device, softmax::softmax()?.module(), [1000, 4000, 4003])?;
    transpose::run(&device, transpose::transpose()?.module(), [1000, 700])?;
    split_k::run(&device, split_k::split_k(SM50_RED_ADD_F32_V1)?.module(), [200, 300, 1000], 5)?;
    gather::run(&device, gather::gather()?.module(), [100, 50, 1000])?;
    fused::run::<f32>(&device, [300, 200, 100], KernelKind::Simt)?;
    fused::run::<bf16>(&device, [300, 200, 128], KernelKind::Sm80)?;
    if device.limits().sm == 90 {
        fused::run::<bf16>(&device, [300, 200, 128], KernelKind::Sm90)?;
    }
    println!("softmax, transpose, fused GEMM, split-K and gather on {}: every value is right", device.name());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulator() -> Device {
        Device::open(Select::Sim).expect("there is always a simulator")
    }

    /// The lines of the kernel's function and of the paragraph that uploads, loads and launches, without blanks and comments.
    fn lines(text: &str, function: &str, launch: &str) -> usize {
        let code = |text: &str| {
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
        };
        let function = text.split_once(&format!("pub(super) fn {function}(")).expect("the function").1;
        let function = function.split_once("\n}\n").expect("its end").0;
        let launched = text.split("\n\n").find(|paragraph| paragraph.contains(launch)).expect("a launch");
        code(function) + 1 + code(launched)
    }

    #[test]
    fn kernels_are_as_short_as_the_guide_says_and_need_no_ptx() {
        let texts = [
            ("softmax", include_str!("softmax.rs"), "kernel.launch(", 35),
            ("transpose", include_str!("transpose.rs"), "kernel.launch(", 35),
            ("linear", include_str!("fused.rs"), "gemm.run_with(", 25),
            ("split_k", include_str!("split_k.rs"), "kernel.launch(", 35),
            ("gather", include_str!("gather.rs"), "kernel.launch(", 20),
        ];
        let counts = texts.map(|(name, text, launch, most)| {
            let found = lines(text, name, launch);
            assert!(found <= most, "{name}: {found} lines, not {most}");
            assert!(!text.contains("ptx!") && !text.contains(".inst("), "{name}");
            found
        });
        let (least, most) = (counts.iter().min().expect("five"), counts.iter().max().expect("five"));
        let said = format!("{least} to {most} lines each with their launch");
        assert!(include_str!("../../docs/kernels.md").contains(&said), "{said}: {counts:?}");
    }

    #[test]
    fn softmaxes_are_right() -> Outcome {
        let shapes = [[3, 1, 1], [2, 127, 130], [2, 128, 128], [2, 1000, 1001], [1, 4096, 4096]];
        shapes
            .into_iter()
            .try_for_each(|shape| softmax::run(&simulator(), softmax::softmax()?.module(), shape))
    }

    #[test]
    fn transposes_are_right() -> Outcome {
        let shapes = [[1, 1], [32, 32], [33, 31], [100, 70], [5, 200]];
        shapes
            .into_iter()
            .try_for_each(|shape| transpose::run(&simulator(), transpose::transpose()?.module(), shape))
    }

    #[test]
    fn products_split_over_k_are_right() -> Outcome {
        for (shape, parts) in [([64, 64, 32], 1), ([64, 64, 128], 4), ([70, 50, 100], 3), ([1, 130, 33], 2)] {
            split_k::run(&simulator(), split_k::split_k(SM50_RED_ADD_F32_V1)?.module(), shape, parts)?;
        }
        Ok(())
    }

    #[test]
    fn fused_products_are_right() -> Outcome {
        for shape in [[1, 8, 8], [70, 136, 40], [130, 72, 64]] {
            fused::run::<f32>(&simulator(), shape, KernelKind::Simt)?;
            fused::run::<bf16>(&simulator(), shape, KernelKind::Sm80)?;
            fused::run::<bf16>(&simulator(), shape, KernelKind::Sm90)?;
        }
        Ok(())
    }

    #[test]
    fn gathers_are_right() -> Outcome {
        let shapes = [[1, 1, 1], [10, 5, 512], [7, 20, 513], [3, 4, 1500]];
        shapes.into_iter().try_for_each(|shape| gather::run(&simulator(), gather::gather()?.module(), shape))
    }
}
