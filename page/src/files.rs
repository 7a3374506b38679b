//! The files of the page, which the binary contains.

use std::fs;
use std::path::Path;

/// A file: its path in the address, its media type, and its text.
pub(crate) struct File {
    name: &'static str,
    pub(crate) media: &'static str,
    text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! files {
    ($($name:literal $media:ident;)*) => {
        const FILES: &[File] =
            &[$(File { name: $name, media: $media, text: include_str!(concat!("../static/", $name)) }),*];
    };
}

files! {
    "dom.js" SCRIPT;
    "grid.js" SCRIPT;
    "index.html" HTML;
    "kernels.js" SCRIPT;
    "launch.js" SCRIPT;
    "layouts.js" SCRIPT;
    "listing.js" SCRIPT;
    "memory.js" SCRIPT;
    "page.js" SCRIPT;
    "partitions.js" SCRIPT;
    "registers.js" SCRIPT;
    "steps.css" STYLE;
    "style.css" STYLE;
    "tiles.js" SCRIPT;
    "timeline.js" SCRIPT;
    "views.js" SCRIPT;
    "waits.js" SCRIPT;
}

/// The file at a path of the address; `/` is the page.
pub(crate) fn find(path: &str) -> Option<&'static File> {
    let name = match path.strip_prefix('/')? {
        "" => "index.html",
        name => name,
    };
    FILES.iter().find(|file| file.name == name)
}

impl File {
    /// The text in the binary, or in a folder that stands for the one that the binary was built from.
    pub(crate) fn text(&self, folder: Option<&Path>) -> std::io::Result<String> {
        match folder {
            Some(folder) => fs::read_to_string(folder.join(self.name)),
            None => Ok(self.text.to_owned()),
        }
    }
}
