//! Ending when told to: the signals of a terminal and of a service manager set a flag.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::base::error::{Error, ErrorKind, Result};

/// Sets `stop` at the first interrupt or termination signal; the second one ends the process.
///
/// # Errors
/// `Io` when the signals cannot be watched.
pub fn stop_on(stop: &Arc<AtomicBool>) -> Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;
    for signal in [SIGINT, SIGTERM] {
        // In this order, so that the first signal only sets the flag.
        flag::register_conditional_shutdown(signal, 0, Arc::clone(stop))
            .and_then(|_| flag::register(signal, Arc::clone(stop)))
            .map_err(|cause| Error::new(ErrorKind::Io, "cannot watch for signals").source(cause))?;
    }
    Ok(())
}
