import type { Call } from '@/api/client'
import { ApiFailure, asFailure, isAbort } from '@/api/failure'
import type { RunEvent } from '@/api/types'

/** What comes of following a run: its events, and how the connection is. */
export type Followed =
  | { kind: 'event'; event: RunEvent }
  /** The stream is open again, or for the first time: what is told from here on is now. */
  | { kind: 'open' }
  | { kind: 'lost'; failure: ApiFailure; attempt: number }

export interface FollowOptions {
  /** The last event that is known already. */
  after: number
  signal: AbortSignal
  /** Waits before attempt `attempt`, from 1; rejects when `signal` is aborted. */
  wait: (attempt: number, signal: AbortSignal) => Promise<void>
}

type Events = (after: number, call: Call) => AsyncGenerator<RunEvent, void, undefined>

/**
 * Follows a run to its end, however often the connection is lost. Each numbered event is told once and none is left out:
 * what was heard already is passed over, and after a gap the stream is begun again from before it. Throws what no waiting
 * mends, such as a key that was revoked.
 */
export async function* follow(events: Events, { after, signal, wait }: FollowOptions): AsyncGenerator<Followed, void, undefined> {
  let last = after
  let attempt = 0
  let gapAfter = -1
  for (;;) {
    try {
      let isOpen = false
      for await (const event of events(last, { signal })) {
        if (event.event === 'error') throw new ApiFailure(event.code, event.message, 0, event.request_id, event.hint ?? null)
        if (!isOpen) yield { kind: 'open' }
        isOpen = true
        attempt = 0
        const { number } = event
        if (number !== undefined && number <= last) continue
        if (number !== undefined && number > last + 1 && gapAfter !== last) {
          gapAfter = last
          throw new ApiFailure('stream_cut', `event ${last + 1} is missing`)
        }
        last = number ?? last
        yield { kind: 'event', event }
      }
      return
    } catch (error) {
      if (signal.aborted || isAbort(error)) throw error
      const failure = asFailure(error)
      if (!isPassing(failure)) throw failure
      attempt += 1
      yield { kind: 'lost', failure, attempt }
    }
    await wait(attempt, signal)
  }
}

/** Whether it may be gone when one tries again. */
function isPassing({ code, status }: ApiFailure): boolean {
  if (status >= 500 || status === 408 || status === 429) return true
  return status === 0 && code !== 'invalid_key' && code !== 'unreadable_reply'
}

/** Milliseconds before attempt `attempt`, from 1: half a second doubled each time, 15 seconds at most; `share` of 0 to 1 spreads them. */
export function backoffMs(attempt: number, share: number): number {
  return Math.min(15_000, 500 * 2 ** Math.min(attempt - 1, 8)) * (0.75 + share / 2)
}

/** Waits, but not longer than until the browser says that it is online again. */
export function waitToReconnect(attempt: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = () => {
      clearTimeout(timer)
      removeEventListener('online', over)
      signal.removeEventListener('abort', over)
      if (signal.aborted) reject(new DOMException('given up', 'AbortError'))
      else resolve()
    }
    const timer = setTimeout(over, backoffMs(attempt, Math.random()))
    addEventListener('online', over)
    signal.addEventListener('abort', over)
    if (signal.aborted) over()
  })
}
