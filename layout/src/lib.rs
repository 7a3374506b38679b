//! girih-layout
