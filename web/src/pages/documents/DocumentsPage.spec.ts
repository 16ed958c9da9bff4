import { enableAutoUnmount, flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it } from 'vitest'

import { ApiFailure } from '@/api/failure'
import type { Recording } from '@/api/recorded'
import * as sample from '@/api/sample'
import type { IngestJob } from '@/api/types'
import { mountPage } from '@/test/mount'

import DocumentsPage from './DocumentsPage.vue'

enableAutoUnmount(afterEach)

const done: IngestJob = {
  job_id: 'job_1', status: 'done', source: 'a.md', path: 'a.md', stage: '', percent: 100, chunks: 2, effect: 'added',
  warnings: ['第 3 條: nothing stands below this heading'], elapsed_ms: 1_234, error: null, created_at: 0,
}

async function choose(recording: Recording, name = 'a.md') {
  const mounted = await mountPage(DocumentsPage, { recording, at: '/documents' })
  const input = mounted.wrapper.get<HTMLInputElement>('.zone input')
  Object.defineProperty(input.element, 'files', { value: [new File(['x'], name)] })
  await input.trigger('change')
  await flushPromises()
  return mounted
}

describe('documents', () => {
  it('tell a reader whose key can bring them in', async () => {
    const { wrapper } = await mountPage(DocumentsPage, { recording: { me: async () => ({ ...sample.me, role: 'reader' }) } })
    expect(wrapper.text()).toContain('Documents are brought in by editors')
    expect(wrapper.find('.zone').exists()).toBe(false)
  })

  it('report in words what became of one, with its warnings', async () => {
    const { wrapper } = await choose({ upload: async () => done })
    const upload = wrapper.get('.upload').text()
    expect(upload).toContain('Brought in')
    expect(upload).toContain('It answers now, with 2 articles.')
    expect(upload).toContain('one warning')
    expect(upload).toContain('nothing stands below this heading')
  })

  it('say why one was refused and what to do', async () => {
    const upload = async () => {
      throw new ApiFailure('unsupported_format', 'a.exe: this kind of document is not read yet', 415)
    }
    const { wrapper } = await choose({ upload }, 'a.exe')
    const text = wrapper.get('.upload').text()
    expect(text).toContain('This kind of document is not read')
    expect(text).toContain('a.exe: this kind of document is not read yet')
    expect(text).toContain('Save it in one of the formats')
    expect(text).toContain('Try again')
  })

  it('offer to bring back what was deleted, where it stood', async () => {
    const [first, second] = sample.sources
    let kept = [...sample.sources]
    const { wrapper } = await mountPage(DocumentsPage, {
      at: '/documents',
      recording: {
        sources: async () => kept,
        deleteSource: async (source) => {
          kept = kept.filter((each) => each.source !== source)
          return { source, removed: 24, chunks_left: 75, undo_until: Date.now() + 90_000, request_id: '1' }
        },
        undoDelete: async (source) => {
          kept = [...sample.sources]
          return { source, chunks: 24, request_id: '2' }
        },
      },
    })
    await wrapper.get(`[aria-label="Delete ${first?.source}"]`).trigger('click')
    await flushPromises()
    const gone = wrapper.get('.gone')
    expect(gone.text()).toContain(`“${first?.title}” was deleted`)
    expect(gone.text()).toMatch(/another 1 min (29|30) s/)
    expect(document.activeElement?.textContent).toContain('Bring it back')
    await gone.get('button').trigger('click')
    await flushPromises()
    expect(wrapper.find('.gone').exists()).toBe(false)
    expect(wrapper.text()).toContain(second?.title)
  })
})
