//! The problem of a copy: two layouts and a dtype.

use girih_layout::Lay;
use girih_tensor::DType;

use super::modes::{Mode, coalesced, common, injective, leaves, padded};
use crate::Error;

/// A copy from one layout to another: `dst(c) = src(c)` for every coordinate `c`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    dtype: DType,
    /// The modes; `None` of a single element.
    modes: Vec<Mode>,
    /// The number of elements that are written.
    elements: i64,
    gather: Option<Gather>,
    /// The bits of what is written where the source has nothing, repeated.
    fill: u64,
}

/// The indices by which a copy reads its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gather {
    /// The number of the mode among [`Problem::modes`].
    pub mode: usize,
    /// The extent of the source along the mode.
    pub rows: i64,
    /// The type of the indices.
    pub index: DType,
}

impl Problem {
    /// A copy of elements of `dtype` between two layouts of known extents and strides, in elements, whose coordinates correspond in
    /// colexicographic order, as in CuTe's `copy`. The shapes may differ as long as the extents of one divide those of the
    /// other. The source may be the same along a mode (stride 0); the destination may not have one element at two coordinates. Strides may be
    /// negative: a buffer begins with the element of the least index, so that `8:-1` is a line that is gone through backwards. The stride of a mode of one
    /// element does not count.
    ///
    /// # Errors
    /// [`Error::Kernel`] for elements that are no whole bytes; [`Error::CopyLayout`], [`Error::CopyShapes`]; [`Error::Alias`] with two
    /// coordinates of one element of the destination; [`Error::Layout`] for indices beyond 64 bits.
    ///
    /// # Examples
    /// ```
    /// use girih_kernels::copy::Problem;
    /// use girih_layout::lay;
    /// use girih_tensor::DType;
    ///
    /// // Images of 3 channels, channels first to channels last: a transpose of 3 x 12 in each of 5.
    /// let problem = Problem::new(DType::F32, &lay!("(4,3,3,5):(1,4,12,36)"), &lay!("(4,3,3,5):(3,12,1,36)"))?;
    /// let modes: Vec<[i64; 3]> = problem.modes().iter().map(|m| [m.extent, m.src, m.dst]).collect();
    /// assert_eq!(modes, [[3, 12, 1], [12, 1, 3], [5, 36, 36]]);
    ///
    /// let twice = Problem::new(DType::F32, &lay!("(4,2):(1,4)"), &lay!("(4,2):(1,3)")).unwrap_err();
    /// assert_eq!(twice.to_string(), "dst (4,2):(1,3) has one element, 3, at (3,0) and at (0,1): layouts without such coordinates are accepted");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(dtype: DType, src: &Lay, dst: &Lay) -> Result<Problem, Error> {
        Problem::of(dtype, src, dst, common(src, dst)?, None)
    }

    /// A copy into a larger tensor: `dst(c + low) = src(c)`, and where the source has nothing, the destination is `fill`, rounded to
    /// `dtype`. Both layouts have as many modes as `low` has numbers; a mode in which they differ has one extent on both sides.
    ///
    /// # Errors
    /// Those of [`Problem::new`]; [`Error::CopyPad`] for a source that is not inside of the destination.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::copy::{Copy, Problem};
    /// use girih_layout::lay;
    /// use girih_tensor::DType;
    ///
    /// // A row and a column of sevens around a matrix of 2 x 2.
    /// let problem = Problem::pad(DType::F32, &lay!("(2,2):(2,1)"), &lay!("(4,4):(4,1)"), &[1, 1], 7.0)?;
    /// let device = Device::open(Select::Sim)?;
    /// let (x, y) = (device.upload(&[1f32, 2.0, 3.0, 4.0])?, device.zeros::<f32>(16)?);
    /// Copy::new(&device, &problem)?.run(&y, &x)?;
    /// assert_eq!(y.download()?, [7., 7., 7., 7., 7., 1., 2., 7., 7., 3., 4., 7., 7., 7., 7., 7.]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pad(dtype: DType, src: &Lay, dst: &Lay, low: &[i64], fill: f64) -> Result<Problem, Error> {
        let problem = Problem::of(dtype, src, dst, padded(src, dst, low)?, None)?;
        Ok(Problem { fill: girih_codegen::algorithm::pattern(dtype, fill), ..problem })
    }

    /// A copy of positions that a list says: `dst(..., i, ...) = src(..., index(i), ...)`, where `i` is the coordinate of mode `mode` on
    /// both sides. As many elements are copied as the destination has; where an index is no position of the source, the destination
    /// stays as it is. The other modes correspond one by one.
    ///
    /// # Errors
    /// Those of [`Problem::new`]; [`Error::CopyGather`].
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::copy::{Copy, Problem};
    /// use girih_layout::lay;
    /// use girih_tensor::DType;
    ///
    /// // 4 rows of a table of 3 rows of 2.
    /// let problem = Problem::gather(DType::F32, &lay!("(3,2):(2,1)"), &lay!("(4,2):(2,1)"), 0, DType::S32)?;
    /// let device = Device::open(Select::Sim)?;
    /// let (x, y) = (device.upload(&[0f32, 1.0, 10.0, 11.0, 20.0, 21.0])?, device.zeros::<f32>(8)?);
    /// let index = device.upload(&[2i32, 0, -1, 1])?;
    /// Copy::new(&device, &problem)?.gather(&y, &x, &index)?;
    /// assert_eq!(y.download()?, [20.0, 21.0, 0.0, 1.0, 0.0, 0.0, 10.0, 11.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather(dtype: DType, src: &Lay, dst: &Lay, mode: usize, index: DType) -> Result<Problem, Error> {
        let refused = || {
            let (src, dst) = (src.to_string(), dst.to_string());
            Error::CopyGather { mode, src, dst, index: index.name() }
        };
        if src.rank() != dst.rank()
            || mode >= src.rank()
            || !matches!(index, DType::S32 | DType::U32 | DType::S64)
        {
            return Err(refused());
        }
        let (mut modes, mut own) = (Vec::new(), None);
        for i in 0..src.rank() {
            let (src, dst) = (src.mode(i)?, dst.mode(i)?);
            if i != mode {
                modes.extend(common(&src, &dst)?);
                continue;
            }
            let (leaves, rows) = (leaves("src", &src)?, leaves("dst", &dst)?);
            let ([[rows, src]], [[extent, dst]]) = (&leaves[..], &rows[..]) else { return Err(refused()) };
            let most = if index == DType::S32 { 1 << 31 } else { i64::from(u32::MAX) };
            if *rows > most || src.unsigned_abs() > u32::MAX.into() {
                return Err(refused());
            }
            own = Some((modes.len(), *rows));
            modes.push(Mode { extent: *extent, src: *src, dst: *dst, pad: None });
        }
        Problem::of(dtype, src, dst, modes, own.map(|(mode, rows)| Gather { mode, rows, index }))
    }

    fn of(
        dtype: DType,
        src: &Lay,
        dst: &Lay,
        modes: Vec<Mode>,
        gather: Option<Gather>,
    ) -> Result<Problem, Error> {
        let bytes = dtype.bytes_of(1).ok_or(Error::Kernel {
            kernel: "copy",
            dtype: dtype.name(),
            accepted: "dtypes of whole bytes are accepted",
        })?;
        // The offsets in bytes of all elements fit 64 bits.
        for layout in [src, dst] {
            layout.span()?.mul(bytes.into())?;
        }
        injective(dst)?;
        let elements = modes.iter().map(|mode| mode.extent).product();
        let alone = gather.map(|gather| gather.mode);
        let forwards = |(i, mode): (usize, Mode)| {
            if mode.dst < 0 && Some(i) != alone { mode.reversed() } else { mode }
        };
        let modes = modes.into_iter().enumerate().map(forwards).collect();
        let (modes, alone) = coalesced(modes, alone);
        let gather = gather.zip(alone).map(|(gather, mode)| Gather { mode, ..gather });
        Ok(Problem { dtype, modes, elements, gather, fill: 0 })
    }

    /// A copy of a tensor with these extents between two sets of strides in elements. An extent may be 0: then nothing is copied.
    ///
    /// # Errors
    /// Those of [`Problem::new`]; [`Error::Extent`] for a negative extent, [`Error::CopyShapes`] for another number of strides than
    /// extents.
    ///
    /// # Examples
    /// ```
    /// use girih_kernels::copy::Problem;
    /// use girih_tensor::DType;
    ///
    /// // 100 rows of 33 elements, to rows that begin at multiples of 16 bytes.
    /// let problem = Problem::strided(DType::Bf16, &[33, 100], &[1, 33], &[1, 40])?;
    /// assert_eq!(problem.bytes(), 2 * 2 * 3300);
    /// # Ok::<(), girih_kernels::Error>(())
    /// ```
    pub fn strided(dtype: DType, extents: &[i64], src: &[i64], dst: &[i64]) -> Result<Problem, Error> {
        if src.len() != extents.len() || dst.len() != extents.len() {
            let text = |strides: &[i64]| format!("{extents:?}:{strides:?}");
            return Err(Error::CopyShapes { src: text(src), dst: text(dst) });
        }
        if let Some(&value) = extents.iter().find(|&&extent| extent < 0) {
            return Err(Error::Extent { what: "extent", value, least: 0, most: i64::MAX });
        }
        let several: Vec<usize> = (0..extents.len()).filter(|&i| extents[i] != 1).collect();
        let of = |numbers: &[i64]| several.iter().map(|&i| numbers[i]).collect::<Vec<_>>();
        if several.is_empty() || extents.contains(&0) {
            let one = Lay::strided([1], [1])?;
            let elements = extents.iter().product();
            return Ok(Problem { elements, ..Problem::new(dtype, &one, &one)? });
        }
        Problem::new(dtype, &Lay::strided(of(extents), of(src))?, &Lay::strided(of(extents), of(dst))?)
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The modes by growing strides of the destination, as few as there can be: modes of extent 1 are left out, and modes that follow
    /// each other on both sides are one.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The number of elements that are copied.
    pub fn elements(&self) -> i64 {
        self.elements
    }

    /// How many bytes are read and written together; an element counts each time that it is read.
    pub fn bytes(&self) -> i64 {
        let copied: i64 = self.modes.iter().map(Mode::copied).product();
        (self.elements + copied.min(self.elements)) * self.element()
    }

    /// The extents and strides of what the copy reads of its source, and of what it writes of its destination. A buffer begins with the least
    /// element, whichever way modes are gone through.
    pub(super) fn views(&self) -> [[Vec<i64>; 2]; 2] {
        let read = |(i, mode): (usize, &Mode)| match self.gather {
            Some(gather) if gather.mode == i => gather.rows,
            _ => mode.copied(),
        };
        let read: Vec<i64> = self.modes.iter().enumerate().map(read).collect();
        let written: Vec<i64> = self.modes.iter().map(|mode| mode.extent).collect();
        let sides = [(read, true), (written, false)];
        sides.map(|(mut extents, of_src)| {
            let stride = |mode: &Mode| if of_src { mode.src.abs() } else { mode.dst.abs() };
            let mut strides: Vec<i64> = self.modes.iter().map(stride).collect();
            // A problem of one element has no modes, and neither has one of none.
            extents.push(self.elements.min(1));
            strides.push(1);
            [extents, strides]
        })
    }

    /// The mode along which the source is read at indices, if there is one.
    pub fn gathered(&self) -> Option<Gather> {
        self.gather
    }

    /// The bits of what is written where the source has nothing, repeated.
    pub(super) fn fill(&self) -> u64 {
        self.fill
    }

    /// Bytes of an element.
    pub(super) fn element(&self) -> i64 {
        self.dtype.bytes_of(1).unwrap_or(1)
    }

    /// The elements from the first to the last that the copy may read of the source, and those that it may write.
    ///
    /// # Examples
    /// ```
    /// use girih_kernels::copy::Problem;
    /// use girih_layout::lay;
    /// use girih_tensor::DType;
    ///
    /// // Rows backwards, to rows of 4.
    /// let problem = Problem::new(DType::F32, &lay!("(5,3):(3,-1)"), &lay!("(5,3):(4,1)"))?;
    /// assert_eq!(problem.spans(), [15, 19]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spans(&self) -> [i64; 2] {
        let last = reaches(&self.modes, self.gather, i64::abs);
        if self.elements == 0 { [0, 0] } else { last.map(|last| last + 1) }
    }
}

/// How far the modes reach in the source and in the destination, where `of` says what of each stride counts.
fn reaches(modes: &[Mode], gather: Option<Gather>, of: fn(i64) -> i64) -> [i64; 2] {
    let read = |(i, mode): (usize, &Mode)| match gather {
        Some(gather) if gather.mode == i => (gather.rows - 1) * of(mode.src),
        // The source may have nothing of a padded mode.
        _ => (mode.copied() - 1).max(0) * of(mode.src),
    };
    let written = |mode: &Mode| (mode.extent - 1) * of(mode.dst);
    [modes.iter().enumerate().map(read).sum(), modes.iter().map(written).sum()]
}

/// The elements of the source and of the destination before those of coordinate 0, which are not the least where strides are negative.
pub(super) fn origins(modes: &[Mode], gather: Option<Gather>) -> [i64; 2] {
    reaches(modes, gather, |stride| -stride.min(0))
}
