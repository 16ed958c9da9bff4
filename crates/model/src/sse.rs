//! Server-sent events, from bytes in whatever pieces the network brings them.
//!
//! A line is decoded only when it is whole, so a piece may end anywhere: inside a character, or between CR and LF.

use std::mem;

/// Longest line, and longest data of one event. A reply's own pieces are a thousand times shorter.
pub(crate) const MAX_LINE_BYTES: usize = 1024 * 1024;

/// One event. Comments, ids and retry hints are of no use here and are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// The `event` field; empty where there was none.
    pub(crate) name: String,
    /// The `data` fields, one to a line.
    pub(crate) data: String,
}

/// Why the bytes are not server-sent events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SseError {
    #[error("a line or an event of the stream is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    #[error("the stream is not UTF-8")]
    NotUtf8,
}

/// Cuts bytes into events. After an error it is of no further use.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// The last byte was a CR, which ended a line; an LF that follows belongs to it.
    after_cr: bool,
}

impl SseParser {
    /// Takes the next piece and appends the events that it completes. Events before an error are appended too.
    pub(crate) fn push(&mut self, mut bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), SseError> {
        while let Some(&first) = bytes.first() {
            if mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + part.len() > MAX_LINE_BYTES {
                return Err(SseError::TooLong);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line(events)?;
        }
        Ok(())
    }

    /// The event that the stream's end left without its blank line. Strictly it should be thrown away, but some servers
    /// end so after their last event; whether it is whole only the reader of its data can tell.
    pub(crate) fn finish(mut self) -> Option<SseEvent> {
        let mut events = Vec::new();
        self.end_line(&mut events).ok()?;
        self.line.clear();
        self.end_line(&mut events).ok()?;
        events.pop()
    }

    fn end_line(&mut self, events: &mut Vec<SseEvent>) -> Result<(), SseError> {
        if self.line.is_empty() {
            let event = mem::take(&mut self.event);
            if mem::take(&mut self.has_data) {
                events.push(event);
            }
            return Ok(());
        }
        let result = self.field();
        self.line.clear();
        result
    }

    fn field(&mut self) -> Result<(), SseError> {
        let colon = self.line.iter().position(|&byte| byte == b':');
        let name = &self.line[..colon.unwrap_or(self.line.len())];
        let value = colon.map_or(&[][..], |colon| &self.line[colon + 1..]);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                let value = str::from_utf8(value).map_err(|_| SseError::NotUtf8)?;
                if self.event.data.len() + value.len() >= MAX_LINE_BYTES {
                    return Err(SseError::TooLong);
                }
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(value);
            }
            b"event" => self.event.name = str::from_utf8(value).map_err(|_| SseError::NotUtf8)?.to_owned(),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Parsed = (Vec<SseEvent>, Result<Option<SseEvent>, SseError>);

    fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Parsed {
        let mut parser = SseParser::default();
        let mut events = Vec::new();
        for piece in pieces {
            if let Err(error) = parser.push(piece, &mut events) {
                return (events, Err(error));
            }
        }
        let rest = parser.finish();
        (events, Ok(rest))
    }

    fn check(stream: &str, expected: &[(&str, &str)], rest: Option<(&str, &str)>) {
        let event = |&(name, data): &(&str, &str)| SseEvent { name: name.to_owned(), data: data.to_owned() };
        let (events, end) = parse([stream.as_bytes()]);
        assert_eq!(events, expected.iter().map(event).collect::<Vec<_>>(), "{stream:?}");
        assert_eq!(end, Ok(rest.as_ref().map(event)), "{stream:?}");
    }

    #[test]
    fn events_are_cut_as_the_standard_says() {
        check("data: a\n\ndata: b\n\n", &[("", "a"), ("", "b")], None);
        check("data: a\r\n\r\ndata: b\r\r", &[("", "a"), ("", "b")], None);
        check("data: one\ndata: two\n\n", &[("", "one\ntwo")], None);
        check("data:\ndata:\n\n", &[("", "\n")], None);
        check("data\n\n", &[("", "")], None);
        check("data:no space\n\ndata:  two spaces\n\n", &[("", "no space"), ("", " two spaces")], None);
        check(": a comment\nevent: error\nid: 7\nretry: 10\nunknown: x\ndata: a\n\n", &[("error", "a")], None);
        check("event: lost\n\ndata: a\n\n", &[("", "a")], None);
        check("\n\n\n: keep alive\n\n", &[], None);
        check("data: 第二十六條\n\n", &[("", "第二十六條")], None);
    }

    #[test]
    fn what_the_end_left_open_is_handed_out_apart() {
        check("data: a\n\ndata: [DONE]\n", &[("", "a")], Some(("", "[DONE]")));
        check("data: a\n\ndata: {\"cut", &[("", "a")], Some(("", "{\"cut")));
        check("data: a\n\n: comment", &[("", "a")], None);
    }

    #[test]
    fn a_line_has_a_longest_length() {
        let long = [b"data: ".as_slice(), &vec![b'x'; MAX_LINE_BYTES]].concat();
        assert_eq!(parse([long.as_slice()]).1, Err(SseError::TooLong));
        assert_eq!(parse(long.chunks(1000)).1, Err(SseError::TooLong));
        let many = b"data: 0123456789\n".repeat(MAX_LINE_BYTES / 8);
        assert_eq!(parse([many.as_slice()]).1, Err(SseError::TooLong));
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_an_error_not_a_replacement() {
        let (events, end) = parse([b"data: a\n\ndata: \xff\n\n".as_slice()]);
        assert_eq!((events.len(), end), (1, Err(SseError::NotUtf8)));
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            8 => "data: ?[a-z條特休🙂 ]{0,6}".prop_map(String::into_bytes),
            2 => Just(b"event: error".to_vec()),
            1 => ":[a-z條]{0,4}".prop_map(String::into_bytes),
            4 => Just(Vec::new()),
            1 => prop::collection::vec(any::<u8>(), 0..6),
        ];
        let end = prop::sample::select(vec!["\n", "\r\n", "\r"]);
        prop::collection::vec((line, end), 0..24).prop_map(|lines| {
            lines.into_iter().flat_map(|(line, end)| [line, end.as_bytes().to_vec()].concat()).collect()
        })
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_events(bytes in stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            prop_assert_eq!(parse(pieces), parse([bytes.as_slice()]));
            prop_assert_eq!(parse(bytes.chunks(1)), parse([bytes.as_slice()]));
        }
    }
}
