//! Who may ask: programs of this machine, for this page.
//!
//! A web site that is open in the same browser can send requests to 127.0.0.1, and by a name of its own that resolves to 127.0.0.1 it could
//! read the answers too. Such requests carry the site's name in `Host`, `Origin` or `Sec-Fetch-Site`.

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
    #[error("the page is at http://127.0.0.1:{port} and http://localhost:{port}, not at {found:?}")]
    Host {
        /// The port of the page.
        port: u16,
        /// The header `Host`, empty if there is none or several.
        found: String,
    },
    /// A page of another origin asks.
    #[error("the page at port {port} may ask, and no other origin such as {found:?}")]
    Origin {
        /// The port of the page.
        port: u16,
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
    let own = |host: &str| {
        host.rsplit_once(':').is_some_and(|(name, digits)| {
            digits.parse() == Ok(port)
                && matches!(name.to_ascii_lowercase().as_str(), "127.0.0.1" | "localhost")
        })
    };
    let found = one(header::HOST).unwrap_or_default();
    if !own(&found) {
        return Err(Refusal::Host { port, found });
    }
    match one(header::ORIGIN) {
        Some(found) if !found.strip_prefix("http://").is_some_and(own) => {
            return Err(Refusal::Origin { port, found });
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
        Some(found) => Err(Refusal::Origin { port, found: found.into() }),
    }
}
