import { onScopeDispose, readonly, ref, shallowRef, watch } from 'vue'

import { asFailure, isAbort, type ApiFailure } from '@/api/failure'
import type { SearchResponse } from '@/api/types'
import { useApi } from '@/composables/useApi'
import { useSession } from '@/composables/useSession'

/** Long enough that a word is typed, short enough that nobody waits. */
const WAIT_MS = 180
const RESULTS = 30

interface SearchOptions {
  /** What is typed; empty searches nothing. */
  typed: () => string
  /** The only source that is searched; every one without it. */
  within: () => string | undefined
  waitMs?: number
}

/** Searches as one types: after a short pause, and never for two things at once. */
export function useSearch({ typed, within, waitMs = WAIT_MS }: SearchOptions) {
  const api = useApi()
  const session = useSession()
  const data = shallowRef<SearchResponse | null>(null)
  const error = shallowRef<ApiFailure | null>(null)
  const status = ref<'idle' | 'searching' | 'ready' | 'failed'>('idle')
  /** The question that was last sent. */
  const question = ref('')
  let timer: ReturnType<typeof setTimeout> | undefined
  let under: AbortController | null = null

  function stop() {
    clearTimeout(timer)
    under?.abort()
  }

  async function search() {
    stop()
    const wanted = typed().trim()
    question.value = wanted
    if (wanted === '') {
      data.value = null
      status.value = 'idle'
      return
    }
    const mine = new AbortController()
    under = mine
    const source = within()
    try {
      const found = await api.search({ question: wanted, k: RESULTS, ...(source ? { source } : {}) }, { signal: mine.signal })
      if (mine.signal.aborted) return
      data.value = found
      error.value = null
      status.value = 'ready'
    } catch (reason) {
      if (mine.signal.aborted || isAbort(reason)) return
      error.value = asFailure(reason)
      status.value = 'failed'
    }
  }

  watch(
    [typed, within, session.turn],
    (now, before) => {
      // A search that begins with the page, or is widened by a click, is not typed.
      const typing = before.length > 0 && before[0] !== undefined && now[0] !== before[0] && now[0].trim() !== ''
      if (typing && now[0].trim() === question.value && status.value === 'ready') return
      stop()
      if (now[0].trim() !== '') status.value = 'searching'
      if (typing) timer = setTimeout(search, waitMs)
      else void search()
    },
    { immediate: true },
  )
  onScopeDispose(stop)

  return { data, error, status, question: readonly(question), retry: search }
}
