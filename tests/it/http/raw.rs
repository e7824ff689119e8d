//! Connections by hand: what no client library sends.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout, timeout_at};

/// Longer than any limit of the service on a connection.
const DEADLINE: Duration = Duration::from_secs(20);

/// A connection from the loopback address that ends with `last`.
pub async fn connect_from(last: u8, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)), 0))?;
    socket.connect(to).await
}

/// A connection to `to`.
pub async fn connect(to: SocketAddr) -> TcpStream {
    TcpStream::connect(to).await.expect("it listens")
}

/// An answer as it came.
#[derive(Debug)]
pub struct RawAnswer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl RawAnswer {
    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// It has this status.
    #[track_caller]
    pub fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{self:?}");
    }
}

/// Reads one answer with a `Content-Length`.
pub async fn answer<S: AsyncRead + Unpin>(connection: &mut S) -> RawAnswer {
    let reading = async {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\r\n\r\n") {
            bytes.push(connection.read_u8().await.unwrap_or_else(|error| {
                panic!("no answer: {error}: {:?}", String::from_utf8_lossy(&bytes));
            }));
        }
        let head = String::from_utf8(bytes).expect("heads are text");
        let status = head
            .get(9..12)
            .and_then(|status| status.parse().ok())
            .expect("a status");
        let mut answer = RawAnswer {
            status,
            head,
            body: String::new(),
        };
        let length = answer
            .header("content-length")
            .map_or(0, |length| length.parse().expect("a number"));
        let mut body = vec![0; length];
        connection.read_exact(&mut body).await.expect("the whole body");
        answer.body = String::from_utf8(body).expect("bodies here are text");
        answer
    };
    timeout(DEADLINE, reading).await.expect("an answer in time")
}

/// Whether the other side closes the connection within the deadline, by its end or a reset. What came before is lost.
pub async fn closes(connection: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    timeout(DEADLINE, connection.read_to_end(&mut rest)).await.is_ok()
}

/// Pushes `chunk` again and again for `time`, or until the other side closes. Returns the bytes sent, and whether it
/// closed.
pub async fn push(connection: &mut TcpStream, chunk: &[u8], time: Duration) -> (usize, bool) {
    let until = Instant::now() + time;
    let mut pushed = 0;
    loop {
        match timeout_at(until, connection.write(chunk)).await {
            Ok(Ok(written)) if written > 0 => pushed += written,
            Ok(_) => return (pushed, true),
            Err(_) => return (pushed, false),
        }
    }
}
