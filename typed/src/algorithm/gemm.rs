//! Matrix products.

use girih_layout::Lay;

use crate::host::{StorageMut, TensorMut, known_size};
use girih_tensor::host::Values;
use girih_tensor::{Element, Error, Tensor};

/// `C += A * B^T`, where the ranks say what the modes are (CuTe's `gemm`):
///
/// | A | B | C | |
/// |---|---|---|---|
/// | `(V)` | `(V)` | `(V)` | value by value |
/// | `(K)` | `(K)` | one value | dot product |
/// | `(M)` | `(N)` | `(M,N)` | outer product |
/// | `(M,K)` | `(N,K)` | `(M,N)` | matrix product |
/// | `(V,M)` | `(V,N)` | `(V,M,N)` | outer product, for every V |
/// | `(V,M,K)` | `(V,N,K)` | `(V,M,N)` | matrix product, for every V |
///
/// Every sum starts with the old value of C, is formed in f64 from K = 0 up and rounded once, as a reference for
/// kernels. Integers are exact as long as sums stay below 2^53, and saturate; [`gemm_by`] takes any other sum.
///
/// ```
/// use girih_layout::lay;
/// use girih_tensor::Tensor;
/// use girih_typed::algorithm::gemm;
/// use girih_typed::host::Array;
///
/// let (a, b) = ([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0f32, 0.0, 1.0]);
/// let mut c = Array::<f32>::new(lay!("(2,1):(1,2)"))?;
/// // A is 2 x 3 with contiguous rows, B is 1 x 3.
/// gemm(&Tensor::host(&a, lay!("(2,3):(3,1)"))?, &Tensor::host(&b, lay!("(1,3):(3,1)"))?, &mut c.view_mut()?)?;
/// assert_eq!(c.data(), [4.0, 10.0]);
/// # Ok::<(), girih_tensor::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] for ranks or extents that do not fit each other.
pub fn gemm<A, B, S>(a: &Tensor<A>, b: &Tensor<B>, c: &mut TensorMut<S>) -> Result<(), Error>
where
    A: Values<Value: Element>,
    B: Values<Value: Element>,
    S: StorageMut<Value: Element>,
{
    let step = |sum, x: A::Value, y: B::Value| sum + x.to_f64() * y.to_f64();
    gemm_by(a, b, c, Element::to_f64, step, Element::from_f64)
}

/// [`gemm`] with other sums and products: `c = end(step(...step(start(c), a0, b0)..., ak, bk))`. Such are sums that
/// wrap or are rounded at every step, integers beyond 2^53, packed types, and bits under exclusive or.
///
/// ```
/// use girih_layout::lay;
/// use girih_tensor::Tensor;
/// use girih_typed::algorithm::gemm_by;
/// use girih_typed::host::{Array, B1, packed};
///
/// // mma's .xor.popc: in how many bits the rows of A and of B differ.
/// let (a, b) = ([0b1111_0000], [0b1010_1010, 0b1111_0001]);
/// let bits = |of, layout| packed::<B1>(of, layout);
/// let mut c = Array::<i32>::new(lay!("(1,2):(2,1)"))?;
/// let (a, b) = (bits(&a, lay!("(1,8):(8,1)"))?, bits(&b, lay!("(2,8):(8,1)"))?);
/// gemm_by(&a, &b, &mut c.view_mut()?, |c| c, |sum: i32, x, y| sum + i32::from(x ^ y), |sum| sum)?;
/// assert_eq!(c.data(), [4, 1]);
/// # Ok::<(), girih_tensor::Error>(())
/// ```
///
/// # Errors
/// As [`gemm`]; [`Error::OutOfType`] for a result that a packed C does not have.
pub fn gemm_by<A: Values, B: Values, S: StorageMut, Sum>(
    a: &Tensor<A>,
    b: &Tensor<B>,
    c: &mut TensorMut<S>,
    start: impl Fn(S::Value) -> Sum,
    step: impl Fn(Sum, A::Value, B::Value) -> Sum,
    end: impl Fn(Sum) -> S::Value,
) -> Result<(), Error> {
    let Extents { v, m, n, k, dot } = Extents::of(a.layout(), b.layout(), c.layout())?;
    let mut results = Vec::new();
    for (v_at, n_at) in (0..v).flat_map(|v_at| (0..n).map(move |n_at| (v_at, n_at))) {
        for m_at in 0..m {
            // 1-D coordinates: the modes in order, the leftmost fastest.
            let at = if dot { 0 } else { v_at + v * (m_at + m * n_at) };
            let mut sum = start(c.at(at)?);
            for k_at in 0..k {
                let a = a.at(v_at + v * (m_at + m * k_at))?;
                sum = step(sum, a, b.at(v_at + v * (n_at + n * k_at))?);
            }
            results.push((at, end(sum)));
        }
    }
    c.set_all(results)
}

/// The extents of a product; a mode that the operands do not have has extent 1.
struct Extents {
    v: i64,
    m: i64,
    n: i64,
    k: i64,
    dot: bool,
}

impl Extents {
    fn of(a: &Lay, b: &Lay, c: &Lay) -> Result<Extents, Error> {
        let extents = |layout: &Lay| -> Result<Vec<i64>, Error> {
            (0..layout.rank()).map(|i| known_size("gemm", &layout.mode(i)?)).collect()
        };
        let (of_a, of_b, of_c) = (extents(a)?, extents(b)?, extents(c)?);
        let refused =
            |accepted| Error::Shape { what: "gemm", a: format!("{a} by {b}"), b: c.to_string(), accepted };
        const FIT: &str = "A (M,K), B (N,K) and C (M,N) of the same M, N and K";
        let (found, fits) = match (&of_a[..], &of_b[..], &of_c[..]) {
            (&[v], &[w], &[x]) if v == w && w == x => (Extents { v, m: 1, n: 1, k: 1, dot: false }, true),
            (&[k], &[l], &[1]) => (Extents { v: 1, m: 1, n: 1, k, dot: true }, k == l),
            (&[m], &[n], &[c_m, c_n]) => (Extents { v: 1, m, n, k: 1, dot: false }, [m, n] == [c_m, c_n]),
            (&[m, k], &[n, l], &[c_m, c_n]) => {
                (Extents { v: 1, m, n, k, dot: false }, [m, n, k] == [c_m, c_n, l])
            }
            (&[v, m], &[w, n], &[c_v, c_m, c_n]) => {
                (Extents { v, m, n, k: 1, dot: false }, [v, v, m, n] == [w, c_v, c_m, c_n])
            }
            (&[v, m, k], &[w, n, l], &[c_v, c_m, c_n]) => {
                (Extents { v, m, n, k, dot: false }, [v, v, m, n, k] == [w, c_v, c_m, c_n, l])
            }
            _ => {
                return Err(refused(
                    "ranks of (V)(V)(V), (K)(K)1, (M)(N)(M,N), (M,K)(N,K)(M,N) or with V before",
                ));
            }
        };
        if fits { Ok(found) } else { Err(refused(FIT)) }
    }
}
