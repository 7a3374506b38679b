//! How trees and layouts print.

use core::fmt;

use crate::{Lay, Tuple};

impl<T: Copy + fmt::Display> fmt::Display for Tuple<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.leaf_count();
        if n == 0 {
            return f.write_str("()");
        }
        for (i, leaf) in self.leaves().iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            let (opens, closes) = self.profile.parens(self.profile.root(), i);
            (0..opens).try_for_each(|_| f.write_str("("))?;
            leaf.fmt(f)?;
            (0..closes).try_for_each(|_| f.write_str(")"))?;
        }
        Ok(())
    }
}

impl<T: Copy + fmt::Display> fmt::Debug for Tuple<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl fmt::Display for Lay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape.fmt(f)?;
        f.write_str(":")?;
        self.stride().fmt(f)
    }
}

impl fmt::Debug for Lay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
