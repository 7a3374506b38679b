//! The files of the page, which the binary contains.

#[cfg(feature = "server")]
use std::{fs, path::Path};

use serde_json::{Map, Value, json};

/// A file: its path in the address, its media type, and its text.
pub(crate) struct File {
    name: &'static str,
    #[cfg(feature = "server")]
    pub(crate) media: &'static str,
    text: &'static str,
}

#[cfg(feature = "server")]
const HTML: &str = "text/html; charset=utf-8";
#[cfg(feature = "server")]
const STYLE: &str = "text/css; charset=utf-8";
#[cfg(feature = "server")]
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! files {
    ($list:ident: $($name:literal $media:ident;)*) => {
        const $list: &[File] = &[$(File {
            name: $name,
            #[cfg(feature = "server")]
            media: $media,
            text: include_str!(concat!("../static/", $name)),
        }),*];
    };
}

// Those of which a recording is made, too.
files! { KERNELS:
    "dom.js" SCRIPT;
    "grid.js" SCRIPT;
    "index.html" HTML;
    "kernels.js" SCRIPT;
    "launch.js" SCRIPT;
    "listing.js" SCRIPT;
    "memory.js" SCRIPT;
    "numbers.js" SCRIPT;
    "page.js" SCRIPT;
    "registers.js" SCRIPT;
    "steps.css" STYLE;
    "style.css" STYLE;
    "svg.js" SCRIPT;
    "timeline.js" SCRIPT;
    "waits.js" SCRIPT;
}

#[cfg(feature = "server")]
files! { OTHERS:
    "ask.js" SCRIPT;
    "layouts.js" SCRIPT;
    "partitions.js" SCRIPT;
    "tiles.js" SCRIPT;
    "views.js" SCRIPT;
}

/// The file at a path of the address; `/` is the page.
#[cfg(feature = "server")]
pub(crate) fn find(path: &str) -> Option<&'static File> {
    let name = match path.strip_prefix('/')? {
        "" => "index.html",
        name => name,
    };
    KERNELS.iter().chain(OTHERS).find(|file| file.name == name)
}

#[cfg(feature = "server")]
impl File {
    /// The text in the binary, or in a folder that stands for the one that the binary was built from.
    pub(crate) fn text(&self, folder: Option<&Path>) -> std::io::Result<String> {
        match folder {
            Some(folder) => fs::read_to_string(folder.join(self.name)),
            None => Ok(self.text.to_owned()),
        }
    }
}

/// In place of `ask.js` and `views.js`: calls are answered from the recording, and the view of kernels is the only one.
const RECORDED: [(&str, &str); 2] = [
    ("ask.js", include_str!("../static/recorded.js")),
    ("views.js", "import kernels from \"./kernels.js\";\nexport const VIEWS = { kernels };\n"),
];

/// The page with everything in it that it needs. `answers` is JSON; it and the scripts are compressed, and a script that is not unpacks them.
pub(crate) fn recorded(kernel: &str, answers: &Value) -> String {
    let text = |name: &str| KERNELS.iter().find(|file| file.name == name).map_or("", |file| file.text);
    let scripts = KERNELS.iter().filter(|file| file.name.ends_with(".js")).map(|file| (file.name, file.text));
    // A module that is an address of data has no folder: what it imports has a name of its own.
    let scripts = scripts.chain(RECORDED).map(|(name, text)| {
        (format!("girih/{name}"), Value::from(text.replace("from \"./", "from \"girih/")))
    });
    let packed = json!({ "scripts": scripts.collect::<Map<_, _>>(), "answers": answers }).to_string();
    let packed = base64(&miniz_oxide::deflate::compress_to_vec(packed.as_bytes(), LEVEL));
    let style = format!("<style>\n{}{}</style>", text("style.css"), text("steps.css"));
    let script = format!(
        "<script type=\"text/plain\" id=\"recording\">{packed}</script>\n  <script type=\"module\">\n{UNPACK}</script>"
    );
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline' data:; \
                  style-src 'unsafe-inline'; img-src data:\">";
    // A name in PTX has none of the characters that HTML gives a meaning.
    text("index.html")
        .replace("<title>girih</title>", &format!("<title>girih: {kernel}</title>\n  {policy}"))
        .replace("<link rel=\"stylesheet\" href=\"/style.css\">", &style)
        .replace("\n  <link rel=\"stylesheet\" href=\"/steps.css\">", "")
        .replace("<script type=\"module\" src=\"/page.js\"></script>", &script)
}

/// How much time the compression takes, from 0 to 10.
const LEVEL: u8 = 8;

/// The script that unpacks a recording and starts the page.
const UNPACK: &str = "\
const packed = Uint8Array.from(atob(document.getElementById('recording').textContent), (digit) => digit.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
const { scripts, answers } = await new Response(stream).json();
window.recorded = answers;
const imports = Object.fromEntries(Object.entries(scripts).map(([name, text]) => [name, `data:text/javascript,${encodeURIComponent(text)}`]));
const map = document.createElement('script');
map.type = 'importmap';
map.textContent = JSON.stringify({ imports });
document.head.append(map);
await import('girih/page.js');
";

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize] as char;
            text.push(if at <= group.len() { digit } else { '=' });
        }
    }
    text
}
