import { computed, onBeforeUnmount, onMounted, ref, type ShallowRef } from 'vue'

/** Rows above and below what is seen, so that fast scrolling finds them drawn. */
const SPARE = 12
/** Before the list has been measured. */
const AT_FIRST = 30

interface WindowOptions {
  /** How many rows there are. */
  count: () => number
  /** Height of a row in rem: it grows with the reader's letters. */
  rowRem: number
  scroller: Readonly<ShallowRef<HTMLElement | null>>
}

/** Which rows of a long list are drawn: those that are seen, and a few more. All rows are of one height. */
export function useWindow({ count, rowRem, scroller }: WindowOptions) {
  const top = ref(0)
  const height = ref(0)
  const rowHeight = ref(rowRem * 16)
  let observer: ResizeObserver | undefined

  function measure() {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    rowHeight.value = rowRem * (Number.isFinite(rem) && rem > 0 ? rem : 16)
    height.value = scroller.value?.clientHeight ?? 0
  }

  onMounted(() => {
    measure()
    if (scroller.value && 'ResizeObserver' in globalThis) {
      observer = new ResizeObserver(measure)
      observer.observe(scroller.value)
    }
  })
  onBeforeUnmount(() => observer?.disconnect())

  const first = computed(() => Math.max(0, Math.floor(top.value / rowHeight.value) - SPARE))
  const last = computed(() => {
    const rows = height.value > 0 ? Math.ceil(height.value / rowHeight.value) : AT_FIRST
    return Math.min(count(), Math.floor(top.value / rowHeight.value) + rows + SPARE)
  })

  /** Brings a row into view, moving no more than is needed; `centre` puts it into the middle. */
  function reveal(row: number, centre = false) {
    const element = scroller.value
    if (!element || row < 0) return
    const at = row * rowHeight.value
    const seen = element.clientHeight
    if (centre) element.scrollTop = at - seen / 2
    else if (at < element.scrollTop) element.scrollTop = at
    else if (at + rowHeight.value > element.scrollTop + seen) element.scrollTop = at + rowHeight.value - seen
    top.value = element.scrollTop
  }

  return {
    first,
    last,
    rowHeight,
    total: computed(() => count() * rowHeight.value),
    onScroll: () => void (top.value = scroller.value?.scrollTop ?? 0),
    reveal,
  }
}
