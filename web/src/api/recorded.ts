import type { Api, Call } from './client'
import { ApiFailure } from './failure'
import * as sample from './sample'
import type { AskEvent, RunEvent } from './types'

/** What stands for the service. Whatever is not given is the sample's; a function may throw. */
export type Recording = Partial<Api> & {
  /** Events of the next answer. */
  answer?: AskEvent[]
  /** Events of any run. */
  events?: RunEvent[]
  /** Milliseconds between two events. */
  pace?: number
}

/** The service as it was written down: for tests, and for looking at screens without one. */
export function recordedApi({ answer = sample.answer, events = [], pace = 0, ...own }: Recording = {}): Api {
  const missing = async (): Promise<never> => {
    throw new ApiFailure('not_found', 'this was not recorded', 404, 'recorded')
  }
  return {
    me: async () => sample.me,
    health: async () => ({ alive: true, ready: true, health: sample.health, reason: null }),
    async *ask(_, call) {
      yield* paced(answer, pace, call)
    },
    askOnce: missing,
    search: async () => sample.search,
    article: async (id) => sample.articles.find((article) => article.id === id) ?? missing(),
    sources: async () => sample.sources,
    source: async (name) => (name === sample.source.source ? sample.source : missing()),
    deleteSource: missing,
    undoDelete: missing,
    documents: async () => [],
    document: missing,
    upload: missing,
    runs: async () => ({ runs: [], next: null, request_id: 'recorded' }),
    run: missing,
    startRun: missing,
    cancelRun: missing,
    async *runEvents(_, after, call) {
      yield* paced(
        events.filter(({ number }) => number === undefined || number > after),
        pace,
        call,
      )
    },
    reply: missing,
    artifact: missing,
    conversations: async () => ({ conversations: [], next: null, request_id: 'recorded' }),
    conversation: missing,
    beginConversation: missing,
    deleteConversation: async () => undefined,
    usage: missing,
    budgets: missing,
    ...own,
  }
}

async function* paced<T>(events: T[], pace: number, call: Call = {}): AsyncGenerator<T, void, undefined> {
  for (const event of events) {
    if (pace > 0) await new Promise((resolve) => setTimeout(resolve, pace))
    call.signal?.throwIfAborted()
    yield event
  }
}
