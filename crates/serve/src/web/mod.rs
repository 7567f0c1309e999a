//! Live view of a served drive over HTTP: a page, its figures as JSON, and Prometheus metrics.

pub mod access;
mod body;
mod change;
pub mod live;
mod power_cut;

use crate::drive::metrics::prometheus;
use crate::drive::simulated_drive::SimulatedDrive;
use access::{Access, Asked, Refused};
use live::live;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use tiny_http::{Header, Method, Request, Response, Server};

/// The page may load its own files and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

type Answer = Response<io::Cursor<Vec<u8>>>;

/// A listener with its thread.
pub struct Web {
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
    address: SocketAddr,
}

impl Web {
    /// Listens at `address` (`HOST:PORT`; port 0 takes a free one) and answers with views of `drive` until it is dropped.
    ///
    /// # Errors
    /// Says what is wrong with the address or the token, or why the system refuses.
    pub fn start(address: &str, token: Option<String>, drive: Arc<SimulatedDrive>) -> Result<Web, String> {
        let why = |error: &dyn std::fmt::Display| format!("web = \"{address}\": {error}");
        let wanted = address.to_socket_addrs().map_err(|error| why(&error))?.next();
        let wanted = wanted.ok_or_else(|| why(&"no address has this name"))?;
        Access::new(wanted, token.clone())?;
        let server = Arc::new(Server::http(wanted).map_err(|error| why(&error))?);
        let address = server.server_addr().to_ip().ok_or_else(|| why(&"not an address of TCP"))?;
        let access = Access::new(address, token)?;
        let listener = Arc::clone(&server);
        let answer = move || {
            for mut request in listener.incoming_requests() {
                let answer = answer(&mut request, &access, &drive);
                respond(request, answer);
            }
        };
        let thread = Builder::new().name("web".into()).spawn(answer).map_err(|error| why(&error))?;
        Ok(Web { server, thread: Some(thread), address })
    }

    /// Address that the listener is bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by itself.
            let _ = thread.join();
        }
    }
}

/// Sends an answer.
fn respond(request: Request, answer: Answer) {
    let is_short = request.body_length().is_none_or(|length| length <= body::MOST)
        && !request.headers().iter().any(|header| header.field.equiv("Transfer-Encoding"));
    // A client that has gone needs no answer.
    let send = move || drop(request.respond(answer));
    // The library reads what is left of a body after its answer, for as long as its client takes.
    if is_short { send() } else { drop(Builder::new().name("web body".into()).spawn(send)) }
}

fn answer(request: &mut Request, access: &Access, drive: &SimulatedDrive) -> Answer {
    let url = request.url().to_string();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let field = |name: &'static str| {
        let of = request.headers().iter().find(|header| header.field.equiv(name));
        of.map(|header| header.value.as_str())
    };
    let asked =
        Asked { host: field("Host"), origin: field("Origin"), authorization: field("Authorization"), query };
    match access.check(&asked) {
        // The page itself shows nothing of the drive; its links have no token.
        Err(Refused::Token) if ["/", "/page.js", "/style.css"].contains(&path) => {}
        Err(refused) => return refusal(refused),
        Ok(()) => {}
    }
    if let "/suspension" | "/power-cut" = path {
        if *request.method() != Method::Post {
            return text(405, "text/plain", "legal: POST\n");
        }
        let is_cut = path == "/power-cut";
        let (status, body) =
            if is_cut { power_cut::cut(request, drive) } else { change::change(request, drive) };
        return text(status, if status == 200 { "application/json" } else { "text/plain" }, &body);
    }
    if !matches!(request.method(), Method::Get | Method::Head) {
        return text(405, "text/plain", "legal: GET, HEAD\n");
    }
    match path {
        "/" => text(200, "text/html; charset=utf-8", include_str!("page.html")),
        "/page.js" => text(200, "text/javascript; charset=utf-8", include_str!("page.js")),
        "/style.css" => text(200, "text/css; charset=utf-8", include_str!("style.css")),
        "/metrics" | "/live.json" => match drive.view() {
            None => text(503, "text/plain", "the drive has ended\n"),
            Some(view) if path == "/metrics" => {
                text(200, "text/plain; version=0.0.4; charset=utf-8", &prometheus(&view))
            }
            Some(view) => text(200, "application/json", &live(&view, drive.why_no_changes()).to_string()),
        },
        _ => text(404, "text/plain", "legal: /, /metrics, /live.json, /suspension, /power-cut\n"),
    }
}

fn refusal(refused: Refused) -> Answer {
    match refused {
        Refused::Host => text(421, "text/plain", "the request names another host\n"),
        Refused::Origin => text(403, "text/plain", "the request comes from a page of another origin\n"),
        Refused::Token => {
            text(401, "text/plain", "a token is needed: Authorization: Bearer TOKEN, or ?token=TOKEN\n")
        }
    }
}

fn text(status: u16, kind: &str, body: &str) -> Answer {
    let fields = [
        ("Content-Type", kind),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
    ];
    let answer = Response::from_string(body).with_status_code(status);
    fields.into_iter().fold(answer, |answer, (name, value)| {
        answer.with_header(Header::from_bytes(name, value).expect("a legal field"))
    })
}
