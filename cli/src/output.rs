//! Output files, which are written completely or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::status::Status;

/// A file that is written when everything else has succeeded.
pub(crate) struct Output {
    path: PathBuf,
    folder: PathBuf,
}

impl Output {
    /// Checks that the file can be written, before long work begins. The check leaves no file behind.
    pub(crate) fn new(path: &Path) -> Result<Output, Error> {
        // The target of a link is written; the link itself is not replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.into());
        let special = path.metadata().is_ok_and(|m| !m.is_file());
        if special || path.file_name().is_none() {
            let source = io::Error::other("it is not a regular file");
            return Err(Error::Write { path, source });
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.into(),
            _ => PathBuf::from("."),
        };
        tempfile::tempfile_in(&folder).map_err(Error::write(&path))?;
        Ok(Output { path, folder })
    }

    /// Writes a temporary file in the same folder, then moves the temporary file to the file's place.
    pub(crate) fn write(
        &self,
        content: impl FnOnce(&mut BufWriter<&fs::File>) -> io::Result<()>,
    ) -> Result<(), Error> {
        let written = || {
            let mut builder = tempfile::Builder::new();
            builder.prefix(".girih-");
            // The file gets the permissions of any new file: those that the umask allows.
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            let temporary = builder.tempfile_in(&self.folder)?;
            let mut to = BufWriter::new(temporary.as_file());
            content(&mut to)?;
            to.flush()?;
            drop(to);
            temporary.persist(&self.path)?;
            Ok(())
        };
        written().map_err(Error::write(&self.path))
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Writes a line to standard output. Where nobody reads any more, the process is done: what it would still say has no reader.
pub(crate) fn say(line: &str) {
    if let Err(error) = writeln!(io::stdout().lock(), "{line}") {
        if error.kind() == io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        tell(&format!("error: {error}"));
        std::process::exit(i32::from(Status::Failed.code()));
    }
}

/// Writes a line to standard error. Where nobody reads that, or nothing can be written, the work goes on: its result is on standard output,
/// and in the exit status.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
