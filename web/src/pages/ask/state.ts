import type { ApiFailure } from '@/api/failure'
import type { AskEvent, AskRequest, Citation, DoneEvent, Extract, StepEvent, StopReason } from '@/api/types'

/** What an answer is doing. The last three end it. */
export type Phase = 'idle' | 'searching' | 'reading' | 'writing' | 'done' | 'failed' | 'cancelled'

/** Why there is no whole answer. */
export interface Trouble {
  code: string
  message: string
  hint: string | null
  requestId: string | null
  stop: { reason: StopReason; message: string } | null
  /** What the rules say all the same. */
  extract: Extract | null
}

/** One question and everything that is known of its answer. */
export interface AskState {
  phase: Phase
  request: AskRequest | null
  steps: readonly StepEvent[]
  citations: readonly Citation[]
  /** What has been written so far. */
  text: string
  answer: DoneEvent | null
  trouble: Trouble | null
  /** Milliseconds on the page's clock. */
  startedAt: number
  endedAt: number | null
}

export type AskAction =
  | { type: 'asked'; request: AskRequest; at: number }
  | { type: 'told'; event: AskEvent; at: number }
  | { type: 'broke'; failure: ApiFailure; at: number }
  | { type: 'cancelled'; at: number }

export const idle: AskState = {
  phase: 'idle',
  request: null,
  steps: [],
  citations: [],
  text: '',
  answer: null,
  trouble: null,
  startedAt: 0,
  endedAt: null,
}

export function isOver(phase: Phase): boolean {
  return phase === 'done' || phase === 'failed' || phase === 'cancelled'
}

export function isBusy(phase: Phase): boolean {
  return phase !== 'idle' && !isOver(phase)
}

/** What becomes of an answer by what happens. What comes after its end changes nothing. */
export function reduce(state: AskState, action: AskAction): AskState {
  if (action.type === 'asked') {
    return { ...idle, phase: 'searching', request: action.request, startedAt: action.at }
  }
  if (!isBusy(state.phase)) return state
  switch (action.type) {
    case 'told':
      return tell(state, action.event, action.at)
    case 'broke': {
      const { code, message, hint, requestId } = action.failure
      const trouble = { code, message, hint, requestId, stop: null, extract: null }
      return { ...state, phase: 'failed', trouble, endedAt: action.at }
    }
    case 'cancelled':
      return { ...state, phase: 'cancelled', endedAt: action.at }
  }
}

function tell(state: AskState, event: AskEvent, at: number): AskState {
  switch (event.event) {
    case 'step':
      return { ...state, phase: phaseOf(event), steps: [...state.steps, event] }
    case 'citations':
      return { ...state, phase: 'reading', citations: event.citations }
    case 'token':
      return { ...state, phase: 'writing', text: state.text + event.text }
    case 'done':
      return {
        ...state,
        phase: 'done',
        answer: event,
        citations: event.citations,
        text: event.answer ?? event.draft ?? '',
        endedAt: at,
      }
    case 'error': {
      const trouble = {
        code: event.code,
        message: event.message,
        hint: null,
        requestId: event.request_id,
        stop: event.stop ?? null,
        extract: event.extract ?? null,
      }
      return { ...state, phase: 'failed', text: event.partial_answer ?? state.text, trouble, endedAt: at }
    }
    default:
      // A newer service may tell more than this page knows.
      return state
  }
}

/** After a search the agent searches on, or reads; an answer that is being checked is being written. */
function phaseOf({ tool }: StepEvent): Phase {
  if (tool === 'read_article') return 'reading'
  return tool === 'check' || tool === 'answer' ? 'writing' : 'searching'
}
