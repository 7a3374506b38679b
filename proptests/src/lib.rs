//! girih-proptests
