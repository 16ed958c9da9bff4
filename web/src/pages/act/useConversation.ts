import { computed, onScopeDispose, ref, shallowRef, watch } from 'vue'

import { ApiFailure, asFailure, isAbort } from '@/api/failure'
import type { AskedLimits, ConversationDetail, RunSummary, StartedRun } from '@/api/types'
import { useApi } from '@/composables/useApi'
import { useSession } from '@/composables/useSession'

import { keepLimits } from './asked'
import { titleOf } from './title'
import { useOtherTabs } from './useOtherTabs'

/** One run of a conversation: what was said, and where it is followed. */
export interface Turn {
  runId: string
  message: string
  /** As the service last told it; null for one that was just started. */
  run: RunSummary | null
}

/** One conversation: what was said in it, and saying more. `opened` is told the id of one that is begun here. */
export function useConversation(id: () => string | null, opened: (id: string) => void) {
  const api = useApi()
  const session = useSession()
  const detail = shallowRef<ConversationDetail | null>(null)
  const error = shallowRef<ApiFailure | null>(null)
  const status = ref<'none' | 'loading' | 'ready' | 'failed'>('none')
  const started = shallowRef<Turn[]>([])
  const isSending = ref(false)
  const sendFailure = shallowRef<ApiFailure | null>(null)
  /** A conversation that was begun for a message that could not be said yet. */
  let begun: { id: string; agent: string | undefined } | null = null
  let under: AbortController | null = null

  const { tell } = useOtherTabs((conversation) => {
    if (conversation === id()) void load()
  })

  async function load() {
    under?.abort()
    const conversation = id()
    if (conversation === null) {
      detail.value = null
      status.value = 'none'
      return
    }
    const mine = new AbortController()
    under = mine
    if (detail.value?.conversation.conversation_id !== conversation) {
      detail.value = null
      if (started.value.length === 0) status.value = 'loading'
    }
    try {
      const loaded = await api.conversation(conversation, { signal: mine.signal })
      if (mine.signal.aborted) return
      detail.value = loaded
      error.value = null
      status.value = 'ready'
    } catch (reason) {
      if (mine.signal.aborted || isAbort(reason)) return
      error.value = asFailure(reason)
      status.value = 'failed'
    }
  }

  watch(id, (now) => {
    // What was just started here goes on being shown in the conversation that was begun for it.
    if (now === null || now !== begun?.id) started.value = []
    sendFailure.value = null
    begun = null
    void load()
  })
  watch(session.turn, () => {
    begun = null
    void load()
  })
  void load()

  const loadIfSeen = () => {
    if (document.visibilityState === 'visible') void load()
  }
  document.addEventListener('visibilitychange', loadIfSeen)
  onScopeDispose(() => {
    under?.abort()
    document.removeEventListener('visibilitychange', loadIfSeen)
  })

  /** Oldest first, each once. */
  const turns = computed<Turn[]>(() => {
    const told = (detail.value?.runs ?? []).map((run) => ({ runId: run.run_id, message: run.message, run })).reverse()
    const known = new Set(told.map(({ runId }) => runId))
    return [...told, ...started.value.filter(({ runId }) => !known.has(runId))]
  })

  /** Whether the message was taken. What was typed must be kept until it is. */
  async function send(message: string, agent: string | undefined, limits: AskedLimits | null): Promise<boolean> {
    if (isSending.value) return false
    isSending.value = true
    sendFailure.value = null
    try {
      const conversation = await conversationFor(message, agent)
      const run = await start(conversation, message, limits)
      keepLimits(run, limits)
      started.value = [...started.value, { runId: run, message, run: null }]
      if (id() === null) opened(conversation)
      tell(conversation)
      return true
    } catch (reason) {
      sendFailure.value = asFailure(reason)
      return false
    } finally {
      isSending.value = false
    }
  }

  async function conversationFor(message: string, agent: string | undefined): Promise<string> {
    const here = id()
    if (here !== null) return here
    // One that was begun with another agent is left as it is: empty.
    if (begun?.agent === agent && begun !== null) return begun.id
    const { conversation_id } = await api.beginConversation(titleOf(message), agent)
    begun = { id: conversation_id, agent }
    return conversation_id
  }

  /** Starts a run once: if the reply was lost, it is looked up whether the request had arrived. */
  async function start(conversation: string, message: string, limits: AskedLimits | null): Promise<string> {
    const known = new Set(turns.value.map(({ runId }) => runId))
    let run: StartedRun
    try {
      run = await api.startRun({ conversation, message, ...(limits ? { limits } : {}) })
    } catch (reason) {
      const failure = asFailure(reason)
      if (failure.status !== 0) throw failure
      const now = await api.conversation(conversation).catch(() => null)
      const arrived = now?.runs.find((each) => each.message === message && !known.has(each.run_id))
      if (!arrived) throw failure
      return arrived.run_id
    }
    return run.run_id
  }

  async function remove(): Promise<ApiFailure | null> {
    const conversation = id()
    if (conversation === null) return null
    try {
      await api.deleteConversation(conversation)
      tell(conversation)
      return null
    } catch (reason) {
      return asFailure(reason)
    }
  }

  return { detail, error, status, turns, isSending, sendFailure, load, send, remove, tell }
}
