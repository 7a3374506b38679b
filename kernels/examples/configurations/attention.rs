//! Attention kernels that can be chosen.

use girih_codegen::attention::{AttentionConfig, Features, Form, generate};
use girih_kernels::attention::choose;

use super::Facts;

/// A kernel to be written.
pub(crate) struct Case {
    config: AttentionConfig,
    /// What is true of it, as words of its name: the form first.
    pub(crate) facts: Vec<String>,
}

impl Case {
    fn new(config: AttentionConfig) -> Case {
        let ([queries, keys], columns) = (config.tile, config.head_dim);
        let of_values = config.value_dim.map_or(String::new(), |columns| format!("v{columns}"));
        let tile = format!("{queries}x{keys}x{columns}{of_values}");
        let mut facts = match config.form {
            Form::Ring(ring) => {
                vec![String::from("ring"), format!("{tile}-s{}b{}", ring.stages, ring.buffers)]
            }
            Form::Multistage(form) => {
                vec![
                    format!("multistage_{}", config.dtype),
                    format!("{tile}-w{}s{}", form.warps, form.stages),
                    format!("v{}", form.vector),
                ]
            }
        };
        let Features { left, right, packed, softcap, bias, lse, sinks } = config.features;
        facts.push(config.dtype.to_string());
        facts.push(bias.map_or(String::from("unbiased"), |dtype| format!("bias_{dtype}")));
        for (has, [with, without]) in [
            (left, ["left", "all_left"]),
            (right, ["right", "all_right"]),
            (packed, ["packed", "batched"]),
            (softcap, ["capped", "uncapped"]),
            (lse, ["lse", "no_lse"]),
            (sinks, ["sinks", "no_sinks"]),
        ] {
            facts.push((if has { with } else { without }).into());
        }
        Case { config, facts }
    }

    pub(crate) fn name(&self) -> String {
        format!("attention.{}", self.facts.join("."))
    }

    pub(crate) fn kernel(&self) -> Result<girih_codegen::Kernel, girih_codegen::Error> {
        Ok(generate(&self.config)?.kernel)
    }
}

impl Facts for Case {
    fn pairs(&self) -> impl Iterator<Item = [&str; 3]> {
        let pair = move |i: usize, j: usize| [&*self.facts[0], &*self.facts[j], &*self.facts[i]];
        (0..self.facts.len()).flat_map(move |i| (0..i).map(move |j| pair(i, j)))
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Case> {
    choose::all().into_iter().map(Case::new).collect()
}
