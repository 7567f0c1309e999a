//! Access to the live view: who may ask for it.

use std::net::SocketAddr;

/// Access rules of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Address that the listener is bound to.
    address: SocketAddr,
    /// What a request has to present, if anything.
    token: Option<String>,
}

/// Fields of a request that decide.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// `Host`.
    pub host: Option<&'a str>,
    /// `Origin`.
    pub origin: Option<&'a str>,
    /// `Authorization`.
    pub authorization: Option<&'a str>,
    /// Query behind the path.
    pub query: &'a str,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The request names another host, as a page that has rebound its name does.
    Host,
    /// A page of another origin sent it.
    Origin,
    /// The token is missing or wrong.
    Token,
}

impl Access {
    /// Rules of a listener at `address`.
    ///
    /// # Errors
    /// An address that other machines reach, without a token.
    pub fn new(address: SocketAddr, token: Option<String>) -> Result<Access, String> {
        if token.as_ref().is_some_and(|token| token.len() < 16) {
            return Err("web-token: legal: at least 16 characters".into());
        }
        if !address.ip().is_loopback() && token.is_none() {
            return Err(format!(
                "web = \"{address}\": other machines reach this address; legal: 127.0.0.1 or [::1], or a web-token"
            ));
        }
        Ok(Access { address, token })
    }

    /// Checks a request.
    ///
    /// # Errors
    /// The first rule that it violates.
    pub fn check(&self, asked: &Asked) -> Result<(), Refused> {
        let Some(host) = asked.host else { return Err(Refused::Host) };
        if self.address.ip().is_loopback() && !self.is_own(host) {
            return Err(Refused::Host);
        }
        if asked.origin.is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
            return Err(Refused::Origin);
        }
        match &self.token {
            Some(token) if !presents(asked, token) => Err(Refused::Token),
            _ => Ok(()),
        }
    }

    /// Whether `host` is a name of the loopback listener.
    fn is_own(&self, host: &str) -> bool {
        let port = self.address.port();
        let names = [self.address.to_string(), format!("localhost:{port}"), format!("127.0.0.1:{port}")];
        names.iter().any(|name| name == host)
    }
}

/// Whether a request presents the token, in `Authorization: Bearer` or as `token` of the query.
fn presents(asked: &Asked, token: &str) -> bool {
    let header = asked.authorization.and_then(|of| of.strip_prefix("Bearer "));
    let query = asked.query.split('&').find_map(|part| part.strip_prefix("token="));
    header.or(query).is_some_and(|seen| is_same(seen.as_bytes(), token.as_bytes()))
}

/// Compares in a time that does not depend on where the texts differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn asked<'a>(host: &'a str) -> Asked<'a> {
        Asked { host: Some(host), ..Asked::default() }
    }

    #[test]
    fn a_loopback_listener_admits_its_own_names_only() {
        let access = Access::new("127.0.0.1:8080".parse().expect("an address"), None).expect("loopback");
        for host in ["127.0.0.1:8080", "localhost:8080"] {
            assert_eq!(access.check(&asked(host)), Ok(()), "{host}");
            let own = format!("http://{host}");
            assert_eq!(access.check(&Asked { origin: Some(&own), ..asked(host) }), Ok(()));
        }
        for host in ["127.0.0.1", "localhost:80", "evil.example:8080", "127.0.0.1:8080.evil.example", ""] {
            assert_eq!(access.check(&asked(host)), Err(Refused::Host), "{host}");
        }
        assert_eq!(access.check(&Asked::default()), Err(Refused::Host));
        for origin in ["http://evil.example", "https://localhost:8080", "null", "http://127.0.0.1:8080"] {
            let asked = Asked { origin: Some(origin), ..asked("localhost:8080") };
            assert_eq!(access.check(&asked), Err(Refused::Origin), "{origin}");
        }
    }

    #[test]
    fn an_address_that_others_reach_needs_a_token() {
        let address: SocketAddr = "0.0.0.0:8080".parse().expect("an address");
        assert!(Access::new(address, None).expect_err("no token").contains("0.0.0.0:8080"));
        assert!(Access::new(address, Some("short".into())).expect_err("short").contains("16"));
        let access = Access::new(address, Some(TOKEN.into())).expect("a token");
        let host = asked("drive.example:8080");
        assert_eq!(access.check(&host), Err(Refused::Token));
        assert_eq!(access.check(&Asked { query: "token=0123456789abcdeF", ..host }), Err(Refused::Token));
        assert_eq!(access.check(&Asked { query: "a=b&token=0123456789abcdef", ..host }), Ok(()));
        assert_eq!(access.check(&Asked { authorization: Some("Bearer 0123456789abcdef"), ..host }), Ok(()));
        assert_eq!(
            access.check(&Asked { authorization: Some("Basic 0123456789abcdef"), ..host }),
            Err(Refused::Token)
        );
    }
}
