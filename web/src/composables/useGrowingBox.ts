import { nextTick, onMounted, watch, type Ref } from 'vue'

/** A box as high as what is written in it, up to so many pixels. */
export function useGrowingBox(box: Readonly<Ref<HTMLTextAreaElement | null>>, text: () => string, most: number) {
  async function grow() {
    await nextTick()
    const area = box.value
    if (!area) return
    area.style.height = 'auto'
    area.style.height = `${Math.min(area.scrollHeight + 2, most)}px`
  }

  watch(text, grow)
  onMounted(grow)
}
