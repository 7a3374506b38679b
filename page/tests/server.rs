//! The server, over sockets: what it answers, and whom it refuses.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::LazyLock;
use std::thread;

use girih_page::server::Server;

/// A server for all tests of this process.
static PORT: LazyLock<u16> = LazyLock::new(|| {
    let server = Server::bind(0, None).unwrap();
    let port = server.port();
    thread::spawn(move || server.run().unwrap());
    port
});

/// What the server says to a request: lines of the head, with `{port}` for the port, and a body.
fn ask(head: &[&str], body: &str) -> (u16, String) {
    let port = *PORT;
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let lines = head.join("\r\n").replace("{port}", &port.to_string());
    let length = body.len();
    let text = format!("{lines}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer)
}

const HOST: &str = "Host: 127.0.0.1:{port}";
const CALL: &str = "POST /api/layouts/evaluate HTTP/1.1";
const BODY: &str = r#"{"expression":"coalesce((2,3):(1,2))"}"#;

#[test]
fn the_page_and_its_files_are_served() {
    let (status, page) = ask(&["GET / HTTP/1.1", HOST], "");
    assert_eq!(status, 200);
    assert!(page.contains("<title>girih</title>"));
    // Whatever the page names, the server has: a file that another file imports as well.
    let mut names: Vec<String> = vec!["/page.js".into(), "/style.css".into()];
    let mut seen = 0;
    while let Some(name) = names.get(seen).cloned() {
        let (status, text) = ask(&[&format!("GET {name} HTTP/1.1"), HOST], "");
        assert_eq!(status, 200, "{name}");
        for import in text.split("from \"./").skip(1) {
            let import = format!("/{}", import.split('"').next().unwrap());
            if !names.contains(&import) {
                names.push(import);
            }
        }
        seen += 1;
    }
    assert!(names.contains(&"/layouts.js".to_owned()), "{names:?}");
}

#[test]
fn nothing_of_the_page_comes_from_elsewhere_or_is_kept() {
    for (head, status) in [("GET / HTTP/1.1", 200), ("GET /no.js HTTP/1.1", 404), (CALL, 200)] {
        let (found, answer) = ask(&[head, HOST], BODY);
        assert_eq!(found, status, "{head}");
        let answer = answer.to_lowercase();
        for header in [
            "content-security-policy: default-src 'none'",
            "cache-control: no-store",
            "frame-ancestors 'none'",
        ] {
            assert!(answer.contains(header), "{head}: {header}");
        }
        assert!(!answer.contains("access-control-allow"), "{head}");
    }
}

#[test]
fn paths_do_not_leave_the_page() {
    for path in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/static/page.js", "//etc/passwd", "/index.html/"] {
        assert_eq!(ask(&[&format!("GET {path} HTTP/1.1"), HOST], "").0, 404, "{path}");
    }
}

#[test]
fn calls_are_answered_and_refused_in_json() {
    let (status, answer) =
        ask(&[CALL, HOST, "Origin: http://127.0.0.1:{port}", "Sec-Fetch-Site: same-origin"], BODY);
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains(r#""text":"6:1""#), "{answer}");
    assert_eq!(ask(&[CALL, "Host: LOCALHOST:{port}", "Origin: http://localhost:{port}"], BODY).0, 200);
    let (status, answer) = ask(&[CALL, HOST], r#"{"expression":"coalesce((2,3)"}"#);
    assert_eq!(status, 422);
    assert!(answer.contains(r#""field":"expression","span":{"at":14,"end":15}"#), "{answer}");
    assert_eq!(ask(&["POST /api/layouts/nothing HTTP/1.1", HOST], "{}").0, 404);
    assert_eq!(ask(&["GET /api/layouts/evaluate HTTP/1.1", HOST], "").0, 405);
}

/// A site that resolves its name to 127.0.0.1 sends its name as host, and a page of another origin its origin.
#[test]
fn other_hosts_and_origins_are_refused() {
    let refused: [&[&str]; 20] = [
        &["Host: example.org"],
        &["Host: example.org:{port}"],
        &["Host: localhost:port"],
        &["Host: localhost:99999"],
        &["Host: localhost:1:1"],
        &["Host: 127.0.0.1.example.org:{port}"],
        &["Host: localhost.example.org:{port}"],
        &["Host: 0.0.0.0:{port}"],
        &["Host: [::1]:{port}"],
        &["Host: [::ffff:127.0.0.1]:{port}"],
        &["Host: 127.0.0.1:{port}, example.org"],
        &["Host: example.org@127.0.0.1:{port}"],
        &[HOST, "Host: example.org"],
        &[HOST, "Origin: http://example.org"],
        &[HOST, "Origin: https://127.0.0.1:{port}"],
        &[HOST, "Origin: http://127.0.0.1:1"],
        &["Host: localhost:8000", "Origin: http://localhost:{port}"],
        &[HOST, "Origin: null"],
        &[HOST, "Sec-Fetch-Site: cross-site"],
        &[HOST, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"],
    ];
    for headers in refused {
        for first in [CALL, "GET / HTTP/1.1"] {
            let (status, answer) = ask(&[&[first], headers].concat(), BODY);
            assert_eq!(status, 403, "{first} {headers:?}");
            // The head has the time of day, in which any digits may be.
            let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
            assert!(!body.contains("6:1") && !body.contains("<title>"), "{headers:?}: {body}");
        }
    }
    // `ssh -L 8000:localhost:7117` has another port, and that of a browser's own choice is none.
    for head in [
        &["Host: localhost:8000", "Origin: http://localhost:8000"][..],
        &["Host: LOCALHOST:1"],
        &["Host: 127.0.0.1"],
    ] {
        for first in [CALL, "GET / HTTP/1.1"] {
            assert_eq!(ask(&[&[first], head].concat(), BODY).0, 200, "{head:?}");
        }
    }
    // A person reads why; a program gets JSON.
    let reader = ["GET / HTTP/1.1", "Host: <i>:{port}", "Accept: text/html,*/*"];
    let (status, answer) = ask(&reader, "");
    assert!(
        status == 403 && answer.contains("<h1>") && answer.contains("ssh -L") && !answer.contains("<i>"),
        "{answer}"
    );
    let (status, answer) = ask(&["GET /no HTTP/1.1", HOST, "Accept: text/html"], "");
    assert!(status == 404 && answer.contains("text/html"), "{answer}");
    assert!(ask(&["GET /no HTTP/1.1", HOST], "").1.contains("application/json"));
    // A form of another site navigates, and has an origin.
    let form =
        [CALL, HOST, "Origin: http://example.org", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: cross-site"];
    assert_eq!(ask(&form, BODY).0, 403);
    // A link of another site opens the page.
    let link = ["GET / HTTP/1.1", HOST, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: cross-site"];
    assert_eq!(ask(&link, "").0, 200);
    // What is no page, no link opens.
    for first in ["GET /page.js HTTP/1.1", "GET /api/layouts/evaluate HTTP/1.1", CALL] {
        assert_eq!(ask(&[&[first], &link[1..]].concat(), BODY).0, 403, "{first}");
    }
}

/// Calls that nobody waits for any more, as after each key of a text that is typed, do not compute at the same time.
#[test]
#[cfg(target_os = "linux")]
fn calls_of_a_view_take_turns() {
    let ptx = ".version 8.0 .target sm_80 .address_size 64 .visible .entry k() { TURN: bra TURN; }";
    let request = |seed: usize| {
        let body = format!(r#"{{"ptx":"{ptx}","launches":"k --grid 1 --block 32","seed":{seed}}}"#);
        let head = format!(
            "POST /api/kernels/run HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\n\r\n",
            *PORT,
            body.len()
        );
        let mut stream = TcpStream::connect(("127.0.0.1", *PORT)).unwrap();
        stream.write_all((head + &body).as_bytes()).unwrap();
        stream
    };
    let streams: Vec<TcpStream> = (0..24).map(request).collect();
    // The server takes up those requests before it answers this one.
    assert_eq!(ask(&[CALL, HOST], BODY).0, 200);
    let threads = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    let calls = threads.filter(|name| name.trim() == "girih-call").count();
    // Two of this view, two of each other view that tests ask, and one that has just ended.
    assert!((1..12).contains(&calls), "{calls} calls at a time");
    drop(streams);
    assert_eq!(ask(&[CALL, HOST], BODY).0, 200);
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    assert_eq!(Server::bind(*PORT, None).unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
}

/// What the program says to wrong arguments, and to those after which it serves nothing.
#[test]
fn arguments_are_read_or_refused() {
    let page = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_girih-page")).args(arguments).output();
        let output = output.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (status, said, _) = page(&["--no-open", "--help"]);
    assert!(status == Some(0) && said.contains("--static <FOLDER>"), "{said}");
    assert_eq!(page(&["-V"]).1, concat!("girih-page ", env!("CARGO_PKG_VERSION"), "\n"));
    for (arguments, wanted) in [
        (&["--port", "70000"][..], "--port is `70000`: a number of 0 to 65535 is accepted"),
        (&["--port"], "--port needs a value"),
        (
            &["--no-open=1"],
            "there is no `--no-open=1`: --port, --no-open, --static, and --record with the name of a kernel are accepted",
        ),
        (&["--prot=0"], "there is no `--prot=0`"),
    ] {
        let (status, _, error) = page(arguments);
        assert!(status == Some(2) && error.contains(wanted), "{arguments:?}: {status:?} {error}");
    }
}
