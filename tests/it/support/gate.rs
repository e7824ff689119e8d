//! A TCP address in front of a server, whose connections a test can cut.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, watch};
use tokio::task::AbortHandle;

/// Passes on connections while it is open. Dropping it ends all of them.
pub struct Gate {
    port: u16,
    target: watch::Sender<Option<u16>>,
    cut: broadcast::Sender<()>,
    swallowed: Swallowed,
    listener: AbortHandle,
}

/// What the server sent and the clients did not get, since [`Gate::swallow`].
type Swallowed = Arc<Mutex<Option<Vec<u8>>>>;

impl Gate {
    /// Takes an address. It is shut.
    pub async fn shut() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (target, of_target) = watch::channel(None);
        let (cut, _) = broadcast::channel(1);
        let ends = cut.clone();
        let swallowed = Swallowed::default();
        let swallows = Arc::clone(&swallowed);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (port, mut end) = (*of_target.borrow(), ends.subscribe());
                let swallows = Arc::clone(&swallows);
                tokio::spawn(async move {
                    tokio::select! {
                        () = pass(client, port, &swallows) => {}
                        _ = end.recv() => {}
                    }
                });
            }
        });
        Self {
            port,
            target,
            cut,
            swallowed,
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

    /// The connections stay, and what the server sends from now on is lost, until the gate is closed.
    pub fn swallow(&self) {
        *locked(&self.swallowed) = Some(Vec::new());
    }

    /// Whether this was lost.
    pub fn has_swallowed(&self, text: &str) -> bool {
        let swallowed = locked(&self.swallowed);
        let bytes = swallowed.as_deref().unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    }

    /// Ends all connections, and new ones at once until it is opened again.
    pub fn close(&self) {
        self.target.send_replace(None);
        // Without connections nobody listens.
        let _ = self.cut.send(());
        *locked(&self.swallowed) = None;
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.listener.abort();
        self.close();
    }
}

fn locked(swallowed: &Swallowed) -> std::sync::MutexGuard<'_, Option<Vec<u8>>> {
    swallowed.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn pass(client: TcpStream, port: Option<u16>, swallowed: &Swallowed) {
    let Some(port) = port else { return };
    let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await else {
        return;
    };
    let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
        (client.into_split(), server.into_split());
    let answers = async {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = from_server.read(&mut bytes).await {
            if let Some(swallowed) = locked(swallowed).as_mut() {
                swallowed.extend_from_slice(&bytes[..length]);
                continue;
            }
            if to_client.write_all(&bytes[..length]).await.is_err() {
                return;
            }
        }
    };
    // Either side may end it at any time.
    tokio::select! {
        () = answers => {}
        _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
    }
}
