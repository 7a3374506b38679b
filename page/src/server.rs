//! The server: files of the page, and calls of its views.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, serve};
use tokio::sync::Semaphore;

use crate::{Fault, files, guard, views};

/// The most bytes of a request: a large PTX file has some.
const BODY: usize = 16 << 20;
/// How many calls of a view compute at a time. A call that waits is forgotten when the page withdraws it, as it does at the next edit.
const AT_ONCE: usize = 2;

/// A server that has its port and answers nobody yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    site: Site,
}

#[derive(Clone, Debug)]
struct Site {
    port: u16,
    folder: Option<Arc<PathBuf>>,
    /// Turns of the calls of each view.
    turns: Arc<HashMap<&'static str, Arc<Semaphore>>>,
}

impl Server {
    /// A server at a port of 127.0.0.1; port 0 is any that is free. With a `folder` the files of the page come from that folder, and else
    /// from the binary.
    ///
    /// # Errors
    /// What the operating system says, which is mostly that another program has the port.
    pub fn bind(port: u16, folder: Option<PathBuf>) -> std::io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let turns = views::names().map(|view| (view, Arc::new(Semaphore::new(AT_ONCE)))).collect();
        Ok(Server { listener, site: Site { port, folder: folder.map(Arc::new), turns: Arc::new(turns) } })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.site.port
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.site.port)
    }

    /// Answers until the process ends.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn run(self) -> std::io::Result<()> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().thread_name("girih-call").build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let service = router(self.site).into_make_service_with_connect_info::<SocketAddr>();
            serve(listener, service).await
        })
    }
}

fn router(site: Site) -> Router {
    Router::new()
        .route("/api/{view}/{call}", post(answer))
        .fallback(get(file))
        .layer(DefaultBodyLimit::max(BODY))
        .layer(middleware::from_fn_with_state(site.clone(), guarded))
        .with_state(site)
}

/// Headers of every response: nothing comes from elsewhere, nothing is kept, nobody frames the page.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

async fn guarded(
    State(site): State<Site>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let linked = request.method() == Method::GET && request.uri().path() == "/";
    let read = is_read(&request);
    let mut response = match guard::check(peer, request.headers(), site.port, linked) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            let refusal = Fault::new("forbidden", refusal.to_string());
            if read { page(StatusCode::FORBIDDEN, &refusal) } else { fault(StatusCode::FORBIDDEN, &refusal) }
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn file(State(site): State<Site>, request: Request) -> Response {
    let path = request.uri().path();
    let Some(file) = files::find(path) else {
        let missing = Fault::new("no_file", format!("the page has no file {path:?}; it is at {:?}", "/"));
        return if is_read(&request) {
            page(StatusCode::NOT_FOUND, &missing)
        } else {
            fault(StatusCode::NOT_FOUND, &missing)
        };
    };
    match file.text(site.folder.as_ref().map(|folder| folder.as_path())) {
        Ok(text) => ([(header::CONTENT_TYPE, file.media)], text).into_response(),
        Err(error) => fault(StatusCode::INTERNAL_SERVER_ERROR, &error.into()),
    }
}

/// A call computes on a thread of its own, so that a long one does not keep others from their answers.
async fn answer(
    State(site): State<Site>,
    Path((view, call)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let turn = match site.turns.get(&*view) {
        Some(turns) => turns.clone().acquire_owned().await.ok(),
        None => None,
    };
    let compute = move || {
        let _turn = turn;
        views::call(&view, &call, &body)
    };
    let answer = tokio::task::spawn_blocking(compute).await;
    match answer {
        Ok(Ok(text)) => (JSON, text).into_response(),
        Ok(Err(error)) => {
            let unknown = matches!(error.kind, "no_view" | "no_call");
            fault(if unknown { StatusCode::NOT_FOUND } else { StatusCode::UNPROCESSABLE_ENTITY }, &error)
        }
        Err(error) => {
            let message = format!("this is a defect of girih, which its authors want to know of: {error}");
            fault(StatusCode::INTERNAL_SERVER_ERROR, &Fault::new("defect", message))
        }
    }
}

/// Whether a person reads what is answered: a browser says that it opens a page.
fn is_read(request: &Request) -> bool {
    let accepted = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    request.method() == Method::GET && accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

/// A fault as a page.
fn page(status: StatusCode, fault: &Fault) -> Response {
    let message: String = fault
        .message
        .chars()
        .map(|c| if matches!(c, '<' | '>' | '&') { format!("&#{};", c as u32) } else { c.into() })
        .collect();
    let text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>girih: {}</title></head>\n\
         <body><main><h1>girih has not answered</h1>\n<p>{message}.</p></main></body>\n</html>\n",
        status.canonical_reason().unwrap_or_default()
    );
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

const JSON: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

fn fault(status: StatusCode, fault: &Fault) -> Response {
    match serde_json::to_string(fault) {
        Ok(text) => (status, JSON, text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
