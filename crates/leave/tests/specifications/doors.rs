//! One client of the leave system, whichever era and transport it speaks, with a person behind it.

use std::{sync::Arc, time::Duration};

use bylaw_leave::server::started_by;
use bylaw_mcp::{McpClient, serve_pipes};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split};

use crate::{
    company::{Office, id},
    house::{Era, House, Human, Person, call, text},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Http,
    Stdio,
}

/// What a model is told.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) is_error: bool,
    pub(crate) refused: Option<String>,
    pub(crate) text: String,
    pub(crate) structured: Value,
}

pub(crate) enum Door {
    Http(McpClient, Arc<Person>),
    Stdio(Box<Pipe>),
}

impl Door {
    pub(crate) async fn open(house: &House, who: &str, era: Era, transport: Transport, does: Human) -> Self {
        match transport {
            Transport::Http => {
                let (client, person) = house.client(who, era, does).await;
                Self::Http(client, person)
            }
            Transport::Stdio => Self::Stdio(Box::new(Pipe::open(house, who, era, does).await)),
        }
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Told {
        let (is_error, text, structured) = match self {
            Self::Http(client, _) => {
                let outcome = call(client, tool, arguments).await;
                (outcome.is_error, text(&outcome), outcome.structured.unwrap_or_default())
            }
            Self::Stdio(pipe) => {
                let result = pipe.call(tool, arguments).await;
                let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
                (result["isError"] == true, text, result["structuredContent"].clone())
            }
        };
        Told { is_error, refused: structured["refused"].as_str().map(str::to_owned), text, structured }
    }

    /// What the person was asked.
    pub(crate) fn asked(&self) -> Vec<String> {
        match self {
            Self::Http(_, person) => person.asked.lock().unwrap().clone(),
            Self::Stdio(pipe) => pipe.asked.clone(),
        }
    }
}

/// A client that speaks JSON-RPC, line by line, over a pair of pipes.
pub(crate) struct Pipe {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    office: Arc<Office>,
    era: Era,
    does: Human,
    asked: Vec<String>,
    last: u64,
}

impl Pipe {
    async fn open(house: &House, who: &str, era: Era, does: Human) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = split(theirs);
        let server = serve_pipes(house.server.clone(), started_by(&id(who)), reader, writer, house.over.clone());
        tokio::spawn(server);
        let (reader, writer) = split(ours);
        let reader = BufReader::new(reader);
        let mut pipe = Self { reader, writer, office: house.office.clone(), era, does, asked: Vec::new(), last: 0 };
        if era == Era::Older {
            let hello = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": pipe.capabilities(),
                "clientInfo": { "name": "pipe", "version": "1" },
            });
            let greeting = pipe.ask("initialize", hello).await;
            assert_eq!(greeting["protocolVersion"], "2025-11-25");
            pipe.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        } else {
            let found = pipe.ask("server/discover", json!({})).await;
            assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
        }
        pipe
    }

    fn capabilities(&self) -> Value {
        if self.does == Human::IsNotThere { json!({}) } else { json!({ "elicitation": { "form": {} } }) }
    }

    async fn say(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// One request; a question in between is put to the person.
    async fn ask(&mut self, method: &str, mut params: Value) -> Value {
        if self.era == Era::Newer {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "pipe", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": self.capabilities(),
            });
        }
        self.last += 1;
        let id = self.last;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        loop {
            let mut line = String::new();
            assert!(self.reader.read_line(&mut line).await.unwrap() > 0, "the server has left");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "elicitation/create" {
                self.asked.push(message["params"]["message"].as_str().unwrap().to_owned());
                if let Some(answer) = self.answer() {
                    self.say(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer })).await;
                }
            } else if message["id"] == id && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
        }
    }

    /// None while they think.
    fn answer(&self) -> Option<Value> {
        match self.does {
            Human::Accepts => Some(json!({ "action": "accept", "content": {} })),
            Human::Declines => Some(json!({ "action": "decline" })),
            Human::Dismisses | Human::IsNotThere => Some(json!({ "action": "cancel" })),
            Human::Waits => None,
        }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let call = json!({ "name": tool, "arguments": arguments });
        let result = self.ask("tools/call", call.clone()).await;
        if result["resultType"] != "input_required" {
            return result;
        }
        let question = &result["inputRequests"]["confirm"]["params"]["message"];
        self.asked.push(question.as_str().unwrap().to_owned());
        let answer = self.answer().unwrap_or_else(|| {
            // They say yes, and too late.
            self.office.clock.forward(Duration::from_secs(660));
            json!({ "action": "accept", "content": {} })
        });
        let mut again = call;
        again["requestState"] = result["requestState"].clone();
        again["inputResponses"] = json!({ "confirm": answer });
        self.ask("tools/call", again).await
    }
}
