import { ref } from 'vue'

import { browserStorage } from './storage'

/** `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark'

export const themes: readonly Theme[] = ['auto', 'light', 'dark']

const kept = browserStorage.read('theme')
const theme = ref<Theme>(kept === 'light' || kept === 'dark' ? kept : 'auto')

/** Light and dark. `public/theme.js` does the same before the first paint. */
export function useTheme() {
  function choose(chosen: Theme) {
    theme.value = chosen
    if (chosen === 'auto') {
      browserStorage.remove('theme')
      delete document.documentElement.dataset.theme
    } else {
      browserStorage.write('theme', chosen)
      document.documentElement.dataset.theme = chosen
    }
  }
  return { theme, choose }
}
