//! Operations on bits: exclusive or, masks, swizzles.

use std::collections::BTreeMap;

use girih_layout::{F2Matrix, Swizzle};

use super::{Atom, Expr};
use crate::Error;

impl Expr {
    fn check_natural(&self, operation: &'static str) -> Result<(), Error> {
        self.check_fits(operation)?;
        if self.range().0 < 0 {
            let accepted = "a non-negative expression";
            return Err(Error::Arithmetic { operation, operand: self.to_string(), by: None, accepted });
        }
        Ok(())
    }

    /// `self ^ other`, bit by bit.
    ///
    /// # Errors
    /// [`Error::Arithmetic`] if one of the two expressions can be negative.
    pub fn xor(&self, other: &Expr) -> Result<Expr, Error> {
        self.check_natural("exclusive or")?;
        other.check_natural("exclusive or")?;
        if let (Some(a), Some(b)) = (self.as_constant(), other.as_constant()) {
            return Ok(Expr::from(a ^ b));
        }
        if self.possible_bits() & other.possible_bits() == 0 {
            return Ok(self + other);
        }
        if self == other {
            return Ok(Expr::from(0));
        }
        let (a, b) = if self <= other { (self, other) } else { (other, self) };
        Expr::atom(Atom::Xor(a.clone(), b.clone())).accepted()
    }

    /// `self & mask`.
    ///
    /// # Errors
    /// [`Error::Arithmetic`] if the expression or the mask can be negative.
    pub fn and(&self, mask: i64) -> Result<Expr, Error> {
        self.check_fits("and")?;
        if mask < 0 || self.range().0 < 0 {
            return Err(Error::Arithmetic {
                operation: "and",
                operand: self.to_string(),
                by: Some(mask),
                accepted: "a non-negative expression and mask",
            });
        }
        if let Some(value) = self.as_constant() {
            return Ok(Expr::from(value & mask));
        }
        let possible = self.possible_bits();
        if possible & mask == 0 {
            return Ok(Expr::from(0));
        }
        if possible & !mask == 0 {
            return Ok(self.clone());
        }
        // Where no two summands share a bit, no carry crosses, and the mask drops some summands whole without an instruction.
        let parts: Vec<Expr> = self.disjoint_parts();
        let kept: Vec<Expr> = parts.iter().filter(|p| p.possible_bits() & mask != 0).cloned().collect();
        if kept.len() < parts.len() {
            let sum = kept.iter().fold(Expr::from(0), |sum, part| &sum + part);
            return sum.and(mask);
        }
        Expr::atom(Atom::And(self.clone(), mask & possible)).accepted()
    }

    /// The summands of the expression, if no bit can be set in two of them; otherwise the whole expression as one part.
    fn disjoint_parts(&self) -> Vec<Expr> {
        let mut parts: Vec<Expr> = self.0.terms.iter().map(|t| Expr::from_terms(&[t], 0)).collect();
        if self.0.constant != 0 {
            parts.push(Expr::from(self.0.constant));
        }
        let mut seen = 0;
        for part in &parts {
            if part.range().0 < 0 || part.possible_bits() & seen != 0 {
                return vec![self.clone()];
            }
            seen |= part.possible_bits();
        }
        parts
    }

    /// The index after the swizzle `Sw<bits, base, shift>`. Summands that the swizzle leaves alone stay outside of its exclusive or.
    ///
    /// # Errors
    /// [`Error::Arithmetic`] if the expression can be negative.
    pub fn swizzle(&self, swizzle: &Swizzle) -> Result<Expr, Error> {
        self.check_natural("swizzle")?;
        // Sw is linear over exclusive or, so bit-disjoint summands can be swizzled one by one.
        let mut constant = Expr::from(0);
        let mut variable = Expr::from(0);
        for part in self.disjoint_parts() {
            match part.as_constant() {
                Some(value) => constant = Expr::from(swizzle.apply(value)),
                None => variable = &variable + &part,
            }
        }
        let lowest = i64::from(swizzle.base()) + i64::from(swizzle.shift().max(0));
        let source = variable.and(((1 << swizzle.bits()) - 1) << lowest)?;
        let moved = if swizzle.shift() >= 0 {
            source.div(1 << swizzle.shift())?
        } else {
            &source * (1 << -swizzle.shift())
        };
        variable.xor_parts(&moved)?.xor_parts(&constant)
    }

    /// The index after a linear map over F2 has moved its bits; bits beyond the map's inputs stay where they are. Bits that
    /// move by the same distance move together, by a mask, a shift and an exclusive or.
    ///
    /// # Errors
    /// [`Error::Arithmetic`] if the expression can be negative.
    pub fn linear(&self, map: &F2Matrix) -> Result<Expr, Error> {
        self.check_natural("an F2 map")?;
        let mapped = (1i64 << map.inputs().min(62)) - 1;
        let (mut constant, mut variable) = (0, Expr::from(0));
        for part in self.disjoint_parts() {
            match part.as_constant() {
                Some(value) => constant = map.apply(value & mapped)? ^ (value & !mapped),
                None => variable = &variable + &part,
            }
        }
        let mut ways: BTreeMap<i64, i64> = BTreeMap::new();
        for (from, &column) in map.columns().iter().enumerate() {
            for to in (0..62).filter(|to| column >> to & 1 == 1) {
                *ways.entry(to - from as i64).or_default() |= 1 << from;
            }
        }
        let still = ways.remove(&0).unwrap_or(0) | (i64::MAX & !mapped);
        let mut out = variable.and(still)?;
        for (distance, mask) in ways {
            let source = variable.and(mask)?;
            let moved = if distance < 0 { source.div(1 << -distance)? } else { &source * (1 << distance) };
            out = out.xor_parts(&moved)?;
        }
        out.xor_parts(&Expr::from(constant))
    }

    /// `self ^ other`, in which only the summands of `self` that share bits with `other` are operands of the instruction.
    fn xor_parts(&self, other: &Expr) -> Result<Expr, Error> {
        let (mut apart, mut together) = (Expr::from(0), Expr::from(0));
        for part in self.disjoint_parts() {
            if part.possible_bits() & other.possible_bits() == 0 {
                apart = &apart + &part;
            } else {
                together = &together + &part;
            }
        }
        match other.as_constant() {
            // Bits of a constant that no summand has are added, so that these bits become the immediate of an address.
            Some(value) => {
                let shared = value & together.possible_bits();
                Ok(&(&apart + &together.xor(&Expr::from(shared))?) + (value - shared))
            }
            None => Ok(&apart + &together.xor(other)?),
        }
    }
}
