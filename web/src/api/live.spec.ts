import { describe, expect, it, vi } from 'vitest'

import { ApiFailure } from './failure'
import { liveApi } from './live'
import type { AskEvent } from './types'

const sse = (text: string) =>
  new Response(text, { headers: { 'content-type': 'text/event-stream', 'x-request-id': 'r1' } })

function api(reply: (address: string, init?: RequestInit) => Response | Promise<Response>, key: string | null = null) {
  const refused = vi.fn()
  const fetch = vi.fn(async (input: RequestInfo | URL, init?: RequestInit) => reply(String(input), init))
  return { api: liveApi({ key: () => key, refused, fetch }), refused, fetch }
}

async function heard(events: AsyncGenerator<AskEvent>): Promise<{ events: string[]; code: string | null }> {
  const told: string[] = []
  try {
    for await (const event of events) told.push(event.event)
    return { events: told, code: null }
  } catch (error) {
    return { events: told, code: error instanceof ApiFailure ? error.code : String(error) }
  }
}

const error = (code: string, status: number) =>
  new Response(JSON.stringify({ error: { code, message: 'said so', request_id: 'r2', hint: 'try this' } }), { status })

describe('the service', () => {
  it('is asked with the key, and for a stream', async () => {
    const { api: live, fetch } = api(() => sse('event: done\ndata: {}\n\n'), 'bylaw_secret')
    await heard(live.ask({ question: '特休？' }))
    const [address, init] = fetch.mock.calls[0] ?? []
    expect(address).toBe('/ask')
    expect(init?.headers).toMatchObject({ authorization: 'Bearer bylaw_secret' })
    expect(JSON.parse(String(init?.body))).toEqual({ question: '特休？', stream: true })
  })

  it.each<[string, string, string[], string | null]>([
    ['ends with done', 'event: token\ndata: {"text":"a"}\n\nevent: done\ndata: {}\n\n', ['token', 'done'], null],
    ['hears nothing after done', 'event: done\ndata: {}\n\nevent: token\ndata: {}\n\n', ['done'], null],
    ['ends with an error that was told', 'event: error\ndata: {"code":"upstream_failed"}\n\n', ['error'], null],
    ['tells that it was cut off', 'event: token\ndata: {"text":"a"}\n\n', ['token'], 'stream_cut'],
    ['tells that it was cut off at once', '', [], 'stream_cut'],
    ['tells that it is no JSON', 'event: token\ndata: {"te\n\n', [], 'unreadable_reply'],
  ])('streams an answer that %s', async (_, text, events, code) => {
    const { api: live } = api(() => sse(text))
    expect(await heard(live.ask({ question: 'a' }))).toEqual({ events, code })
  })

  it('says why it refuses, in the shape that was promised', async () => {
    const { api: live } = api(() => error('source_not_found', 404))
    await expect(live.sources()).rejects.toMatchObject({
      code: 'source_not_found', message: 'said so', status: 404, requestId: 'r2', hint: 'try this',
    })
  })

  it('is not alone on the way: an error of a proxy can be shown, too', async () => {
    const { api: live } = api(() => new Response('<h1>Bad gateway</h1>', { status: 502 }))
    await expect(live.sources()).rejects.toMatchObject({ code: 'http_502', message: '<h1>Bad gateway</h1>' })
  })

  it('may be out of reach', async () => {
    const { api: live } = api(() => Promise.reject(new TypeError('fetch failed')))
    await expect(live.sources()).rejects.toMatchObject({ code: 'connection_lost', status: 0 })
  })

  it('that refuses the key has it asked for', async () => {
    const { api: live, refused } = api(() => error('invalid_key', 401))
    await expect(live.sources()).rejects.toThrow()
    expect(refused).toHaveBeenCalledOnce()
  })

  it('that refuses the key in the middle of a stream has it asked for', async () => {
    const { api: live, refused } = api(() => sse('event: error\ndata: {"code":"invalid_key","message":"revoked"}\n\n'))
    expect((await heard(live.ask({ question: 'a' }))).events).toEqual(['error'])
    expect(refused).toHaveBeenCalledOnce()
  })

  it('without /me lets everybody do everything', async () => {
    const { api: live } = api(() => error('not_found', 404))
    expect(await live.me()).toMatchObject({ role: 'admin', keys_required: false })
  })

  it.each<[string, number, number, { alive: boolean; ready: boolean; reason: string | null }]>([
    ['well', 200, 204, { alive: true, ready: true, reason: null }],
    ['alive and not ready', 200, 503, { alive: true, ready: false, reason: 'said so' }],
    ['gone', 0, 0, { alive: false, ready: false, reason: null }],
  ])('is %s', async (_, alive, ready, expected) => {
    const { api: live } = api((address) => {
      const status = address === '/healthz' ? alive : ready
      if (status === 0) throw new TypeError('gone')
      if (status === 503) return error('not_ready', 503)
      return new Response(status === 204 ? null : '{"degraded":[]}', { status })
    })
    expect(await live.health()).toMatchObject(expected)
  })

  it('is asked for an article whose name holds what addresses do not', async () => {
    const { api: live, fetch } = api(() => new Response('{}'))
    await live.article('規章/a b#c.md#26-1')
    expect(fetch.mock.calls[0]?.[0]).toBe(`/articles/${encodeURIComponent('規章/a b#c.md')}/26-1`)
  })

  it('hears events of a run by their own words, and nothing when there is nothing left', async () => {
    const { api: live } = api((address) =>
      address.endsWith('after=2')
        ? new Response(null, { status: 204 })
        : sse('id: 1\nevent: started\ndata: {"event":"started","number":1}\n\nid: 2\nevent: ended\ndata: {"number":2}\n\n'),
    )
    const all: unknown[] = []
    for await (const event of live.runEvents('run_1', 0)) all.push([event.event, event.number])
    for await (const event of live.runEvents('run_1', 2)) all.push(event)
    expect(all).toEqual([['started', 1], ['ended', 2]])
  })
})
