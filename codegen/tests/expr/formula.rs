//! Evaluates expressions by their text, which says all that they compute.

use girih_codegen::Expr;

/// What an expression's value depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// A register, by its number.
    Var(usize),
    /// A layout's symbol, by its number.
    Symbol(usize),
}

impl Leaf {
    /// The leaf of an expression that is one leaf.
    pub(crate) fn of(expr: &Expr) -> Leaf {
        match Formula::of(expr).0 {
            Node::Leaf(leaf) => leaf,
            other => panic!("{other:?} is no leaf"),
        }
    }
}

/// The formula that an expression's text says.
#[derive(Clone, Debug)]
pub(crate) struct Formula(Node);

#[derive(Clone, Debug)]
enum Node {
    Number(i128),
    Leaf(Leaf),
    /// `ceil(x/c)`
    Ceil(Leaf, i128),
    Sum(Vec<Node>),
    Product(Vec<Node>),
    Div(Box<Node>, i128),
    Rem(Box<Node>, i128),
    And(Box<Node>, i128),
    Xor(Box<[Node; 2]>),
    Min(Box<[Node; 2]>),
    Max(Box<[Node; 2]>),
}

impl Formula {
    /// Panics if the text is not that of an expression within 64 bits.
    pub(crate) fn of(expr: &Expr) -> Formula {
        let text = format!("{expr:.60000}");
        let mut rest = Rest(&text);
        let node = rest.sum();
        assert!(rest.0.is_empty(), "{text}: {:?} is left", rest.0);
        Formula(node)
    }

    /// The value, where `leaf` gives the values of registers and symbols.
    pub(crate) fn value(&self, leaf: &dyn Fn(Leaf) -> i64) -> i64 {
        i64::try_from(self.wide(leaf)).unwrap()
    }

    /// The value, where steps or the value may go beyond 64 bits.
    pub(crate) fn wide(&self, leaf: &dyn Fn(Leaf) -> i64) -> i128 {
        self.0.value(leaf)
    }
}

impl Node {
    fn value(&self, leaf: &dyn Fn(Leaf) -> i64) -> i128 {
        let of = |node: &Node| node.value(leaf);
        match self {
            Node::Number(number) => *number,
            Node::Leaf(of) => leaf(*of).into(),
            Node::Ceil(of, by) => (i128::from(leaf(*of)) + by - 1) / by,
            Node::Sum(terms) => terms.iter().map(of).sum(),
            Node::Product(factors) => factors.iter().map(of).product(),
            Node::Div(x, by) => of(x) / by,
            Node::Rem(x, by) => of(x) % by,
            Node::And(x, mask) => of(x) & mask,
            Node::Xor(pair) => of(&pair[0]) ^ of(&pair[1]),
            Node::Min(pair) => of(&pair[0]).min(of(&pair[1])),
            Node::Max(pair) => of(&pair[0]).max(of(&pair[1])),
        }
    }
}

/// The part of a text that has not been read.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn take(&mut self, what: &str) -> bool {
        let rest = self.0.strip_prefix(what);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, what: &str) {
        assert!(self.take(what), "{what:?} instead of {:?}", self.0);
    }

    fn number(&mut self) -> i128 {
        let sign = usize::from(self.0.starts_with('-'));
        let digits = self.0[sign..].bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.0.split_at(sign + digits);
        self.0 = rest;
        number.parse().unwrap_or_else(|_| panic!("a number instead of {rest:?}"))
    }

    fn symbol(&mut self) -> Leaf {
        Leaf::Symbol(self.number() as usize)
    }

    fn sum(&mut self) -> Node {
        let mut terms = vec![self.product()];
        while self.take(" + ") {
            terms.push(self.product());
        }
        if terms.len() == 1 { terms.remove(0) } else { Node::Sum(terms) }
    }

    fn product(&mut self) -> Node {
        let mut factors = vec![self.factor()];
        while self.take("*") {
            factors.push(self.factor());
        }
        if factors.len() == 1 { factors.remove(0) } else { Node::Product(factors) }
    }

    fn pair(&mut self, between: &str) -> Box<[Node; 2]> {
        let first = self.sum();
        self.expect(between);
        let second = self.sum();
        self.expect(")");
        Box::new([first, second])
    }

    fn factor(&mut self) -> Node {
        if self.take("v") {
            return Node::Leaf(Leaf::Var(self.number() as usize));
        }
        if self.take("s") {
            return Node::Leaf(self.symbol());
        }
        if self.take("ceil(s") {
            let of = self.symbol();
            self.expect("/");
            let by = self.number();
            self.expect(")");
            return Node::Ceil(of, by);
        }
        if self.take("min(") {
            return Node::Min(self.pair(", "));
        }
        if self.take("max(") {
            return Node::Max(self.pair(", "));
        }
        if !self.take("(") {
            return Node::Number(self.number());
        }
        let x = self.sum();
        if self.take(")/") {
            return Node::Div(Box::new(x), self.number());
        }
        if self.take(")%") {
            return Node::Rem(Box::new(x), self.number());
        }
        if self.take("&") {
            let mask = self.number();
            self.expect(")");
            return Node::And(Box::new(x), mask);
        }
        self.expect("^");
        let y = self.sum();
        self.expect(")");
        Node::Xor(Box::new([x, y]))
    }
}
