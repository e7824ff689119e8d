//! Reads a file line by line, with a limit on the length of a line.

use std::io::{self, BufRead};

/// Longest line, in bytes. A call has at most 1,000 entries; with 8 tiers that is below a megabyte.
pub const MAX_LINE: usize = 16 << 20;

/// Reads the next line into `line`, without its line end. Returns `false` at the end of the file.
///
/// # Errors
/// The I/O error. A line that exceeds [`MAX_LINE`] or is not UTF-8 is `InvalidData`.
pub(super) fn read(reader: &mut impl BufRead, line: &mut String) -> io::Result<bool> {
    use io::Read as _;
    line.clear();
    let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    if reader.by_ref().take(limit).read_line(line)? == 0 {
        return Ok(false);
    }
    if !line.ends_with('\n') && line.len() >= MAX_LINE {
        let what = format!("a line has more than {MAX_LINE} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Ok(true)
}

/// Reads the first line, without the byte order mark that some editors put before it.
///
/// # Errors
/// As [`read`].
pub(super) fn first(reader: &mut impl BufRead, line: &mut String) -> io::Result<bool> {
    let is_there = read(reader, line)?;
    if line.starts_with('\u{feff}') {
        line.remove(0);
    }
    Ok(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        let (mut file, mut line) = ("\u{feff}{}\r\n\u{feff}{}\n".as_bytes(), String::new());
        assert!(first(&mut file, &mut line).unwrap());
        assert_eq!(line, "{}");
        assert!(read(&mut file, &mut line).unwrap());
        assert_eq!(line, "\u{feff}{}");
    }
}
