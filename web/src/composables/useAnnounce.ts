import { ref } from 'vue'

import { plain } from '@/text/pieces'

const message = ref('')

/**
 * Says something to screen readers, politely: after what is being read. One live region in `App.vue` speaks it. What is said
 * may come from a model or a stranger, so characters that turn text around are left out here, for all who announce.
 */
export function useAnnounce() {
  function announce(text: string) {
    const said = plain(text)
    // The same words twice in a row are a change, too.
    message.value = said === message.value ? `${said}\u00A0` : said
  }
  return { message, announce }
}
