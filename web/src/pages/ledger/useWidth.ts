import { onBeforeUnmount, onMounted, ref, type ShallowRef } from 'vue'

/** How wide an element is, in pixels: a drawing of that width keeps its letters at their size, on a phone too. */
export function useWidth(element: Readonly<ShallowRef<HTMLElement | null>>, atFirst = 720, least = 280) {
  const width = ref(atFirst)
  let observer: ResizeObserver | undefined

  function measure() {
    const seen = element.value?.clientWidth ?? 0
    if (seen > 0) width.value = Math.max(least, Math.round(seen))
  }

  onMounted(() => {
    measure()
    if (element.value && 'ResizeObserver' in globalThis) {
      observer = new ResizeObserver(measure)
      observer.observe(element.value)
    }
  })
  onBeforeUnmount(() => observer?.disconnect())
  return width
}
