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
  /** Until when, in milliseconds since 1970. */
  until: number
}

/** Time that is left, in whole seconds, never less than none. */
export function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / 1_000))
}

function kept(now: number): Deletion[] {
  try {
    const found = JSON.parse(tabStorage.read('deletions') ?? '[]') as Deletion[]
    return found.filter(({ until }) => until > now)
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

  async function act(source: string, what: () => Promise<void>): Promise<boolean> {
    busy.value = source
    error.value = null
    try {
      await what()
      onChange?.()
      return true
    } catch (reason) {
      error.value = asFailure(reason)
      return false
    } finally {
      busy.value = null
    }
  }

  const remove = (source: string, title: string) =>
    act(source, async () => {
      const { removed, undo_until } = await api.deleteSource(source)
      clock.value = now()
      keep([{ source, title, removed, until: undo_until }, ...without(source)])
    })

  const undo = (source: string) =>
    act(source, async () => {
      await api.undoDelete(source)
      keep(without(source))
    })

  const timer = setInterval(() => {
    clock.value = now()
    if (deletions.value.some(({ until }) => until <= clock.value)) keep(kept(clock.value))
  }, 1_000)
  onScopeDispose(() => clearInterval(timer))

  return {
    deletions,
    busy,
    error,
    left: (deletion: Deletion) => secondsLeft(deletion.until, clock.value),
    remove,
    undo,
    forget: (source: string) => keep(without(source)),
  }
}
