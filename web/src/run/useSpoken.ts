import { onScopeDispose, watch } from 'vue'

import { useAnnounce } from '@/composables/useAnnounce'
import { plain } from '@/text/pieces'

/** How long whole sentences are gathered before they are spoken. */
const EVERY_MS = 1_500

/** Where the last whole sentence of a text ends; 0 if none does. */
export function spokenUntil(text: string): number {
  const ends = [...text.matchAll(/[。！？!?]|\.(?=\s)|\n/g)]
  const last = ends.at(-1)
  return last ? last.index + last[0].length : 0
}

/** Speaks a text that grows to screen readers: whole sentences, each once. */
export function useSpoken(text: () => string) {
  const { announce } = useAnnounce()
  let said = 0
  let timer: ReturnType<typeof setTimeout> | null = null

  function say() {
    timer = null
    const until = spokenUntil(text())
    if (until <= said) return
    announce(plain(text().slice(said, until)).trim())
    said = until
  }

  watch(text, (now, before) => {
    // Another text has begun.
    if (!now.startsWith(before.slice(0, said))) said = 0
    if (now === '') said = 0
    timer ??= setTimeout(say, EVERY_MS)
  })
  onScopeDispose(() => {
    if (timer !== null) clearTimeout(timer)
  })
}
