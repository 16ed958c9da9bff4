import { onScopeDispose, ref, shallowRef, watch } from 'vue'

import { asFailure, type ApiFailure } from '@/api/failure'
import type { ConversationSummary } from '@/api/types'
import { useApi } from '@/composables/useApi'
import { useSession } from '@/composables/useSession'

/** One's own conversations, the latest first, page by page. An admin's own, too: everyone's runs are in the runs view. */
export function useConversations() {
  const api = useApi()
  const session = useSession()
  const list = shallowRef<ConversationSummary[]>([])
  const next = ref<string | null>(null)
  const error = shallowRef<ApiFailure | null>(null)
  const status = ref<'loading' | 'ready' | 'failed'>('loading')
  let turn = 0

  /** Whose they are; nothing where the door is open to this machine, whose own and only ones they are. */
  const own = () => {
    const principal = session.me.value?.principal
    return principal?.startsWith('key_') ? principal : undefined
  }

  async function load() {
    // Whose they are is not known yet; an admin would be shown everyone's.
    if (session.me.value === null) return
    const mine = (turn += 1)
    try {
      const page = await api.conversations({ limit: 30, key: own() })
      if (mine !== turn) return
      list.value = page.conversations
      next.value = page.next ?? null
      error.value = null
      status.value = 'ready'
    } catch (reason) {
      if (mine !== turn) return
      error.value = asFailure(reason)
      status.value = 'failed'
    }
  }

  async function more() {
    if (next.value === null) return
    const mine = turn
    try {
      const page = await api.conversations({ limit: 30, before: next.value, key: own() })
      if (mine !== turn) return
      const known = new Set(list.value.map(({ conversation_id }) => conversation_id))
      list.value = [...list.value, ...page.conversations.filter(({ conversation_id }) => !known.has(conversation_id))]
      next.value = page.next ?? null
    } catch (reason) {
      error.value = asFailure(reason)
    }
  }

  watch([session.me, session.turn], load, { immediate: true })
  const loadIfSeen = () => {
    if (document.visibilityState === 'visible') void load()
  }
  document.addEventListener('visibilitychange', loadIfSeen)
  onScopeDispose(() => document.removeEventListener('visibilitychange', loadIfSeen))
  return { list, next, error, status, load, more }
}
