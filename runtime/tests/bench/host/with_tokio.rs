// with_tokio.rs -- the server over tokio: one task for each connection, a runtime of one thread.
//
//      with_tokio PORT echo|http|timeouts
//
// The arguments and answers of peer.h.
//
// SPDX-License-Identifier: Apache-2.0
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;

const BUFFER: usize = 4096;
const BACKLOG: u32 = 4096;
const TIMEOUT: Duration = Duration::from_millis(10000);
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

// What the bytes that arrived are answered with.
fn answer<'a>(http: bool, received: &'a [u8], responses: &'a mut Vec<u8>) -> &'a [u8] {
    if !http {
        return received;
    }
    let requests = received.windows(4).filter(|end| end == b"\r\n\r\n").count();
    responses.clear();
    for _ in 0..requests {
        responses.extend_from_slice(RESPONSE);
    }
    responses
}

async fn serve(mut stream: TcpStream, http: bool, timeouts: bool) -> io::Result<()> {
    let mut buffer = [0; BUFFER];
    let mut responses = Vec::new();
    stream.set_nodelay(true)?;
    loop {
        let size = if timeouts {
            timeout(TIMEOUT, stream.read(&mut buffer)).await??
        } else {
            stream.read(&mut buffer).await?
        };
        if size == 0 {
            return Ok(());
        }
        let bytes = answer(http, &buffer[..size], &mut responses);
        stream.write_all(bytes).await?;
    }
}

async fn accept(listener: TcpListener, http: bool, timeouts: bool) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(serve(stream, http, timeouts));
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let port: u16 = arguments[1].parse().expect("a port");
    let (http, timeouts) = (arguments[2] == "http", arguments[2] == "timeouts");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(([127, 0, 0, 1], port).into())?;
        accept(socket.listen(BACKLOG)?, http, timeouts).await
    })
}
