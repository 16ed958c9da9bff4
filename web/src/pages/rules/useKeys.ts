import { onBeforeUnmount, onMounted, ref } from 'vue'

import { browserStorage } from '@/composables/storage'

/** Keys of one letter get in the way of whoever speaks to the computer, so they can be turned off. */
const enabled = ref(browserStorage.read('letterKeys') !== 'off')

export function useLetterKeys() {
  function set(yes: boolean) {
    enabled.value = yes
    if (yes) browserStorage.remove('letterKeys')
    else browserStorage.write('letterKeys', 'off')
  }
  return { enabled, set }
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
}

/** Keys of a view. They do nothing while one types, composes a character, or has a dialog open. */
export function useKeys(keys: Record<string, () => void>) {
  function onKey(event: KeyboardEvent) {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return
    if (!enabled.value && event.key.length === 1) return
    const act = keys[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }
  onMounted(() => document.addEventListener('keydown', onKey))
  onBeforeUnmount(() => document.removeEventListener('keydown', onKey))
}
