import type { Answer, LoopEvent, RunEvent, StopReason } from '@/api/types'

import type { CallEntry, Entry, ModelEntry, QuestionEntry, RunState } from './entries'

export { blank } from './entries'
export type { CallEntry, Entry, ModelEntry, QuestionEntry, RunEnd, RunState } from './entries'

/**
 * The run after an event. An event that was taken already changes nothing, so a stream may begin anywhere before the last
 * one that was heard.
 */
export function reduce(state: RunState, event: RunEvent): RunState {
  if (state.end) return state
  const { number } = event
  if (number === undefined) return shown(state, event)
  if (number <= state.last) return state
  const at = event.at ?? null
  return { ...logged({ ...state, startedAt: state.startedAt ?? at }, event, at, String(number)), last: number }
}

/** What is shown and has no number. */
function shown(state: RunState, event: RunEvent): RunState {
  switch (event.event) {
    case 'text_so_far':
      return { ...state, writing: event.text }
    case 'text_delta':
    case 'token':
      return { ...state, writing: state.writing + event.text }
    case 'tool_progress':
      return changeCall(state, event.call_id, (call) => ({ ...call, progress: event.message }))
    default:
      return state
  }
}

function logged(state: RunState, event: RunEvent, at: number | null, key: string): RunState {
  switch (event.event) {
    case 'started':
      return { ...state, runId: event.run_id, agent: event.agent, model: event.model, message: event.message }
    case 'model_call':
      return add({ ...lapse(state, at), isAsking: true, writing: '' }, {
        kind: 'model',
        key,
        at,
        state: 'running',
        step: event.step,
        tools: event.tools,
        isLast: event.last,
        text: '',
        reasoning: null,
        calls: 0,
        tokens: null,
        problem: null,
        endedAt: null,
      })
    case 'model_reply':
      return modelReply(state, event, at, key)
    case 'model_failed':
      return changeModel({ ...state, isAsking: false, writing: '' }, (model) => ({
        ...model,
        state: 'failed',
        text: state.writing,
        problem: event.message,
        endedAt: at,
      }))
    case 'tool_call': {
      const sent = { tool: event.tool, server: event.server ?? null, arguments: event.arguments, state: 'running' as const, at }
      const next = { ...state, toolCalls: state.toolCalls + 1 }
      return moveCall(next, event.call_id, newCall(key, at, event.call_id, event.tool), sent)
    }
    case 'tool_result': {
      const came = { state: event.status, result: event.text, artifacts: event.artifacts ?? [], progress: null, endedAt: at }
      const entry = state.entries[openCall(state, event.call_id)]
      const wasSent = entry?.kind === 'call' && entry.state === 'running'
      if (wasSent) return changeCall(state, event.call_id, (call) => ({ ...call, ...came }))
      return moveCall(state, event.call_id, newCall(key, at, event.call_id, event.tool), { ...came, at })
    }
    case 'question':
      return add({ ...state, waitingSince: state.waitingSince ?? at }, {
        kind: 'question',
        key,
        at,
        state: 'open',
        id: event.id,
        why: event.kind,
        server: event.server ?? null,
        tool: event.tool ?? null,
        arguments: event.arguments ?? null,
        message: event.message,
        schema: event.schema ?? null,
        reply: null,
      })
    case 'reply': {
      const reply = { action: event.action, content: event.content ?? null, by: event.by, at }
      const entries = state.entries.map((entry) =>
        entry.kind === 'question' && entry.id === event.id ? { ...entry, state: 'answered' as const, reply } : entry,
      )
      return waited({ ...state, entries }, at)
    }
    case 'citations':
      return add(state, { kind: 'found', key, at, citations: event.citations })
    case 'ended':
      return end(state, at, {
        reason: event.reason,
        code: event.code ?? null,
        message: event.message,
        answer: event.answer ?? null,
        steps: event.steps,
        toolCalls: event.tool_calls,
      })
    case 'done': {
      const { answer } = event
      const reason = answer.stop?.reason ?? 'completed'
      const message = answer.stop?.message ?? answer.note
      return end(state, at, { reason, code: null, message, answer: answer.answer ?? null, full: answer })
    }
    case 'failed':
      return end(state, at, { reason: event.stop.reason, code: event.code, message: event.message, answer: null })
    default:
      // Of a later version, which says so in `started`: it is passed over, and what comes after it is still told.
      return state
  }
}

function modelReply(
  state: RunState,
  event: Extract<LoopEvent, { event: 'model_reply' }>,
  at: number | null,
  key: string,
): RunState {
  const tokens = event.usage ? { input: event.usage.input_tokens, output: event.usage.output_tokens } : null
  const next: RunState = {
    ...state,
    isAsking: false,
    writing: '',
    steps: state.steps + (event.calls.length > 0 ? 1 : 0),
    tokens: {
      input: state.tokens.input + (tokens?.input ?? 0),
      output: state.tokens.output + (tokens?.output ?? 0),
    },
  }
  const replied = changeModel(next, (model) => ({
    ...model,
    state: 'done',
    text: event.text,
    reasoning: event.reasoning ?? null,
    calls: event.calls.length,
    tokens,
    endedAt: at,
  }))
  return event.calls.reduce(
    (so, call, place) =>
      add(so, { ...newCall(`${key}.${place}`, at, call.call_id, call.tool), requested: call.arguments }),
    replied,
  )
}

function newCall(key: string, at: number | null, callId: string, tool: string): CallEntry {
  return {
    kind: 'call',
    key,
    at,
    state: 'planned',
    callId,
    tool,
    server: null,
    arguments: null,
    requested: '',
    result: null,
    artifacts: [],
    progress: null,
    endedAt: null,
  }
}

/** What happens comes after what has happened, and before calls that are only planned. */
function add(state: RunState, entry: Entry): RunState {
  const isPlanned = (each: Entry) => each.kind === 'call' && each.state === 'planned'
  const place = isPlanned(entry) ? state.entries.length : state.entries.findLastIndex((each) => !isPlanned(each)) + 1
  return { ...state, entries: state.entries.toSpliced(place, 0, entry) }
}

function replace(state: RunState, place: number, entry: Entry): RunState {
  return { ...state, entries: state.entries.with(place, entry) }
}

function changeModel(state: RunState, change: (model: ModelEntry) => ModelEntry): RunState {
  const place = state.entries.findLastIndex((entry) => entry.kind === 'model' && entry.state === 'running')
  const entry = state.entries[place]
  return entry?.kind === 'model' ? replace(state, place, change(entry)) : state
}

/** Models number their calls as they like, and some begin again with each reply: the first one that has no result yet. */
function openCall(state: RunState, callId: string): number {
  const isOpen = (entry: Entry) =>
    entry.kind === 'call' && entry.callId === callId && (entry.state === 'planned' || entry.state === 'running')
  return state.entries.findIndex(isOpen)
}

function changeCall(state: RunState, callId: string, change: (call: CallEntry) => CallEntry): RunState {
  const place = openCall(state, callId)
  const entry = state.entries[place]
  return entry?.kind === 'call' ? replace(state, place, change(entry)) : state
}

/** What was planned takes its place when it happens, after what was asked before it; what was not planned begins there. */
function moveCall(state: RunState, callId: string, fresh: CallEntry, change: Partial<CallEntry>): RunState {
  const place = openCall(state, callId)
  const planned = state.entries[place]
  if (planned?.kind !== 'call') return add(state, { ...fresh, ...change })
  return add({ ...state, entries: state.entries.toSpliced(place, 1) }, { ...planned, ...change })
}

/** Stops the clock of waiting, once nothing is open any more. */
function waited(state: RunState, at: number | null): RunState {
  const isOpen = state.entries.some((entry) => entry.kind === 'question' && entry.state === 'open')
  if (isOpen || state.waitingSince === null) return state
  return { ...state, waitingSince: null, waitedMs: state.waitedMs + Math.max(0, (at ?? state.waitingSince) - state.waitingSince) }
}

/** The run went on: questions that are still open were put away, because their call was over first. */
function lapse(state: RunState, at: number | null): RunState {
  if (state.waitingSince === null) return state
  const entries = state.entries.map((entry) =>
    entry.kind === 'question' && entry.state === 'open' ? { ...entry, state: 'lapsed' as const } : entry,
  )
  return waited({ ...state, entries }, at)
}

interface Ending {
  reason: StopReason
  code: string | null
  message: string
  answer: string | null
  full?: Answer
  steps?: number
  toolCalls?: number
}

function end(state: RunState, at: number | null, ending: Ending): RunState {
  const entries = lapse(state, at).entries.map((entry): Entry => {
    if (entry.kind === 'call' && entry.state === 'running') return { ...entry, state: 'unknown', endedAt: at }
    if (entry.kind === 'call' && entry.state === 'planned') return { ...entry, state: 'skipped', endedAt: at }
    if (entry.kind === 'model' && entry.state === 'running')
      return { ...entry, state: 'cut', text: state.writing, endedAt: at }
    return entry
  })
  return {
    ...lapse(state, at),
    entries,
    isAsking: false,
    writing: '',
    // A run whose process is gone does not say how far it had come.
    steps: Math.max(state.steps, ending.steps ?? 0),
    toolCalls: Math.max(state.toolCalls, ending.toolCalls ?? 0),
    end: {
      at,
      reason: ending.reason,
      code: ending.code,
      message: ending.message,
      answer: ending.answer,
      full: ending.full ?? null,
    },
  }
}

/** Questions that a person is waited for. */
export function openQuestions(state: RunState): QuestionEntry[] {
  return state.entries.filter((entry) => entry.kind === 'question' && entry.state === 'open') as QuestionEntry[]
}

/** Milliseconds that count as the run's time. */
export function elapsedMs(state: RunState, now: number): number {
  if (state.startedAt === null) return 0
  const until = state.end?.at ?? now
  const waiting = state.waitingSince === null || state.end ? 0 : until - state.waitingSince
  return Math.max(0, until - state.startedAt - state.waitedMs - waiting)
}
