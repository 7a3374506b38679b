//! girih-kernels
