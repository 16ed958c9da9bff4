//! Server-sent events of bounded size.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, future, stream::BoxStream};
use rmcp::model::RequestId;
use sse_stream::{Error, Sse, SseStream};

use super::{
    lenient::{LossyText, replace_lone_surrogates},
    trouble,
};

/// Counts the bytes of the event that is arriving.
#[derive(Debug, Default)]
struct EventSize {
    event: usize,
    line: usize,
}

impl EventSize {
    /// Whether the event is still within `limit` after `text`.
    fn take(&mut self, text: &str, limit: usize) -> bool {
        for byte in text.bytes() {
            match byte {
                b'\n' if self.line == 0 => *self = Self::default(),
                b'\n' => self.line = 0,
                b'\r' => {}
                _ => {
                    self.line += 1;
                    self.event += 1;
                    if self.event > limit {
                        return false;
                    }
                }
            }
        }
        true
    }
}

/// The events in `bytes`. One longer than `limit` ends the stream: with an error of the request it answers, if `answers`
/// names one, so that its caller learns why instead of waiting.
pub(super) fn events<E>(
    bytes: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    limit: usize,
    answers: Option<RequestId>,
) -> BoxStream<'static, Result<Sse, Error>>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let too_large = trouble::too_large_message(answers, limit);
    let start = (LossyText::default(), EventSize::default(), false);
    let bounded = bytes.scan(start, move |(text, size, over), chunk| {
        let piece = match chunk {
            Ok(chunk) if !*over => {
                let text = text.push(&chunk);
                if size.take(&text, limit) {
                    Some(text)
                } else {
                    *over = true;
                    // Ends the event that is too long, which is then no JSON and skipped, and adds ours.
                    Some(too_large.as_ref().map_or_else(|| "\n\n".to_owned(), |said| format!("\n\ndata: {said}\n\n")))
                }
            }
            // A break in the middle is an end: what was cut off has no result either way.
            Ok(_) | Err(_) => None,
        };
        future::ready(piece.map(|text| Ok::<_, Infallible>(Bytes::from(text))))
    });
    SseStream::from_bytes_stream(bounded)
        .map(|event| {
            event.map(|mut event| {
                if let Some(repaired) = event.data.as_deref().and_then(replace_lone_surrogates) {
                    event.data = Some(repaired);
                }
                event
            })
        })
        .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn data(chunks: &[&[u8]], limit: usize, answers: Option<RequestId>) -> Vec<String> {
        let chunks: Vec<Result<Bytes, Infallible>> = chunks.iter().map(|c| Ok(Bytes::copy_from_slice(c))).collect();
        let events = events(futures_util::stream::iter(chunks), limit, answers);
        events.filter_map(|event| future::ready(event.ok().and_then(|event| event.data))).collect().await
    }

    #[tokio::test]
    async fn however_it_is_cut_it_reads_the_same() {
        let whole = "id: 1\ndata:\n\n: hello\n\nevent: message\r\ndata: {\"a\":\"杭州\"}\r\n\r\ndata: 2\n\n".as_bytes();
        for cut in 0..whole.len() {
            let read = data(&[&whole[..cut], &whole[cut..]], 100, None).await;
            assert_eq!(read, ["", r#"{"a":"杭州"}"#, "2"], "cut at {cut}");
        }
    }

    #[tokio::test]
    async fn many_small_events_are_no_large_one() {
        let chunks = vec![&b"data: 12345\n\n"[..]; 100];
        assert_eq!(data(&chunks, 12, None).await.len(), 100);
    }

    #[tokio::test]
    async fn an_event_that_is_too_long_becomes_an_error_of_its_request_and_the_end() {
        let chunks = [&b"data: 1\n\ndata: "[..], &[b'x'; 60], &[b'x'; 60], b"\n\ndata: 2\n\n"];
        let read = data(&chunks, 100, Some(RequestId::Number(7))).await;
        assert_eq!(read.first().map(String::as_str), Some("1"));
        let last: serde_json::Value = serde_json::from_str(read.last().unwrap()).unwrap();
        assert_eq!((&last["id"], last["error"]["data"]["tooLarge"].as_u64()), (&serde_json::json!(7), Some(100)));
    }
}
