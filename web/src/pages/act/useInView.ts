import { onScopeDispose, ref, watch } from 'vue'

/** Whether an element can be seen. None cannot. */
export function useInView(find: () => Element | null) {
  const isInView = ref(false)
  const watcher =
    typeof IntersectionObserver === 'undefined'
      ? null
      : new IntersectionObserver((seen) => (isInView.value = seen.at(-1)?.isIntersecting ?? false), {
          rootMargin: '0px 0px -160px 0px',
        })
  watch(
    find,
    (element) => {
      watcher?.disconnect()
      isInView.value = false
      if (element) watcher?.observe(element)
    },
    { immediate: true, flush: 'post' },
  )
  onScopeDispose(() => watcher?.disconnect())
  return isInView
}
