//! The compile error of `lay!` and `tiler!`: constant functions can't format, so the code here puts the message
//! together byte by byte.

use crate::Error;

/// A text that a constant function composes; bytes past its capacity are left out.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Message {
    bytes: [u8; 512],
    len: usize,
}

impl Message {
    #[doc(hidden)]
    pub const EMPTY: Message = Message { bytes: [0; 512], len: 0 };

    #[doc(hidden)]
    pub const fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self.byte(bytes[i]);
            i += 1;
        }
    }

    /// Appends `text` in capitals.
    #[doc(hidden)]
    pub const fn upper(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self.byte(bytes[i].to_ascii_uppercase());
            i += 1;
        }
    }

    const fn byte(&mut self, byte: u8) {
        if self.len < self.bytes.len() {
            // Bytes that are not ASCII become `?`, since the text must not be cut inside a character.
            self.bytes[self.len] = if byte.is_ascii() { byte } else { b'?' };
            self.len += 1;
        }
    }

    #[doc(hidden)]
    pub const fn number(&mut self, n: usize) {
        if n > 9 {
            self.number(n / 10);
        }
        self.byte(b'0' + (n % 10) as u8);
    }

    #[doc(hidden)]
    pub const fn as_str(&self) -> &str {
        let (used, _) = self.bytes.split_at(self.len);
        match core::str::from_utf8(used) {
            Ok(text) => text,
            Err(_) => "malformed text",
        }
    }

    /// Stops the compilation with the message.
    #[doc(hidden)]
    pub const fn stop(&self) -> ! {
        panic!("{}", self.as_str())
    }
}

/// Stops the compilation with the reason why `text` is no layout or tiler.
#[doc(hidden)]
pub const fn refuse(text: &str, error: &Error) -> ! {
    let mut message = Message::EMPTY;
    message.text(text);
    if let Error::Parse { at, expected } = error {
        message.text(": at byte ");
        message.number(*at);
        message.text(": expected ");
        message.text(expected);
    } else {
        message.text(": ");
        message.text(error.kind());
    }
    message.stop()
}
