//! Epilogues, which turn the accumulator into C.

mod ahead;
mod apply;
mod direct;
mod gate;
mod nodes;
mod output;
mod reduce;
mod rows;
mod staged;

use std::fmt;
use std::sync::Arc;

use girih_layout::{Int, Lay, Shape, Stride, Strides, Symbol};
use girih_tensor::{DType, Tensor};

use super::batch::{ADDRESS, Lie, Tensors};
use super::{Arguments, Batch, GemmConfig, Major};
use crate::builder::Builder;
use crate::engine::element_bytes;
use crate::error::GemmError;
use crate::params::{MAX_EXTENT, Params};
use crate::tiled::mma::Operand;
use crate::{Error, Expr, Gmem, Scalar};

use ahead::InPlace;
pub(super) use ahead::{Carrier, Mapped};
pub(super) use apply::AtTile;
pub(super) use direct::store;
pub use gate::Activation;
pub(super) use gate::for_pairs;
pub use output::{Output, Reduction};
pub(super) use reduce::Reducing;
pub(super) use rows::{Out, Rows, lanes, shared_bytes};
pub(super) use staged::Staged;

/// An epilogue turns the accumulators of a product into C. It consists of nodes, each of which makes a new value of an element of C from the
/// value before. The first value is the sum as an f32, or as an f64 where the accumulators are f64; the last value is rounded to C's dtype and
/// stored. Without nodes, accumulators that have C's dtype are stored as they are. Integers are rounded to f32 before anything is computed.
///
/// A node is a function of an [`Element`], which has the value, its coordinates and the values of the node's [`Input`]s there. The
/// ready-made nodes are methods that add a node: [`Epilogue::scale`], [`Epilogue::plus`], [`Epilogue::gelu`] and so on;
/// [`Epilogue::map`] and [`Epilogue::node`] add any other function. An epilogue's [key](Epilogue::key) names all that its code
/// depends on: two epilogues with the same key have to be the same.
///
/// # Examples
/// ```
/// use girih_codegen::gemm::{Epilogue, Input};
/// use girih_tensor::DType;
///
/// // C = gelu(alpha * A * B^T + bias) + residual
/// let (bias, residual) = (Input::row("bias", DType::Bf16), Input::matrix("residual", DType::Bf16));
/// let epilogue = Epilogue::new().scale("alpha").plus(bias).gelu().plus(residual);
/// assert_eq!(epilogue.key(), "times scalar(alpha: f32), plus row(bias: bf16), gelu, plus matrix(residual: bf16)");
/// assert_eq!(epilogue.inputs().len(), 3);
/// ```
#[derive(Clone, Default)]
pub struct Epilogue {
    nodes: Vec<Node>,
    transposed: bool,
}

/// One step of an epilogue.
#[derive(Clone)]
struct Node {
    key: String,
    inputs: Vec<Input>,
    /// Whether the function asks for more than the value and scalars.
    reads_tiles: bool,
    step: Step,
}

/// What a node does.
#[derive(Clone)]
enum Step {
    /// It makes a new value.
    Map(Function),
    /// It passes the value on, and reduces it with others.
    Reduce(Output),
    /// It makes one value of those of two neighbouring columns.
    Gate(Activation),
}

/// The function of a node.
type Function = Arc<dyn Fn(&mut Builder, &Element<'_>) -> Result<Scalar, Error> + Send + Sync>;

/// A tensor or a number that an epilogue reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// The parameter's name. A matrix has a second parameter, `ld` before its name: its pitch in elements. In a batch, each
    /// tensor has one more, `batch_` before its name, unless the matrices are at addresses of their own.
    pub name: String,
    /// The elements of C that share a value of the input.
    pub kind: InputKind,
    /// The input's element type.
    pub dtype: DType,
    /// A number of elements that divides a matrix's pitch, and whose bytes divide the address of a matrix or a row, so that as many
    /// elements are read together; at most 16 bytes. By default, as many as divide C's pitch.
    pub vector: Option<i64>,
}

/// The shape of an epilogue's input, or of an output besides C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// One value for each element: an M x N matrix that is laid out like C, with contiguous rows where C has contiguous rows.
    Matrix,
    /// One value for each column: a vector of N, such as a bias of features.
    Row,
    /// One value for each row: a vector of M.
    Column,
    /// One value for all elements.
    Scalar,
}

impl Input {
    /// An M x N matrix, which is laid out like C.
    pub fn matrix(name: impl Into<String>, dtype: DType) -> Input {
        Input { name: name.into(), kind: InputKind::Matrix, dtype, vector: None }
    }

    /// A vector of N values, one for each column of C.
    pub fn row(name: impl Into<String>, dtype: DType) -> Input {
        Input { name: name.into(), kind: InputKind::Row, dtype, vector: None }
    }

    /// A vector of M values, one for each row of C.
    pub fn column(name: impl Into<String>, dtype: DType) -> Input {
        Input { name: name.into(), kind: InputKind::Column, dtype, vector: None }
    }

    /// A number that the launch gives.
    pub fn scalar(name: impl Into<String>, dtype: DType) -> Input {
        Input { name: name.into(), kind: InputKind::Scalar, dtype, vector: None }
    }

    /// The input with any alignment: with any pitch, and in memory that begins at any element. It is read element by element.
    #[must_use]
    pub fn unaligned(self) -> Input {
        Input { vector: Some(1), ..self }
    }

    /// The number of elements that divides a matrix's pitch in a kernel of this configuration, and whose bytes divide the address of a matrix.
    ///
    /// # Errors
    /// [`GemmError::InputVector`] for vectors of more than 16 bytes, or of a number of elements that is no power of two.
    pub fn aligned(&self, config: &GemmConfig) -> Result<i64, Error> {
        let bytes = element_bytes("input of an epilogue", self.dtype)?;
        let vector = self.vector.unwrap_or(config.aligned(Operand::C)?.min(16 / bytes));
        if vector < 1 || vector.count_ones() != 1 || vector * bytes > 16 {
            return Err(GemmError::InputVector { input: self.to_string(), most: 16 / bytes }.into());
        }
        Ok(vector)
    }

    /// The name of a matrix's pitch.
    pub fn pitch_name(&self) -> String {
        format!("ld{}", self.name)
    }

    /// The name of the distance of the input's tensors in a batch.
    pub fn batch_stride_name(&self) -> String {
        format!("batch_{}", self.name)
    }
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InputKind::Matrix => "matrix",
            InputKind::Row => "row",
            InputKind::Column => "column",
            InputKind::Scalar => "scalar",
        })
    }
}

/// The scalar of f32 with this name.
impl From<&str> for Input {
    fn from(name: &str) -> Input {
        Input::scalar(name, DType::F32)
    }
}

/// Writes `kind(name: dtype)`, as in keys.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}: {}", self.kind, self.name, self.dtype)?;
        self.vector.map_or(Ok(()), |vector| write!(f, " in vectors of {vector}"))?;
        f.write_str(")")
    }
}

/// An element of C on its way through an epilogue.
#[derive(Debug)]
pub struct Element<'a> {
    value: Scalar,
    sum: Scalar,
    coordinate: [Expr; 2],
    inputs: &'a [(&'a str, Scalar)],
}

impl Element<'_> {
    /// The value that the node before has made; the first node gets the sum. It is an f32, or an f64 where the accumulators are f64.
    pub fn value(&self) -> &Scalar {
        &self.value
    }

    /// The sum of products as the mainloop leaves it, before it becomes a float: an s32 where the accumulators are s32, an f16 where they are f16.
    pub fn sum(&self) -> &Scalar {
        &self.sum
    }

    /// The element's row and column in C. In a tile at the edge they may be outside of C.
    pub fn coordinate(&self) -> &[Expr; 2] {
        &self.coordinate
    }

    /// The value of an input of the node for the element, as a float of as many bits as [`Element::value`]. A name that no input has is an
    /// error where the value is used.
    #[track_caller]
    pub fn input(&self, name: &str) -> Scalar {
        self.input_as_given(name).to(self.value.dtype())
    }

    /// The same with the input's own dtype.
    #[track_caller]
    pub fn input_as_given(&self, name: &str) -> Scalar {
        match self.inputs.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => value.clone(),
            None => {
                let names: Vec<&str> = self.inputs.iter().map(|(name, _)| *name).collect();
                let accepted = if names.is_empty() {
                    String::from("none, the node has no inputs")
                } else {
                    names.join(", ")
                };
                Scalar::fault(DType::F32, format!("input `{name}` of an epilogue"), &accepted)
            }
        }
    }
}

impl Epilogue {
    /// The epilogue without nodes, which stores the accumulators themselves.
    pub fn new() -> Epilogue {
        Epilogue::default()
    }

    /// Whether the epilogue computes nothing of the accumulators.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// With a node that computes `function` of each element. `key` names everything that the function depends on when it is called:
    /// epilogues with the same key have to do the same. `inputs` are the inputs that [`Element::input`] may name. The function computes
    /// and may print; an instruction that accesses memory is refused when the kernel is generated.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::gemm::{Epilogue, Input};
    /// use girih_tensor::DType;
    ///
    /// // Keeps the lower triangle of the products, in which each row is scaled by a factor of its own.
    /// let epilogue = Epilogue::new().node("scaled lower triangle", [Input::column("scale", DType::F32)], |_, e| {
    ///     let [row, column] = e.coordinate();
    ///     let scaled = e.value() * e.input("scale");
    ///     Ok(scaled.select(&girih_codegen::Cond::less(column, &(row + 1)), 0.0))
    /// });
    /// assert_eq!(epilogue.key(), "scaled lower triangle[column(scale: f32)]");
    /// ```
    #[must_use]
    pub fn node(
        self,
        key: impl Into<String>,
        inputs: impl IntoIterator<Item = Input>,
        function: impl Fn(&mut Builder, &Element<'_>) -> Result<Scalar, Error> + Send + Sync + 'static,
    ) -> Epilogue {
        let (mut key, inputs): (String, Vec<Input>) = (key.into(), inputs.into_iter().collect());
        if !inputs.is_empty() {
            let inputs: Vec<String> = inputs.iter().map(Input::to_string).collect();
            key += &format!("[{}]", inputs.join(", "));
        }
        self.with(Node { key, inputs, reads_tiles: true, step: Step::Map(Arc::new(function)) })
    }

    /// With the nodes of `other` behind the epilogue's own nodes.
    #[must_use]
    pub fn then(self, other: Epilogue) -> Epilogue {
        other.nodes.into_iter().fold(self, Epilogue::with)
    }

    fn with(mut self, node: Node) -> Epilogue {
        self.nodes.push(node);
        self
    }

    /// The epilogue for the transposed C, whose rows are this C's columns. A kernel for a column-major C runs this one.
    #[must_use]
    pub fn transposed(self) -> Epilogue {
        Epilogue { transposed: !self.transposed, ..self }
    }

    /// The key that identifies the epilogue, made of the keys of its nodes.
    pub fn key(&self) -> String {
        let keys = self.nodes.iter().map(|node| node.key.as_str());
        let keys: Vec<&str> = keys.chain(self.transposed.then_some("transposed")).collect();
        keys.join(", ")
    }

    /// Whether the epilogue has the functions of `other`, and not only the same key.
    pub fn is_same(&self, other: &Epilogue) -> bool {
        let same = |(a, b): (&Node, &Node)| match (&a.step, &b.step) {
            (Step::Map(a), Step::Map(b)) => Arc::ptr_eq(a, b),
            (Step::Reduce(a), Step::Reduce(b)) => a == b,
            (Step::Gate(a), Step::Gate(b)) => a == b,
            _ => false,
        };
        self == other && self.nodes.iter().zip(&other.nodes).all(same)
    }

    /// Whether the accumulators are stored as they are.
    pub fn is_identity(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The epilogue's inputs, each once, in the order of the nodes that read them.
    pub fn inputs(&self) -> Vec<Input> {
        let mut inputs: Vec<Input> = Vec::new();
        for input in self.nodes.iter().flat_map(|node| &node.inputs) {
            if !inputs.contains(input) {
                inputs.push(input.clone());
            }
        }
        inputs
    }

    /// Whether the epilogue depends on the place of a tile: on tensors, or on coordinates, for which any node of a caller may ask.
    pub(super) fn reads_tiles(&self) -> bool {
        self.nodes.iter().any(|node| node.reads_tiles)
    }

    /// Declares the parameters of the outputs besides C.
    pub(super) fn declare_outputs(
        &self,
        params: &mut Params<Arguments>,
        b: &mut Builder,
        config: &GemmConfig,
    ) -> Result<Vec<Reducing>, Error> {
        let (outputs, inputs) = (self.outputs(), self.inputs());
        let computed = if config.atom().c_type == DType::F64 { DType::F64 } else { DType::F32 };
        let mut declared = Vec::new();
        for (i, output) in outputs.iter().enumerate() {
            let named = |name: &str| name == output.name;
            if outputs[..i].iter().any(|other| named(&other.name))
                || inputs.iter().any(|input| named(&input.name))
            {
                return Err(GemmError::OutputTwice { output: output.to_string() }.into());
            }
            if output.kind == InputKind::Matrix || output.dtype != computed {
                return Err(GemmError::Output { output: output.to_string(), computed }.into());
            }
            declared.push(Reducing::declare(params, b, config, output, self.kept(output))?);
        }
        Ok(declared)
    }

    /// The mode of the kernel's C along which an output has values, if it has several.
    pub(super) fn kept(&self, output: &Output) -> Option<usize> {
        match output.kind {
            InputKind::Row => Some(usize::from(!self.transposed)),
            InputKind::Column => Some(usize::from(self.transposed)),
            InputKind::Matrix | InputKind::Scalar => None,
        }
    }

    /// Declares the inputs' parameters, and makes (M,N) tensors of the inputs, or tensors of C's shape behind a gate.
    pub(super) fn declare(
        &self,
        params: &mut Params<Arguments>,
        b: &mut Builder,
        config: &GemmConfig,
        [shape, shape_of_c]: [&Shape; 2],
    ) -> Result<Vec<Given>, Error> {
        let (mut given, inputs, ahead) = (Vec::new(), self.inputs(), self.ahead(config)?);
        for (i, input) in inputs.iter().enumerate() {
            if inputs[..i].iter().any(|other| other.name == input.name) {
                return Err(GemmError::InputTwice { input: input.to_string() }.into());
            }
            // What nodes behind a gate read has C's columns.
            let shape = if self.is_behind_gate(&input.name) { shape_of_c } else { shape };
            if ahead == Some(i) {
                given.push(Given::Ahead(Mapped::declare(params, b, config, input, shape)?.into()));
                continue;
            }
            given.push(self.declare_input(params, b, config, input, shape)?);
        }
        Ok(given)
    }

    fn declare_input(
        &self,
        params: &mut Params<Arguments>,
        b: &mut Builder,
        config: &GemmConfig,
        input: &Input,
        shape: &Shape,
    ) -> Result<Given, Error> {
        let name = &input.name;
        let (none, one) = (Stride::Int(Int::fixed(0)), Stride::Int(Int::fixed(1)));
        let rows = if self.transposed { InputKind::Column } else { InputKind::Row };
        let bytes = element_bytes("input of an epilogue", input.dtype)?;
        let mut vector = input.aligned(config)?;
        // Groups begin anywhere.
        if config.batch.grouped() == Some(config.c_contiguous()) {
            vector = 1;
        }
        let strides = match input.kind {
            InputKind::Scalar => return Ok(Given::Scalar(params.given(b, name, input.dtype)?)),
            InputKind::Matrix => {
                let facts = |pitch: Symbol| pitch.at_least(1).at_most(MAX_EXTENT).divisible_by(vector);
                let pitch = params.pitch(b, &input.pitch_name(), name, facts)?;
                let pitch = Stride::Int(Int::symbol(pitch));
                if config.c_major == Major::K { [pitch, one] } else { [one, pitch] }
            }
            kind => {
                let along_n = kind == rows;
                if along_n != (config.c_major == Major::K) {
                    vector = 1;
                }
                if along_n { [none, one] } else { [one, none] }
            }
        };
        let by_pointers = config.batch == Batch::Pointers && input.kind == InputKind::Matrix;
        let pointer = params.pointer(b, name, if by_pointers { ADDRESS } else { vector * bytes });
        let lie = match config.batch {
            Batch::Single => Lie::Same,
            Batch::Pointers if by_pointers => Lie::Pointers(vector * bytes),
            // What is the same for all rows of a group, each group may have of its own.
            Batch::Grouped { mode } if strides[mode] != none => Lie::Along(mode),
            Batch::Strided | Batch::Pointers | Batch::Grouped { .. } => {
                Lie::Apart(params.step(b, &input.batch_stride_name(), name, vector))
            }
        };
        let layout = Lay::new(shape, &Strides::flat(&strides)?)?; // (M,N)
        let first = Gmem::bounded(pointer, input.dtype, &layout)?;
        Ok(Given::Tensors(Box::new(Tensors::new(first, lie))))
    }
}

/// An input of an epilogue in a kernel.
pub(super) enum Given {
    /// (M,N)
    Tensors(Box<Tensors>),
    Scalar(Scalar),
    /// TMA copies bring it to where C is staged.
    Ahead(Box<Mapped>),
}

/// A thread's part of an input at a tile.
pub(super) enum Part {
    /// (FrgV,RestM,RestN)
    Tensor(Box<Tensor<Gmem>>),
    Scalar(Scalar),
    /// It is in shared memory, where the piece of the tile says.
    Ahead(Option<Box<InPlace>>),
}

/// Compares the keys, which say what epilogues do.
impl PartialEq for Epilogue {
    fn eq(&self, other: &Epilogue) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Epilogue {}

impl fmt::Debug for Epilogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Epilogue({})", self.key())
    }
}
