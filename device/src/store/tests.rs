//! The store on disk: what it gives back, what it does not believe, and how much it keeps.

use std::{
    fs, thread,
    time::{Duration, SystemTime},
};

use tempfile::TempDir;

use super::{ABANDONED, Store, encode};
use crate::Assembled;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const KEY: &str = "an assembler\nsm_90a Full\n.version 8.0";

fn built(bytes: usize) -> Assembled {
    Assembled { code: (0..bytes).map(|i| (i * 7) as u8).collect(), log: "Used 168 registers".into() }
}

fn store(limit: u64) -> Result<(TempDir, Store), std::io::Error> {
    let folder = tempfile::tempdir()?;
    let store = Store::new(folder.path().join("within/a folder that is not there yet"), limit);
    Ok((folder, store))
}

/// Lets the entry of a key look as if it had been used this many minutes ago.
fn age(store: &Store, key: &str, minutes: u64) -> Outcome {
    let used = SystemTime::now() - Duration::from_mins(minutes);
    Ok(fs::File::options().append(true).open(store.path(key))?.set_modified(used)?)
}

#[test]
fn what_is_kept_is_found_by_its_key_alone() -> Outcome {
    let (_folder, store) = store(1 << 20)?;
    assert_eq!(store.get(KEY), None);
    let other = format!("{KEY} ");
    for (key, bytes) in [(KEY, 1000), (&other, 0)] {
        store.put(key, &built(bytes))?;
    }
    assert_eq!((store.get(KEY), store.get(&other)), (Some(built(1000)), Some(built(0))));
    assert_eq!(store.get(""), None);
    // The last writer's is kept.
    store.put(KEY, &built(3))?;
    assert_eq!(store.get(KEY), Some(built(3)));
    Ok(())
}

/// A folder in which others can write is refused before anything is read from it or assembled.
#[cfg(unix)]
#[test]
fn a_folder_that_others_can_write_is_refused() -> Outcome {
    use std::os::unix::fs::PermissionsExt as _;

    use crate::{Assembler, Error, Optimization};

    let (folder, store) = store(1 << 20)?;
    store.put(KEY, &built(10))?;
    // Of this store, the folder of mode 700 was made by `put`.
    assert!(super::trusted(&store.folder).is_ok());
    assert!(super::trusted(&folder.path().join("none")).is_ok());
    for (mode, words) in [
        (0o700, None),
        (0o750, None),
        (0o755, None),
        (0o770, Some("its mode is 770, so that its group can write")),
        (0o702, Some("everybody can write")),
        (0o1777, Some("its mode is 777, so that its group and everybody can write")),
    ] {
        fs::set_permissions(&store.folder, fs::Permissions::from_mode(mode))?;
        let found = super::trusted(&store.folder);
        match (words, found) {
            (None, found) => assert!(found.is_ok(), "{mode:o}: {found:?}"),
            (Some(words), Err(error @ Error::UntrustedCache { .. })) => {
                assert!(
                    error.to_string().contains(words) && error.to_string().contains("GIRIH_CACHE"),
                    "{error}"
                );
                // Nothing runs: the assembler's file would not even start.
                let assembler = Assembler::find("true").ok_or("no program `true`")?;
                let refused = super::build(Some(&store), &assembler, "", "sm_90a", Optimization::Full);
                assert!(matches!(refused, Err(Error::UntrustedCache { .. })), "{refused:?}");
            }
            (Some(_), found) => return Err(format!("{mode:o}: {found:?}").into()),
        }
    }
    // Of users 0, 7 and 8, for user 7.
    let told = [0, 7, 8].map(|owner| super::objection(owner, 0o40755, 7));
    assert_eq!([&told[0], &told[1]], [&None, &None]);
    assert_eq!(told[2].as_deref(), Some("it belongs to the user 8, and this is the user 7"));
    assert!(super::objection(0, 0o40777, 7).is_some());
    Ok(())
}

/// Every bit of an entry is under the checksum, and every shorter or longer file is no entry.
#[test]
fn a_damaged_entry_is_none() -> Outcome {
    let (_folder, store) = store(1 << 20)?;
    store.put(KEY, &built(50))?;
    let (path, whole) = (store.path(KEY), encode(KEY, &built(50)));
    assert_eq!(fs::read(&path)?, whole);
    for bit in 0..8 * whole.len() {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, damaged)?;
        assert_eq!(store.get(KEY), None, "bit {bit}");
    }
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length])?;
        assert_eq!(store.get(KEY), None, "{length} of {} bytes", whole.len());
    }
    fs::write(&path, [&whole[..], b"."].concat())?;
    assert_eq!(store.get(KEY), None);
    store.put(KEY, &built(50))?;
    assert_eq!(store.get(KEY), Some(built(50)));
    Ok(())
}

/// An entry that is another key's, as after a collision of names.
#[test]
fn an_entry_is_believed_for_what_it_says() -> Outcome {
    let (_folder, store) = store(1 << 20)?;
    store.put(KEY, &built(50))?;
    let path = store.path(KEY);
    fs::write(&path, encode("another key", &built(50)))?;
    assert_eq!(store.get(KEY), None);
    Ok(())
}

/// Several writers and readers of one key, over and over: a reader finds a whole entry of one of the writers, or none before the first.
#[test]
fn writers_do_not_disturb_readers() -> Outcome {
    let (_folder, store) = store(1 << 20)?;
    let sizes = [10, 20_000, 300];
    store.put(KEY, &built(sizes[0]))?;
    let outcomes: Vec<Result<(), String>> = thread::scope(|scope| {
        let writers = sizes.map(|size| {
            let store = store.clone();
            scope.spawn(move || {
                (0..100).try_for_each(|_| store.put(KEY, &built(size)).map_err(|e| e.to_string()))
            })
        });
        let readers = [(); 2].map(|()| {
            let store = store.clone();
            scope.spawn(move || {
                (0..300).try_for_each(|_| match store.get(KEY) {
                    Some(found) if sizes.iter().any(|&size| found == built(size)) => Ok(()),
                    found => Err(format!("{found:?}")),
                })
            })
        });
        let all = writers.into_iter().chain(readers);
        all.map(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".into()))).collect()
    });
    outcomes.into_iter().collect::<Result<(), String>>()?;
    let left = fs::read_dir(&store.folder)?.count();
    assert_eq!(left, 1, "files beside the entry");
    Ok(())
}

/// The least recently used entries go; to be found is to be used.
#[test]
fn the_limit_holds_and_what_is_used_stays() -> Outcome {
    let size = encode("0", &built(1000)).len() as u64;
    let (_folder, store) = store(3 * size)?;
    for (key, minutes) in [("0", 30), ("1", 20), ("2", 10)] {
        store.put(key, &built(1000))?;
        age(&store, key, minutes)?;
    }
    assert!(store.get("0").is_some());
    store.put("3", &built(1000))?;
    let kept = ["0", "1", "2", "3"].map(|key| store.get(key).is_some());
    assert_eq!(kept, [true, false, true, true]);
    // One that is as large as all together stays alone, and one that is larger is not kept.
    let larger = built(1000 + 2 * size as usize);
    store.put("4", &larger)?;
    assert_eq!(["0", "2", "3", "4"].map(|key| store.get(key).is_some()), [false, false, false, true]);
    store.put("5", &built(1001 + 2 * size as usize))?;
    assert_eq!((store.get("4"), store.get("5")), (Some(larger), None));
    Ok(())
}

/// What a process left half written goes when it is old, and stays while somebody may still write it.
#[test]
fn abandoned_files_are_removed() -> Outcome {
    let (_folder, store) = store(1 << 20)?;
    store.put(KEY, &built(1))?;
    let [old, new, foreign] = ["1-0.part", "2-0.part", "notes.txt"].map(|name| store.folder.join(name));
    for path in [&old, &new, &foreign] {
        fs::write(path, "half")?;
    }
    let long_ago = SystemTime::now() - 2 * ABANDONED;
    for path in [&old, &foreign] {
        fs::File::options().append(true).open(path)?.set_modified(long_ago)?;
    }
    store.put(KEY, &built(2))?;
    assert_eq!([&old, &new, &foreign].map(|path| path.exists()), [false, true, true]);
    Ok(())
}

/// Where nothing can be written, there is an error and no panic, and nothing is found.
#[test]
fn a_folder_that_cannot_be_made_is_an_error() -> Outcome {
    let file = tempfile::NamedTempFile::new()?;
    let store = Store::new(file.path().join("below a file"), 1 << 20);
    assert!(store.put(KEY, &built(1)).is_err());
    assert_eq!(store.get(KEY), None);
    Ok(())
}

#[cfg(unix)]
mod assembled {
    use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

    use super::{Outcome, store};
    use crate::{Assembler, Error, Optimization, store::build};

    /// An assembler that writes down each call, and whose code is the text and its arguments.
    fn assembler(folder: &Path, body: &str) -> Result<Assembler, Box<dyn std::error::Error>> {
        let program = folder.join("assembler.sh");
        fs::write(&program, format!("#!/bin/sh\necho call >> {}\n{body}", folder.join("calls").display()))?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700))?;
        Ok(Assembler::find(&program).ok_or("no program")?)
    }

    // The output comes after --output-file, which the target and the level precede.
    const WRITES: &str = "(cat; echo \"$3 $5\") > \"$7\"; echo 'Used 10 registers' >&2";

    fn calls(folder: &Path) -> usize {
        fs::read_to_string(folder.join("calls")).unwrap_or_default().lines().count()
    }

    /// Only what the code depends on makes the assembler run, and damage does.
    #[test]
    fn the_assembler_runs_once_for_each_key() -> Outcome {
        let (folder, store) = store(1 << 20)?;
        let by = assembler(folder.path(), WRITES)?;
        let full = |text, target| build(Some(&store), &by, text, target, Optimization::Full);
        for _ in 0..2 {
            let built = full("text", "sm_90a")?;
            assert_eq!((built.code, &*built.log), (b"textsm_90a 3\n".into(), "Used 10 registers"));
        }
        assert_eq!(calls(folder.path()), 1);
        full("texts", "sm_90a")?;
        full("text", "sm_100a")?;
        build(Some(&store), &by, "text", "sm_90a", Optimization::None)?;
        assert_eq!(calls(folder.path()), 4);
        let files: Vec<_> = fs::read_dir(&store.folder)?.collect::<Result<_, _>>()?;
        assert_eq!(files.len(), 4);
        for file in files {
            let mut bytes = fs::read(file.path())?;
            bytes.truncate(bytes.len() - 1);
            fs::write(file.path(), bytes)?;
        }
        assert_eq!(full("text", "sm_90a")?.code, b"textsm_90a 3\n");
        assert_eq!(calls(folder.path()), 5);
        full("text", "sm_90a")?;
        assert_eq!(calls(folder.path()), 5);
        // Another assembler at the same place is another key.
        let by = assembler(folder.path(), &format!("{WRITES} # newer"))?;
        build(Some(&store), &by, "text", "sm_90a", Optimization::Full)?;
        assert_eq!(calls(folder.path()), 6);
        // Without a store it runs each time.
        for _ in 0..2 {
            build(None, &by, "text", "sm_90a", Optimization::Full)?;
        }
        assert_eq!(calls(folder.path()), 8);
        Ok(())
    }

    /// What the assembler refuses is not kept, and says its line.
    #[test]
    fn a_refusal_is_told_and_not_kept() -> Outcome {
        let (folder, store) = store(1 << 20)?;
        let by = assembler(folder.path(), "echo 'ptxas <stdin>, line 2; error : bad' >&2; exit 3")?;
        for count in 1..3 {
            let error = build(Some(&store), &by, "one\ntwo\n", "sm_90a", Optimization::Full).err();
            let Some(Error::Jit { compiler: "ptxas", line: Some(line), .. }) = error else {
                return Err(format!("{error:?}").into());
            };
            assert_eq!(line, (2, "two".into()));
            assert_eq!((calls(folder.path()), store.folder.exists()), (count, false));
        }
        Ok(())
    }
}
