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
