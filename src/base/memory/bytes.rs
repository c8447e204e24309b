//! Files and their contents under a guard.

use std::borrow::Cow;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};

use super::refusal::refuse;
use super::{GrowGuarded, RoomGuarded};

/// Bytes that are written one after another, by code that writes a file or by `postcard`.
#[derive(Default)]
pub struct Bytes(pub Vec<u8>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.extend_guarded(bytes.iter().copied());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl postcard::ser_flavors::Flavor for Bytes {
    type Output = Vec<u8>;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push_guarded(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_guarded(bytes.iter().copied());
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

/// Appends the rest of a file.
pub fn read_to_end(file: &mut File, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    // A file that is not a plain file has no length; a file that grows meanwhile has more.
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    bytes.reserve_guarded(length);
    match file.read_to_end(bytes) {
        Err(e) if e.kind() == ErrorKind::OutOfMemory => refuse(bytes.len()),
        read => read.map(|_| ()),
    }
}

/// Returns the text in bytes; bytes that are not UTF-8 become U+FFFD.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.reserve_guarded(chunk.valid().len() + 3);
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Cow::Owned(text)
}

/// Reads a vector as serde does, growing under a guard: for `#[serde(deserialize_with = "…")]`.
pub fn deserialize_vec<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    struct Items<T>(Vec<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Vec<T>, A::Error> {
            // The announced length may be false: at most one MiB is reserved for it.
            let announced = items.size_hint().unwrap_or(0);
            self.0.reserve_guarded(announced.min((1 << 20) / size_of::<T>().max(1)));
            while let Some(item) = items.next_element()? {
                self.0.push_guarded(item);
            }
            Ok(self.0)
        }
    }

    from.deserialize_seq(Items(Vec::new()))
}
