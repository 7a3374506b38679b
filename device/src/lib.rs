//! girih-device
