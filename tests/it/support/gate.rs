//! A TCP address in front of a server, whose connections a test can cut.

use std::net::Ipv4Addr;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, watch};
use tokio::task::AbortHandle;

/// Passes on connections while it is open. Dropping it ends all of them.
pub struct Gate {
    port: u16,
    target: watch::Sender<Option<u16>>,
    cut: broadcast::Sender<()>,
    listener: AbortHandle,
}

impl Gate {
    /// Takes an address. It is shut.
    pub async fn shut() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (target, of_target) = watch::channel(None);
        let (cut, _) = broadcast::channel(1);
        let ends = cut.clone();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (port, mut end) = (*of_target.borrow(), ends.subscribe());
                tokio::spawn(async move {
                    tokio::select! {
                        () = pass(client, port) => {}
                        _ = end.recv() => {}
                    }
                });
            }
        });
        Self {
            port,
            target,
            cut,
            listener: task.abort_handle(),
        }
    }

    /// Where clients connect.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `host:port`.
    pub fn server(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// New connections go to this port from now on.
    pub fn open(&self, port: u16) {
        self.target.send_replace(Some(port));
    }

    /// Ends all connections, and new ones at once until it is opened again.
    pub fn close(&self) {
        self.target.send_replace(None);
        // Without connections nobody listens.
        let _ = self.cut.send(());
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.listener.abort();
        self.close();
    }
}

async fn pass(mut client: TcpStream, port: Option<u16>) {
    let Some(port) = port else { return };
    if let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
        // Either side may end it at any time.
        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
    }
}
