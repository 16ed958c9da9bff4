import type {
  Answer,
  ArticleResponse,
  AskEvent,
  AskRequest,
  BudgetsResponse,
  ConversationDetail,
  ConversationList,
  ConversationSummary,
  DeleteResult,
  HealthReport,
  IngestJob,
  Me,
  ReplyTaken,
  RunCancelled,
  RunDetail,
  RunEvent,
  RunList,
  RunReply,
  SearchRequest,
  SearchResponse,
  SourceDetail,
  SourceSummary,
  StartRun,
  StartedRun,
  UndoResult,
  UsageResponse,
} from './types'

/** How a request may be given up. */
export interface Call {
  signal?: AbortSignal
}

/** Which page of a list: `before` is the `next` of the page before. */
export interface PageQuery {
  limit?: number
  before?: string
}

export interface RunQuery extends PageQuery {
  status?: 'running' | 'waiting' | 'ended'
  kind?: 'ask' | 'agent'
  agent?: string
  conversation?: string
  key?: string
}

/** Days are `2026-03-08`; `by` names what lines are told apart by, with commas: `day,model`. */
export interface UsageQuery {
  from?: string
  to?: string
  key?: string
  by?: string
}

export interface UploadOptions extends Call {
  /** The source's name; the file's own without it. */
  source?: string
  /** Share of the bytes that have been sent, 0 to 1. */
  onProgress?: (share: number) => void
}

/**
 * Everything the page asks of the service. `live.ts` asks it over the network, `recorded.ts` answers from what was written
 * down. Every method throws `ApiFailure`, or the `AbortError` of its signal.
 */
export interface Api {
  me(call?: Call): Promise<Me>
  health(call?: Call): Promise<HealthReport>

  /** Asks and listens. Ends after `done` or `error`; throws `stream_cut` if the stream ends without either. */
  ask(request: AskRequest, call?: Call): AsyncGenerator<AskEvent, void, undefined>
  /** Asks and waits for the whole answer. */
  askOnce(request: AskRequest, call?: Call): Promise<Answer>
  search(request: SearchRequest, call?: Call): Promise<SearchResponse>

  /** One article, by its id: `work_rules.md#26-1`. */
  article(id: string, call?: Call): Promise<ArticleResponse>
  sources(call?: Call): Promise<SourceSummary[]>
  source(name: string, call?: Call): Promise<SourceDetail>
  deleteSource(name: string, call?: Call): Promise<DeleteResult>
  undoDelete(name: string, call?: Call): Promise<UndoResult>

  documents(limit?: number, call?: Call): Promise<IngestJob[]>
  document(job: string, call?: Call): Promise<IngestJob>
  upload(file: File, options?: UploadOptions): Promise<IngestJob>

  runs(query?: RunQuery, call?: Call): Promise<RunList>
  run(id: string, call?: Call): Promise<RunDetail>
  startRun(request: StartRun, call?: Call): Promise<StartedRun>
  cancelRun(id: string, call?: Call): Promise<RunCancelled>
  /** What happens in a run after event `after`. Ends after the run's last event; a cut stream throws `stream_cut`. */
  runEvents(id: string, after: number, call?: Call): AsyncGenerator<RunEvent, void, undefined>
  reply(run: string, question: number, reply: RunReply, call?: Call): Promise<ReplyTaken>
  artifact(id: string, call?: Call): Promise<Blob>

  conversations(query?: PageQuery, call?: Call): Promise<ConversationList>
  conversation(id: string, call?: Call): Promise<ConversationDetail>
  beginConversation(title: string, agent?: string, call?: Call): Promise<ConversationSummary>
  deleteConversation(id: string, call?: Call): Promise<void>

  usage(query?: UsageQuery, call?: Call): Promise<UsageResponse>
  budgets(call?: Call): Promise<BudgetsResponse>
}
