import { flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { ApiFailure } from '@/api/failure'
import type { RunQuery } from '@/api/client'
import type { RunDetail, RunList, RunSummary } from '@/api/types'
import { approved, asked } from '@/run/samples'
import { mountPage } from '@/test/mount'

import { addressOf, filtersOf, queryOf } from './filters'
import RunPage from './RunPage.vue'
import RunsPage from './RunsPage.vue'
import { freshened } from './useRuns'

function run(id: string, more: Partial<RunSummary> = {}): RunSummary {
  return { run_id: id, status: 'ended', kind: 'agent', message: `message of ${id}`, request_id: 'r', started_at: 1_000, ended_at: 3_000, mode: null, agent: 'leaves', model: 'scripted', conversation_id: null, key: null, stop: 'completed', code: null, usage: null, cost_micro_usd: null, ...more } as RunSummary
}

const page = (runs: RunSummary[], next: string | null = null) => ({ runs, next, request_id: 'r' })

afterEach(() => vi.useRealTimers())

describe('the list of runs', () => {
  it('shows how each stands in words, of whom, and for how much', async () => {
    const { wrapper } = await mountPage(RunsPage, {
      at: '/runs',
      recording: { runs: async () => page([run('run_3', { status: 'waiting', stop: null }), run('run_2', { stop: 'steps' }), run('run_1', { kind: 'ask', agent: null, mode: 'pipeline', cost_micro_usd: 1_234 })]) },
    })
    const rows = wrapper.findAll('li').map((row) => row.text())
    expect(rows[0]).toContain('waits for a person')
    expect(rows[1]).toContain('stopped: steps')
    expect(rows[2]).toContain('a model, once')
    expect(rows[2]).toContain('US$0.001234')
  })

  it('asks for what the address says, and the address says what is chosen', async () => {
    const runs = vi.fn<(query?: RunQuery) => Promise<RunList>>(async () => page([]))
    const { wrapper, router } = await mountPage(RunsPage, { at: '/runs?status=ended&kind=nonsense&agent=leaves', recording: { runs } })
    expect(runs.mock.lastCall?.[0]).toMatchObject({ status: 'ended', kind: undefined, agent: 'leaves' })
    expect(wrapper.text()).toContain('No run fits')
    await wrapper.findAll('select')[1]?.setValue('ask')
    await flushPromises()
    expect(router.currentRoute.value.query).toEqual({ status: 'ended', kind: 'ask', agent: 'leaves' })
    expect(runs.mock.lastCall?.[0]).toMatchObject({ status: 'ended', kind: 'ask' })
  })

  it('goes on where a page ended', async () => {
    const runs = vi.fn(async (query?: RunQuery) => (query?.before ? page([run('run_1')]) : page([run('run_3'), run('run_2')], 'run_2')))
    const { wrapper } = await mountPage(RunsPage, { at: '/runs', recording: { runs } })
    await wrapper.findAll('button').find((each) => each.text() === 'Show older ones')?.trigger('click')
    await flushPromises()
    expect(runs.mock.lastCall?.[0]).toMatchObject({ before: 'run_2' })
    expect(wrapper.findAll('li')).toHaveLength(3)
    expect(wrapper.text()).toContain('These are all.')
  })

  it('looks again while something goes on, and not while nobody sees it or all is over', async () => {
    vi.useFakeTimers()
    let isOver = false
    const runs = vi.fn(async () => page([isOver ? run('run_1') : run('run_1', { status: 'running', ended_at: null, stop: null })]))
    const seen = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('visible')
    await mountPage(RunsPage, { at: '/runs', recording: { runs } })
    await vi.advanceTimersByTimeAsync(8_100)
    expect(runs).toHaveBeenCalledTimes(3)
    seen.mockReturnValue('hidden')
    document.dispatchEvent(new Event('visibilitychange'))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(runs).toHaveBeenCalledTimes(3)
    isOver = true
    seen.mockReturnValue('visible')
    document.dispatchEvent(new Event('visibilitychange'))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(runs).toHaveBeenCalledTimes(4)
  })

  it('puts new ones in front and keeps what was read further back', () => {
    const ids = (list: RunSummary[]) => list.map(({ run_id }) => run_id)
    const list = ['e', 'd', 'c', 'b', 'a'].map((id) => run(id))
    expect(ids(freshened(list, ['f', 'e', 'd'].map((id) => run(id))))).toEqual(['f', 'e', 'd', 'c', 'b', 'a'])
    expect(ids(freshened(list, ['e', 'c'].map((id) => run(id))))).toEqual(['e', 'c', 'b', 'a'])
    expect(ids(freshened(list, ['z', 'y'].map((id) => run(id))))).toEqual(['z', 'y'])
    expect(ids(freshened(list, []))).toEqual([])
  })
})

describe('filters', () => {
  it('are read from an address and written to it without what is not set', () => {
    expect(filtersOf({ status: ['x'], kind: 'ask', agent: null, key: 'key_1' })).toEqual({ status: '', kind: 'ask', agent: '', key: 'key_1' })
    expect(queryOf({ status: 'over', kind: '', agent: ' ', key: 'key_1' })).toEqual({ status: undefined, kind: undefined, agent: undefined, key: 'key_1' })
    expect(addressOf({ status: '', kind: 'ask', agent: ' ', key: '' })).toEqual({ kind: 'ask' })
  })
})

const detail = (summary: RunSummary): RunDetail => ({ run: summary, steps: 0, tool_calls: 0, questions: [], last_event: 0, request_id: 'r', stop_message: null, answer: null }) as RunDetail

describe('one run', () => {
  it('shows every event in order, the answer, and what it took', async () => {
    const { wrapper } = await mountPage(RunPage, { at: '/runs/run_1', recording: { run: async () => detail(run('run_1')), events: approved } })
    expect(wrapper.find('h1').text()).toBe('message of run_1')
    expect(wrapper.find('[aria-label="Answer"]').text()).toContain('Done.')
    const happened = wrapper.findAll('.timeline > li').map((row) => row.find('.name, h2').text())
    expect(happened.map((text) => text.slice(0, 12))).toEqual(['Asked', 'The model re', 'lookof hr', 'The model re', 'May this be ', 'cancel_leave', 'The model re', 'Over done'].map((text) => text.slice(0, 12)))
    expect(wrapper.findAll('button').some((each) => each.text() === 'Stop')).toBe(false)
  })

  it('of a question shows what was found', async () => {
    const { wrapper } = await mountPage(RunPage, { at: '/runs/run_1', recording: { run: async () => detail(run('run_1', { kind: 'ask' })), events: asked.slice(0, 1) } })
    expect(wrapper.text()).toContain('1 articles found')
    expect(wrapper.find('a[href="/ui/rules/a.md/1"]').exists()).toBe(true)
  })

  it('that goes on can be stopped, and its question answered', async () => {
    const cancelRun = vi.fn(async () => ({ run_id: 'run_1', cancelled: true, request_id: 'r' }))
    const reply = vi.fn(async () => ({ run_id: 'run_1', id: 1, action: 'accept' as const, request_id: 'r' }))
    const open = approved.slice(0, 8)
    const runEvents = async function* () {
      yield* open
      await new Promise(() => undefined)
    }
    const { wrapper } = await mountPage(RunPage, {
      at: '/runs/run_1',
      recording: { run: async () => detail(run('run_1', { status: 'waiting', ended_at: null, stop: null })), runEvents, cancelRun, reply },
    })
    expect(wrapper.find('.state').text()).toBe('waits for a person')
    await wrapper.find('.question form').trigger('submit')
    expect(reply).toHaveBeenCalledWith('run_1', 1, { action: 'accept' })
    await wrapper.findAll('button').find((each) => each.text() === 'Stop')?.trigger('click')
    expect(cancelRun).toHaveBeenCalledWith('run_1')
  })

  it('that is not there, or somebody else’s, has a page that says both', async () => {
    const { wrapper } = await mountPage(RunPage, {
      at: '/runs/run_1',
      recording: {
        run: async () => {
          throw new ApiFailure('run_not_found', 'there is no run', 404)
        },
      },
    })
    expect(wrapper.text()).toContain('There is no such run, or it is not yours')
    expect(wrapper.find('h1').exists()).toBe(true)
  })

  it('is linked with a word on who can open the link', async () => {
    const { wrapper } = await mountPage(RunPage, { at: '/runs/run_1', recording: { run: async () => detail(run('run_1')), events: approved } })
    const writeText = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue()
    await wrapper.findAll('button').find((each) => each.text() === 'Copy link')?.trigger('click')
    await flushPromises()
    expect(String(writeText.mock.lastCall?.[0])).toMatch(/\/ui\/runs\/run_1$/)
    expect(wrapper.text()).toContain('Only you and admins can open it')
  })
})
