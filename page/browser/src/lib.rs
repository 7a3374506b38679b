//! A browser without a window, for tests of the page: Chromium by its DevTools protocol. Crates that know the whole protocol compile for
//! over a minute; the tests need ten of its commands. What goes wrong ends the test by a panic.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The page's program, which ends with its owner.
pub struct Server {
    program: Child,
    /// The address of the page, with a slash at the end.
    pub address: String,
}

impl Server {
    /// Starts the program that the variable `GIRIH_PAGE` names, at a free port.
    pub fn start() -> Server {
        let program = env::var_os("GIRIH_PAGE")
            .expect("GIRIH_PAGE names the program girih-page: `cargo xtask people` sets it");
        let mut command = Command::new(&program);
        command.args(["--port", "0", "--no-open"]).stdout(Stdio::piped());
        let mut program = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let mut address = String::new();
        let said = program.stdout.take().expect("a pipe");
        BufReader::new(said).read_line(&mut address).expect("the address of the page");
        Server { program, address: address.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A browser with one page.
pub struct Browser {
    program: Child,
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: Option<String>,
    sent: u64,
    /// What the browser has told of itself.
    events: Vec<Value>,
    /// The browser's memory, which goes with it.
    _profile: TempDir,
}

/// Chromium's names, the distribution's first.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

fn chromium() -> PathBuf {
    let named = env::var_os("CHROMIUM").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let found = || {
        env::split_paths(&path)
            .flat_map(|folder| NAMES.map(|name| folder.join(name)))
            .find(|file| file.is_file())
    };
    named
        .or_else(found)
        .expect("no Chromium in PATH: `apt-get install chromium` gets it, or let CHROMIUM name one")
}

impl Browser {
    /// Starts Chromium.
    pub fn start() -> Browser {
        let profile = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(chromium());
        command
            // Root, as which containers run, has no sandbox; the page is this repository's.
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--remote-debugging-port=0",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut program = command.spawn().expect("Chromium starts");
        let mut lines = BufReader::new(program.stderr.take().expect("a pipe")).lines();
        let address =
            lines.find_map(|line| line.ok()?.strip_prefix("DevTools listening on ").map(str::to_owned));
        let address = address.expect("Chromium says where it listens");
        // Whoever closes the pipe ends the browser.
        thread::spawn(move || lines.for_each(drop));
        let (socket, _) = tungstenite::connect(&address).expect("a connection to Chromium");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        }
        let mut browser =
            Browser { program, socket, session: None, sent: 0, events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// A command of the protocol, and its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(message.to_string())).expect("Chromium listens");
        loop {
            let text = self.socket.read().unwrap_or_else(|error| panic!("{method}: {error}"));
            let Message::Text(text) = text else { continue };
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            if answer["id"] == self.sent {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// The value of a JavaScript expression, which may be a promise.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// The number that a JavaScript expression is.
    pub fn number(&mut self, expression: &str) -> f64 {
        self.value(expression).as_f64().unwrap_or_else(|| panic!("{expression} is no number"))
    }

    /// The text that a JavaScript expression is.
    pub fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_else(|| panic!("{expression} is no text")).to_owned()
    }

    /// Waits until a JavaScript condition holds.
    pub fn until(&mut self, condition: &str) {
        let start = Instant::now();
        while self.value(&format!("Boolean({condition})")) != json!(true) {
            assert!(start.elapsed() < PATIENCE, "{condition} has not come");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Opens an address anew, and waits until it has loaded.
    pub fn open(&mut self, address: &str) {
        // An address that differs in its fragment alone would not be loaded again.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.until("location.href === 'about:blank'");
        self.call("Page.navigate", json!({ "url": address }));
        self.until("location.href !== 'about:blank' && document.readyState === 'complete'");
    }

    /// The size of the window in pixels of CSS, the pixels of the screen for each, and whether the surroundings are dark.
    pub fn looks(&mut self, width: u32, height: u32, ratio: u32, dark: bool) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": ratio, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let value = if dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Presses and releases a key, such as `ArrowRight` or `Tab`.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            other => panic!("the code of {other} is not known here"),
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Moves the mouse to a place of the window, and clicks there.
    pub fn click(&mut self, x: f64, y: f64) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// What the element of a JavaScript expression looks like, as PNG; the whole window for none.
    pub fn picture(&mut self, element: Option<&str>) -> Vec<u8> {
        // Two frames, so that what has just changed is drawn.
        self.value(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))",
        );
        let mut params = json!({ "format": "png" });
        if let Some(element) = element {
            let clip = format!(
                "(() => {{ const {{ x, y, width, height }} = ({element}).getBoundingClientRect(); return {{ x: x + scrollX, y: y + scrollY, width, height, scale: 1 }} }})()"
            );
            params["clip"] = self.value(&clip);
        }
        let answer = self.call("Page.captureScreenshot", params);
        let data = answer["data"].as_str().expect("a picture");
        data_encoding::BASE64.decode(data.as_bytes()).expect("base 64")
    }

    /// Stores what the window shows as PNG.
    pub fn shoot(&mut self, file: &Path) {
        let data = self.picture(None);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).expect("a folder");
        }
        fs::write(file, data).expect("a file");
    }

    /// Errors that the page has run into: exceptions, and what its console says of them.
    pub fn errors(&mut self) -> Vec<String> {
        self.value("1");
        let of = |event: &Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => Some(event["params"]["exceptionDetails"].to_string()),
            Some("Log.entryAdded") if event["params"]["entry"]["level"] == "error" => {
                Some(event["params"]["entry"].to_string())
            }
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }

    /// The addresses that the browser has asked for.
    pub fn asked(&mut self) -> Vec<String> {
        self.value("1");
        let sent = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| Some(event["params"]["request"]["url"].as_str()?.to_owned())).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
