//! girih-codegen
