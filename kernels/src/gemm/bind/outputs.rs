//! The arguments for outputs of an epilogue in addition to C.

use girih_codegen::gemm::{InputKind, MAX_STRIDE, Output};

use super::{Binding, Given};
use crate::Error;
use crate::family::Memory;

impl<'a> Binding<'a> {
    /// Checks that each output is given, as it is declared, in memory that nothing else of the launch uses.
    pub(super) fn check_outputs(&self) -> Result<(), Error> {
        for output in &self.kernel.outputs {
            let Some(own) = self.given_output(output)?.memory() else { continue };
            let others = self.given.iter().filter(|(name, _)| *name != output.name);
            let others =
                others.filter_map(|(_, given)| Some(("an input or another output", given.memory()?)));
            for (read, memory) in ["A", "B", "C"].into_iter().zip(&self.matrices).chain(others) {
                if let Some(common) = own.common(memory)? {
                    return Err(common.error("an output of the epilogue", read));
                }
            }
        }
        Ok(())
    }

    /// The argument for an output, checked.
    pub(super) fn given_output(&self, output: &Output) -> Result<&'a Given<'a>, Error> {
        let refuse = |found: String, accepted: String| {
            Err(Error::Input { name: output.name.clone(), found, accepted })
        };
        let Some((_, given)) = self.given.iter().find(|(name, _)| *name == output.name) else {
            return refuse(String::from("nothing"), output.to_string());
        };
        let values = self.values_of(output);
        let buffer =
            given.memory().filter(|memory| memory.dtype == output.dtype && memory.pointers.is_none());
        let Some(Memory { len, .. }) = buffer else { return refuse(given.found(), output.to_string()) };
        if given.pitch.is_some() {
            return refuse(String::from("a pitch"), String::from("no pitch, which only a matrix has"));
        }
        let products = self.problem.batches();
        let least = if products > 1 { values } else { 0 };
        let stride = given.step(products);
        if !(least..=MAX_STRIDE).contains(&stride) {
            let accepted = format!("{least} to {MAX_STRIDE}: each product has an output of its own");
            return refuse(format!("a stride of {stride}"), accepted);
        }
        let needed = self.elements_of(output, given);
        if (*len as i64) < needed {
            return Err(Error::few(&output.name, *len, needed));
        }
        Ok(given)
    }

    /// How many values an output has of one product.
    fn values_of(&self, output: &Output) -> i64 {
        let [m, n] = self.problem.c().extents();
        let [rows, columns] = if self.transposed { [n, m] } else { [m, n] };
        match output.kind {
            InputKind::Row => columns,
            InputKind::Column => rows,
            InputKind::Scalar | InputKind::Matrix => 1,
        }
    }

    /// How many elements are between the first and the last that is written of an output, both counted.
    pub(super) fn elements_of(&self, output: &Output, given: &Given<'_>) -> i64 {
        self.values_of(output) + (self.problem.batches() - 1).max(0) * given.step(self.problem.batches())
    }
}
