//! The compile error of `lay!` and `tiler!`: constant functions can't format, so the message is put together by hand.

use crate::Error;

pub(crate) struct Message {
    bytes: [u8; 512],
    len: usize,
}

impl Message {
    pub(crate) const EMPTY: Message = Message { bytes: [0; 512], len: 0 };

    pub(crate) const fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() && self.len < self.bytes.len() {
            // What is not ASCII would have to be cut at a character.
            self.bytes[self.len] = if bytes[i].is_ascii() { bytes[i] } else { b'?' };
            self.len += 1;
            i += 1;
        }
    }

    pub(crate) const fn number(&mut self, n: usize) {
        if n > 9 {
            self.number(n / 10);
        }
        let digit = [b'0' + (n % 10) as u8];
        if let Ok(digit) = core::str::from_utf8(&digit) {
            self.text(digit);
        }
    }

    /// Stops the compilation with the message.
    pub(crate) const fn stop(&self) -> ! {
        let (used, _) = self.bytes.split_at(self.len);
        match core::str::from_utf8(used) {
            Ok(message) => panic!("{}", message),
            Err(_) => panic!("malformed text"),
        }
    }
}

/// Stops the compilation: `text` is no layout or tiler, and why.
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
