import { onScopeDispose, shallowRef, watch } from 'vue'

import type { HealthReport } from '@/api/types'

import { useApi } from './useApi'
import { useSession } from './useSession'

/** How often the service is looked at while the page is seen. */
const EVERY_MS = 30_000

/** Whether the service is alive, and whether it is ready. Looks again when the page comes back into view. */
export function useHealth(everyMs = EVERY_MS) {
  const api = useApi()
  const session = useSession()
  const report = shallowRef<HealthReport | null>(null)

  async function look() {
    report.value = await api.health().catch(() => ({ alive: false, ready: false, health: null, reason: null }))
  }
  const lookIfSeen = () => {
    if (document.visibilityState === 'visible') void look()
  }

  watch(session.turn, look, { immediate: true })
  const timer = setInterval(lookIfSeen, everyMs)
  document.addEventListener('visibilitychange', lookIfSeen)
  onScopeDispose(() => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', lookIfSeen)
  })
  return { report, look }
}
