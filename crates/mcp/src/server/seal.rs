//! What a client carries between a question and its answer: nothing readable, and nothing it could change.

use std::fmt::{self, Write};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use bylaw_contract::{Randomness, Timestamp};
use ring::{digest, hmac};
use serde_json::{Map, Value};

use super::{ConfirmationId, Question};

const VERSION: u8 = 1;
const NONCE: usize = 16;
const DIGEST: usize = 32;
const TAG: usize = 32;
const LENGTH: usize = 1 + NONCE + 8 + 2 * DIGEST + TAG;

/// The key that seals questions. Keep it, and questions put before a restart can be answered after it.
#[derive(Clone)]
pub struct ConfirmationKey(hmac::Key);

impl ConfirmationKey {
    /// From 32 secret bytes, used for nothing else.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }
}

impl fmt::Debug for ConfirmationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConfirmationKey(***)")
    }
}

/// What an answer holds for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Binding {
    /// Who may give it, and for which call on which subject.
    call: [u8; DIGEST],
    /// What the human was shown.
    facts: [u8; DIGEST],
}

impl Binding {
    pub(super) fn of(principal: &str, tool: &str, arguments: &Map<String, Value>, question: &Question) -> Self {
        let mut call = Hasher::new();
        call.part(principal.as_bytes());
        call.part(tool.as_bytes());
        call.part(question.subject.as_bytes());
        let mut canonical = Vec::new();
        write_object(arguments, &mut canonical);
        call.part(&canonical);
        let mut facts = Hasher::new();
        facts.part(question.version.as_bytes());
        facts.part(question.message.as_bytes());
        canonical.clear();
        write_value(&question.schema, &mut canonical);
        facts.part(&canonical);
        Self { call: call.finish(), facts: facts.finish() }
    }
}

/// Hashes parts so that no two lists of parts read alike.
struct Hasher(digest::Context);

impl Hasher {
    fn new() -> Self {
        Self(digest::Context::new(&digest::SHA256))
    }

    fn part(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    fn finish(self) -> [u8; DIGEST] {
        let mut out = [0; DIGEST];
        out.copy_from_slice(self.0.finish().as_ref());
        out
    }
}

/// The same bytes however a client orders the keys.
fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(object) => write_object(object, out),
        Value::Array(items) => {
            out.push(b'[');
            for item in items {
                write_value(item, out);
                out.push(b',');
            }
            out.push(b']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => out.extend(value.to_string().bytes()),
    }
}

fn write_object(object: &Map<String, Value>, out: &mut Vec<u8>) {
    let mut keys: Vec<&String> = object.keys().collect();
    keys.sort_unstable();
    out.push(b'{');
    for key in keys {
        out.extend(Value::from(key.as_str()).to_string().bytes());
        out.push(b':');
        write_value(&object[key], out);
        out.push(b',');
    }
    out.push(b'}');
}

/// A question that was put by us to this principal for this call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Opened {
    pub(super) id: ConfirmationId,
    pub(super) expires: Timestamp,
    /// Whether the human was shown what holds now.
    pub(super) same_facts: bool,
}

impl ConfirmationKey {
    pub(super) fn seal(&self, binding: &Binding, expires: Timestamp, randomness: &dyn Randomness) -> String {
        let mut bytes = Vec::with_capacity(LENGTH);
        let mut nonce = [0; NONCE];
        randomness.fill(&mut nonce);
        bytes.push(VERSION);
        bytes.extend(nonce);
        bytes.extend(expires.0.to_be_bytes());
        bytes.extend(binding.call);
        bytes.extend(binding.facts);
        let tag = hmac::sign(&self.0, &bytes);
        bytes.extend(tag.as_ref());
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Nothing for whatever was not sealed by this key for this call.
    pub(super) fn open(&self, state: &str, binding: &Binding) -> Option<Opened> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(state).ok().filter(|bytes| bytes.len() == LENGTH)?;
        let (body, tag) = bytes.split_at(LENGTH - TAG);
        hmac::verify(&self.0, body, tag).ok()?;
        let (version, rest) = body.split_first()?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE>()?;
        let (expires, rest) = rest.split_first_chunk::<8>()?;
        let (call, facts) = rest.split_first_chunk::<DIGEST>()?;
        if *version != VERSION || *call != binding.call {
            return None;
        }
        let mut id = String::with_capacity(2 * NONCE);
        for byte in nonce {
            let _ = write!(id, "{byte:02x}");
        }
        Some(Opened {
            id: ConfirmationId(id),
            expires: Timestamp(i64::from_be_bytes(*expires)),
            same_facts: facts == binding.facts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counted(std::sync::atomic::AtomicU8);

    impl Randomness for Counted {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst));
        }
    }

    fn randomness() -> Counted {
        Counted(std::sync::atomic::AtomicU8::new(0))
    }

    fn arguments(id: &str) -> Map<String, Value> {
        Map::from_iter([("id".to_owned(), id.into())])
    }

    fn binding() -> Binding {
        Binding::of("amy", "cancel", &arguments("LV-1"), &Question::new("LV-1", "3", "Sure?"))
    }

    #[test]
    fn what_was_sealed_opens_for_the_same_call_with_what_was_shown() {
        let key = ConfirmationKey::new(&[7; 32]);
        let state = key.seal(&binding(), Timestamp(5), &randomness());
        let id = ConfirmationId("0".repeat(32));
        assert_eq!(key.open(&state, &binding()), Some(Opened { id, expires: Timestamp(5), same_facts: true }));
    }

    #[test]
    fn an_answer_for_anything_else_does_not_open() {
        let key = ConfirmationKey::new(&[7; 32]);
        let state = key.seal(&binding(), Timestamp(5), &randomness());
        let id = || arguments("LV-1");
        let question = || Question::new("LV-1", "3", "Sure?");
        let opens = |binding: &Binding| key.open(&state, binding).map(|opened| opened.same_facts);
        for (what, binding, expected) in [
            ("the same", Binding::of("amy", "cancel", &id(), &question()), Some(true)),
            ("another principal", Binding::of("bob", "cancel", &id(), &question()), None),
            ("another tool", Binding::of("amy", "reject", &id(), &question()), None),
            ("other arguments", Binding::of("amy", "cancel", &arguments("LV-2"), &question()), None),
            ("another subject", Binding::of("amy", "cancel", &id(), &Question::new("LV-2", "3", "Sure?")), None),
            ("a border moved", Binding::of("amyc", "ancel", &id(), &question()), None),
            ("another version", Binding::of("amy", "cancel", &id(), &Question::new("LV-1", "4", "Sure?")), Some(false)),
            ("other words", Binding::of("amy", "cancel", &id(), &Question::new("LV-1", "3", "Really?")), Some(false)),
        ] {
            assert_eq!(opens(&binding), expected, "{what}");
        }
        assert_eq!(ConfirmationKey::new(&[8; 32]).open(&state, &binding()), None, "another key");
    }

    #[test]
    fn no_changed_bit_goes_unnoticed_and_junk_is_refused() {
        let key = ConfirmationKey::new(&[7; 32]);
        let state = key.seal(&binding(), Timestamp(5), &randomness());
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(&state).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key.open(&BASE64_URL_SAFE_NO_PAD.encode(changed), &binding()), None, "bit {bit}");
        }
        for junk in ["", "x", "!", &state[1..], &format!("{state}-TAMPERED"), &"A".repeat(1 << 20)] {
            assert_eq!(key.open(junk, &binding()), None);
        }
    }

    #[test]
    fn keys_in_another_order_are_the_same_arguments() {
        let write = |text: &str| {
            let mut out = Vec::new();
            write_value(&serde_json::from_str(text).unwrap(), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            write(r#"{"b":[1,{"d":"\"","c":null}],"a":true}"#),
            write(r#"{"a":true,"b":[1,{"c":null,"d":"\""}]}"#)
        );
        assert_ne!(write(r#"{"a":["b","c"]}"#), write(r#"{"a":["b,c"]}"#));
    }

    #[test]
    fn the_key_is_not_printed() {
        assert_eq!(format!("{:?}", ConfirmationKey::new(&[7; 32])), "ConfirmationKey(***)");
    }
}
