//! The handler of requests: tools, the map as a resource, the onboarding prompt.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CompletionInfo,
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
    Tool as ToolModel, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Map;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::{JoinError, JoinHandle};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::halt;
use crate::mcp::{Open, Place, words};
use crate::report::sanitize;
use crate::tools::complete::{self, Completed};
use crate::tools::param::{self, Asker, Given};
use crate::tools::tool::{Answers, Form, Now, Rendered, Tool};
use crate::tools::{self, get_symbol, repo_map};
use crate::view::View;

/// How often a waiting call says that it is still at work.
const TICK: Duration = Duration::from_secs(2);
/// How long an answer from what there is may take before it is given up.
const LAST_WAIT: Duration = Duration::from_secs(8);
/// The longest JSON answer; longer ones are given as text within the token budget.
const MAX_DATA_BYTES: usize = 400_000;

/// How many questions are worked on at once; more wait their turn.
const MAX_AT_WORK: usize = 8;

/// A server of one repository, for one client or for all that speak to one address.
#[derive(Clone)]
pub struct Server {
    place: Place,
    open: Open,
    desk: Arc<Mutex<Option<Arc<dyn Answers>>>>,
    is_preparing: Arc<AtomicBool>,
    at_work: Arc<Semaphore>,
}

impl Server {
    /// A server that opens its repository at the first question.
    pub fn new(place: Place, open: Open) -> Self {
        let at_work = Arc::new(Semaphore::new(MAX_AT_WORK));
        Server { place, open, desk: Arc::default(), is_preparing: Arc::default(), at_work }
    }

    /// The desk, opened if it was not; a failure is tried again at the next question.
    async fn desk(&self, context: &RequestContext<RoleServer>) -> Result<Arc<dyn Answers>> {
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
        *desk = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// After an answer, makes ready for edits and processes to come; one at a time.
    fn prepare(&self, desk: &Arc<dyn Answers>) {
        if !self.is_preparing.swap(true, Ordering::Relaxed) {
            let (desk, is_preparing) = (Arc::clone(desk), Arc::clone(&self.is_preparing));
            tokio::task::spawn_blocking(move || {
                desk.prepare();
                is_preparing.store(false, Ordering::Relaxed);
            });
        }
    }

    /// Runs a tool off the async threads, with progress while it takes long.
    async fn ask(
        &self,
        tool: &'static Tool,
        raw: Map<String, serde_json::Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Rendered> {
        Given::read(tool.name, tool.params, &raw, Asker::Client)?;
        let started = Instant::now();
        let desk = self.desk(context).await?;
        let raw = Arc::new(raw);
        let stop: Arc<AtomicBool> = Arc::default();
        let mut job = self.start(Arc::clone(&desk), tool, Arc::clone(&raw), Arc::clone(&stop));
        let mut stale: Option<JoinHandle<Result<Rendered>>> = None;
        loop {
            let left = self.place.patience.saturating_sub(started.elapsed());
            let tick = if stale.is_some() { TICK } else { TICK.min(left) };
            tokio::select! {
                done = &mut job => {
                    self.prepare(&desk);
                    return done.map_err(crashed)?;
                }
                done = finished(&mut stale) => return done.map_err(crashed)?.map_err(while_indexing),
                () = context.ct.cancelled() => {
                    stop.store(true, Ordering::Relaxed);
                    return Err(cancelled());
                }
                () = tokio::time::sleep(tick) => {}
            }
            let elapsed = started.elapsed();
            if elapsed >= self.place.patience && stale.is_none() {
                // The job goes on: it answers if it is done sooner, and the next question finds it.
                let (desk, raw) = (Arc::clone(&desk), Arc::clone(&raw));
                stale = Some(tokio::task::spawn_blocking(move || desk.answer(tool, &raw, Asker::Client, Now::Held)));
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

    /// Starts a tool's work as soon as few enough others are at work. Once `stop` is set it ends
    /// where it next looks; an index in the making is finished, for the next question. It keeps its
    /// turn to its end.
    fn start(
        &self,
        desk: Arc<dyn Answers>,
        tool: &'static Tool,
        raw: Arc<Map<String, serde_json::Value>>,
        stop: Arc<AtomicBool>,
    ) -> JoinHandle<Result<Rendered>> {
        let at_work = Arc::clone(&self.at_work);
        tokio::spawn(async move {
            let turn = at_work.acquire_owned().await;
            let work = tokio::task::spawn_blocking(move || {
                let answer = halt::within(&stop, || {
                    halt::check();
                    desk.answer(tool, &raw, Asker::Client, Now::Fresh)
                });
                drop(turn);
                answer.unwrap_or_else(|| Err(cancelled()))
            });
            work.await.map_err(crashed)?
        })
    }

    /// The map as text, for the resource and the prompt; of a folder, where one is given.
    async fn map(
        &self,
        folder: Option<&str>,
        context: &RequestContext<RoleServer>,
    ) -> std::result::Result<String, ErrorData> {
        static MAP: Tool = repo_map::TOOL;
        let mut raw = Map::new();
        if let Some(folder) = folder.filter(|folder| !folder.is_empty()) {
            raw.insert("path_prefix".to_owned(), folder.into());
        }
        self.text_of(&MAP, raw, context).await
    }

    /// A tool's answer as text, where an error is the request's.
    async fn text_of(
        &self,
        tool: &'static Tool,
        raw: Map<String, serde_json::Value>,
        context: &RequestContext<RoleServer>,
    ) -> std::result::Result<String, ErrorData> {
        match self.ask(tool, raw, context).await {
            Ok(answer) => Ok(answer.text),
            Err(error) => match error.kind {
                ErrorKind::UnknownTarget | ErrorKind::Usage => Err(ErrorData::invalid_params(error_text(&error), None)),
                _ => Err(ErrorData::internal_error(error_text(&error), None)),
            },
        }
    }

    /// What completes an argument, by its name; nothing for names that are none of ours.
    async fn completed(&self, name: &str, typed: &str, context: &RequestContext<RoleServer>) -> Result<Completed> {
        let complete: fn(&View, &str) -> Completed = match name {
            "path" => complete::paths,
            "qualname" => complete::qualnames,
            _ => return Ok(Completed { values: Vec::new(), total: 0 }),
        };
        let desk = self.desk(context).await?;
        let typed = typed.to_owned();
        // Typing does not wait for an index in the making: what is there completes.
        let work = tokio::task::spawn_blocking(move || {
            let atlas = desk.atlas()?;
            Ok(complete(&atlas.view, &typed))
        });
        match tokio::time::timeout(TICK, work).await {
            Ok(done) => done.map_err(crashed)?,
            Err(_) => Ok(Completed { values: Vec::new(), total: 0 }),
        }
    }
}

/// The result of a job, once there is one.
async fn finished(job: &mut Option<JoinHandle<Result<Rendered>>>) -> std::result::Result<Result<Rendered>, JoinError> {
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
    decode(path).map(PathBuf::from)
}

/// A part of a URI without its escapes; `None` for what is none.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| (byte? as char).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).ok()
}

fn cancelled() -> Error {
    Error::new(ErrorKind::CannotAnswer, "the request was cancelled")
}

fn crashed(cause: JoinError) -> Error {
    Error::new(ErrorKind::CannotAnswer, "the question stopped this server's work").source(cause)
}

/// An error as text of a tool: the message and what to do, each on its line.
fn error_text(error: &Error) -> String {
    error.to_string().lines().map(|line| sanitize::line(line, 2_000)).collect::<Vec<_>>().join("\n")
}

fn result_of(tool: &Tool, answer: Rendered) -> CallToolResult {
    if tool.form == Form::Data
        && answer.json.len() <= MAX_DATA_BYTES
        && let Ok(data) = serde_json::from_str(&answer.json)
    {
        let mut result = CallToolResult::success(vec![ContentBlock::text(answer.json)]);
        result.structured_content = Some(data);
        return result;
    }
    CallToolResult::success(vec![ContentBlock::text(answer.text)])
}

fn tool_model(tool: &Tool) -> ToolModel {
    ToolModel::new(tool.name, tool.description, Arc::new(param::schema(tool.params)))
        .with_title(tool.title)
        .with_annotations(ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
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
            Ok(answer) => result_of(tool, answer),
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
        let uri = request.uri.as_str();
        let text = match (uri.strip_prefix(words::MAP_URI), uri.strip_prefix(words::SYMBOL_URI)) {
            (Some(""), _) => self.map(None, &context).await?,
            (Some(folder), _) if folder.starts_with('/') => {
                let folder = decode(&folder[1..]).unwrap_or_default();
                self.map(Some(&folder), &context).await?
            }
            (_, Some(name)) if !name.is_empty() => {
                static SYMBOL: Tool = get_symbol::TOOL;
                let mut raw = Map::new();
                raw.insert("qualname".to_owned(), decode(name).unwrap_or_default().into());
                self.text_of(&SYMBOL, raw, &context).await?
            }
            _ => {
                let shown = sanitize::line(uri, 200);
                let what = format!("no resource `{shown}`; there is {}", words::MAP_URI);
                return Err(ErrorData::resource_not_found(what, None));
            }
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]).into())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListResourceTemplatesResult, ErrorData> {
        let folder = ResourceTemplate::new(format!("{}/{{+path}}", words::MAP_URI), "map-of-folder")
            .with_title("Map of a folder")
            .with_description("The map of what lies under a folder or file")
            .with_mime_type("text/plain");
        let symbol = ResourceTemplate::new(format!("{}{{qualname}}", words::SYMBOL_URI), "symbol")
            .with_title("A definition")
            .with_description(get_symbol::TOOL.description)
            .with_mime_type("text/plain");
        Ok(ListResourceTemplatesResult::with_all_items(vec![folder, symbol]))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<CompleteResult, ErrorData> {
        let argument = &request.argument;
        let found = self.completed(&argument.name, &argument.value, &context).await;
        let found = found.map_err(|error| ErrorData::internal_error(error_text(&error), None))?;
        let has_more = found.total > found.values.len();
        let info = CompletionInfo::with_pagination(found.values, u32::try_from(found.total).ok(), has_more);
        Ok(CompleteResult::new(info.map_err(|what| ErrorData::internal_error(what, None))?))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListPromptsResult, ErrorData> {
        let path =
            PromptArgument::new("path").with_description("only what lies under this folder").with_required(false);
        let prompt = Prompt::new(words::PROMPT, Some(words::PROMPT_DESCRIPTION), Some(vec![path]));
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
        let folder = request.arguments.as_ref().and_then(|arguments| arguments.get("path"));
        let folder = folder.map(|folder| folder.as_str().unwrap_or_default());
        let text = words::onboard(&self.map(folder, &context).await?);
        let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        Ok(result.with_description(words::PROMPT_DESCRIPTION).into())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use rmcp::ServiceExt;
    use serde_json::{Map, Value, json};
    use tokio::io::AsyncWriteExt;

    use super::{MAX_AT_WORK, Server, path_of_uri};
    use crate::atlas::Atlas;
    use crate::base::error::{Error, ErrorKind, Result};
    use crate::base::halt;
    use crate::mcp::{Open, Place};
    use crate::tools::param::Asker;
    use crate::tools::tool::{Answers, Now, Rendered, Tool};

    #[test]
    fn roots_are_paths() {
        assert_eq!(path_of_uri("file:///a/b%20c"), Some(PathBuf::from("/a/b c")));
        assert_eq!(path_of_uri("file://localhost/a"), Some(PathBuf::from("/a")));
        assert_eq!(path_of_uri("file:///C:/x"), Some(PathBuf::from("C:/x")));
        for bad in ["https://example.org/a", "file:///a%zz", "file://"] {
            assert_eq!(path_of_uri(bad), None, "{bad}");
        }
    }

    /// Works without end on every question, and tells when it begins and ends.
    struct Endless {
        told: mpsc::Sender<&'static str>,
        n_at_work: AtomicUsize,
        most_at_work: Arc<AtomicUsize>,
    }

    /// Tells when it goes, however it goes.
    struct Work<'e>(&'e Endless);

    impl Drop for Work<'_> {
        fn drop(&mut self) {
            self.0.n_at_work.fetch_sub(1, Ordering::SeqCst);
            let _ = self.0.told.send("ended");
        }
    }

    impl Answers for Endless {
        fn answer(&self, _: &'static Tool, _: &Map<String, Value>, _: Asker, _: Now) -> Result<Rendered> {
            let _work = Work(self);
            self.most_at_work.fetch_max(self.n_at_work.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let _ = self.told.send("begun");
            loop {
                halt::check();
                std::thread::sleep(Duration::from_millis(1));
            }
        }

        fn atlas(&self) -> Result<Arc<Atlas>> {
            Err(Error::new(ErrorKind::CannotAnswer, "there is no tree"))
        }

        fn is_warm(&self) -> bool {
            true
        }

        fn prepare(&self) {}
    }

    #[test]
    fn cancelled_questions_stop_working_and_few_work_at_once() {
        let (told, heard) = mpsc::channel();
        let most_at_work: Arc<AtomicUsize> = Arc::default();
        let endless =
            Arc::new(Endless { told, n_at_work: AtomicUsize::new(0), most_at_work: Arc::clone(&most_at_work) });
        let open: Open = Arc::new(move |_| Ok(Arc::clone(&endless) as Arc<dyn Answers>));
        let place =
            Place { known: Some(PathBuf::from(".")), fallback: PathBuf::from("."), patience: Duration::from_secs(600) };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let next = || heard.recv_timeout(Duration::from_secs(30)).unwrap();
        runtime.block_on(async {
            let (mut client, input) = tokio::io::duplex(1 << 16);
            let (output, _kept_open) = tokio::io::duplex(1 << 16);
            tokio::spawn(async move {
                if let Ok(running) = Server::new(place, open).serve((input, output)).await {
                    let _ = running.waiting().await;
                }
            });
            let mut send = async |message: Value| {
                client.write_all(format!("{message}\n").as_bytes()).await.unwrap();
            };
            let client_info = json!({"name": "t", "version": "1"});
            let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client_info});
            send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})).await;
            send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
            let n = MAX_AT_WORK + 2;
            for id in 1..=n {
                let params = json!({"name": "index_status", "arguments": {}});
                send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).await;
            }
            let mut said: Vec<&str> = (0..MAX_AT_WORK).map(|_| next()).collect();
            for id in 1..=n {
                let params = json!({"requestId": id, "reason": "no longer needed"});
                send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
            }
            said.extend((0..MAX_AT_WORK).map(|_| next()));
            // Those that waited for a turn may or may not have begun before they were cancelled.
            assert!(said.iter().filter(|word| **word == "begun").count() >= MAX_AT_WORK, "{said:?}");
            assert!(said.contains(&"ended"), "{said:?}");
        });
        runtime.shutdown_timeout(Duration::from_secs(10));
        assert_eq!(most_at_work.load(Ordering::SeqCst), MAX_AT_WORK);
        let rest: Vec<&str> = heard.try_iter().collect();
        assert!(rest.iter().filter(|word| **word == "begun").count() <= 2, "{rest:?}");
    }
}
