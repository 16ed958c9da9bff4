import { describe, expect, it } from 'vitest'

import { ApiFailure } from '@/api/failure'
import type { RunEvent } from '@/api/types'

import { backoffMs, follow, type Followed } from './follow'
import { approved, numbered } from './samples'
import { blank, reduce } from './state'

/** Numbers that look random and are the same each time. */
function random(seed: number) {
  let state = seed
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

/** The run as it happens: pieces of text come between `model_call` and `model_reply` and have no number. */
const happening: RunEvent[] = approved.flatMap((event) => {
  if (event.event !== 'model_reply') return [event]
  return [...[...event.text].map((text): RunEvent => ({ event: 'text_delta', text })), event]
})

/** A service that tells what happened after a number, as far as it has come, and is cut wherever `cuts` says. */
function service(cuts: number[]) {
  let come = 0
  const asked: number[] = []
  async function* events(after: number): AsyncGenerator<RunEvent, void, undefined> {
    asked.push(after)
    const past = happening.slice(0, come)
    yield* past.filter(({ number }) => number !== undefined && number > after)
    const open = past.slice(past.findLastIndex(({ number }) => number !== undefined) + 1)
    const text = open.map((event) => (event.event === 'text_delta' ? event.text : '')).join('')
    if (text !== '') yield { event: 'text_so_far', text }
    const until = cuts.shift() ?? happening.length
    while (come < Math.min(until, happening.length)) {
      come += 1
      yield happening[come - 1] as RunEvent
    }
    // What happens while nobody listens.
    come = Math.min(happening.length, come + (cuts.length % 3))
    if (until < happening.length) throw new ApiFailure('stream_cut', 'cut')
  }
  return { events, asked }
}

const now = { wait: async () => undefined, signal: new AbortController().signal, after: 0 }

async function all(heard: AsyncGenerator<Followed>): Promise<Followed[]> {
  const list: Followed[] = []
  for await (const each of heard) list.push(each)
  return list
}

const eventsOf = (list: Followed[]) => list.flatMap((each) => (each.kind === 'event' ? [each.event] : []))

describe('following a run', () => {
  it('tells each event once and leaves none out, wherever and however often the stream is cut', async () => {
    const whole = happening.reduce(reduce, blank)
    for (let seed = 1; seed <= 300; seed += 1) {
      const below = random(seed)
      const cuts = Array.from({ length: below(12) }, () => below(happening.length + 1)).sort((a, b) => a - b)
      const { events } = service(cuts)
      const heard = eventsOf(await all(follow(events, now)))
      const numbers = heard.flatMap(({ number }) => (number === undefined ? [] : [number]))
      expect(numbers, `seed ${seed}`).toEqual(approved.map(({ number }) => number))
      expect(heard.reduce(reduce, blank), `seed ${seed}`).toEqual(whole)
    }
  })

  it('shows at each moment a text that the model has written, never a piece of it twice', async () => {
    for (let seed = 1; seed <= 100; seed += 1) {
      const below = random(seed)
      const { events } = service(Array.from({ length: 8 }, () => below(happening.length)).sort((a, b) => a - b))
      let state = blank
      for (const event of eventsOf(await all(follow(events, now)))) {
        state = reduce(state, event)
        expect(['I look.', 'Done.', ''].some((text) => text.startsWith(state.writing)), `seed ${seed}: ${state.writing}`).toBe(true)
      }
    }
  })

  it('asks for what came after the last event that it has heard', async () => {
    const { events, asked } = service([3])
    await all(follow(events, now))
    // Two pieces of text are no events of their own.
    expect(asked).toEqual([0, 2])
  })

  it('goes on after what was known already', async () => {
    const { events, asked } = service([])
    const heard = eventsOf(await all(follow(events, { ...now, after: 9 })))
    expect(asked).toEqual([9])
    expect(heard.flatMap(({ number }) => number ?? [])).toEqual([10, 11, 12, 13, 14])
  })

  it('begins again before a gap', async () => {
    const asked: number[] = []
    async function* events(after: number): AsyncGenerator<RunEvent, void, undefined> {
      asked.push(after)
      yield* asked.length === 1 ? approved.filter(({ number }) => number !== 4) : approved.slice(after)
    }
    const heard = eventsOf(await all(follow(events, now)))
    expect(asked).toEqual([0, 3])
    expect(heard).toEqual(approved)
  })

  it('takes what there is if a gap does not close', async () => {
    const events = async function* (after: number): AsyncGenerator<RunEvent, void, undefined> {
      yield* approved.filter(({ number = 0 }) => number !== 4 && number > after)
    }
    const heard = eventsOf(await all(follow(events, now)))
    expect(heard).toEqual(approved.filter(({ number }) => number !== 4))
  })

  it('says that the connection was lost, counts the attempts, and begins to count again once it was heard', async () => {
    let turn = 0
    async function* events(after: number): AsyncGenerator<RunEvent, void, undefined> {
      turn += 1
      if (turn <= 2) throw new ApiFailure('connection_lost', 'no network')
      if (turn === 3) {
        yield approved[0] as RunEvent
        throw new ApiFailure('stream_cut', 'cut')
      }
      yield* approved.slice(after)
    }
    const waited: number[] = []
    const heard = await all(follow(events, { ...now, wait: async (attempt) => void waited.push(attempt) }))
    expect(heard.filter(({ kind }) => kind !== 'event').map((each) => (each.kind === 'lost' ? each.attempt : each.kind))).toEqual([1, 2, 'open', 1, 'open'])
    expect(waited).toEqual([1, 2, 1])
  })

  it.each([
    ['a key that was revoked in the middle', { event: 'error', code: 'invalid_key', message: 'revoked', request_id: 'r' }, 'invalid_key'],
  ])('gives up at %s', async (_, event, code) => {
    async function* events(): AsyncGenerator<RunEvent, void, undefined> {
      yield approved[0] as RunEvent
      yield event as unknown as RunEvent
    }
    await expect(all(follow(events, now))).rejects.toMatchObject({ code })
  })

  it('gives up where there is no such run, and comes back where the service is only busy', async () => {
    const failing = (status: number) =>
      async function* (): AsyncGenerator<RunEvent, void, undefined> {
        yield* [] as RunEvent[]
        throw new ApiFailure('x', 'x', status)
      }
    for (const status of [401, 403, 404]) await expect(all(follow(failing(status), now))).rejects.toMatchObject({ status })
    for (const status of [429, 500, 503]) {
      const giveUp = follow(failing(status), { ...now, wait: () => Promise.reject(new Error('waited')) })
      await expect(all(giveUp)).rejects.toThrow('waited')
    }
  })

  it('ends without a word where the last event was heard already', async () => {
    async function* events(): AsyncGenerator<RunEvent, void, undefined> {
      yield* [] as RunEvent[]
    }
    expect(await all(follow(events, { ...now, after: 14 }))).toEqual([])
  })
})

describe('waiting to reconnect', () => {
  it('doubles from half a second to fifteen, spread by a quarter', () => {
    expect([1, 2, 3, 4, 5, 6, 60].map((attempt) => backoffMs(attempt, 0.5))).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000])
    expect([backoffMs(1, 0), backoffMs(1, 1)]).toEqual([375, 625])
  })
})

// The sample itself must be what the service promises: numbers from 1 without gaps.
it('has samples without gaps', () => expect(numbered(approved).map(({ number }) => number)).toEqual(approved.map((_, place) => place + 1)))
