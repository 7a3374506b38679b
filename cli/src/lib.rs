//! What the `girih` command line is made of, for the tests of other packages.

pub mod ops;
