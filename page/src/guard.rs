//! Who may ask: programs of this machine, for this page.
//!
//! A web site that is open in the same browser can send requests to 127.0.0.1, and by a name of its own that resolves to 127.0.0.1 it could
//! read the answers too. Such requests carry the site's name in `Host`, `Origin` or `Sec-Fetch-Site`. The port that a request names is not
//! looked at: `ssh -L 8000:localhost:7117` makes the page one of port 8000. A page of this machine at another port is another origin, which
//! `Origin` and `Sec-Fetch-Site` say.

use std::net::SocketAddr;

use axum::http::{HeaderMap, header};

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The request comes from another machine.
    #[error("requests from this machine are answered, not those from {peer}")]
    Peer {
        /// Where the request comes from.
        peer: SocketAddr,
    },
    /// The request is for another host.
    #[error(
        "the page is at 127.0.0.1 and localhost, such as http://localhost:{port}, not at {found:?}; from another machine, \
         `ssh -L {port}:localhost:{port} HOST` makes it one of these"
    )]
    Host {
        /// The port of the page on this machine.
        port: u16,
        /// The header `Host`, empty if there is none or several.
        found: String,
    },
    /// A page of another origin asks.
    #[error("the page itself may ask, and no other origin such as {found:?}")]
    Origin {
        /// The header that says where the request comes from.
        found: String,
    },
}

/// Whether a request from `peer` with these headers is of the page at this port. Links may open what is `linked`.
pub(crate) fn check(peer: SocketAddr, headers: &HeaderMap, port: u16, linked: bool) -> Result<(), Refusal> {
    if !peer.ip().to_canonical().is_loopback() {
        return Err(Refusal::Peer { peer });
    }
    // Several headers of one name are none that this page's browser sends.
    let one = |name: header::HeaderName| -> Option<String> {
        let mut values = headers.get_all(name).iter();
        let first = values.next()?;
        Some(match values.next() {
            None => String::from_utf8_lossy(first.as_bytes()).into_owned(),
            Some(_) => String::new(),
        })
    };
    let host = one(header::HOST).unwrap_or_default().to_ascii_lowercase();
    let (name, digits) = host.split_once(':').unwrap_or((&host, "80"));
    if !matches!(name, "127.0.0.1" | "localhost") || digits.parse::<u16>().is_err() {
        return Err(Refusal::Host { port, found: host });
    }
    match one(header::ORIGIN) {
        Some(found) if found.strip_prefix("http://").map(str::to_ascii_lowercase) != Some(host) => {
            return Err(Refusal::Origin { found });
        }
        _ => {}
    }
    // A link on another site may open the page, which its scripts can neither read nor frame; the browser says `none` where a person typed
    // the address.
    let fetch = |name| one(header::HeaderName::from_static(name));
    if linked && fetch("sec-fetch-mode").as_deref() == Some("navigate") {
        return Ok(());
    }
    match fetch("sec-fetch-site").as_deref() {
        None | Some("same-origin" | "none") => Ok(()),
        Some(found) => Err(Refusal::Origin { found: found.into() }),
    }
}
