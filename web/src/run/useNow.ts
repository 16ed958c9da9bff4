import { onScopeDispose, ref, watch } from 'vue'

/** The time, each second, for as long as somebody looks and `isWanted`. */
export function useNow(isWanted: () => boolean) {
  const now = ref(Date.now())
  let timer: ReturnType<typeof setInterval> | null = null
  const stop = () => {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  const set = () => {
    stop()
    now.value = Date.now()
    if (isWanted() && document.visibilityState === 'visible') timer = setInterval(() => (now.value = Date.now()), 1_000)
  }
  watch(isWanted, set, { immediate: true })
  document.addEventListener('visibilitychange', set)
  onScopeDispose(() => {
    stop()
    document.removeEventListener('visibilitychange', set)
  })
  return now
}
