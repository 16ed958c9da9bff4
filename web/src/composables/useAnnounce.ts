import { ref } from 'vue'

const message = ref('')

/** Says something to screen readers, politely: after what is being read. One live region in `App.vue` speaks it. */
export function useAnnounce() {
  function announce(text: string) {
    // The same words twice in a row are a change, too.
    message.value = text === message.value ? `${text}\u00A0` : text
  }
  return { message, announce }
}
