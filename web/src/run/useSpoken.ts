import { watch } from 'vue'

import { useAnnounce } from '@/composables/useAnnounce'
import { useSpokenText } from '@/composables/useSpokenText'

/** Speaks a text that grows to screen readers, by whole sentences. `end` speaks the rest of it, and one thing more. */
export function useSpoken(text: () => string) {
  const { announce } = useAnnounce()
  const { hear, rest } = useSpokenText(announce)
  watch(text, hear)
  return { end: (more: string) => announce(`${rest(text())} ${more}`.trim()) }
}
