//! Built code on disk.
//!
//! An entry is a file that holds the key as a whole, the code and the compiler's log, after a checksum of all of them. So an entry
//! is believed for what it says and not for where it is: a damaged file, a shortened one, and one of another key whose name is the
//! same are no entries, and what they should have been is built again. Files are written to temporary names in the same folder and renamed, so that
//! readers and other writers see whole files.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use etcetera::BaseStrategy as _;

use crate::{
    Assembled, Assembler, Error, Optimization,
    parts::{self, fnv1a},
};

/// The first bytes of every entry: what the file is, and the version of its format.
const MAGIC: &[u8] = b"girih module 2\n\0";
/// Bytes of all entries together, if `open` is told nothing else. An entry has about 50 KB.
const LIMIT: u64 = 256 << 20;
/// The age of a file that its writer has left half written.
const ABANDONED: Duration = Duration::from_hours(1);

/// A folder of built code.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    /// The most bytes of all entries together.
    limit: u64,
}

impl Store {
    pub(crate) fn new(folder: impl Into<PathBuf>, limit: u64) -> Store {
        Store { folder: folder.into(), limit }
    }

    /// The folder that the environment variable `GIRIH_CACHE` names, or else `girih` in the platform's folder of caches. `None` if the
    /// variable is empty, or if the platform has no such folder.
    pub(crate) fn from_env() -> Option<Store> {
        let folder = match env::var_os("GIRIH_CACHE") {
            Some(folder) if folder.is_empty() => return None,
            Some(folder) => PathBuf::from(folder),
            None => etcetera::base_strategy::choose_native_strategy().ok()?.cache_dir().join("girih"),
        };
        Some(Store::new(folder, LIMIT))
    }

    /// The result of an earlier build with this key. The key contains everything on which the code depends.
    pub(crate) fn get(&self, key: &str) -> Option<Assembled> {
        let path = self.path(key);
        let found = decode(&fs::read(&path).ok()?, key)?;
        // The least recently used entries are removed first. If the time cannot be set, the entry is as good.
        let _ =
            fs::File::options().append(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(found)
    }

    /// Keeps what was built from this key, and removes other entries beyond the limit.
    ///
    /// # Errors
    /// The system's. What stood there before is there still.
    pub(crate) fn put(&self, key: &str, built: &Assembled) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let bytes = encode(key, built);
        if bytes.len() as u64 > self.limit {
            return Ok(());
        }
        create(&self.folder)?;
        let path = self.path(key);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let beside = path.with_extension(format!("{}-{number}.part", process::id()));
        let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, &path));
        if written.is_err() {
            // The first error is the one that matters.
            let _ = fs::remove_file(&beside);
        }
        written.and_then(|()| self.trim(&path))
    }

    /// Removes files that were left half written, and the entries that were used least recently, until the rest is within the limit.
    /// The entry `kept` stays.
    fn trim(&self, kept: &Path) -> io::Result<()> {
        let mut entries = Vec::new();
        for file in fs::read_dir(&self.folder)? {
            // A file that another process has removed meanwhile needs no room.
            let Ok((path, about)) = file.and_then(|file| Ok((file.path(), file.metadata()?))) else {
                continue;
            };
            let used = about.modified()?;
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("module") => entries.push((used, path, about.len())),
                Some("part") if used.elapsed().is_ok_and(|age| age > ABANDONED) => {
                    let _ = fs::remove_file(path);
                }
                _ => {}
            }
        }
        entries.sort();
        let mut bytes: u64 = entries.iter().map(|(_, _, bytes)| bytes).sum();
        for (_, path, size) in entries.iter().filter(|(_, path, _)| path != kept) {
            if bytes <= self.limit {
                break;
            }
            // Another process may have been faster.
            let _ = fs::remove_file(path);
            bytes -= size;
        }
        Ok(())
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{:016x}.module", fnv1a(key.as_bytes())))
    }
}

/// Refuses a folder in which somebody else can write entries: who writes an entry chooses what a GPU runs. One that is not there yet is made
/// by girih, for its owner alone.
#[cfg(unix)]
fn trusted(folder: &Path) -> Result<(), Error> {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(about) = folder.metadata() else { return Ok(()) };
    let own = rustix::process::geteuid().as_raw();
    let why = objection(about.uid(), about.mode(), own);
    why.map_or(Ok(()), |why| Err(Error::UntrustedCache { folder: folder.into(), why }))
}

/// Elsewhere the folder's permissions are the system's own affair.
#[cfg(not(unix))]
fn trusted(_: &Path) -> Result<(), Error> {
    Ok(())
}

/// The objection to a folder of this owner and mode for a process of the user `own`, if there is one. Root is trusted, since it may do everything
/// anyway.
#[cfg(unix)]
fn objection(owner: u32, mode: u32, own: u32) -> Option<String> {
    if owner != own && owner != 0 {
        return Some(format!("it belongs to the user {owner}, and this is the user {own}"));
    }
    let others = [(0o020, "its group"), (0o002, "everybody")].into_iter().filter(|(bit, _)| mode & bit != 0);
    let others: Vec<&str> = others.map(|(_, who)| who).collect();
    let mode = mode & 0o777;
    (!others.is_empty())
        .then(|| format!("its mode is {mode:03o}, so that {} can write", others.join(" and ")))
}

/// Makes the folder, which its owner alone may read and write: who writes an entry chooses what a GPU runs.
fn create(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn encode(key: &str, built: &Assembled) -> Vec<u8> {
    parts::encode(MAGIC, &[key.as_bytes(), built.log.as_bytes(), &built.code])
}

/// The content of an entry, if it is complete and of this key.
fn decode(bytes: &[u8], key: &str) -> Option<Assembled> {
    let [of, log, code] = parts::decode(MAGIC, bytes)?[..] else { return None };
    let built = Assembled { code: code.to_vec(), log: String::from_utf8(log.to_vec()).ok()? };
    (of == key.as_bytes()).then_some(built)
}

/// Assembles a text for a target, or returns the result from the store.
///
/// # Errors
/// [`Error::UntrustedCache`]; those of [`Assembler::compile`].
pub(crate) fn build(
    store: Option<&Store>,
    assembler: &Assembler,
    text: &str,
    target: &str,
    optimization: Optimization,
) -> Result<Assembled, Error> {
    store.map_or(Ok(()), |store| trusted(&store.folder))?;
    let key = identity(assembler).map(|by| format!("{by}\n{target} {optimization:?}\n{text}"));
    let place = store.zip(key.as_deref());
    if let Some(found) = place.and_then(|(store, key)| store.get(key)) {
        return Ok(found);
    }
    let built = assembler.compile(text, target, optimization)?;
    if let Some((store, key)) = place {
        // Where nothing can be kept, the next process builds again.
        let _ = store.put(key, &built);
    }
    Ok(built)
}

/// The identity of an assembler and its version: its file, the file's size and its time.
fn identity(assembler: &Assembler) -> Option<String> {
    let path = assembler.path().canonicalize().ok()?;
    let about = path.metadata().ok()?;
    let time = about.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", path.display(), about.len(), time.as_nanos()))
}

#[cfg(test)]
mod tests;
