//! What an operator can set about the door.

use std::{path::PathBuf, time::Duration};

use bylaw_handover::HandoverSettings;

use crate::frame_ancestor::FrameAncestor;

/// What an operator can set about the door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSettings {
    /// Files below this folder may be ingested by path; `None` refuses ingestion by path.
    pub documents_root: Option<PathBuf>,
    /// Where uploads are written while they arrive. Nothing else may be kept here under a name `incoming-….part`.
    pub uploads: PathBuf,
    /// Largest upload.
    pub upload_limit_bytes: u64,
    /// Largest JSON body.
    pub json_limit_bytes: usize,
    /// Questions that are answered at once; one more is refused as `overloaded`.
    pub concurrent_asks: usize,
    /// Longest silence of an event stream before a comment is sent.
    pub heartbeat: Duration,
    /// Longest wait for the next piece of a request, and for the next request of an idle connection.
    pub read_timeout: Duration,
    /// How long requests in flight may go on after the service was told to stop.
    pub shutdown_grace: Duration,
    /// Host names besides the loopback ones under which the service may be called, without port; `*` for all. As long as
    /// no keys exist this is what keeps other people's web pages out.
    pub allowed_hosts: Vec<String>,
    /// Whose pages may show `/ui/embed` in a frame. The rest of the page is shown in nobody's.
    pub frame_ancestors: Vec<FrameAncestor>,
    /// What other people's agents are handed at `/mcp`.
    pub handover: HandoverSettings,
}

impl ServiceSettings {
    /// The defaults, with the folder for uploads.
    #[must_use]
    pub fn new(uploads: impl Into<PathBuf>) -> Self {
        Self {
            documents_root: None,
            uploads: uploads.into(),
            upload_limit_bytes: 256 * 1024 * 1024,
            json_limit_bytes: 64 * 1024,
            concurrent_asks: 64,
            heartbeat: Duration::from_secs(15),
            read_timeout: Duration::from_secs(60),
            shutdown_grace: Duration::from_secs(10),
            allowed_hosts: Vec::new(),
            frame_ancestors: Vec::new(),
            handover: HandoverSettings::default(),
        }
    }
}
