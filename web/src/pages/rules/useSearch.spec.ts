import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, ref } from 'vue'

import { recordedApi } from '@/api/recorded'
import { search as found } from '@/api/sample'
import { mountPage } from '@/test/mount'

import { useSearch } from './useSearch'

describe('searching as one types', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  async function begin(at = '') {
    const asked: { question: string; source?: string | null; signal: AbortSignal }[] = []
    const waiting: (() => void)[] = []
    const api = recordedApi({
      search: ({ question, source }, call) => {
        asked.push({ question, source, signal: call?.signal as AbortSignal })
        return new Promise((resolve) => waiting.push(() => resolve({ ...found, request_id: question })))
      },
    })
    const typed = ref(at)
    const within = ref<string>()
    let search!: ReturnType<typeof useSearch>
    const Probe = defineComponent({
      setup() {
        search = useSearch({ typed: () => typed.value, within: () => within.value, waitMs: 200 })
        return () => null
      },
    })
    const { wrapper } = await mountPage(Probe, { api })
    const type = async (text: string) => {
      typed.value = text
      await flushPromises()
    }
    return { asked, waiting, typed, within, search, type, wrapper }
  }

  it('waits for a pause and sends what stands there then', async () => {
    const { asked, type } = await begin()
    for (const text of ['特', '特別', '特別休假']) {
      await type(text)
      vi.advanceTimersByTime(100)
    }
    expect(asked).toEqual([])
    vi.advanceTimersByTime(100)
    expect(asked.map(({ question }) => question)).toEqual(['特別休假'])
  })

  it('gives up the search before, and what comes late changes nothing', async () => {
    const { asked, waiting, search, type } = await begin()
    await type('特別')
    vi.advanceTimersByTime(200)
    await type('特別休假')
    expect(asked[0]?.signal.aborted).toBe(true)
    vi.advanceTimersByTime(200)
    waiting[1]?.()
    await flushPromises()
    waiting[0]?.()
    await flushPromises()
    expect(search.data.value?.request_id).toBe('特別休假')
  })

  it('searches at once for what the address says, and when it is widened', async () => {
    const { asked, within } = await begin('產假')
    expect(asked.map(({ question }) => question)).toEqual(['產假'])
    within.value = 'work_rules.md'
    await flushPromises()
    expect(asked.at(-1)).toMatchObject({ question: '產假', source: 'work_rules.md' })
  })

  it('stops at once when nothing stands there any more, and with the view', async () => {
    const { asked, type, search, wrapper } = await begin()
    await type('特別')
    await type('')
    vi.advanceTimersByTime(500)
    expect(asked).toEqual([])
    expect(search.status.value).toBe('idle')
    await type('產假')
    wrapper.unmount()
    vi.advanceTimersByTime(500)
    expect(asked).toEqual([])
  })
})
