//! Web pages: the visible words, one block a line, headings and table rows told apart.

mod tags;

use bylaw_contract::Span;
use scraper::{Html, Node, node::Element};

use crate::extract::{Extracted, Line, Mark, trimmed};

/// Largest page that is read, in bytes; the parsed page takes many times that in memory.
pub(crate) const MAX_PAGE_BYTES: usize = 16 * 1024 * 1024;

/// Reads a web page.
pub(crate) fn extract(page: &str) -> Extracted {
    let page = Html::parse_document(&tags::simplify(page));
    let mut writer = Writer::default();
    // Walked with a bookmark, not by recursion: a page may nest as deep as it likes.
    let mut node = page.tree.root();
    loop {
        let enters = match node.value() {
            Node::Element(element) if is_hidden(element) => false,
            Node::Element(element) => {
                writer.open(element.name());
                true
            }
            Node::Text(text) => {
                writer.text(text);
                true
            }
            _ => true,
        };
        if let Some(child) = node.first_child().filter(|_| enters) {
            node = child;
            continue;
        }
        loop {
            if let Node::Element(element) = node.value()
                && !is_hidden(element)
            {
                writer.close(element.name());
            }
            if let Some(next) = node.next_sibling() {
                node = next;
                break;
            }
            match node.parent() {
                Some(parent) => node = parent,
                None => return writer.finish(),
            }
        }
    }
}

fn is_hidden(element: &Element) -> bool {
    const UNSEEN: [&str; 15] = [
        "script", "style", "template", "noscript", "svg", "math", "iframe", "object", "canvas", "audio", "video", "rt",
        "rp", "select", "textarea",
    ];
    let style = element.attr("style").unwrap_or_default();
    UNSEEN.contains(&element.name())
        || element.attr("hidden").is_some()
        || element.attr("aria-hidden") == Some("true")
        || (!style.is_empty() && {
            let style: String = style.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
            style.contains("display:none") || style.contains("visibility:hidden")
        })
}

/// The level of h1 to h6.
fn heading_level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

#[derive(Default)]
struct Writer {
    text: String,
    lines: Vec<Line>,
    /// The words of the line that is being written, white space made one blank.
    line: String,
    title: String,
    in_title: bool,
    heading: Option<u8>,
    /// Table rows that are open: inside one, blocks do not break the line.
    rows: usize,
    preformatted: usize,
    quoted: usize,
    after_blank: bool,
}

impl Writer {
    fn open(&mut self, name: &str) {
        match name {
            "title" => self.in_title = true,
            "br" if self.rows == 0 => self.flush(false),
            "tr" => {
                if self.rows == 0 {
                    self.flush(false);
                }
                self.rows += 1;
            }
            "td" | "th" if self.rows == 1 => self.cell(),
            "pre" => {
                self.flush(true);
                self.preformatted += 1;
            }
            "blockquote" => {
                self.flush(true);
                self.quoted += 1;
            }
            name if tags::is_block(name) => self.block(),
            _ => {}
        }
        if let Some(level) = heading_level(name) {
            self.heading = Some(level);
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "title" => self.in_title = false,
            "tr" => {
                self.rows = self.rows.saturating_sub(1);
                if self.rows == 0 {
                    self.row();
                }
            }
            "pre" => {
                self.flush(true);
                self.preformatted = self.preformatted.saturating_sub(1);
            }
            "blockquote" => {
                self.flush(true);
                self.quoted = self.quoted.saturating_sub(1);
            }
            name if tags::is_block(name) => self.block(),
            _ => {}
        }
        if heading_level(name).is_some() {
            self.heading = None;
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.push_str(text);
            return;
        }
        for c in text.chars() {
            if c == '\n' && self.preformatted > 0 && self.rows == 0 {
                self.flush(false);
            } else if c.is_whitespace() {
                self.space();
            } else if !c.is_control() {
                self.line.push(c);
            }
        }
    }

    fn space(&mut self) {
        if !self.line.is_empty() && !self.line.ends_with(' ') {
            self.line.push(' ');
        }
    }

    fn block(&mut self) {
        if self.rows > 0 {
            self.space();
        } else {
            self.flush(true);
        }
    }

    fn cell(&mut self) {
        if !self.line.is_empty() {
            self.space();
            self.line.push_str("| ");
        }
    }

    fn row(&mut self) {
        let is_row = self.line.contains(" | ");
        let quoted = self.quoted;
        self.quoted += usize::from(is_row);
        self.flush(false);
        self.quoted = quoted;
    }

    /// Ends the line; `apart` if a blank line belongs behind it.
    fn flush(&mut self, apart: bool) {
        let words = trimmed(&self.line, Span::new(0, self.line.len()));
        if !words.is_empty() {
            if !self.text.is_empty() {
                self.text.push_str(if self.after_blank { "\n\n" } else { "\n" });
            }
            let start = self.text.len();
            self.text.push_str(words.of(&self.line).unwrap_or_default());
            let mark = match self.heading {
                Some(level) => Mark::Heading(level),
                None if self.quoted > 0 => Mark::Inert,
                None => Mark::Text,
            };
            let after_blank = self.after_blank || start == 0;
            self.lines.push(Line::new(Span::new(start, self.text.len()), mark, after_blank));
            self.after_blank = false;
        }
        self.after_blank |= apart;
        self.line.clear();
    }

    fn finish(mut self) -> Extracted {
        self.flush(false);
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title: String = title.chars().take(200).collect();
        Extracted {
            title: (!title.is_empty()).then_some(title),
            text: self.text,
            lines: self.lines,
            extractor: "html/1",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, expected: &str) {
        assert_eq!(extract(page).text, expected, "{page}");
    }

    #[test]
    fn only_visible_words_are_kept() {
        check("<p>甲</p><p>乙<br>丙</p>", "甲\n\n乙\n丙");
        check("<script>x()</script><style>p{}</style><template><p>t</p></template><p>甲</p>", "甲");
        check("<p hidden>x</p><div style='display: none'>y</div><p aria-hidden=true>z</p>甲", "甲");
        check("<p>a <b>b</b><i>c</i>\n d&nbsp;&amp; e</p>", "a bc d & e");
        check(
            "<table><tr><th>職等</th><th>日支</th></tr><tr><td><p>職員</p></td><td>70</td></tr></table>",
            "職等 | 日支\n職員 | 70",
        );
        check("<ul><li>一</li><li>二</li></ul>", "一\n\n二");
        check("<pre>a\nb</pre>", "a\nb");
        check("<p>a<a title=\"x>y\" href=z>b</a>c</p>", "abc");
        check("未閉合 <b", "未閉合");
    }

    #[test]
    fn headings_and_the_title_are_known() {
        let page = extract("<title> 工作 規則 </title><h1>甲</h1><p>乙</p><h3>丙</h3>");
        let marks: Vec<_> = page.lines.iter().map(|line| line.mark).collect();
        assert_eq!(page.title.as_deref(), Some("工作 規則"));
        assert_eq!(marks, [Mark::Heading(1), Mark::Text, Mark::Heading(3)]);
    }

    #[test]
    fn hostile_pages_take_linear_time() {
        for (piece, times) in [
            ("<div>", 40_000),
            ("<span><p>", 20_000),
            ("<b><p>", 20_000),
            ("<table><tr><td>", 10_000),
            ("<a \"", 40_000),
            ("<", 100_000),
            ("&lt;", 50_000),
        ] {
            let _ = extract(&(piece.repeat(times) + "甲"));
        }
        let many: String = (0..300).map(|n| format!("<font color={n}>")).collect();
        let _ = extract(&(format!("<p>{many}</p>") + &"<p>x".repeat(10_000)));
    }
}
