//! Runs the real program in a home of its own.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// A home folder with nothing in it, and the program.
pub(crate) struct Home {
    folder: TempDir,
}

/// How a command ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// A path in the home folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, making folders as needed.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The program, with nothing in its environment but a home.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bylaw"));
        command.args(arguments).env_clear().env("HOME", self.folder.path()).current_dir(self.folder.path());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(&mut self.command(arguments))
    }

    /// Runs a command to its end and reads its JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ended = self.run(&[&["--json"], arguments].concat());
        serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}{}", ended.stdout, ended.stderr))
    }

    /// Text with this home's own paths replaced, for snapshots.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(&self.folder.path().display().to_string(), "[home]")
    }
}

impl Ended {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.stdin(Stdio::null()).output().unwrap();
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A running `bylaw serve` on a free port. Stopped when dropped.
pub(crate) struct Serving {
    child: Child,
    pub(crate) announced: Value,
}

impl Serving {
    /// Starts it and waits until it says where it is.
    pub(crate) fn start(home: &Home, arguments: &[&str]) -> Self {
        Self::of(&mut home.command(&[&["--json", "serve", "--port", "0"], arguments].concat()))
    }

    /// The same with another command that serves and says in one line of JSON where.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, announced: serde_json::from_str(&line).unwrap() }
    }

    pub(crate) fn url(&self) -> &str {
        self.announced["url"].as_str().unwrap()
    }

    /// One HTTP exchange: status and body.
    pub(crate) fn http(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let address = self.url().trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let status = reply.split(' ').nth(1).unwrap().parse().unwrap();
        (status, reply.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    /// Asks it to stop, and waits for the end.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
