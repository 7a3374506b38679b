//! Errors of [`algorithm`](crate::algorithm) on elements in registers.

use girih_tensor::DType;

crate::errors! {
    /// A function or a combination of elements that does not exist.
    AlgorithmError {
        /// A function of other operands, or of a dtype that it does not take.
        #[error("{function} of {operands} registers of {dtype}: {accepted} are accepted")]
        Function {
            function: &'static str = "The function's name.", operands: usize = "The registers.", dtype: DType = "Their dtype.",
            accepted: String = "What it takes.",
        }
        /// A combination that has no such operands.
        #[error("a combination of {operands} operands: one is accepted, or as many as an order or a function has identities for")]
        Operands { operands: usize = "The operands." }
        /// A scan that would give the index of the greatest or the least element.
        #[error("a scan by {combination}: combinations of elements are accepted, which give no index")]
        Scan { combination: &'static str = "The combination." }
        /// A direction of rounding that a conversion does not have.
        #[error("a conversion of {from} to {to} rounded by {rounding}: rn is accepted of tf32 and floats of 8 bits")]
        Rounding { rounding: String = "The direction.", from: DType = "The dtype before.", to: DType = "The dtype after." }
    }
}
