//! Text in mesh files: its encoding and its lines.

use std::borrow::Cow;

use voxshell_base::memory::text_of;

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the bytes after a UTF-8 byte order mark, if there is one.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

/// Returns whether the bytes are text of two or four bytes per character: by their mark, or because every other byte is
/// 0.
pub fn is_wide(bytes: &[u8]) -> bool {
    let alternates = |b: &[u8]| matches!(b, &[a, 0, c, 0] | &[0, a, 0, c] if a != 0 && c != 0);
    bytes.starts_with(b"\xff\xfe")
        || bytes.starts_with(b"\xfe\xff")
        || bytes.starts_with(b"\0\0\xfe\xff")
        || bytes.get(..4).is_some_and(alternates)
}

/// Returns the error message for text that [`is_wide`].
pub fn wide() -> String {
    "the text is UTF-16 or UTF-32; expected UTF-8 or ASCII".into()
}

/// Returns the text without its byte order mark. Bytes that are not UTF-8 become U+FFFD: comments and names may be in
/// any encoding, and no reader takes that character for part of a number or keyword.
///
/// # Errors
/// For text that [`is_wide`].
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    if is_wide(bytes) {
        return Err(wide());
    }
    Ok(text_of(without_mark(bytes)))
}

/// Returns the lines of a text, which end in LF, CR LF or CR, without their ends.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, tail) = rest.split_at(rest.find(['\n', '\r']).unwrap_or(rest.len()));
        rest = tail.strip_prefix("\r\n").or_else(|| tail.get(1..)).unwrap_or_default();
        Some(line)
    })
}

/// Returns the beginning of a text from a file in the format of error messages: in one line, however long it is.
pub(super) fn excerpt(text: &str) -> String {
    let mut start: String = text.trim().chars().take(60).collect();
    if start.len() < text.trim().len() {
        start.push('…');
    }
    format!("{start:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_lf_crlf_or_cr() {
        for text in ["a\nb\n\nc", "a\r\nb\r\n\r\nc\r\n", "a\rb\r\rc\r", "a\nb\r\n\rc\n"] {
            assert_eq!(lines(text).collect::<Vec<_>>(), ["a", "b", "", "c"], "{text:?}");
        }
        assert_eq!(lines("").count(), 0);
        assert_eq!(lines("\r").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn wide_text_is_told_by_mark_or_zeros() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        for bytes in
            [utf16("\u{feff}v 0"), utf16("v 0"), utf16("solid"), b"\0v\0 \0".to_vec(), b"\0\0\xfe\xff".to_vec()]
        {
            assert!(is_wide(&bytes) && decode(&bytes).is_err(), "{bytes:?}");
        }
        for bytes in [&b"v 0 0 0"[..], b"", b"v", b"\0\0\0\0", b"\xef\xbb\xbfv 0", b"# \xff\xfe"] {
            assert!(!is_wide(bytes), "{bytes:?}");
        }
        assert_eq!(decode(b"\xef\xbb\xbfv 0").unwrap(), "v 0");
    }
}
