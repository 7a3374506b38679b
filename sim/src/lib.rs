//! girih-sim
