//! What comes back through a front door, whichever way it was reached: a status, a body, and perhaps events.

use std::error::Error;

use bylaw_contract::{
    ask::{Answer, CitationsEvent, DoneEvent, StepEvent, StreamErrorEvent, TokenEvent},
    error::ErrorResponse,
};
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt, pin_mut};
use serde::de::DeserializeOwned;
use sse_stream::SseStream;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{DoorError, News};

/// Longest reply that is kept, in bytes: a source of 155,851 articles has an outline of about 20 MB.
const MOST_BYTES: usize = 64 << 20;

/// Most that is told of a body that is not ours, in characters.
const MOST_TOLD: usize = 80;

/// A whole reply in JSON.
///
/// # Errors
/// What the service says, [`DoorError::Foreign`] if it does not speak as Bylaw does, [`DoorError::CutOff`] if it breaks off.
pub async fn read_reply<T: DeserializeOwned, E: Error>(
    status: u16,
    body: impl Stream<Item = Result<Bytes, E>>,
) -> Result<T, DoorError> {
    let bytes = whole(body).await?;
    if (200..300).contains(&status) {
        return serde_json::from_slice(&bytes).map_err(|error| foreign(status, &bytes, &error.to_string()));
    }
    Err(refused(status, &bytes))
}

/// An answer as events, if its content type says that it is; a refusal is not. News are told as they come; when `cancel` fires, the body is dropped, and with it the connection.
///
/// # Errors
/// As [`read_reply`], and [`DoorError::Broken`] if the service says that the answer broke.
pub async fn read_answer<E: Error + Send + Sync + 'static>(
    status: u16,
    content_type: Option<&str>,
    body: impl Stream<Item = Result<Bytes, E>>,
    news: &mpsc::Sender<News>,
    cancel: &CancellationToken,
) -> Result<Answer, DoorError> {
    let is_stream = content_type.is_some_and(|kind| kind.starts_with("text/event-stream"));
    let read = async {
        if is_stream && (200..300).contains(&status) {
            events(body, news).await
        } else {
            read_reply(status, body).await
        }
    };
    tokio::select! {
        () = cancel.cancelled() => Err(DoorError::Cancelled),
        answer = read => answer,
    }
}

async fn events<E: Error + Send + Sync + 'static>(
    body: impl Stream<Item = Result<Bytes, E>>,
    news: &mpsc::Sender<News>,
) -> Result<Answer, DoorError> {
    let events = SseStream::from_bytes_stream(body);
    pin_mut!(events);
    let mut written = 0;
    // Whoever is slow to fetch news misses some.
    let tell = |heard| drop(news.try_send(heard));
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| DoorError::CutOff(bylaw_contract::chain(&error)))?;
        let data = event.data.unwrap_or_default();
        match event.event.as_deref() {
            Some("step") => tell(News::Step(parsed::<StepEvent>(&data)?)),
            Some("citations") => tell(News::Found(parsed::<CitationsEvent>(&data)?.citations.len())),
            Some("token") => {
                written += parsed::<TokenEvent>(&data)?.text.chars().count();
                tell(News::Written(written));
            }
            Some("done") => return Ok(parsed::<DoneEvent>(&data)?.answer),
            Some("error") => return Err(DoorError::Broken(Box::new(parsed::<StreamErrorEvent>(&data)?))),
            // Comments, and what a later service may say.
            Some(_) | None => {}
        }
    }
    Err(DoorError::CutOff("the events ended without the last one".to_owned()))
}

fn parsed<T: DeserializeOwned>(data: &str) -> Result<T, DoorError> {
    serde_json::from_str(data).map_err(|error| DoorError::Foreign(format!("an event cannot be read: {error}")))
}

async fn whole<E: Error>(body: impl Stream<Item = Result<Bytes, E>>) -> Result<BytesMut, DoorError> {
    pin_mut!(body);
    let mut bytes = BytesMut::new();
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|error| DoorError::CutOff(bylaw_contract::chain(&error)))?;
        if bytes.len() + piece.len() > MOST_BYTES {
            return Err(DoorError::Foreign(format!("a reply of more than {MOST_BYTES} bytes")));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

fn refused(status: u16, body: &[u8]) -> DoorError {
    match serde_json::from_slice::<ErrorResponse>(body) {
        Ok(response) => DoorError::Refused(Box::new(response.error)),
        Err(error) => foreign(status, body, &error.to_string()),
    }
}

fn foreign(status: u16, body: &[u8], problem: &str) -> DoorError {
    let text = String::from_utf8_lossy(body);
    let begins: String = text.trim().chars().take(MOST_TOLD).filter(|c| !c.is_control()).collect();
    DoorError::Foreign(format!("HTTP status {status}, {begins:?} ({problem})"))
}
