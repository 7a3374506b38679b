//! girih-benches
