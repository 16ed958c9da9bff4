import { computed, onScopeDispose, ref, shallowRef, watch } from 'vue'

import type { RunQuery } from '@/api/client'
import { asFailure, type ApiFailure } from '@/api/failure'
import type { RunSummary } from '@/api/types'
import { useApi } from '@/composables/useApi'
import { useSession } from '@/composables/useSession'

/** Runs of a page. */
const PAGE = 30

/** How often the first page is read again while something goes on. */
const EVERY_MS = 4_000

/** Runs that fit a filter, the latest first, page by page. While one of them goes on and somebody looks, they are read again. */
export function useRuns(filter: () => RunQuery) {
  const api = useApi()
  const session = useSession()
  const list = shallowRef<RunSummary[]>([])
  const next = ref<string | null>(null)
  const error = shallowRef<ApiFailure | null>(null)
  const status = ref<'loading' | 'ready' | 'failed'>('loading')
  const isMore = ref(false)
  let turn = 0
  let timer: ReturnType<typeof setTimeout> | null = null

  const goesOn = computed(() => list.value.some((run) => run.status !== 'ended'))

  async function read(mine: number, replace: boolean) {
    try {
      const page = await api.runs({ ...filter(), limit: PAGE })
      if (mine !== turn) return
      list.value = replace ? page.runs : freshened(list.value, page.runs)
      if (replace) next.value = page.next ?? null
      error.value = null
      status.value = 'ready'
    } catch (reason) {
      if (mine !== turn) return
      error.value = asFailure(reason)
      if (replace) status.value = 'failed'
    }
    plan()
  }

  /** One look after another, never two at once; none while nobody sees it or nothing goes on. */
  function plan() {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (goesOn.value && document.visibilityState === 'visible') timer = setTimeout(() => void read(turn, false), EVERY_MS)
  }

  function load() {
    turn += 1
    status.value = 'loading'
    return read(turn, true)
  }

  async function more() {
    if (next.value === null || isMore.value) return
    const mine = turn
    isMore.value = true
    try {
      const page = await api.runs({ ...filter(), limit: PAGE, before: next.value })
      if (mine !== turn) return
      const known = new Set(list.value.map(({ run_id }) => run_id))
      list.value = [...list.value, ...page.runs.filter(({ run_id }) => !known.has(run_id))]
      next.value = page.next ?? null
    } catch (reason) {
      if (mine === turn) error.value = asFailure(reason)
    } finally {
      isMore.value = false
      plan()
    }
  }

  function onSight() {
    if (document.visibilityState === 'visible' && status.value === 'ready') void read(turn, false)
    else plan()
  }

  watch([filter, session.turn], load, { immediate: true })
  document.addEventListener('visibilitychange', onSight)
  onScopeDispose(() => {
    turn += 1
    if (timer !== null) clearTimeout(timer)
    document.removeEventListener('visibilitychange', onSight)
  })
  return { list, next, error, status, isMore, load, more }
}

/**
 * What is shown, with the first page as it is now: new ones in front, known ones in their place. What fits the filter no
 * longer leaves as far as the page reaches.
 */
export function freshened(shown: RunSummary[], page: RunSummary[]): RunSummary[] {
  const fresh = new Set(page.map(({ run_id }) => run_id))
  const last = page.at(-1)
  const at = last ? shown.findIndex(({ run_id }) => run_id === last.run_id) : shown.length - 1
  // The page ends before what is shown begins: then nobody knows what is between, and the rest is read again when asked for.
  if (last && at < 0) return page
  return [...page, ...shown.slice(at + 1).filter(({ run_id }) => !fresh.has(run_id))]
}
