//! Reading a file of lines with a limit.

use std::io::{self, BufRead};

/// Longest line, in bytes. A call takes at most 1,000 entries, which with 8 tiers is below a megabyte.
pub const MAX_LINE: usize = 16 << 20;

/// Reads the next line into `line`, without its end; `false` at the end of the file.
///
/// # Errors
/// What the system says; a line beyond [`MAX_LINE`] or not in UTF-8 is `InvalidData`.
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
