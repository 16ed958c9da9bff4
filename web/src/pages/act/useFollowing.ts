import { nextTick, onScopeDispose, watch, type Ref } from 'vue'

/** So many pixels above the end still count as being at it. */
const NEAR = 160

/** Keeps the end of what grows in view for whoever is there already: not for whoever reads further up, nor while it is held. */
export function useFollowing(grows: Ref<HTMLElement | null>, isHeld: () => boolean) {
  let isAtEnd = true
  let before = window.scrollY
  const root = document.documentElement
  /** Growing moves nobody up: who goes up does so to read there. */
  const look = () => {
    const isUp = window.scrollY < before
    before = window.scrollY
    if (window.scrollY + window.innerHeight >= root.scrollHeight - NEAR) isAtEnd = true
    else if (isUp) isAtEnd = false
  }
  const toEnd = () => window.scrollTo({ top: root.scrollHeight })

  const watcher = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => isAtEnd && !isHeld() && toEnd())
  watch(grows, (element, gone) => {
    if (gone) watcher?.unobserve(gone)
    if (element) watcher?.observe(element)
  })
  addEventListener('scroll', look, { passive: true })
  onScopeDispose(() => {
    watcher?.disconnect()
    removeEventListener('scroll', look)
  })

  return {
    /** From now on, whatever was read before. */
    keepUp() {
      isAtEnd = true
      void nextTick(toEnd)
    },
  }
}
