import { computed, ref, watch } from 'vue'

import type { Mode, Outcome } from '@/api/types'
import { browserStorage, type Keep } from '@/composables/storage'
import { useSession } from '@/composables/useSession'

/** What is remembered of a question: not its answer, which may hold what the next key may not read. */
export interface Asked {
  question: string
  mode: Mode
  source?: string
  outcome: Outcome
  /** Milliseconds since 1970. */
  at: number
}

const MOST = 40

/** Questions that were asked in this browser, the latest first; each key has its own. */
export function useHistory(keep: Keep = browserStorage) {
  const session = useSession()
  const name = computed(() => `history.${session.me.value?.principal ?? 'local'}`)
  const asked = ref<Asked[]>([])

  watch(name, () => (asked.value = read(keep.read(name.value))), { immediate: true })

  function remember(entry: Asked) {
    asked.value = [entry, ...asked.value.filter(({ question }) => question !== entry.question)].slice(0, MOST)
    keep.write(name.value, JSON.stringify(asked.value))
  }

  function clear() {
    asked.value = []
    keep.remove(name.value)
  }

  return { asked, remember, clear }
}

function read(text: string | null): Asked[] {
  try {
    const all: unknown = JSON.parse(text ?? '[]')
    if (!Array.isArray(all)) return []
    return all.filter((entry): entry is Asked => typeof entry?.question === 'string' && typeof entry?.at === 'number')
  } catch {
    return []
  }
}
