//! Random bytes from the operating system, the only source of secrets and ids.

use rand::TryRng;
use rand::rngs::SysRng;

/// The operating system gave no random bytes; nothing secret can be made.
#[derive(Debug, thiserror::Error)]
#[error("no random bytes from the operating system: {0}")]
pub struct RandomError(#[from] rand::rngs::SysError);

/// `N` random bytes.
///
/// # Errors
/// When the operating system refuses; there is no weaker source to fall back to.
pub fn bytes<const N: usize>() -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes)?;
    Ok(bytes)
}
