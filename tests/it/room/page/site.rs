//! The site that users come from: it greets every visitor, and remembers nothing.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A server that ends with the test.
pub struct Site {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Site {
    pub async fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let serving = tokio::spawn(async move {
            loop {
                let (mut connection, _) = listener.accept().await.expect("a connection");
                tokio::spawn(async move {
                    let (mut head, mut part) = (Vec::new(), [0; 4_096]);
                    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                        match connection.read(&mut part).await {
                            // A browser opens connections beforehand and closes them unused.
                            Ok(0) | Err(_) => return,
                            Ok(read) => head.extend_from_slice(&part[..read]),
                        }
                    }
                    let page = "<!doctype html><title>The shop</title><h1>Welcome</h1>";
                    let answer = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nreferrer-policy: no-referrer\r\n\
                         content-length: {}\r\nconnection: close\r\n\r\n{page}",
                        page.len()
                    );
                    // A client that is gone needs no answer.
                    let _sent = connection.write_all(answer.as_bytes()).await;
                });
            }
        });
        Self { address, serving }
    }

    /// The address of one of its pages.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
