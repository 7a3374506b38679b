//! What an inference engine does: its memory, its stream and its context are its own, and girih computes linear layers there,
//! `y = gelu(x W^T + bias) + residual` in bf16, for as many tokens as have come.
//!
//! `cargo run --release -p girih-example-cudarc --bin engine` runs small layers on the simulator, with `GIRIH_DEVICE=cuda` larger ones on a GPU.

#![allow(unsafe_code, reason = "calls of the driver, and launches on memory that girih does not know")]

mod host;

use girih::device::{Buffer, Device, Launch};
use girih::kernels::gemm::{Epilogue, Gemm, Gemms, Given, Input, KernelKind, Layout, Prepared, Problem};
use girih::tensor::DType;
use half::bf16;
use host::Host;
use std::collections::HashMap;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Which activations are the x, the residual and the y of each layer.
const LAYERS: [[usize; 3]; 4] = [[0, 1, 2], [2, 0, 3], [3, 0, 4], [4, 3, 5]];

/// Rows in the engine's memory, one for each token.
struct Activation {
    rows: Buffer<bf16>, // (most,columns)
    columns: usize,
}

struct Weights {
    matrix: Buffer<bf16>, // (outputs,inputs)
    bias: Buffer<bf16>,   // (outputs)
}

struct Engine<'h> {
    host: &'h Host,
    device: Device,
    gemms: Gemms,
    epilogue: Epilogue,
    activations: Vec<Activation>,
    weights: Vec<Weights>,
    /// For this many tokens, outputs and inputs.
    plans: HashMap<[usize; 3], Prepared>,
    most: usize,
}

/// Numbers from -1 to 1, others each time.
struct Numbers(u64);

impl Numbers {
    fn take(&mut self, len: usize, scale: f32) -> Vec<bf16> {
        let mut next = || {
            // SplitMix64.
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            bf16::from_f32(scale * ((x >> 40) as f32 / (1 << 23) as f32 - 1.0))
        };
        (0..len).map(|_| next()).collect()
    }
}

impl<'h> Engine<'h> {
    fn new(
        host: &'h Host,
        [hidden, wide]: [usize; 2],
        most: usize,
        numbers: &mut Numbers,
    ) -> Outcome<Engine<'h>> {
        let device = host.device()?;
        let take = |len: usize| -> Outcome<Buffer<bf16>> {
            // SAFETY: the host outlives the engine, and the engine has all that uses the buffer.
            Ok(unsafe { device.borrow(host.take(2 * len)?, len) }?)
        };
        let activations = [hidden, wide, wide, hidden, hidden, hidden]
            .into_iter()
            .map(|columns| Ok(Activation { rows: take(most * columns)?, columns }))
            .collect::<Outcome<Vec<_>>>()?;
        let mut weights = Vec::new();
        for [x, _, y] in LAYERS {
            let [inputs, outputs] = [x, y].map(|at| activations[at].columns);
            let layer = Weights { matrix: take(outputs * inputs)?, bias: take(outputs)? };
            host.write(
                layer.matrix.address(),
                &numbers.take(outputs * inputs, 3.0 / (inputs as f32).sqrt()),
            )?;
            host.write(layer.bias.address(), &numbers.take(outputs, 1.0))?;
            weights.push(layer);
        }
        let epilogue = Epilogue::new()
            .plus(Input::row("bias", DType::Bf16))
            .gelu()
            .plus(Input::matrix("residual", DType::Bf16));
        let gemms = Gemms::new(&device);
        Ok(Engine { host, device, gemms, epilogue, activations, weights, plans: HashMap::new(), most })
    }

    fn gemm(&self, [tokens, outputs, inputs]: [usize; 3], kind: Option<KernelKind>) -> Outcome<Gemm> {
        let problem = Problem::new(DType::Bf16, [tokens, outputs, inputs].map(|n| n as i64), Layout::Tn)?;
        let kind = kind.unwrap_or_else(|| KernelKind::for_problem(&problem, self.device.limits().sm));
        Ok(self.gemms.fused(&problem, kind, &self.epilogue)?)
    }

    /// The launches of a layer, made when its shape comes for the first time.
    fn plan(&mut self, layer: usize, tokens: usize) -> Outcome<&Prepared> {
        let [x, residual, y] = LAYERS[layer].map(|at| &self.activations[at]);
        let weights = &self.weights[layer];
        let shape = [tokens, y.columns, x.columns];
        if !self.plans.contains_key(&shape) {
            let given = [("bias", Given::from(&weights.bias)), ("residual", Given::from(&residual.rows))];
            let plan = self.gemm(shape, None)?.prepare(&x.rows, &weights.matrix, &y.rows, &given)?;
            self.plans.insert(shape, plan.ok_or("there are no tokens")?);
        }
        let plan = self.plans.get_mut(&shape).ok_or("it was made")?;
        let operands = [("a", &x.rows), ("b", &weights.matrix), ("c", &y.rows)];
        for (name, buffer) in
            operands.into_iter().chain([("bias", &weights.bias), ("residual", &residual.rows)])
        {
            plan.set(name, buffer)?;
        }
        Ok(plan)
    }

    fn forward(&mut self, tokens: usize) -> Outcome {
        for layer in 0..LAYERS.len() {
            // SAFETY: the buffers are the engine's, and hold the layer's matrices for up to `most` tokens.
            unsafe { self.plan(layer, tokens)?.run() }?;
        }
        Ok(())
    }

    /// The same by launches of the engine's own.
    fn forward_by(&mut self, tokens: usize, launch: impl Fn(&Launch) -> Outcome) -> Outcome {
        (0..LAYERS.len()).try_for_each(|layer| self.plan(layer, tokens)?.launches().try_for_each(&launch))
    }

    /// Other numbers for this many tokens. What no token has, and what layers are to write, is NaN.
    fn fill(&self, tokens: usize, numbers: &mut Numbers) -> Outcome {
        for (at, activation) in self.activations.iter().enumerate() {
            let given = LAYERS.iter().all(|[.., y]| *y != at);
            let mut rows = if given { numbers.take(tokens * activation.columns, 2.0) } else { Vec::new() };
            rows.resize(self.most * activation.columns, bf16::NAN);
            self.host.write(activation.rows.address(), &rows)?;
        }
        Ok(())
    }

    /// Compares each layer's y with what f64 makes of its x.
    fn check(&self, tokens: usize) -> Outcome {
        let read = |buffer: &Buffer<bf16>| -> Outcome<Vec<f64>> {
            let values = self.host.read(buffer.address(), buffer.len())?;
            Ok(values.into_iter().map(f64::from).collect())
        };
        let activations =
            self.activations.iter().map(|activation| read(&activation.rows)).collect::<Outcome<Vec<_>>>()?;
        for ((layer, [x, residual, y]), weights) in LAYERS.into_iter().enumerate().zip(&self.weights) {
            let [inputs, outputs] = [x, y].map(|at| self.activations[at].columns);
            let [matrix, bias] = [read(&weights.matrix)?, read(&weights.bias)?];
            // Products are rounded when they are added: at random, and cut off by tensor cores at each 16 of them.
            let rounding = (4.0 * (inputs as f64 + 1.0).sqrt() * 0.5 + inputs as f64 / 16.0) * 2f64.powi(-23);
            for token in 0..tokens {
                let row = &activations[x][token * inputs..][..inputs];
                for column in 0..outputs {
                    let products = row.iter().zip(&matrix[column * inputs..]).map(|(x, w)| x * w);
                    let (sum, size) =
                        products.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + f64::abs(x)));
                    let at = token * outputs + column;
                    let (expected, found) =
                        (gelu(sum + bias[column]) + activations[residual][at], activations[y][at]);
                    // No GELU is steeper than 1.13.
                    let bound = 2f64.powi(-8) * expected.abs() + 1.13 * rounding * size + 1e-6;
                    if (found - expected).abs() > bound || found.is_nan() {
                        return Err(format!(
                            "layer {layer}, {tokens} tokens: ({token},{column}) is {found}, not {expected} within {bound}"
                        )
                        .into());
                    }
                }
            }
            if !activations[y][tokens * outputs..].iter().all(|y| y.is_nan()) {
                return Err(format!("layer {layer}: more than {tokens} tokens are written").into());
            }
        }
        Ok(())
    }

    /// Loads all kernels that up to `most` tokens need, so that no batch has to wait for one.
    fn warm(&self) -> Outcome {
        for [x, _, y] in LAYERS {
            let [inputs, outputs] = [x, y].map(|at| self.activations[at].columns);
            (1..=self.most).try_for_each(|tokens| self.gemm([tokens, outputs, inputs], None).map(drop))?;
        }
        Ok(())
    }

    /// Three tokens through the last layer, with each operand in turn at an address or of a size that can't be right: what is said of it, in the
    /// order of A, B, C, bias and residual. Nothing is launched.
    fn refusals(&mut self) -> Outcome<Vec<[String; 2]>> {
        let tokens = 3;
        let [x, residual, y] = LAYERS[3].map(|at| &self.activations[at]);
        let Weights { matrix, bias } = &self.weights[3];
        // By warps, which load and store vectors of all operands.
        let gemm = self.gemm([tokens, y.columns, x.columns], Some(KernelKind::Sm80))?;
        let operands = [
            ("a", &x.rows, tokens * x.columns),
            ("b", matrix, matrix.len()),
            ("c", &y.rows, tokens * y.columns),
            ("bias", bias, bias.len()),
            ("residual", &residual.rows, tokens * y.columns),
        ];
        let given = [("bias", Given::from(bias)), ("residual", Given::from(&residual.rows))];
        let mut plan = gemm.prepare(&x.rows, matrix, &y.rows, &given)?.ok_or("there are tokens")?;
        let mut said = Vec::new();
        for (at, (name, right, needed)) in operands.into_iter().enumerate() {
            // SAFETY: nothing is launched.
            let odd = unsafe { self.device.borrow(right.address() + 2, needed) }?;
            let short = right.slice(..needed - 1)?;
            let mut both = [const { String::new() }; 2];
            for (said, wrong) in both.iter_mut().zip([&odd, &short]) {
                let [a, b, c, bias, residual] =
                    [0, 1, 2, 3, 4].map(|i| if i == at { wrong } else { operands[i].1 });
                let given = [("bias", Given::from(bias)), ("residual", Given::from(residual))];
                let told = gemm.run_with(a, b, c, &given).err().ok_or(name)?.to_string();
                // An exchange is refused in the same words.
                let exchanged = plan.set(name, wrong).err().ok_or(name)?.to_string();
                if told != exchanged {
                    return Err(format!("{told}, but {exchanged}").into());
                }
                *said = told;
            }
            said.push(both);
        }
        Ok(said)
    }
}

/// By its approximation with the hyperbolic tangent.
fn gelu(x: f64) -> f64 {
    x / 2.0 * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
}

/// Layers for this many tokens, each number of them twice, in graphs, and by launches of the engine's own.
fn compute(widths: [usize; 2], batches: &[usize], numbers: &mut Numbers) -> Outcome<String> {
    let host = Host::open(16 << 20)?;
    let most = batches.iter().max().map_or(0, |most| most + 1);
    let mut engine = Engine::new(&host, widths, most, numbers)?;
    engine.warm()?;
    let modules = engine.gemms.modules();
    for &tokens in batches {
        engine.fill(tokens, numbers)?;
        engine.forward(tokens)?;
        engine.check(tokens)?;
    }
    for &tokens in batches {
        engine.fill(tokens, numbers)?;
        let free = host.free()?;
        host.unwaited(|| engine.forward(tokens))?;
        // Other tests allocate at the same time.
        if !cfg!(test) && host.free()? < free {
            return Err(format!("{tokens} tokens took memory of the GPU").into());
        }
        engine.check(tokens)?;

        engine.fill(tokens, numbers)?;
        let device = engine.device.clone();
        let graph = device.capture(|| engine.forward(tokens))?;
        // SAFETY: the graph is of launches that were checked, on the engine's memory.
        unsafe { graph.launch() }?;
        engine.check(tokens)?;

        engine.fill(tokens, numbers)?;
        if host.replayed(|| engine.forward(tokens))? {
            engine.check(tokens)?;
        }

        engine.fill(tokens, numbers)?;
        host.unwaited(|| engine.forward_by(tokens, |launch| host.launch(launch)))?;
        engine.check(tokens)?;
    }
    if engine.gemms.modules() != modules {
        return Err("a batch has loaded a kernel".into());
    }
    Ok(format!("{} by {modules} kernels for all numbers of tokens up to {most}", engine.device.name()))
}

/// Small layers on the simulator, larger ones on a GPU.
fn sizes() -> Outcome<([usize; 2], &'static [usize])> {
    Ok(match host::gpu()? {
        Some(_) => ([512, 768], &[1, 7, 129, 1000]),
        None => ([64, 96], &[1, 7, 129]),
    })
}

fn main() -> Outcome {
    let (widths, batches) = sizes()?;
    let found = compute(widths, batches, &mut Numbers(1))?;
    println!("an engine's layers of {widths:?} columns are right for {batches:?} tokens, on {found}");
    let host = Host::open(1 << 20)?;
    for said in Engine::new(&host, [64, 96], 4, &mut Numbers(1))?.refusals()?.as_flattened() {
        println!("  refused: {said}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_computes_layers_in_its_own_memory() -> Outcome {
        let (widths, batches) = sizes()?;
        compute(widths, batches, &mut Numbers(2))?;
        Ok(())
    }

    #[test]
    fn an_engine_is_told_what_is_wrong() -> Outcome {
        let host = Host::open(1 << 20)?;
        let mut engine = Engine::new(&host, [64, 96], 4, &mut Numbers(3))?;
        let said = engine.refusals()?;
        for ((name, [odd, short]), elements) in
            ["A", "B", "C", "`bias`", "`residual`"].into_iter().zip(said).zip([192, 4096, 192, 64, 192])
        {
            let begins =
                odd.starts_with(name) && odd.contains("begins at 0x") && odd.contains("multiples of ");
            assert!(begins, "{odd}");
            assert!(short.starts_with(name) && short.contains(&format!("{elements} elements")), "{short}");
        }
        // SAFETY: nothing is launched.
        let [odd, beyond] = [(host.take(256)? + 1, 8), (host.take(256)?, 1 << 20)]
            .map(|(address, len)| unsafe { engine.device.borrow::<bf16>(address, len) });
        assert!(odd.is_err_and(|error| error.to_string().contains("is no multiple of 2")));
        assert!(beyond.is_err_and(|error| error.to_string().contains("beyond their allocation")));
        Ok(())
    }
}
