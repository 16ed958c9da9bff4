//! The server, ready to be mounted.

use std::{fmt, sync::Arc};

use bylaw_contract::Randomness;
use bylaw_mcp::{CallLimits, ServerTool, ToolServer, ToolServerError, Words};

use crate::{
    FrontDoor, HandoverSettings, aliases, ask::AskRules, prompt::FromTheRules, read_article::ReadArticle,
    resources::Rules, search_rules::SearchRules, visit::Desk,
};

/// What a server stands on.
pub struct HandoverParts {
    /// The only way to Bylaw.
    pub door: Arc<dyn FrontDoor>,
    /// What the operator decides.
    pub settings: HandoverSettings,
    /// How many calls run at once.
    pub limits: CallLimits,
    /// Where request ids come from.
    pub random: Arc<dyn Randomness>,
}

impl fmt::Debug for HandoverParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandoverParts").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Builds the server: three tools, or five with the aliases; the rules as resources; one prompt.
///
/// # Errors
/// Never, unless a schema was changed into one that not every client takes; a test holds that.
pub fn server(parts: HandoverParts) -> Result<Arc<ToolServer>, ToolServerError> {
    let HandoverParts { door, settings, limits, random } = parts;
    let (language, with_aliases) = (settings.language, settings.aliases);
    let desk = Desk { door, settings: Arc::new(settings), random };
    let mut tools: Vec<Arc<dyn ServerTool>> = vec![
        Arc::new(SearchRules(desk.clone())),
        Arc::new(ReadArticle(desk.clone())),
        Arc::new(AskRules(desk.clone())),
    ];
    if with_aliases {
        tools.push(Arc::new(aliases::Search(desk.clone())));
        tools.push(Arc::new(aliases::Fetch(desk.clone())));
    }
    ToolServer::builder("bylaw", env!("CARGO_PKG_VERSION"))
        .titled(Words::new("Bylaw: the organisation's rules", "Bylaw：組織規章"))
        .instructed(Words::new(
            "The rules of an organisation. search_rules finds articles and read_article reads one: both are free and mostly all \
             you need. ask has the service answer, which may cost money. What a search gives is near, not necessarily \
             relevant. A failure or a stop is not \"nothing found\": do what its sentence says.",
            "組織的規章。search_rules 找條文、read_article 讀條文，都不花錢，多半用它們就夠；ask 由服務回答，可能會花錢。查到的條文只是接近，不一定有關。失敗或被攔下來不等於查無資料，請照那一句話處理。",
        ))
        .in_language(language)
        .tools(tools)
        .resources(Rules(desk))
        .prompt(FromTheRules)
        .limits(limits)
        .build()
}
