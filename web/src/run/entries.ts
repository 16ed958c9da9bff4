import type { Answer, ArtifactRef, Citation, LoopEvent, StopReason } from '@/api/types'

/** What is known of a run, from its events. Grows by `reduce` alone. */
export interface RunState {
  /** The number of the last event that was taken. */
  last: number
  runId: string | null
  agent: string | null
  model: string | null
  message: string | null
  /** What happened, in its order. */
  entries: Entry[]
  /** Whether a model is being asked. */
  isAsking: boolean
  /** What it has said of the reply that is being written. */
  writing: string
  /** Turns that used tools. */
  steps: number
  /** Calls that were made. */
  toolCalls: number
  /** Of the replies that are whole. */
  tokens: { input: number; output: number }
  startedAt: number | null
  /** Milliseconds of waiting for a person. They do not count as the run's time. */
  waitedMs: number
  waitingSince: number | null
  end: RunEnd | null
}

export interface RunEnd {
  at: number | null
  reason: StopReason
  /** A stable code, where something broke. */
  code: string | null
  message: string
  answer: string | null
  /** Of a question: all that was answered. */
  full: Answer | null
}

interface Placed {
  /** Where it stands among the others; for `v-for`. */
  key: string
  at: number | null
}

export interface ModelEntry extends Placed {
  kind: 'model'
  state: 'running' | 'done' | 'failed' | 'cut'
  /** Steps that had been completed. */
  step: number
  /** Tools that it might call. */
  tools: number
  /** It may call none any more. */
  isLast: boolean
  text: string
  reasoning: string | null
  calls: number
  tokens: { input: number; output: number } | null
  problem: string | null
  endedAt: number | null
}

type ToolResult = Extract<LoopEvent, { event: 'tool_result' }>

export interface CallEntry extends Placed {
  kind: 'call'
  /** `planned`: the model wants it. `running`: it was sent. The others are the service's own. */
  state: 'planned' | 'running' | ToolResult['status']
  callId: string
  tool: string
  server: string | null
  /** As they are sent; null before that, and if it was not sent. */
  arguments: Record<string, unknown> | null
  /** As the model wrote them. */
  requested: string
  result: string | null
  artifacts: ArtifactRef[]
  progress: string | null
  endedAt: number | null
}

type Asked = Extract<LoopEvent, { event: 'question' }>
type Replied = Extract<LoopEvent, { event: 'reply' }>

export interface QuestionEntry extends Placed {
  kind: 'question'
  /** `lapsed`: nobody waits for an answer any more. */
  state: 'open' | 'answered' | 'lapsed'
  /** Its number in the run. */
  id: number
  why: Asked['kind']
  server: string | null
  tool: string | null
  arguments: Record<string, unknown> | null
  message: string
  schema: unknown
  reply: { action: Replied['action']; content: unknown; by: Replied['by']; at: number | null } | null
}

export interface FoundEntry extends Placed {
  kind: 'found'
  citations: Citation[]
}

export type Entry = ModelEntry | CallEntry | QuestionEntry | FoundEntry

export const blank: RunState = {
  last: 0,
  runId: null,
  agent: null,
  model: null,
  message: null,
  entries: [],
  isAsking: false,
  writing: '',
  steps: 0,
  toolCalls: 0,
  tokens: { input: 0, output: 0 },
  startedAt: null,
  waitedMs: 0,
  waitingSince: null,
  end: null,
}
