/** Names for what crosses the network. The shapes themselves are generated, in `schema.ts`. */
import type { components } from './schema'

type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

export type Answer = Schema<'Answer'>
export type ArticleResponse = Schema<'ArticleResponse'>
export type ArtifactRef = Schema<'ArtifactRef'>
export type AskRequest = Schema<'AskRequest'>
export type AskedLimits = Schema<'AskedLimits'>
export type BudgetState = Schema<'BudgetState'>
export type BudgetsResponse = Schema<'BudgetsResponse'>
export type Citation = Schema<'Citation'>
export type CitationsEvent = Schema<'CitationsEvent'>
export type ConversationDetail = Schema<'ConversationDetail'>
export type ConversationList = Schema<'ConversationList'>
export type ConversationSummary = Schema<'ConversationSummary'>
export type DeleteResult = Schema<'DeleteResult'>
export type DoneEvent = Schema<'DoneEvent'>
export type Extract = Schema<'Extract'>
export type Health = Schema<'Health'>
export type IngestJob = Schema<'IngestJob'>
export type KeyBudgets = Schema<'KeyBudgets'>
export type LoopEvent = Schema<'LoopEvent'>
export type Mode = Schema<'Mode'>
export type OpenQuestion = Schema<'OpenQuestion'>
export type Outcome = Schema<'Outcome'>
export type OutlineEntry = Schema<'OutlineEntry'>
export type Quote = Schema<'Quote'>
export type ReplyTaken = Schema<'ReplyTaken'>
export type RunCancelled = Schema<'RunCancelled'>
export type RunDetail = Schema<'RunDetail'>
export type RunList = Schema<'RunList'>
export type RunReply = Schema<'RunReply'>
export type RunSummary = Schema<'RunSummary'>
export type SearchRequest = Schema<'SearchRequest'>
export type SearchResponse = Schema<'SearchResponse'>
export type Sentence = Schema<'Sentence'>
export type SentenceStatus = Schema<'SentenceStatus'>
export type SourceDetail = Schema<'SourceDetail'>
export type SourceSummary = Schema<'SourceSummary'>
export type Span = Schema<'Span'>
export type StartRun = Schema<'StartRun'>
export type StartedRun = Schema<'StartedRun'>
export type StopReason = Schema<'StopReason'>
export type StreamErrorEvent = Schema<'StreamErrorEvent'>
export type TextSoFar = Schema<'TextSoFar'>
export type TokenEvent = Schema<'TokenEvent'>
export type UndoResult = Schema<'UndoResult'>
export type UsageEntry = Schema<'UsageEntry'>
export type UsageResponse = Schema<'UsageResponse'>
export type UsageSums = Schema<'UsageSums'>

/** What an agent did with one tool. The service's document does not describe this event; everything else is generated. */
export interface StepEvent {
  step: number
  tool: string
  query: string
  found: string[]
  problem?: string
}

export type Role = 'reader' | 'editor' | 'admin'

/** Who asks, and what there is for them. A service that does not tell everything leaves things out. */
export interface Me {
  principal: string | null
  name?: string | null
  role: Role
  keys_required: boolean
  /** The only sources that may be read; null for all. */
  sources?: string[] | null
  /** Whether a model is configured. Without one every answer is an extract. */
  model?: boolean
  /** The agents that a run can be started of. */
  agents?: string[]
}

/** What a streamed answer consists of, in the order of arrival. */
export type AskEvent =
  | ({ event: 'step' } & StepEvent)
  | ({ event: 'citations' } & CitationsEvent)
  | ({ event: 'token' } & TokenEvent)
  | ({ event: 'done' } & DoneEvent)
  | ({ event: 'error' } & StreamErrorEvent)

/** What a question's run tells beside the events of a run with tools. */
export type AskRunEvent =
  | { event: 'citations'; citations: Citation[] }
  | ({ event: 'step' } & StepEvent)
  | ({ event: 'token' } & TokenEvent)
  | { event: 'done'; answer: Answer }
  | { event: 'failed'; stop: Schema<'Stop'>; code: string; message: string }

/** The stream itself was ended by the service, because a key was revoked, say. */
export type StreamRefused = { event: 'error' } & Schema<'ApiError'>

/** What `GET /runs/{run}/events` tells. What is written down has a number; pieces of text have none. */
export type RunEvent = (LoopEvent | ({ event: 'text_so_far' } & TextSoFar) | AskRunEvent | StreamRefused) & {
  number?: number
  at?: number
}

/** Alive, ready, and what is missing. */
export interface HealthReport {
  /** Whether the process answered at all. */
  alive: boolean
  /** Whether questions can be answered. */
  ready: boolean
  /** What it is made of; null if it did not answer. */
  health: Health | null
  /** Why it is not ready, in the service's words. */
  reason: string | null
}
