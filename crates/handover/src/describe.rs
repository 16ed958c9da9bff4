//! What is said of each tool: what it does, when to use it, and when not.
//!
//! A model that has nothing else to go by decides by these lines whether, and how often, a tool is called.

use bylaw_mcp::{ToolAnnotations, ToolSpec, Words};
use serde_json::{Map, Value, json};

/// The most articles that one search gives.
pub(crate) const MOST_FOUND: u32 = 10;

/// How many a search gives unless it is told.
pub(crate) const FOUND: u32 = 5;

/// Whatever the answer says, it costs the same: nothing is changed, and nothing outside is reached.
const READS: ToolAnnotations = ToolAnnotations::READS;

pub(crate) fn search_rules() -> ToolSpec {
    let question = text("What to look for: a question or key words, in Chinese or English, at most 500 characters.");
    let k = json!({
        "type": "integer",
        "default": FOUND,
        "description": format!("How many articles, 1 to {MOST_FOUND}; {FOUND} unless given. What is outside is set to the nearest end, and the reply says so."),
    });
    ToolSpec::new(
        "search_rules",
        Words::new(
            "Finds the articles of the organisation's rules that are nearest to a question, with their full text. No model is \
             used: it is fast and free. Use it whenever you want to read or quote the rules themselves; it is all that most \
             questions need. It always gives the nearest articles there are, also where the rules say nothing about the \
             matter: read them before you conclude anything. Similarity is not confidence. Other words for the same thing \
             mostly find the same articles, so do not search again and again. Cite articles by the id in brackets.",
            "從組織的規章裡找出和問題最接近的條文，附全文。不經過模型，快而且不花錢。要閱讀或引用規章原文時用它，大部分問題用它就夠。就算規章根本沒有規定，它也會列出最接近的幾條，請讀過內容再下結論；相似度不是把握程度。換個說法多半會查到同樣的條文，不必一查再查。引用時請用方括號裡的編號。",
        ),
    )
    .titled(Words::new("Search the rules", "查規章"))
    .taking(object(&[("query", question), ("k", k)], 1))
    .giving(reply(&[
        ("articles", list(article())),
        ("articles_shown", integer()),
        ("k", integer()),
        ("notes", list(string())),
        ("request_id", string()),
    ], &["articles", "articles_shown", "k", "request_id"]))
    .that(READS)
}

pub(crate) fn read_article() -> ToolSpec {
    let source = text("The document, as search_rules names it before the '#': work_rules.md.");
    let article = text(
        "The article inside it, as search_rules names it after the '#': 26, 26-1, annex-1. A long one is read in parts: 26~2 is the second.",
    );
    ToolSpec::new(
        "read_article",
        Words::new(
            "Reads one article of the rules in full, with the articles before and after it and those that it names. Use it when \
             you know which one: because search_rules listed it, another article names it, or the person does. Do not use it \
             to look for something; search_rules does that. No model is used.",
            "讀出規章中某一條的全文，並列出前後條、它提到的條文與提到它的條文。已經知道是哪一條時用它（search_rules 列出的、別條提到的、使用者講的）。不要用它來找東西，找東西請用 search_rules。不經過模型。",
        ),
    )
    .titled(Words::new("Read an article", "讀條文"))
    .taking(object(&[("source", source), ("article", article)], 2))
    .giving(reply(&[
        ("id", string()),
        ("source", string()),
        ("article", string()),
        ("title", string()),
        ("heading_path", list(string())),
        ("part", integer()),
        ("parts", integer()),
        ("previous", string()),
        ("next", string()),
        ("refers_to", list(string())),
        ("referred_by", list(string())),
        ("request_id", string()),
    ], &["id", "source", "article", "title", "part", "parts", "request_id"]))
    .that(READS)
}

pub(crate) fn ask(max_steps: u32) -> ToolSpec {
    let question = text("One question, in Chinese or English, at most 500 characters.");
    let mode = json!({
        "type": "string",
        "enum": ["auto", "extract", "pipeline", "agent"],
        "default": "auto",
        "description": "auto (unless given): the rules' own sentences where they answer, else one call of a model. extract: only the rules' own sentences, free. pipeline: look up once, answer once. agent: the service looks up several times; slow and dear.",
    });
    let steps = json!({
        "type": "integer",
        "default": max_steps,
        "description": format!("Only for mode agent: at most this many steps, 1 to {max_steps}. More than that is not given, and the reply says so."),
    });
    ToolSpec::new(
        "ask",
        Words::new(
            "Answers one question from the organisation's rules and lists the articles that were found, with those marked that \
             the answer uses. It may call a model and cost money. Use it for a finished, checked answer in one call. Mostly \
             you do not need it: you can read, so search_rules serves you better and costs nothing. And you are an agent \
             already: you rarely need another, so leave mode agent for questions that compare many articles. If the reply \
             says that it was stopped, do what that sentence says, and do not ask the same again word for word. No answer \
             does not mean that there is no rule unless the reply says so.",
            "回答一題組織規章的問題，並列出查到的條文，答案用到的會標出來。可能會呼叫模型、會花錢。需要一次拿到核對過的答案時用它。多半用不著：您自己會讀，用 search_rules 更合適，也不花錢。您自己已經是 agent，通常不需要再叫另一個 agent，所以 mode=\"agent\" 留給需要比對好幾條的問題。回覆如果說被攔下來，照那一句的意思處理，不要原樣再問一次。沒有答案不等於規章沒有規定，除非回覆明講。",
        ),
    )
    .titled(Words::new("Ask the rules", "問規章"))
    .taking(object(&[("question", question), ("mode", mode), ("max_steps", steps)], 1))
    .giving(reply(&[
        ("outcome", string()),
        ("meaning", string()),
        ("answer", string()),
        ("stop", json!({
            "type": "object",
            "properties": { "reason": string(), "at_step": integer(), "looked_up": integer() },
            "required": ["reason", "at_step"],
        })),
        ("articles", list(article())),
        ("articles_shown", integer()),
        ("mode", string()),
        ("cost", string()),
        ("currency", string()),
        ("total_ms", json!({ "type": "number" })),
        ("notes", list(string())),
        ("request_id", string()),
        ("run_id", string()),
    ], &["outcome", "meaning", "articles", "articles_shown", "mode", "cost", "currency", "total_ms", "request_id", "run_id"]))
    // It may spend, so twice is not once; it changes nothing else.
    .that(ToolAnnotations { idempotent: false, ..READS })
}

/// The two names that some clients insist on, with their form: `search` gives ids, `fetch` takes one.
pub(crate) fn search() -> ToolSpec {
    ToolSpec::new(
        "search",
        Words::new(
            "The same as search_rules, for clients that know this name: gives ids and titles of the nearest articles, also where \
             the rules are silent. Read one with fetch.",
            "與 search_rules 相同，供只認得這個名稱的用戶端使用：給出最接近條文的 id 與標題，規章沒有規定時也會列出。用 fetch 讀內容。",
        ),
    )
    .titled(Words::new("Search", "查詢"))
    .taking(object(&[("query", text("What to look for, at most 500 characters."))], 1))
    .that(READS)
}

pub(crate) fn fetch() -> ToolSpec {
    ToolSpec::new(
        "fetch",
        Words::new(
            "The same as read_article, for clients that know this name: reads the article whose id search gave.",
            "與 read_article 相同，供只認得這個名稱的用戶端使用：讀出 search 給的 id 那一條。",
        ),
    )
    .titled(Words::new("Fetch", "讀取"))
    .taking(object(&[("id", text("An id that search gave, such as work_rules.md#26-1."))], 1))
    .that(READS)
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn string() -> Value {
    json!({ "type": "string" })
}

fn integer() -> Value {
    json!({ "type": "integer" })
}

#[expect(clippy::needless_pass_by_value, reason = "schemas are built inside out")]
fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// An article in a structured reply. Its words are in the text of the reply, once.
fn article() -> Value {
    let fields = ["id", "source", "article", "title"].map(|name| (name, string()));
    let flags = ["used", "retrieved", "referenced"].map(|name| (name, json!({ "type": "boolean" })));
    let all: Vec<(&str, Value)> = fields.into_iter().chain(flags).collect();
    let required: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    reply(&all, &required)
}

fn properties(named: &[(&str, Value)]) -> Map<String, Value> {
    named.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect()
}

/// Arguments, of which the first few are required. Others are refused by name.
fn object(named: &[(&str, Value)], required: usize) -> Value {
    let required: Vec<&str> = named.iter().take(required).map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties(named), "required": required, "additionalProperties": false })
}

fn reply(named: &[(&str, Value)], required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties(named), "required": required })
}
