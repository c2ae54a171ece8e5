//! The handler of requests: tools, the map as a resource, the onboarding prompt.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, Prompt, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, Role, ServerCapabilities, ServerConfig, Tool as ToolModel,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Map;
use tokio::sync::Mutex;
use tokio::task::{JoinError, JoinHandle};

use crate::base::error::{Error, ErrorKind, Result};
use crate::mcp::{Open, Place, words};
use crate::report::{json, sanitize};
use crate::tools::param::{self, Asker, Given};
use crate::tools::tool::{Answer, Desk, Form, Tool};
use crate::tools::{self, repo_map};

/// How often a waiting call says that it is still at work.
const TICK: Duration = Duration::from_secs(2);
/// How long an answer from what there is may take before it is given up.
const LAST_WAIT: Duration = Duration::from_secs(8);
/// The longest JSON answer; longer ones are given as text within the token budget.
const MAX_DATA_BYTES: usize = 400_000;

/// A server for one client.
#[derive(Clone)]
pub struct Server {
    place: Place,
    open: Open,
    desk: Arc<Mutex<Option<Arc<Desk>>>>,
    is_prepared: Arc<AtomicBool>,
}

impl Server {
    /// A server that opens its repository at the first question.
    pub fn new(place: Place, open: Open) -> Self {
        Server { place, open, desk: Arc::default(), is_prepared: Arc::default() }
    }

    /// The desk, opened if it was not; a failure is tried again at the next question.
    async fn desk(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Desk>> {
        let mut desk = self.desk.lock().await;
        if let Some(desk) = desk.as_ref() {
            return Ok(Arc::clone(desk));
        }
        let dir = match &self.place.known {
            Some(dir) => dir.clone(),
            None => client_root(context).await.unwrap_or_else(|| self.place.fallback.clone()),
        };
        let open = Arc::clone(&self.open);
        let opened = tokio::task::spawn_blocking(move || open(&dir)).await.map_err(crashed)??;
        let opened = Arc::new(opened);
        *desk = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// After the first answer, makes ready for edits to come.
    fn prepare(&self, desk: &Arc<Desk>) {
        if !self.is_prepared.swap(true, Ordering::Relaxed) {
            let source = Arc::clone(&desk.source);
            tokio::task::spawn_blocking(move || source.prepare());
        }
    }

    /// Runs a tool off the async threads, with progress while it takes long.
    async fn ask(
        &self,
        tool: &'static Tool,
        raw: Map<String, serde_json::Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Answer> {
        let given = Given::read(tool.name, tool.params, &raw, Asker::Client)?;
        let started = Instant::now();
        let desk = self.desk(context).await?;
        let given = given.within(desk.source.root().as_deref());
        let mut job = {
            let (desk, given) = (Arc::clone(&desk), given.clone());
            tokio::task::spawn_blocking(move || (tool.run)(&desk, &given))
        };
        let mut stale: Option<JoinHandle<Result<Answer>>> = None;
        loop {
            let left = self.place.patience.saturating_sub(started.elapsed());
            let tick = if stale.is_some() { TICK } else { TICK.min(left) };
            tokio::select! {
                done = &mut job => {
                    self.prepare(&desk);
                    return done.map_err(crashed)?;
                }
                done = finished(&mut stale) => return done.map_err(crashed)?.map_err(while_indexing),
                () = context.ct.cancelled() => return Err(Error::new(ErrorKind::CannotAnswer, "the request was cancelled")),
                () = tokio::time::sleep(tick) => {}
            }
            let elapsed = started.elapsed();
            if elapsed >= self.place.patience && stale.is_none() {
                // The job goes on: it answers if it is done sooner, and the next question finds it.
                let (desk, given) = (Arc::clone(&desk), given.clone());
                stale = Some(tokio::task::spawn_blocking(move || (tool.run)(&desk.stale(), &given)));
            }
            if elapsed >= self.place.patience + LAST_WAIT {
                let what = format!("the repository is still being indexed after {} seconds", elapsed.as_secs());
                return Err(Error::new(ErrorKind::CannotAnswer, what).hint("ask again in a while: the work goes on"));
            }
            if let Some(token) = context.meta.get_progress_token() {
                let progress = ProgressNotificationParam::new(token, elapsed.as_secs_f64()).with_message("indexing");
                let _ = context.peer.notify_progress(progress).await;
            }
        }
    }

    /// The map as text, for the resource and the prompt.
    async fn map(&self, context: &RequestContext<RoleServer>) -> std::result::Result<String, ErrorData> {
        static MAP: Tool = repo_map::TOOL;
        match self.ask(&MAP, Map::new(), context).await {
            Ok(answer) => Ok(answer.text()),
            Err(error) => Err(ErrorData::internal_error(error_text(&error), None)),
        }
    }
}

/// The result of a job, once there is one.
async fn finished(job: &mut Option<JoinHandle<Result<Answer>>>) -> std::result::Result<Result<Answer>, JoinError> {
    match job {
        Some(job) => job.await,
        None => std::future::pending().await,
    }
}

/// What is not found in a part of the tree may be in the rest of it.
fn while_indexing(error: Error) -> Error {
    match error.kind {
        ErrorKind::UnknownTarget => {
            Error::new(ErrorKind::CannotAnswer, format!("{}, as far as the repository is indexed yet", error.what))
                .hint("ask again in a while: the work goes on")
        }
        _ => error,
    }
}

/// The first of the client's roots that is a folder here.
#[expect(deprecated, reason = "roots are how clients before 2026-07-28 say where they are")]
async fn client_root(context: &RequestContext<RoleServer>) -> Option<PathBuf> {
    context.client_capabilities()?.roots?;
    let asked = tokio::time::timeout(Duration::from_secs(5), context.peer.list_roots()).await;
    let roots = asked.ok()?.ok()?.roots;
    roots.iter().filter_map(|root| path_of_uri(&root.uri)).find(|path| path.is_dir())
}

/// The path of a `file:` URI.
fn path_of_uri(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    // A host, if any, ends at the first slash; Windows drives come as `/C:/…`.
    let path = &path[path.find('/')?..];
    let path = match path.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => &path[1..],
        _ => path,
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| (byte? as char).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

fn crashed(cause: JoinError) -> Error {
    Error::new(ErrorKind::CannotAnswer, "the question stopped this server's work").source(cause)
}

/// An error as text of a tool: the message and what to do, each on its line.
fn error_text(error: &Error) -> String {
    error.to_string().lines().map(|line| sanitize::line(line, 2_000)).collect::<Vec<_>>().join("\n")
}

fn result_of(tool: &Tool, answer: &Answer) -> CallToolResult {
    if tool.form == Form::Data {
        let data = answer.json();
        let text = json::compact(&data);
        if text.len() <= MAX_DATA_BYTES {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(data);
            return result;
        }
    }
    CallToolResult::success(vec![ContentBlock::text(answer.text())])
}

fn tool_model(tool: &Tool) -> ToolModel {
    ToolModel::new(tool.name, tool.description, Arc::new(param::schema(tool.params)))
        .with_title(tool.title)
        .with_annotations(ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("ratlas", env!("CARGO_PKG_VERSION")).with_title("RepoAtlas"))
            .with_instructions(words::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all().iter().map(tool_model).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::all().iter().find(|tool| tool.name == request.name) else {
            let names: Vec<&str> = tools::all().iter().map(|tool| tool.name).collect();
            let name = sanitize::line(&request.name, 80);
            return Err(ErrorData::invalid_params(format!("no tool `{name}`; there are {}", names.join(", ")), None));
        };
        let raw = request.arguments.unwrap_or_default();
        Ok(match self.ask(tool, raw, &context).await {
            Ok(answer) => result_of(tool, &answer),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error_text(&error))]),
        }
        .into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListResourcesResult, ErrorData> {
        let map = Resource::new(words::MAP_URI, "map")
            .with_title("Map of the repository")
            .with_description(repo_map::TOOL.description)
            .with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![map]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<ReadResourceResponse, ErrorData> {
        if request.uri != words::MAP_URI {
            let uri = sanitize::line(&request.uri, 200);
            return Err(ErrorData::resource_not_found(
                format!("no resource `{uri}`; there is {}", words::MAP_URI),
                None,
            ));
        }
        let map = self.map(&context).await?;
        Ok(ReadResourceResult::new(vec![ResourceContents::text(map, words::MAP_URI)]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListPromptsResult, ErrorData> {
        let prompt = Prompt::new(words::PROMPT, Some(words::PROMPT_DESCRIPTION), None);
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<GetPromptResponse, ErrorData> {
        if request.name != words::PROMPT {
            let name = sanitize::line(&request.name, 80);
            return Err(ErrorData::invalid_params(format!("no prompt `{name}`; there is {}", words::PROMPT), None));
        }
        let text = words::onboard(&self.map(&context).await?);
        let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        Ok(result.with_description(words::PROMPT_DESCRIPTION).into())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::path_of_uri;

    #[test]
    fn roots_are_paths() {
        assert_eq!(path_of_uri("file:///a/b%20c"), Some(PathBuf::from("/a/b c")));
        assert_eq!(path_of_uri("file://localhost/a"), Some(PathBuf::from("/a")));
        assert_eq!(path_of_uri("file:///C:/x"), Some(PathBuf::from("C:/x")));
        for bad in ["https://example.org/a", "file:///a%zz", "file://"] {
            assert_eq!(path_of_uri(bad), None, "{bad}");
        }
    }
}
