import { onScopeDispose, ref } from 'vue'

import { asFailure, type ApiFailure } from '@/api/failure'
import { tabStorage } from '@/composables/storage'
import { useApi } from '@/composables/useApi'

/** A source that was taken away and may be brought back. */
export interface Deletion {
  source: string
  title: string
  /** Articles that no longer answer. */
  removed: number
  /** Until when, in milliseconds since 1970; null while the service has not said it, because the page was left meanwhile. */
  until: number | null
}

/** Time that is left, in whole seconds, never less than none. */
export function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / 1_000))
}

function kept(now: number): Deletion[] {
  try {
    const found = JSON.parse(tabStorage.read('deletions') ?? '[]') as Deletion[]
    return found.filter(({ until }) => until === null || until > now)
  } catch {
    return []
  }
}

interface DeletionsOptions {
  /** What is kept has changed. */
  onChange?: () => void
  now?: () => number
}

/** Takes sources away, and brings them back while there is time. A reload of the page forgets none of it. */
export function useDeletions({ onChange, now = Date.now }: DeletionsOptions = {}) {
  const api = useApi()
  const clock = ref(now())
  const deletions = ref(kept(clock.value))
  const busy = ref<string | null>(null)
  const error = ref<ApiFailure | null>(null)

  function keep(list: Deletion[]) {
    deletions.value = list
    tabStorage.write('deletions', JSON.stringify(list))
  }
  const without = (source: string) => deletions.value.filter((each) => each.source !== source)

  async function act(source: string, what: () => Promise<void>, otherwise?: () => void): Promise<boolean> {
    busy.value = source
    error.value = null
    try {
      await what()
      onChange?.()
      return true
    } catch (reason) {
      error.value = asFailure(reason)
      otherwise?.()
      return false
    } finally {
      busy.value = null
    }
  }

  const remove = (source: string, title: string) =>
    act(source, async () => {
      // Before it is asked for: whoever leaves the page in the middle finds the offer when they come back.
      keep([{ source, title, removed: 0, until: null }, ...without(source)])
      const { removed, undo_until } = await api.deleteSource(source)
      clock.value = now()
      keep([{ source, title, removed, until: undo_until }, ...without(source)])
    }, () => keep(without(source)))

  const undo = (source: string) =>
    act(source, async () => {
      await api.undoDelete(source)
      keep(without(source))
    })

  const timer = setInterval(() => {
    clock.value = now()
    const over = deletions.value.some(({ until }) => until !== null && until <= clock.value)
    if (over) keep(deletions.value.filter(({ until }) => until === null || until > clock.value))
  }, 1_000)
  onScopeDispose(() => clearInterval(timer))

  return {
    deletions,
    busy,
    error,
    /** Seconds; null if it is not known. */
    left: ({ until }: Deletion) => (until === null ? null : secondsLeft(until, clock.value)),
    remove,
    undo,
    forget: (source: string) => keep(without(source)),
  }
}
