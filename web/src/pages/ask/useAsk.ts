import { computed, onScopeDispose, shallowRef } from 'vue'

import { asFailure, isAbort } from '@/api/failure'
import type { AskEvent, AskRequest } from '@/api/types'
import { useApi } from '@/composables/useApi'

import { idle, isBusy, reduce, type AskAction } from './state'

/** A page that is not seen paints no frames; it still has to hear the end. */
const UNSEEN_MS = 250

/**
 * Asks one question at a time. What arrives is handed on once for each frame, so that a fast answer costs no more than a
 * slow one. Asking again, `cancel` and leaving the page close the connection, which stops the work.
 */
export function useAsk(now: () => number = () => performance.now()) {
  const api = useApi()
  const state = shallowRef(idle)
  let current: AbortController | null = null
  let waiting: AskEvent[] = []
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const dispatch = (action: AskAction) => {
    state.value = reduce(state.value, action)
  }

  function flush() {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    frame = 0
    const events = joined(waiting)
    waiting = []
    const at = now()
    state.value = events.reduce((before, event) => reduce(before, { type: 'told', event, at }), state.value)
  }

  function hear(event: AskEvent) {
    waiting.push(event)
    if (frame !== 0) return
    frame = requestAnimationFrame(flush)
    timer = setTimeout(flush, UNSEEN_MS)
  }

  function stop() {
    current?.abort()
    current = null
    waiting = []
  }

  async function ask(request: AskRequest) {
    stop()
    const mine = new AbortController()
    current = mine
    dispatch({ type: 'asked', request, at: now() })
    try {
      for await (const event of api.ask(request, { signal: mine.signal })) {
        if (mine !== current) return
        hear(event)
      }
      if (mine === current) flush()
    } catch (error) {
      if (mine !== current || isAbort(error)) return
      flush()
      dispatch({ type: 'broke', failure: asFailure(error), at: now() })
    }
  }

  function cancel() {
    flush()
    stop()
    dispatch({ type: 'cancelled', at: now() })
  }

  function clear() {
    stop()
    state.value = idle
  }

  onScopeDispose(stop)

  return { state, busy: computed(() => isBusy(state.value.phase)), ask, cancel, clear }
}

/** Neighbouring pieces of text as one. */
export function joined(events: AskEvent[]): AskEvent[] {
  const result: AskEvent[] = []
  for (const event of events) {
    const last = result.at(-1)
    if (event.event === 'token' && last?.event === 'token') {
      result[result.length - 1] = { ...last, text: last.text + event.text }
    } else {
      result.push(event)
    }
  }
  return result
}
