import { watch } from 'vue'

import { useAnnounce } from '@/composables/useAnnounce'
import { useSpokenText } from '@/pages/ask/useSpokenText'
import { plain } from '@/text/pieces'

/** Speaks a text that grows to screen readers, by whole sentences. `end` speaks the rest of it, and one thing more. */
export function useSpoken(text: () => string) {
  const { announce } = useAnnounce()
  const { hear, rest } = useSpokenText((said) => announce(plain(said)))
  watch(text, hear)
  return { end: (more: string) => announce(`${plain(rest(text()))} ${more}`.trim()) }
}
