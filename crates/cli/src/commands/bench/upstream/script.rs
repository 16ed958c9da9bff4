//! What the scripted endpoint does with a request.

use std::time::Duration;

use axum::body::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::{BenchUpstream, UpstreamBehaviour as Behaviour};

/// Added to the bytes of a request where everything is billed at its bound: what a template of the provider may add.
const TEMPLATE_TOKENS: u64 = 64;

/// How the endpoint behaves.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Script {
    /// Unless a marker in the question says otherwise.
    pub(in super::super) behaviour: Behaviour,
    /// Pieces of an answer.
    pub(in super::super) pieces: u64,
    /// Between two pieces.
    pub(in super::super) gap: Duration,
    /// Between two pieces, where the endpoint is slow.
    pub(in super::super) slow_gap: Duration,
    /// Decides the order of a mix.
    pub(in super::super) seed: u64,
    /// Bills the most that the request allows.
    pub(in super::super) bill_bound: bool,
}

impl Script {
    pub(super) fn of(arguments: &BenchUpstream) -> Self {
        Self {
            behaviour: arguments.behaviour,
            pieces: arguments.pieces.max(1),
            gap: Duration::from_millis(arguments.gap_ms),
            slow_gap: Duration::from_millis(arguments.slow_gap_ms),
            seed: arguments.seed,
            bill_bound: arguments.bill_bound,
        }
    }
}

/// A request, as far as the endpoint reads it.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    model: String,
    messages: Vec<Message>,
    max_tokens: Option<u64>,
    #[serde(default)]
    pub(super) stream: bool,
    #[serde(default)]
    stream_options: StreamOptions,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

/// What is done, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Nothing for a while.
    Wait(Duration),
    /// A piece of the text.
    Piece { bytes: Bytes, text_bytes: u64 },
    /// The text was whole; from here on this is billed.
    Bill { completion_tokens: u64 },
    /// What holds no text.
    Frame { bytes: Bytes, is_usage: bool },
    /// The connection breaks.
    Break,
    /// No answer, for as long as the client waits.
    Hang,
}

/// What one request comes to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) behaviour: Behaviour,
    /// What the question calls itself.
    pub(super) call: Option<String>,
    pub(super) prompt_bytes: u64,
    /// Billed as soon as the request is there; nothing where it is refused.
    pub(super) prompt_tokens: u64,
    /// Empty where it is refused.
    pub(super) steps: Vec<Step>,
}

impl Request {
    /// Reads a request, and refuses what a provider would refuse.
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        let request: Self = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if request.messages.is_empty() {
            return Err("messages: at least one is needed".to_owned());
        }
        Ok(request)
    }

    /// What `script` makes of this request, the `ordinal`th, of `body_bytes`.
    pub(super) fn plan(&self, script: &Script, ordinal: u64, body_bytes: u64) -> Plan {
        let behaviour = match self.marker().unwrap_or(script.behaviour) {
            Behaviour::Mix => mixed(script.seed, ordinal),
            chosen => chosen,
        };
        let prompt_bytes = self.messages.iter().map(|message| message.content.len() as u64).sum();
        let prompt_tokens = match behaviour {
            Behaviour::Refuse => 0,
            _whatever if script.bill_bound => body_bytes + TEMPLATE_TOKENS,
            _whatever => body_bytes.div_ceil(4),
        };
        let steps = match behaviour {
            Behaviour::Refuse | Behaviour::Mix => Vec::new(),
            Behaviour::Silent => vec![Step::Hang],
            Behaviour::Whole => self.answer(script, script.gap, None, prompt_tokens),
            Behaviour::Slow => self.answer(script, script.slow_gap, None, prompt_tokens),
            Behaviour::Cut => self.answer(script, script.gap, Some(script.pieces / 2), prompt_tokens),
            Behaviour::LateCut => self.answer(script, script.gap, Some(u64::MAX), prompt_tokens),
        };
        Plan { behaviour, call: self.call(), prompt_bytes, prompt_tokens, steps }
    }

    /// An answer, piece by piece; `cut_after` so many pieces the connection breaks.
    fn answer(&self, script: &Script, gap: Duration, cut_after: Option<u64>, prompt_tokens: u64) -> Vec<Step> {
        let allowed = self.max_tokens.unwrap_or(u64::MAX);
        let count = script.pieces.min(allowed);
        let completion_tokens = if script.bill_bound { self.max_tokens.unwrap_or(count) } else { count };
        let usage = json!({
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        });
        let finish = if count < script.pieces { "length" } else { "stop" };
        let pieces = pieces(count, self.article());
        if !self.stream {
            return self.whole(
                &pieces.concat(),
                gap * u32::try_from(count).unwrap_or(u32::MAX),
                cut_after,
                finish,
                &usage,
            );
        }
        let mut steps = Vec::new();
        for piece in pieces.iter().take(usize::try_from(cut_after.unwrap_or(u64::MAX)).unwrap_or(usize::MAX)) {
            steps.push(Step::Wait(gap));
            let bytes = self
                .frame(&json!([{ "index": 0, "delta": { "content": piece }, "finish_reason": null }]), &Value::Null);
            steps.push(Step::Piece { bytes, text_bytes: piece.len() as u64 });
        }
        if cut_after.is_none_or(|pieces| pieces >= count) {
            steps.push(Step::Bill { completion_tokens });
        }
        if cut_after.is_some() {
            steps.push(Step::Break);
            return steps;
        }
        let bytes = self.frame(&json!([{ "index": 0, "delta": {}, "finish_reason": finish }]), &Value::Null);
        steps.push(Step::Frame { bytes, is_usage: false });
        if self.stream_options.include_usage {
            steps.push(Step::Frame { bytes: self.frame(&json!([]), &usage), is_usage: true });
        }
        steps.push(Step::Frame { bytes: Bytes::from_static(b"data: [DONE]\n\n"), is_usage: false });
        steps
    }

    /// The same as one JSON object; cut in its middle, or before its usage.
    fn whole(&self, text: &str, wait: Duration, cut_after: Option<u64>, finish: &str, usage: &Value) -> Vec<Step> {
        // The usage comes last, so that everything up to it can have arrived.
        let head = format!(
            "{{\"id\":\"chatcmpl-scripted\",\"object\":\"chat.completion\",\"created\":0,\"model\":{},\"choices\":{},\"usage\":",
            json!(self.model),
            json!([{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": finish }]),
        );
        let text_bytes = text.len() as u64;
        let billed = Step::Bill { completion_tokens: usage["completion_tokens"].as_u64().unwrap_or(0) };
        let mut steps = vec![Step::Wait(wait)];
        match cut_after {
            None => {
                steps.push(Step::Piece { bytes: head.into(), text_bytes });
                steps.push(billed);
                steps.push(Step::Frame { bytes: format!("{usage}}}").into(), is_usage: true });
            }
            Some(u64::MAX) => steps.extend([Step::Piece { bytes: head.into(), text_bytes }, billed, Step::Break]),
            Some(_) => {
                let half = Bytes::from(head).slice(..64);
                steps.extend([Step::Piece { bytes: half, text_bytes: 0 }, Step::Break]);
            }
        }
        steps
    }

    fn frame(&self, choices: &Value, usage: &Value) -> Bytes {
        let frame = json!({
            "id": "chatcmpl-scripted",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.model,
            "choices": choices,
            "usage": usage,
        });
        format!("data: {frame}\n\n").into()
    }

    /// What the question asks of the endpoint, as in `upstream:late-cut`.
    fn marker(&self) -> Option<Behaviour> {
        let question = self.question()?;
        Behaviour::ALL.into_iter().find(|behaviour| question.contains(&format!("upstream:{}", behaviour.as_str())))
    }

    /// What the question calls itself, as in `call:c17`.
    fn call(&self) -> Option<String> {
        let (_, name) = self.question()?.split_once("call:")?;
        Some(name.chars().take_while(char::is_ascii_alphanumeric).collect())
    }

    fn question(&self) -> Option<&str> {
        self.messages.iter().rev().find(|message| message.role == "user").map(|message| message.content.as_str())
    }

    /// The id of the first article in the prompt.
    fn article(&self) -> Option<&str> {
        const OPENING: &str = "<article id=\"";
        self.messages.iter().find_map(|message| {
            let (_, behind) = message.content.split_once(OPENING)?;
            behind.split_once('"').map(|(id, _)| id)
        })
    }
}

/// A sentence in so many pieces, the last of which cites the article.
fn pieces(count: u64, article: Option<&str>) -> Vec<String> {
    let mut pieces: Vec<String> =
        (1..count).map(|at| if at == 1 { "依規定辦理" } else { "並依程序" }.to_owned()).collect();
    if count > 0 {
        let cited = article.map(|id| format!("[{id}]")).unwrap_or_default();
        pieces.push(format!("為準{cited}。"));
    }
    pieces
}

/// Half of a mix is whole; the rest is everything that goes wrong.
fn mixed(seed: u64, ordinal: u64) -> Behaviour {
    // The output function of splitmix64 (Steele, Lea and Flood, 2014).
    let mut mixed = seed.wrapping_add(ordinal.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    match (mixed ^ (mixed >> 31)) % 10 {
        0 => Behaviour::Refuse,
        1 => Behaviour::Cut,
        2 => Behaviour::LateCut,
        3 => Behaviour::Silent,
        4 => Behaviour::Slow,
        _half => Behaviour::Whole,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failing test should panic")]
mod tests {
    use super::*;

    const SCRIPT: Script = Script {
        behaviour: Behaviour::Whole,
        pieces: 4,
        gap: Duration::ZERO,
        slow_gap: Duration::from_millis(7),
        seed: 1,
        bill_bound: false,
    };

    fn plan(script: Script, question: &str) -> Plan {
        let prompt = format!("<article id=\"r.md#26\">\n事假\n</article>\n<question>{question}</question>");
        let body = json!({
            "model": "scripted", "max_tokens": 90, "stream": true, "stream_options": { "include_usage": true },
            "messages": [{ "role": "system", "content": "s" }, { "role": "user", "content": prompt }],
        });
        Request::read(body.to_string().as_bytes()).unwrap().plan(&script, 1, 1_001)
    }

    /// The steps in short.
    fn shown(plan: &Plan) -> Vec<String> {
        let shown = |step: &Step| match step {
            Step::Wait(gap) if gap.is_zero() => None,
            Step::Wait(gap) => Some(format!("{gap:?}")),
            Step::Piece { bytes, .. } => {
                let frame: Value = serde_json::from_slice(bytes.strip_prefix(b"data: ").unwrap()).unwrap();
                Some(frame["choices"][0]["delta"]["content"].as_str().unwrap().to_owned())
            }
            Step::Bill { completion_tokens } => Some(format!("bill {completion_tokens}")),
            Step::Frame { bytes, is_usage: true } => {
                let frame: Value = serde_json::from_slice(bytes.strip_prefix(b"data: ").unwrap()).unwrap();
                Some(format!("usage {} {}", frame["usage"]["prompt_tokens"], frame["usage"]["completion_tokens"]))
            }
            Step::Frame { bytes, .. } if bytes.ends_with(b"[DONE]\n\n") => Some("done".to_owned()),
            Step::Frame { .. } => Some("finish".to_owned()),
            Step::Break => Some("break".to_owned()),
            Step::Hang => Some("hang".to_owned()),
        };
        plan.steps.iter().filter_map(shown).collect()
    }

    #[test]
    fn a_marker_in_the_question_chooses_what_happens() {
        let check = |question: &str, expected: &[&str]| {
            assert_eq!(shown(&plan(SCRIPT, question)), expected, "{question}");
        };
        let text = ["依規定辦理", "並依程序", "並依程序", "為準[r.md#26]。"];
        check("事假幾日", &[&text[..], &["bill 4", "finish", "usage 251 4", "done"]].concat());
        check("upstream:refuse", &[]);
        check("upstream:silent", &["hang"]);
        check("upstream:cut", &["依規定辦理", "並依程序", "break"]);
        check("upstream:late-cut", &[&text[..], &["bill 4", "break"]].concat());
        assert_eq!(plan(SCRIPT, "事假幾日 call:c17 upstream:cut").call.as_deref(), Some("c17"));
        assert_eq!(shown(&plan(SCRIPT, "upstream:slow"))[..3], ["7ms", "依規定辦理", "7ms"]);
    }

    #[test]
    fn billing_at_the_bound_is_what_the_request_allows() {
        let plan = plan(Script { bill_bound: true, ..SCRIPT }, "事假幾日");
        assert_eq!(plan.prompt_tokens, 1_065);
        assert!(shown(&plan).contains(&"usage 1065 90".to_owned()));
    }

    #[test]
    fn half_of_a_mix_is_whole_and_the_rest_is_everything_else() {
        let drawn: Vec<Behaviour> = (1..=1_000).map(|ordinal| mixed(7, ordinal)).collect();
        let count = |wanted| drawn.iter().filter(|behaviour| **behaviour == wanted).count();
        assert!((450..=550).contains(&count(Behaviour::Whole)));
        for other in [Behaviour::Refuse, Behaviour::Cut, Behaviour::LateCut, Behaviour::Silent, Behaviour::Slow] {
            assert!((70..=130).contains(&count(other)), "{other:?}");
        }
        assert_ne!(drawn, (1..=1_000).map(|ordinal| mixed(8, ordinal)).collect::<Vec<_>>());
    }

    #[test]
    fn a_request_that_a_provider_would_refuse_is_refused() {
        for bad in ["", "{}", r#"{"model":"m","messages":[]}"#, r#"{"messages":[{"role":"user","content":"x"}]}"#] {
            assert!(Request::read(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
