import { addresses, withQuery } from './addresses'
import type { Api, Call } from './client'
import { readEvents } from './events'
import { ApiFailure, failureOf, isAbort } from './failure'
import type { Answer, AskEvent, ConversationSummary, Health, HealthReport, Me, RunEvent } from './types'
import { upload } from './upload'

export interface LiveOptions {
  /** The key to send; null sends none. */
  key: () => string | null
  /** Called when the service refuses the key, or asks for one. */
  refused: () => void
  fetch?: typeof fetch
}

/** Without keys, and with a service that does not tell who asks, everybody may do everything. */
const anybody: Me = { principal: null, name: null, role: 'admin', keys_required: false }

/** The service itself, on the host that the page came from. */
export function liveApi(options: LiveOptions): Api {
  const send = options.fetch ?? ((input, init) => fetch(input, init))

  function headers(more: Record<string, string> = {}): Record<string, string> {
    const key = options.key()
    return key === null ? more : { ...more, authorization: `Bearer ${key}` }
  }

  function told(failure: ApiFailure): ApiFailure {
    if (failure.status === 401 || failure.code === 'invalid_key') options.refused()
    return failure
  }

  async function request(address: string, init: RequestInit = {}): Promise<Response> {
    let reply: Response
    try {
      reply = await send(address, { ...init, headers: headers(init.headers as Record<string, string>) })
    } catch (error) {
      // What browsers say of it is in their language, and no more than the code says.
      throw isAbort(error) ? error : new ApiFailure('connection_lost', '', 0, null, null, { cause: error })
    }
    if (!reply.ok) throw told(await failureOf(reply))
    return reply
  }

  async function json<T>(address: string, init: RequestInit = {}): Promise<T> {
    const reply = await request(address, init)
    try {
      return (await reply.json()) as T
    } catch (error) {
      if (isAbort(error)) throw error
      throw new ApiFailure('unreadable_reply', String(error), reply.status, reply.headers.get('x-request-id'))
    }
  }

  const body = (method: string, value: unknown, call: Call = {}): RequestInit => ({
    ...call,
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  })

  /** Events of a reply, each as one flat object. Throws `stream_cut` unless one of them was the last one. */
  async function* stream<T extends { event: string }>(
    reply: Response,
    isLast: (event: T) => boolean,
  ): AsyncGenerator<T, void, undefined> {
    const requestId = reply.headers.get('x-request-id')
    try {
      for await (const { event, data } of reply.body ? readEvents(reply.body) : []) {
        const told = { event, ...parsed(data, requestId) } as T
        yield told
        if (isLast(told)) return
      }
    } catch (error) {
      if (isAbort(error) || error instanceof ApiFailure) throw error
      throw new ApiFailure('stream_cut', '', 0, requestId, null, { cause: error })
    }
    throw new ApiFailure('stream_cut', '', 0, requestId)
  }

  return {
    async me(call) {
      try {
        return await json<Me>(addresses.me, call)
      } catch (error) {
        if (error instanceof ApiFailure && (error.status === 404 || error.code === 'unreadable_reply')) return anybody
        throw error
      }
    },

    async health(call) {
      const [alive, ready] = await Promise.allSettled([
        json<Health>(addresses.healthz, call),
        request(addresses.readyz, call),
      ])
      const report: HealthReport = { alive: false, ready: false, health: null, reason: null }
      if (alive.status === 'fulfilled') Object.assign(report, { alive: true, health: alive.value })
      if (ready.status === 'fulfilled') report.ready = true
      else if (ready.reason instanceof ApiFailure) {
        report.alive ||= ready.reason.status === 503
        report.reason = ready.reason.message || null
      }
      return report
    },

    async *ask(question, call) {
      const reply = await request(addresses.ask, body('POST', { ...question, stream: true }, call))
      for await (const event of stream<AskEvent>(reply, ({ event }) => event === 'done' || event === 'error')) {
        if (event.event === 'error' && event.code === 'invalid_key') options.refused()
        yield event
      }
    },
    askOnce: (question, call) => json<Answer>(addresses.ask, body('POST', { ...question, stream: false }, call)),
    search: (query, call) => json(addresses.search, body('POST', query, call)),

    article: (id, call) => json(addresses.article(id), call),
    sources: (call) => json(addresses.sources, call),
    source: (name, call) => json(addresses.source(name), call),
    deleteSource: (name, call) => json(addresses.source(name), { ...call, method: 'DELETE' }),
    undoDelete: (name, call) => json(addresses.undo(name), { ...call, method: 'POST' }),

    documents: (limit, call) => json(withQuery(addresses.documents, { limit }), call),
    document: (job, call) => json(addresses.document(job), call),
    upload: (file, how) =>
      upload(addresses.documents, file, headers(), how).catch((error: unknown) => {
        throw error instanceof ApiFailure ? told(error) : error
      }),

    runs: (query, call) => json(withQuery(addresses.runs, query), call),
    run: (id, call) => json(addresses.run(id), call),
    startRun: (run, call) => json(addresses.runs, body('POST', run, call)),
    cancelRun: (id, call) => json(addresses.run(id), { ...call, method: 'DELETE' }),
    async *runEvents(id, after, call) {
      const reply = await request(withQuery(addresses.runEvents(id), { after: after || undefined }), call)
      if (reply.status === 204) return
      for await (const event of stream<RunEvent>(reply, isLastOfRun)) {
        // The document spells codes as the service's source does; what is sent is `invalid_key`.
        if (event.event === 'error' && String(event.code) === 'invalid_key') options.refused()
        yield event
      }
    },
    reply: (run, question, reply, call) => json(addresses.reply(run, question), body('POST', reply, call)),
    artifact: async (id, call) => (await request(addresses.artifact(id), call)).blob(),

    conversations: (query, call) => json(withQuery(addresses.conversations, query), call),
    conversation: (id, call) => json(addresses.conversation(id), call),
    beginConversation: async (title, agent, call) => {
      const begun = await json<{ conversation: ConversationSummary }>(
        addresses.conversations,
        body('POST', { title, ...(agent === undefined ? {} : { agent }) }, call),
      )
      return begun.conversation
    },
    deleteConversation: async (id, call) => {
      await request(addresses.conversation(id), { ...call, method: 'DELETE' })
    },

    usage: (query, call) => json(withQuery(addresses.usage, query), call),
    budgets: (call) => json(addresses.budgets, call),
    cost: (asked, call) => json(addresses.cost, body('POST', asked, call)),
  }
}

/** The event after which a run tells nothing more: an agent's `ended`; of a question, `done` or `failed`. */
function isLastOfRun({ event }: { event: string }): boolean {
  return event === 'ended' || event === 'done' || event === 'failed' || event === 'error'
}

function parsed(data: string, requestId: string | null): object {
  try {
    return JSON.parse(data) as object
  } catch (error) {
    throw new ApiFailure('unreadable_reply', String(error), 0, requestId)
  }
}
