//! Profiles: the nesting of a tree without its leaves' values.

use core::hash::{Hash, Hasher};

use crate::{Error, MAX_DEPTH, MAX_LEAVES};

/// The shape of a tree without its leaves: how many tuples open before and close after each leaf.
///
/// A node is a range of leaves, so that taking a mode needs no copy. The empty tuple exists at the root only.
///
/// ```
/// use girih_layout::Shape;
/// let (a, b) = (Shape::parse("(4,(2,3))")?, Shape::parse("(7,(5,9))")?);
/// assert_eq!(a.profile(), b.profile());
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    len: u8,
    /// Tuples that were opened and wait for a leaf; 0 in every finished profile.
    pending: u8,
    depth: u8,
    opens: [u8; MAX_LEAVES],
    closes: [u8; MAX_LEAVES],
}

/// A subtree: a range of leaves with the parentheses that are its own.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    pub(crate) begin: usize,
    pub(crate) end: usize,
    opens: u8,
    closes: u8,
}

impl Node {
    pub(crate) const fn is_leaf(self) -> bool {
        self.opens == 0
    }

    /// Whether both are the same part of one tree.
    pub(crate) const fn same(self, other: Node) -> bool {
        self.begin == other.begin
            && self.end == other.end
            && self.opens == other.opens
            && self.closes == other.closes
    }
}

impl Profile {
    pub(crate) const EMPTY: Profile =
        Profile { len: 0, pending: 0, depth: 0, opens: [0; MAX_LEAVES], closes: [0; MAX_LEAVES] };

    /// The number of leaves.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(4,(2,3))")?.profile().leaf_count(), 3);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn leaf_count(&self) -> usize {
        self.len as usize
    }

    /// Whether the tree is a single leaf, no tuple.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert!(Shape::parse("4")?.profile().is_leaf());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn is_leaf(&self) -> bool {
        self.len == 1 && self.opens[0] == 0
    }

    /// The number of modes: 1 for a leaf.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(4,(2,3))")?.profile().rank(), 2);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn rank(&self) -> usize {
        self.rank_of(self.root())
    }

    /// Refuses a range of modes that the tree does not have.
    pub(crate) const fn require_modes(&self, begin: usize, end: usize) -> Result<(), Error> {
        let rank = self.rank();
        if begin > end || end > rank {
            return Err(Error::ModeRange { begin, end, rank });
        }
        Ok(())
    }

    /// How deep the tree is: 0 for a leaf, 1 for a flat tuple.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(4,(2,3))")?.profile().depth(), 2);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn depth(&self) -> usize {
        let (mut depth, mut most, mut i) = (0u32, 0, 0);
        while i < self.leaf_count() {
            depth += self.opens[i] as u32;
            if depth > most {
                most = depth;
            }
            depth -= self.closes[i] as u32;
            i += 1;
        }
        most as usize
    }

    /// Whether both have the same tree (CuTe's `congruent`).
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert!(!Shape::parse("(4,2)")?.profile().congruent(Shape::parse("((4,2))")?.profile()));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn congruent(&self, other: &Profile) -> bool {
        self.differs_at(other).is_none()
    }

    pub(crate) const fn differs_at(&self, other: &Profile) -> Option<usize> {
        let mut i = 0;
        while i < self.leaf_count() && i < other.leaf_count() {
            if self.opens[i] != other.opens[i] || self.closes[i] != other.closes[i] {
                return Some(i);
            }
            i += 1;
        }
        if self.len == other.len { None } else { Some(i) }
    }

    pub(crate) const fn root(&self) -> Node {
        if self.len == 0 {
            return Node { begin: 0, end: 0, opens: 1, closes: 1 };
        }
        let end = self.leaf_count();
        Node { begin: 0, end, opens: self.opens[0], closes: self.closes[end - 1] }
    }

    /// The mode of `node` that begins at leaf `at`.
    pub(crate) const fn child(&self, node: Node, at: usize) -> Node {
        if node.is_leaf() {
            return node;
        }
        let opens = if at == node.begin { node.opens - 1 } else { self.opens[at] };
        let (mut depth, mut j) = (opens as u32, at);
        loop {
            let closes = if j + 1 == node.end { node.closes - 1 } else { self.closes[j] };
            depth -= closes as u32;
            j += 1;
            if depth == 0 || j >= node.end {
                return Node { begin: at, end: j, opens, closes };
            }
            depth += self.opens[j] as u32;
        }
    }

    pub(crate) const fn rank_of(&self, node: Node) -> usize {
        let (mut at, mut rank) = (node.begin, 0);
        while at < node.end {
            at = self.child(node, at).end;
            rank += 1;
        }
        rank
    }

    /// Mode `mode` of `node`, if there is one; a leaf is its own mode 0.
    pub(crate) const fn nth(&self, node: Node, mode: usize) -> Option<Node> {
        let (mut at, mut k) = (node.begin, 0);
        while at < node.end {
            let child = self.child(node, at);
            if k == mode {
                return Some(child);
            }
            at = child.end;
            k += 1;
        }
        None
    }

    /// The parentheses of `node` before and after leaf `i`.
    pub(crate) const fn parens(&self, node: Node, i: usize) -> (u8, u8) {
        let opens = if i == node.begin { node.opens } else { self.opens[i] };
        let closes = if i + 1 == node.end { node.closes } else { self.closes[i] };
        (opens, closes)
    }

    pub(crate) const fn open(&mut self) -> Result<(), Error> {
        if self.depth as usize >= MAX_DEPTH {
            return Err(Error::Capacity { op: "the tree" });
        }
        self.pending += 1;
        self.depth += 1;
        Ok(())
    }

    /// Closes the innermost tuple; a tuple without leaves disappears.
    pub(crate) const fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.pending > 0 {
            self.pending -= 1;
        } else if self.len > 0 {
            self.closes[self.len as usize - 1] += 1;
        }
    }

    pub(crate) const fn leaf(&mut self) -> Result<usize, Error> {
        let i = self.leaf_count();
        if i == MAX_LEAVES {
            return Err(Error::Capacity { op: "the tree" });
        }
        self.opens[i] = self.pending;
        self.closes[i] = 0;
        self.pending = 0;
        self.len += 1;
        Ok(i)
    }

    /// Appends the tree of a node.
    pub(crate) const fn graft(&mut self, from: &Profile, node: Node) -> Result<(), Error> {
        const FULL: Error = Error::Capacity { op: "the tree" };
        if self.leaf_count() + (node.end - node.begin) > MAX_LEAVES {
            return Err(FULL);
        }
        let mut i = node.begin;
        while i < node.end {
            let ((opens, closes), to) = (from.parens(node, i), self.leaf_count());
            if (self.depth + opens) as usize > MAX_DEPTH {
                return Err(FULL);
            }
            (self.opens[to], self.closes[to]) = (self.pending + opens, closes);
            self.depth = (self.depth + opens).saturating_sub(closes);
            self.pending = 0;
            self.len += 1;
            i += 1;
        }
        Ok(())
    }

    /// A single leaf.
    pub(crate) const LEAF: Profile = Profile { len: 1, ..Profile::EMPTY };

    /// The flat tuple of as many leaves as this tree has.
    pub(crate) const fn as_flat(&self) -> Profile {
        let mut out = Profile::EMPTY;
        out.len = self.len;
        if self.len > 0 {
            out.opens[0] = 1;
            out.closes[self.len as usize - 1] = 1;
        }
        out
    }

    /// Puts a tuple around the leaves from `first` to the last.
    pub(crate) const fn wrap_from(&mut self, first: usize) -> Result<(), Error> {
        if self.depth as usize >= MAX_DEPTH {
            return Err(Error::Capacity { op: "the tree" });
        }
        self.opens[first] += 1;
        self.closes[self.len as usize - 1] += 1;
        Ok(())
    }

    /// Takes back the leaves from `first` on, which were pushed flat.
    pub(crate) const fn take_back(&mut self, first: usize) {
        if first < self.len as usize {
            self.pending = self.opens[first];
            self.len = first as u8;
        }
    }

    pub(crate) const fn open_many(&mut self, n: u8) -> Result<(), Error> {
        let mut i = 0;
        while i < n {
            tri!(self.open());
            i += 1;
        }
        Ok(())
    }

    pub(crate) const fn close_many(&mut self, n: u8) {
        let mut i = 0;
        while i < n {
            self.close();
            i += 1;
        }
    }
}

impl PartialEq for Profile {
    fn eq(&self, other: &Profile) -> bool {
        self.congruent(other)
    }
}

impl Eq for Profile {}

impl Hash for Profile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let n = self.leaf_count();
        (&self.opens[..n], &self.closes[..n]).hash(state);
    }
}
