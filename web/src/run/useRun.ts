import { computed, onScopeDispose, ref, shallowRef, watch } from 'vue'

import { ApiFailure, asFailure, isAbort } from '@/api/failure'
import type { RunEvent, RunReply } from '@/api/types'
import { useApi } from '@/composables/useApi'
import { useSession } from '@/composables/useSession'

import { follow, waitToReconnect } from './follow'
import { blank, reduce, type RunState } from './state'

/** `opening`: nothing was heard yet. `lost`: it is being tried again. `over`: all was heard. `failed`: waiting mends nothing. */
export type Connection = 'opening' | 'live' | 'lost' | 'over' | 'failed'

/** What became of an answer of ours. `elsewhere`: somebody was faster, or nobody waited any more. */
export type Sent = { state: 'sending' | 'taken' | 'elsewhere' | 'failed'; failure: ApiFailure | null }

/** Follows a run, and acts on it. Another id begins anew; with the component it leaves off, and the run goes on. */
export function useRun(id: () => string | null) {
  const api = useApi()
  const session = useSession()
  const state = shallowRef<RunState>(blank)
  const connection = ref<Connection>('opening')
  const failure = shallowRef<ApiFailure | null>(null)
  /** How often in a row it was tried in vain. */
  const attempt = ref(0)
  const sent = shallowRef<Record<number, Sent>>({})
  const isCancelling = ref(false)
  const cancelFailure = shallowRef<ApiFailure | null>(null)
  let under: AbortController | null = null
  /** What is known, which is shown with the next frame at the latest: pieces of text come faster than anybody reads. */
  let known: RunState = blank
  let frame = 0

  function show() {
    cancelAnimationFrame(frame)
    frame = 0
    state.value = known
  }

  function take(event: RunEvent) {
    known = reduce(known, event)
    // A page that nobody sees has no frames.
    if (event.number !== undefined || document.visibilityState !== 'visible') show()
    else if (frame === 0) frame = requestAnimationFrame(show)
  }

  async function open() {
    under?.abort()
    const run = id()
    if (run === null || known.end) return
    const mine = new AbortController()
    under = mine
    failure.value = null
    if (connection.value !== 'lost') connection.value = 'opening'
    try {
      const heard = follow((after, call) => api.runEvents(run, after, call), {
        after: known.last,
        signal: mine.signal,
        wait: waitToReconnect,
      })
      for await (const news of heard) {
        if (mine.signal.aborted) return
        if (news.kind === 'event') {
          take(news.event)
        } else if (news.kind === 'open') {
          connection.value = 'live'
          attempt.value = 0
        } else {
          connection.value = 'lost'
          failure.value = news.failure
          attempt.value = news.attempt
        }
      }
      if (mine.signal.aborted) return
      connection.value = 'over'
      failure.value = null
      isCancelling.value = false
    } catch (error) {
      if (mine.signal.aborted || isAbort(error)) return
      failure.value = asFailure(error)
      connection.value = 'failed'
    }
  }

  function begin() {
    known = blank
    show()
    sent.value = {}
    connection.value = 'opening'
    isCancelling.value = false
    cancelFailure.value = null
    void open()
  }

  /** Back from where there was no network, or from sleep: the old connection may be dead without saying so. */
  function again() {
    if (connection.value === 'live' || connection.value === 'lost') void open()
  }

  watch(id, begin, { immediate: true })
  // Somebody else asks now: what is not theirs they must not see.
  watch(session.turn, () => {
    begin()
  })
  addEventListener('online', again)
  onScopeDispose(() => {
    under?.abort()
    cancelAnimationFrame(frame)
    removeEventListener('online', again)
  })

  const mark = (question: number, now: Sent) => (sent.value = { ...sent.value, [question]: now })

  async function reply(question: number, given: RunReply) {
    const run = id()
    if (run === null || sent.value[question]?.state === 'sending') return
    mark(question, { state: 'sending', failure: null })
    try {
      await api.reply(run, question, given)
      mark(question, { state: 'taken', failure: null })
    } catch (error) {
      const reason = asFailure(error)
      const isLate = reason.code === 'question_answered' || reason.code === 'question_closed'
      mark(question, { state: isLate ? 'elsewhere' : 'failed', failure: reason })
    }
  }

  async function cancel() {
    const run = id()
    if (run === null || isCancelling.value) return
    isCancelling.value = true
    cancelFailure.value = null
    try {
      const { cancelled } = await api.cancelRun(run)
      // It goes on elsewhere, or is over by now, which its events tell.
      if (!cancelled) isCancelling.value = false
    } catch (error) {
      isCancelling.value = false
      cancelFailure.value = asFailure(error)
    }
  }

  return {
    state,
    connection,
    failure,
    attempt,
    sent,
    isCancelling,
    cancelFailure,
    isOver: computed(() => state.value.end !== null),
    reply,
    cancel,
    retry: open,
  }
}

export type Run = ReturnType<typeof useRun>
