//! Matrices in shared memory that `wgmma` reads by descriptor (CuTe's `GMMA::DescriptorIterator`).

use girih_layout::{Lay, Stride};
use girih_ptx::{Opcode, Operand as Ptx, Type};
use girih_tensor::{Engine, Error as TensorError, Space, Tensor};

use crate::atom::{GmmaDesc, make_gmma_desc};
use crate::builder::{Builder, Width};
use crate::tiled::mma::{Operand, ThrMma, append};
use crate::{Error, Expr, Memory, Smem};

/// A descriptor that moves with the coordinates of a tensor in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    desc: GmmaDesc,
    matrix: Smem,
}

impl Engine for Descriptor {
    type Index = Expr;
    fn space(&self) -> Space {
        Space::Smem
    }
    fn advance(&self, steps: &[(Expr, Stride)]) -> Result<Descriptor, TensorError> {
        Ok(Descriptor { matrix: self.matrix.advance(steps)?, ..self.clone() })
    }
}

impl Descriptor {
    /// The fields of the descriptor other than the address.
    pub fn desc(&self) -> GmmaDesc {
        self.desc
    }

    /// A register with the 64 bits of the descriptor.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the address of the matrix is not known to be a multiple of 16 bytes.
    #[track_caller]
    pub fn value(&self, b: &mut Builder) -> Result<Ptx, Error> {
        let start = self.matrix.linear_address()?;
        if start.multiple() % 16 != 0 {
            return Err(Error::Mismatch {
                what: "descriptor",
                layout: start.to_string(),
                with: String::from("a matrix descriptor"),
                accepted: "addresses that are multiples of 16 bytes",
            });
        }
        let bits = self.desc.bits();
        let low = b.value(
            &(&(&start.div(16)? - &b.shared_window().div(16)?) + (bits & 0xffff_ffff) as i64),
            Width::W32,
        )?;
        let (high, pair) = (b.reg(Type::B32), b.reg(Type::B64));
        b.inst(Opcode::Mov, &[Type::B32.into()], vec![Ptx::from(&high), Ptx::Int((bits >> 32) as i64)]);
        let halves = Ptx::Vector(vec![Ptx::from(&low), Ptx::from(&high)]);
        b.inst(Opcode::Mov, &[Type::B64.into()], vec![Ptx::from(&pair), halves]);
        Ok(Ptx::from(&pair))
    }
}

impl ThrMma<Expr> {
    /// An operand that the atom takes from shared memory, `(1,RestX,RestY,...)`: a descriptor for each instruction
    /// (CuTe's `partition_fragment_A`, `_B` of such an atom).
    ///
    /// # Errors
    /// Those of [`ThrMma::partition`] and [`make_gmma_desc`]; [`Error::Mismatch`] for an operand in registers, and for a
    /// tensor whose base is not aligned to its swizzle's period.
    pub fn partition_descriptor(
        &self,
        operand: Operand,
        tensor: &Tensor<Smem>,
    ) -> Result<Tensor<Descriptor>, Error> {
        let atom = self.atom();
        let mine = self.partition(operand, tensor)?; // ((MN,K),RestX,RestY,...)
        let mismatch = |with, accepted| Error::Mismatch {
            what: "partition_descriptor",
            layout: tensor.layout().to_string(),
            with,
            accepted,
        };
        if !atom.from_shared(operand) {
            let accepted =
                "an operand that the atom takes from shared memory; this one it takes from registers";
            return Err(mismatch(format!("{operand:?} of {atom}"), accepted));
        }
        let (matrix, dtype) = (tensor.engine(), atom.dtype(operand));
        if matrix.dtype() != dtype {
            return Err(mismatch(
                format!("{operand:?} of {atom}, a tensor of {}", matrix.dtype()),
                "the atom's dtype",
            ));
        }
        let major = atom.majors[operand as usize];
        let desc = make_gmma_desc(major, &mine.layout().mode(0)?, matrix.swizzle(), dtype)?;
        if matrix.linear_address()?.multiple() % desc.swizzle.period() != 0 {
            let with = format!("{:?}, of a period of {} bytes", desc.swizzle, desc.swizzle.period());
            return Err(mismatch(with, "a tensor that begins at a multiple of the period"));
        }
        let rest =
            (1..mine.layout().rank()).map(|i| mine.layout().mode(i)).collect::<Result<Vec<Lay>, _>>()?;
        let one = Lay::concat(&[crate::sizes::ONE])?;
        append(&Tensor::new(Descriptor { desc, matrix: mine.into_engine() }, one), &rest)
    }
}
