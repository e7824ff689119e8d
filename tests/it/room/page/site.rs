//! The site that users come from: it shows everyone the same page, and remembers nothing.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A server that ends with the test.
pub struct Site {
    address: SocketAddr,
    page: Arc<Mutex<String>>,
    serving: JoinHandle<()>,
}

impl Site {
    pub async fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let page = Arc::new(Mutex::new(
            "<!doctype html><title>The shop</title><h1>Welcome</h1>".to_owned(),
        ));
        let shown = Arc::clone(&page);
        let serving = tokio::spawn(async move {
            loop {
                let (mut connection, _) = listener.accept().await.expect("a connection");
                let page = shown.lock().expect("a page").clone();
                tokio::spawn(async move {
                    let (mut head, mut part) = (Vec::new(), [0; 4_096]);
                    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                        match connection.read(&mut part).await {
                            // A browser opens connections beforehand and closes them unused.
                            Ok(0) | Err(_) => return,
                            Ok(read) => head.extend_from_slice(&part[..read]),
                        }
                    }
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
        Self { address, page, serving }
    }

    /// From now on it shows this page.
    pub fn show(&self, page: String) {
        *self.page.lock().expect("a page") = page;
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
