import { onScopeDispose, ref, shallowRef, watch, type WatchSource } from 'vue'

import { asFailure, isAbort, type ApiFailure } from '@/api/failure'

import { useSession } from './useSession'

/**
 * Loads something, and again whenever `on` changes or somebody else signs in. What comes late is thrown away, and what is
 * under way is given up with the component.
 */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, options: { on?: WatchSource[] } = {}) {
  const data = shallowRef<T | null>(null)
  const error = shallowRef<ApiFailure | null>(null)
  const status = ref<'loading' | 'ready' | 'failed'>('loading')
  const session = useSession()
  let under: AbortController | null = null

  async function reload() {
    under?.abort()
    const mine = new AbortController()
    under = mine
    status.value = 'loading'
    try {
      const loaded = await load(mine.signal)
      if (mine.signal.aborted) return
      data.value = loaded
      error.value = null
      status.value = 'ready'
    } catch (reason) {
      if (mine.signal.aborted || isAbort(reason)) return
      error.value = asFailure(reason)
      status.value = 'failed'
    }
  }

  watch([session.turn, ...(options.on ?? [])], reload, { immediate: true })
  onScopeDispose(() => under?.abort())

  return { data, error, status, reload }
}
