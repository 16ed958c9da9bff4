import { nextTick, onScopeDispose, ref, watch } from 'vue'

import type { RunState } from '@/run/state'

/** So many pixels above the end still count as being at it. */
const NEAR = 120

/** Keeps the end of what grows in view for whoever is there already, and for nobody who reads further up. */
export function useFollowing(run: () => string | null, state: () => RunState | undefined) {
  const isAtEnd = ref(true)
  const look = () => {
    const { scrollHeight } = document.documentElement
    isAtEnd.value = window.scrollY + window.innerHeight >= scrollHeight - NEAR
  }
  const toEnd = () => window.scrollTo({ top: document.documentElement.scrollHeight })

  addEventListener('scroll', look, { passive: true })
  onScopeDispose(() => removeEventListener('scroll', look))

  watch([run, state], async ([now], [before]) => {
    if (!isAtEnd.value && now === before) return
    await nextTick()
    if (isAtEnd.value) toEnd()
  })

  return {
    /** From now on, whatever was read before. */
    keepUp() {
      isAtEnd.value = true
      void nextTick(toEnd)
    },
  }
}
