//! A proxy in front of Redis that loses replies, cuts connections and stalls, at a chosen command.
//!
//! It reads RESP far enough to know where a command and its reply end, so that exactly one reply can be lost. The
//! server has then executed the command, and the client never gets the reply.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::resp::{frame_length, is_error, is_push};

/// The proxy. Dropping it closes its connections and its listener.
pub struct ChaosProxy {
    url: String,
    shared: Arc<Shared>,
    listener: AbortHandle,
}

struct Shared {
    rule: Mutex<Option<Rule>>,
    lost: watch::Sender<usize>,
    mode: watch::Sender<Mode>,
    /// What is counted in each read of a client's connection, and the counts other than 0.
    counted: Mutex<Option<(Vec<u8>, Vec<Read>)>>,
}

/// What one read of a client's connection brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// Commands with the text that is counted.
    pub commands: usize,
    pub bytes: usize,
}

/// Room for a read, so that what a client wrote at once is read at once.
const READ_BYTES: usize = 256 * 1024;

/// Which reply is lost next.
struct Rule {
    needles: Vec<Vec<u8>>,
    pass_first: usize,
    /// Whether all connections end with it.
    then_down: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Pass,
    /// Nothing goes back to the clients.
    Stalled,
    /// Open connections end, new ones are closed at once.
    Down,
}

impl ChaosProxy {
    /// Listens on a free port of the loopback address, in front of `upstream` (`redis://host:port` or
    /// `redis+unix:///path`).
    pub async fn in_front_of(upstream: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("the loopback address has a free port");
        let url = format!(
            "redis://{}",
            listener.local_addr().expect("a bound socket has an address")
        );
        let (mode, _) = watch::channel(Mode::Pass);
        let (lost, _) = watch::channel(0);
        let shared = Arc::new(Shared {
            rule: Mutex::new(None),
            lost,
            mode,
            counted: Mutex::default(),
        });
        let accepting = tokio::spawn(accept(listener, upstream.to_owned(), Arc::clone(&shared)));
        Self {
            url,
            shared,
            listener: accepting.abort_handle(),
        }
    }

    /// Where clients connect.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// After `pass_first` of them, loses the reply to the next command whose bytes contain all `needles` (`["FCALL",
    /// "jp:{spring}"]`), and closes that connection. Once. Commands that Redis answered with an error (an unknown function)
    /// pass and don't count: they changed nothing, so losing their reply would prove nothing.
    pub fn lose_reply(&self, needles: &[&str], pass_first: usize) {
        self.lose(needles, pass_first, false);
    }

    /// The same, and from that moment on it is [`down`](Self::down): the client can neither get the result nor ask
    /// again.
    pub fn lose_reply_and_go_down(&self, needles: &[&str], pass_first: usize) {
        self.lose(needles, pass_first, true);
    }

    fn lose(&self, needles: &[&str], pass_first: usize, then_down: bool) {
        let needles = needles.iter().map(|needle| needle.as_bytes().to_vec()).collect();
        *self.shared.rule.lock().unwrap_or_else(PoisonError::into_inner) = Some(Rule {
            needles,
            pass_first,
            then_down,
        });
    }

    /// Counts from now on the commands that contain this, in each read of a connection.
    pub fn count(&self, needle: &str) {
        *self.shared.counted() = Some((needle.as_bytes().to_vec(), Vec::new()));
    }

    /// The reads that brought some of them, since [`count`](Self::count).
    pub fn reads(&self) -> Vec<Read> {
        let counted = self.shared.counted();
        counted.as_ref().map_or(Vec::new(), |(_, reads)| reads.clone())
    }

    /// How many replies were lost so far. A test that does not assert on it proves nothing.
    pub fn lost(&self) -> usize {
        *self.shared.lost.borrow()
    }

    /// Commands go through, answers don't come back, until [`pass`](Self::pass): a frozen server.
    pub fn stall(&self) {
        self.shared.mode.send_replace(Mode::Stalled);
    }

    /// Cuts every connection and refuses new ones, until [`pass`](Self::pass): a server that is gone.
    pub fn down(&self) {
        self.shared.mode.send_replace(Mode::Down);
    }

    /// Everything goes through again; what a stall held back arrives now.
    pub fn pass(&self) {
        self.shared.mode.send_replace(Mode::Pass);
    }
}

impl Drop for ChaosProxy {
    fn drop(&mut self) {
        self.down();
        self.listener.abort();
    }
}

async fn accept(listener: TcpListener, upstream: String, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        if *shared.mode.borrow() == Mode::Down {
            continue;
        }
        // The client notices a lost or failed connection; nobody else needs to know.
        let (upstream, shared) = (upstream.clone(), Arc::clone(&shared));
        tokio::spawn(async move {
            if let Some(path) = upstream.strip_prefix("redis+unix://") {
                carry(client, UnixStream::connect(path).await?, &shared).await
            } else {
                let address = upstream.trim_start_matches("redis://").trim_end_matches('/');
                carry(client, TcpStream::connect(address).await?, &shared).await
            }
        });
    }
}

/// Carries one connection, until an end closes it or a rule does.
async fn carry<S>(mut client: TcpStream, mut server: S, shared: &Shared) -> std::io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    client.set_nodelay(true)?;
    let mut mode = shared.mode.subscribe();
    let (mut commands, mut replies) = (BytesMut::new(), BytesMut::new());
    let mut unanswered: VecDeque<Bytes> = VecDeque::new();
    loop {
        let now = *mode.borrow_and_update();
        commands.reserve(READ_BYTES);
        if now == Mode::Down {
            return Ok(());
        }
        tokio::select! {
            _ = mode.changed() => {}
            read = client.read_buf(&mut commands) => {
                let bytes = read?;
                if bytes == 0 {
                    return Ok(());
                }
                let before = unanswered.len();
                while let Some(length) = frame_length(&commands) {
                    let command = commands.split_to(length).freeze();
                    unanswered.push_back(command);
                }
                shared.read(unanswered.range(before..), bytes);
                for command in unanswered.range(before..) {
                    server.write_all(command).await?;
                }
            }
            read = server.read_buf(&mut replies), if now == Mode::Pass => {
                if read? == 0 {
                    return Ok(());
                }
                while let Some(length) = frame_length(&replies) {
                    let reply = replies.split_to(length);
                    let command = if is_push(&reply) { None } else { unanswered.pop_front() };
                    if command.is_some_and(|command| shared.loses(&command, &reply)) {
                        return Ok(());
                    }
                    client.write_all(&reply).await?;
                }
            }
        }
    }
}

impl Shared {
    fn counted(&self) -> MutexGuard<'_, Option<(Vec<u8>, Vec<Read>)>> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<'a>(&self, read: impl Iterator<Item = &'a Bytes>, bytes: usize) {
        if let Some((needle, reads)) = self.counted().as_mut() {
            let commands = read.filter(|command| contains(command, needle)).count();
            if commands > 0 {
                reads.push(Read { commands, bytes });
            }
        }
    }

    /// Whether the reply to this command is the one to lose; then the rule is used up.
    fn loses(&self, command: &[u8], reply: &[u8]) -> bool {
        let mut slot = self.rule.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(rule) = slot.as_mut() else {
            return false;
        };
        let matches = rule.needles.iter().all(|needle| contains(command, needle));
        if !matches || is_error(reply) {
            return false;
        }
        if rule.pass_first > 0 {
            rule.pass_first -= 1;
            return false;
        }
        if rule.then_down {
            self.mode.send_replace(Mode::Down);
        }
        *slot = None;
        self.lost.send_modify(|lost| *lost += 1);
        true
    }
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
