import { flushPromises } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { defineComponent } from 'vue'

import type { UploadOptions } from '@/api/client'
import { ApiFailure } from '@/api/failure'
import type { Recording } from '@/api/recorded'
import type { IngestJob } from '@/api/types'
import { mountPage } from '@/test/mount'

import { useUploads } from './useUploads'

const job = (more: Partial<IngestJob> = {}): IngestJob => ({
  job_id: 'job_1', status: 'queued', source: 'a.md', path: 'a.md', stage: '', percent: 0, chunks: 0, effect: null,
  warnings: [], elapsed_ms: null, error: null, created_at: 0, ...more,
})
// The service's document names codes otherwise than the service does.
const refusal = { code: 'empty_document', message: 'there is no text' } as unknown as IngestJob['error']
const file = (name: string) => new File(['x'], name)

async function begin(recording: Recording) {
  const waits: number[] = []
  const onDone = vi.fn()
  let uploads!: ReturnType<typeof useUploads>
  const Probe = defineComponent({
    setup() {
      uploads = useUploads({ onDone, wait: async (ms) => void waits.push(ms) })
      return () => null
    },
  })
  const { wrapper } = await mountPage(Probe, { recording })
  return { ...uploads, waits, onDone, wrapper }
}

describe('documents on their way in', () => {
  it('are followed until they answer, less and less often', async () => {
    const looks = [job(), job({ status: 'running', percent: 40 }), job({ status: 'running' }), job({ status: 'done', effect: 'added' })]
    const { add, uploads, waits, onDone } = await begin({ upload: async () => job(), document: async () => looks.shift() ?? job() })
    add([file('a.md')])
    await flushPromises()
    expect(uploads.value[0]?.state).toBe('done')
    expect(onDone).toHaveBeenCalledOnce()
    expect(waits).toEqual([250, 400, 640, 1024])
  })

  it('say why they were refused, in the job’s words or the door’s', async () => {
    const { add, uploads } = await begin({
      upload: async ({ name }) => {
        if (name === 'big.md') throw new ApiFailure('payload_too_large', 'the document is larger', 413)
        return job({ status: 'failed', error: refusal })
      },
    })
    add([file('empty.md'), file('big.md')])
    await flushPromises()
    expect(uploads.value.map(({ name, state, error }) => [name, state, error?.code])).toEqual([
      ['big.md', 'failed', 'payload_too_large'],
      ['empty.md', 'failed', 'empty_document'],
    ])
  })

  it('are sent two at a time, first come first', async () => {
    const sending: { name: string; end: () => void }[] = []
    const { add } = await begin({
      upload: ({ name }) => new Promise((resolve) => sending.push({ name, end: () => resolve(job({ status: 'done' })) })),
    })
    add(['a.md', 'b.md', 'c.md'].map(file))
    await flushPromises()
    expect(sending.map(({ name }) => name)).toEqual(['a.md', 'b.md'])
    sending[0]?.end()
    await flushPromises()
    expect(sending.map(({ name }) => name)).toEqual(['a.md', 'b.md', 'c.md'])
  })

  it('survive a look that fails, but not one that says there is no such job', async () => {
    const looks: (() => IngestJob)[] = [
      () => { throw new ApiFailure('connection_lost', '', 0) },
      () => job({ status: 'done' }),
    ]
    const { add, uploads } = await begin({ upload: async () => job(), document: async () => (looks.shift() as () => IngestJob)() })
    add([file('a.md')])
    await flushPromises()
    expect(uploads.value[0]?.state).toBe('done')
    looks.push(() => { throw new ApiFailure('job_not_found', '', 404) })
    add([file('b.md')])
    await flushPromises()
    expect(uploads.value[0]).toMatchObject({ name: 'b.md', state: 'failed' })
  })

  it('can be given up, also by leaving', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const { add, uploads, cancel, wrapper } = await begin({
      upload: (_, { signal }: UploadOptions = {}) =>
        new Promise((__, reject) => {
          signals.push(signal)
          signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')))
        }),
    })
    add([file('a.md'), file('b.md')])
    const second = uploads.value[1]
    if (second) cancel(second)
    await flushPromises()
    expect(second?.state).toBe('cancelled')
    wrapper.unmount()
    expect(signals.every((signal) => signal?.aborted)).toBe(true)
  })
})
