import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent } from 'vue'

import { ApiFailure } from '@/api/failure'
import type { Recording } from '@/api/recorded'
import { mountPage } from '@/test/mount'

import { secondsLeft, useDeletions } from './useDeletions'

const START = 1_000_000

async function begin(recording: Recording = {}) {
  const onChange = vi.fn()
  let deletions!: ReturnType<typeof useDeletions>
  const Probe = defineComponent({
    setup() {
      deletions = useDeletions({ onChange })
      return () => null
    },
  })
  const { wrapper } = await mountPage(Probe, {
    recording: {
      deleteSource: async (source) => ({ source, removed: 3, chunks_left: 0, undo_until: START + 90_000, request_id: '1' }),
      undoDelete: async (source) => ({ source, chunks: 3, request_id: '2' }),
      ...recording,
    },
  })
  return { ...deletions, onChange, wrapper }
}

describe('deleting with undo', () => {
  beforeEach(() => void vi.useFakeTimers({ now: START, toFake: ['setInterval', 'clearInterval', 'Date'] }))
  afterEach(() => void vi.useRealTimers())

  it('counts whole seconds and never below none', () => {
    expect(secondsLeft(START + 1_500, START)).toBe(2)
    expect(secondsLeft(START, START)).toBe(0)
    expect(secondsLeft(START - 5_000, START)).toBe(0)
  })

  it('offers to bring back what was deleted until time is up', async () => {
    const { remove, deletions, left, onChange } = await begin()
    await remove('a.md', 'A')
    expect(onChange).toHaveBeenCalledOnce()
    const [deletion] = deletions.value
    if (!deletion) throw new Error('nothing was offered')
    expect(left(deletion)).toBe(90)
    vi.advanceTimersByTime(30_000)
    expect(left(deletion)).toBe(60)
    vi.advanceTimersByTime(60_000)
    expect(deletions.value).toEqual([])
  })

  it('remembers it when the page is loaded again', async () => {
    const before = await begin()
    await before.remove('a.md', 'A')
    before.wrapper.unmount()
    const { deletions, undo } = await begin()
    expect(deletions.value.map(({ source }) => source)).toEqual(['a.md'])
    expect(await undo('a.md')).toBe(true)
    expect(deletions.value).toEqual([])
  })

  it('remembers it also when the page is left before the service has said until when', async () => {
    const before = await begin({ deleteSource: () => new Promise(() => undefined) })
    void before.remove('a.md', 'A')
    before.wrapper.unmount()
    const { deletions, left } = await begin()
    expect(deletions.value.map(left)).toEqual([null])
  })

  it('offers nothing if deleting failed', async () => {
    const { remove, deletions, error } = await begin({
      deleteSource: async () => {
        throw new ApiFailure('source_not_found', '', 404)
      },
    })
    expect(await remove('a.md', 'A')).toBe(false)
    expect(deletions.value).toEqual([])
    expect(error.value?.code).toBe('source_not_found')
  })

  it('keeps the offer if bringing back fails, and says why', async () => {
    const { remove, undo, deletions, error } = await begin({
      undoDelete: async () => {
        throw new ApiFailure('storage_failed', 'disk full', 500)
      },
    })
    await remove('a.md', 'A')
    expect(await undo('a.md')).toBe(false)
    await flushPromises()
    expect(error.value?.code).toBe('storage_failed')
    expect(deletions.value).toHaveLength(1)
  })
})
