//! Answers to conformance records, which other implementations answer too: operations of the layout algebra ([`layouts`]), and operations and
//! kernels of the tile language ([`tile`]).
//!
//! # Examples
//! ```
//! use girih_conformance::layouts;
//!
//! let answer = layouts::answer(br#"{"id": 7, "op": "size", "args": {"layout": "(4,8"}}"#);
//! assert_eq!((&answer["id"], &answer["error"]["kind"]), (&7.into(), &"parse".into()));
//! ```

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_sign_loss))]

pub mod layouts;
pub mod tile;
