//! `bylaw chat` at a terminal.
#![cfg(unix)]

use std::{
    io::{Read, Write},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::{peers::Peers, program::Home};

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    screen: Receiver<Vec<u8>>,
    seen: String,
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    fn chat(home: &Home, locale: &str, arguments: &[&str]) -> Self {
        let size = PtySize { rows: 40, cols: 100, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_bylaw"));
        command.args([&["chat"], arguments].concat());
        command.env_clear();
        for (name, value) in [("HOME", home.path("").to_str().unwrap()), ("TERM", "xterm"), ("LC_ALL", locale)] {
            command.env(name, value);
        }
        command.cwd(home.path(""));
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (mut reader, keys) = (pair.master.try_clone_reader().unwrap(), pair.master.take_writer().unwrap());
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, keys, screen, seen: String::new(), _master: pair.master }
    }

    /// Waits until this was shown, and forgets everything up to there.
    fn sees(&mut self, expected: &str) -> &mut Self {
        let until = Instant::now() + PATIENCE;
        let mut bytes = Vec::new();
        loop {
            if let Some(at) = self.seen.find(expected) {
                self.seen.drain(..at + expected.len());
                return self;
            }
            match self.screen.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(more) => {
                    bytes.extend(more);
                    // A character may be cut in two.
                    let whole = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
                    self.seen.push_str(std::str::from_utf8(&bytes[..whole]).unwrap());
                    bytes.drain(..whole);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("{expected:?} was not shown: {:?}", self.seen)
                }
            }
        }
    }

    fn types(&mut self, keys: &str) -> &mut Self {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
        self
    }

    /// Waits for a choice and its prompt, then chooses. What is typed before the prompt is there is thrown away.
    fn chooses(&mut self, choice: &str, line: &str) -> &mut Self {
        self.sees(choice).sees("? ").types(line).types("\r")
    }

    /// The same for a field.
    fn fills(&mut self, line: &str) -> &mut Self {
        self.sees("  > ").types(line).types("\r")
    }

    fn ends(mut self) -> u32 {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(Instant::now() < until, "it does not end: {:?}", self.seen);
            // What is still written is read, or it would block.
            let _ = self.screen.recv_timeout(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn begin(locale: &str) -> (Home, Peers, Terminal) {
    let (home, peers) = (Home::new(), Peers::start());
    peers.configure(&home);
    let mut terminal = Terminal::chat(&home, locale, &["--mcp", &peers.mcp()]);
    terminal.sees(if locale.starts_with("zh") { "1 個伺服器，3 個工具" } else { "1 server, 3 tools" }).sees("> ");
    (home, peers, terminal)
}

#[test]
fn what_may_destroy_is_shown_before_and_done_when_it_is_accepted() {
    let (_home, peers, mut terminal) = begin("en_US.UTF-8");
    terminal.types("cancel LV-1\r").sees("cancel_leave of 127.0.0.1").sees("leave_id: \"LV-1\"");
    terminal.chooses("[a] Accept  [d] Decline  [c] Cancel", "what?").sees("Write a, d or c.");
    assert_eq!(peers.calls(), [] as [&str; 0]);
    terminal.chooses("[a] Accept", "a").sees("cancelled LV-1").sees("1 step, 1 call").sees("> ");
    terminal.types(CTRL_D).sees("bylaw chat --conversation cnv_");
    assert_eq!(peers.calls(), ["cancel_leave {\"leave_id\":\"LV-1\"}"]);
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn what_is_declined_or_cancelled_is_not_done() {
    let (_home, peers, mut terminal) = begin("zh_TW.UTF-8");
    terminal.types("cancel LV-1\r").sees("要執行").chooses("[1] 同意  [2] 拒絕  [3] 取消", "２");
    terminal.sees("未獲同意").sees("> ");
    terminal.types("cancel LV-2\r").chooses("[3] 取消", "取消").sees("未獲同意").sees("> ");
    terminal.types("/quit\r");
    assert_eq!((terminal.ends(), peers.calls().len()), (0, 0));
}

#[test]
fn a_servers_question_is_a_form_that_is_asked_again_until_it_is_right() {
    let (_home, _peers, mut terminal) = begin("zh_TW.UTF-8");
    terminal.types("submit\r").sees("問你").sees("│ 送出 LV-7 嗎？\u{fffd}[31m").sees("leave_id: \"LV-7\"");
    terminal.chooses("[1] 同意", "1");
    terminal.sees("天數").sees("整數 1–7").fills("九").sees("這裡要填數字");
    terminal.fills("9").sees("不可大於 7").fills("３");
    terminal.sees("1) family — 家庭照顧假").fills("病假");
    terminal.sees("heard").sees("accept").sees("days").sees("sick");
    terminal.types("submit\r").chooses("[2] 拒絕", "2").sees("decline");
}

#[test]
fn ctrl_c_cancels_what_is_being_done_and_twice_at_the_prompt_leaves() {
    let (_home, peers, mut terminal) = begin("en_US.UTF-8");
    terminal.types("wait\r").sees("thinking").types(CTRL_C).sees("Stopped: the run was cancelled.").sees("> ");
    terminal.types("cancel LV-1\r").sees("[a] Accept").sees("? ").types(CTRL_C).sees("Stopped").sees("> ");
    terminal.types("hello\r").sees("you said hello").sees("> ");
    terminal.types(CTRL_C).sees("Ctrl-C again").sees("> ").types(CTRL_C);
    assert_eq!((terminal.ends(), peers.calls().len()), (0, 0));
}

#[test]
fn ctrl_d_at_a_question_leaves_and_nothing_is_done() {
    let (_home, peers, mut terminal) = begin("en_US.UTF-8");
    terminal.types("cancel LV-1\r").sees("[a] Accept").sees("? ").types(CTRL_D).sees("Stopped");
    assert_eq!((terminal.ends(), peers.calls().len()), (0, 0));
}
