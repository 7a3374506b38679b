//! Trees of leaves: the profile, and tuples of anything over it.

use core::hash::{Hash, Hasher};

use crate::{Error, Int, MAX_DEPTH, MAX_LEAVES};

/// The shape of a tree without its leaves: how many tuples open before and close after each leaf.
///
/// A node is a range of leaves, so that taking a mode needs no copy. The empty tuple exists at the root only.
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
}

impl Profile {
    pub(crate) const EMPTY: Profile =
        Profile { len: 0, pending: 0, depth: 0, opens: [0; MAX_LEAVES], closes: [0; MAX_LEAVES] };

    /// The number of leaves.
    pub const fn leaf_count(&self) -> usize {
        self.len as usize
    }

    /// Whether it is a single leaf, no tuple.
    pub const fn is_leaf(&self) -> bool {
        self.len == 1 && self.opens[0] == 0
    }

    /// The number of modes: 1 for a leaf.
    pub const fn rank(&self) -> usize {
        self.rank_of(self.root())
    }

    /// How deep the tree is: 0 for a leaf, 1 for a flat tuple.
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

    /// Closes the innermost tuple; one without leaves disappears.
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
}

impl PartialEq for Profile {
    fn eq(&self, other: &Profile) -> bool {
        self.congruent(other)
    }
}

impl Eq for Profile {}

/// A tree of at most [`MAX_LEAVES`] leaves: a leaf, or a tuple of trees.
#[derive(Clone, Copy)]
pub struct Tuple<T> {
    pub(crate) profile: Profile,
    pub(crate) leaves: [T; MAX_LEAVES],
}

/// A tree of integers.
pub type IntTuple = Tuple<Int>;

/// The shape of a layout: a tree of extents.
pub type Shape = IntTuple;

impl<T: Copy> Tuple<T> {
    /// An empty tuple whose unused places hold `fill`.
    pub(crate) const fn filled(fill: T) -> Tuple<T> {
        Tuple { profile: Profile::EMPTY, leaves: [fill; MAX_LEAVES] }
    }

    /// A single leaf.
    pub const fn leaf(leaf: T) -> Tuple<T> {
        let mut out = Tuple::filled(leaf);
        out.profile.len = 1;
        out
    }

    /// A flat tuple of leaves.
    ///
    /// # Errors
    /// [`Error::Capacity`] for more than [`MAX_LEAVES`], [`Error::Unsupported`] for none.
    pub const fn flat(leaves: &[T]) -> Result<Tuple<T>, Error> {
        if leaves.is_empty() {
            return Err(Error::Unsupported { op: "a flat tuple", what: "no leaves" });
        }
        let mut out = Tuple::filled(leaves[0]);
        tri!(out.profile.open());
        let mut i = 0;
        while i < leaves.len() {
            tri!(out.push(leaves[i]));
            i += 1;
        }
        out.profile.close();
        Ok(out)
    }

    /// The tuple of trees, side by side.
    ///
    /// # Errors
    /// [`Error::Capacity`] for more than [`MAX_LEAVES`], [`Error::Unsupported`] for none.
    pub const fn concat(trees: &[Tuple<T>]) -> Result<Tuple<T>, Error> {
        if trees.is_empty() {
            return Err(Error::Unsupported { op: "a tuple", what: "no modes" });
        }
        let mut out = Tuple::filled(trees[0].leaves[0]);
        tri!(out.profile.open());
        let mut i = 0;
        while i < trees.len() {
            tri!(out.copy(&trees[i], trees[i].profile.root()));
            i += 1;
        }
        out.profile.close();
        Ok(out)
    }

    /// The tree without its leaves.
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The number of modes: 1 for a leaf.
    pub const fn rank(&self) -> usize {
        self.profile.rank()
    }

    /// How deep the tree is: 0 for a leaf.
    pub const fn depth(&self) -> usize {
        self.profile.depth()
    }

    /// The number of leaves.
    pub const fn leaf_count(&self) -> usize {
        self.profile.leaf_count()
    }

    /// Whether it is a single leaf, no tuple.
    pub const fn is_leaf(&self) -> bool {
        self.profile.is_leaf()
    }

    /// The leaves from left to right.
    pub const fn leaves(&self) -> &[T] {
        let (used, _) = self.leaves.split_at(self.profile.leaf_count());
        used
    }

    /// Mode `mode`.
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`].
    pub const fn mode(&self, mode: usize) -> Result<Tuple<T>, Error> {
        let Some(node) = self.profile.nth(self.profile.root(), mode) else {
            return Err(Error::ModeOutOfRange { mode, rank: self.rank() });
        };
        let mut out = Tuple::filled(self.leaves[0]);
        tri!(out.copy(self, node));
        Ok(out)
    }

    /// All leaves in one flat tuple; a leaf stays a leaf.
    pub const fn flatten(&self) -> Tuple<T> {
        let mut out = *self;
        if !self.is_leaf() {
            out.profile = self.profile.as_flat();
        }
        out
    }

    pub(crate) const fn push(&mut self, leaf: T) -> Result<(), Error> {
        let i = tri!(self.profile.leaf());
        self.leaves[i] = leaf;
        Ok(())
    }

    pub(crate) const fn copy(&mut self, from: &Tuple<T>, node: Node) -> Result<(), Error> {
        let mut i = node.begin;
        while i < node.end {
            let (opens, closes) = from.profile.parens(node, i);
            tri!(self.profile.open_many(opens));
            tri!(self.push(from.leaves[i]));
            self.profile.close_many(closes);
            i += 1;
        }
        Ok(())
    }
}

impl Profile {
    /// The flat tuple of as many leaves.
    pub(crate) const fn as_flat(&self) -> Profile {
        let mut out = Profile::EMPTY;
        out.len = self.len;
        if self.len > 0 {
            out.opens[0] = 1;
            out.closes[self.len as usize - 1] = 1;
        }
        out
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

impl<T: PartialEq> PartialEq for Tuple<T> {
    fn eq(&self, other: &Tuple<T>) -> bool {
        let n = self.profile.leaf_count();
        self.profile == other.profile && self.leaves[..n] == other.leaves[..n]
    }
}

impl<T: Eq> Eq for Tuple<T> {}

impl Hash for Profile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let n = self.leaf_count();
        (&self.opens[..n], &self.closes[..n]).hash(state);
    }
}

impl<T: Copy + Hash> Hash for Tuple<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.profile.hash(state);
        self.leaves().hash(state);
    }
}
