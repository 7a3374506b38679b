//! girih-tensor
