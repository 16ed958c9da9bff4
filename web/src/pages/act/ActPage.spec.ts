import { flushPromises } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'

import type { Recording } from '@/api/recorded'
import { ApiFailure } from '@/api/failure'
import * as sample from '@/api/sample'
import type { ConversationDetail, RunEvent, RunSummary } from '@/api/types'
import { approved, broken, elicited } from '@/run/samples'
import { mountPage } from '@/test/mount'

import ActPage from './ActPage.vue'

const me = { ...sample.me, principal: 'local', agents: ['leaves', 'other'] }

const conversation = { conversation_id: 'cnv_1', title: 'Cancel LV-7', agent: 'leaves', key: null, created_at: 1, updated_at: 2, busy: null }

function run(id: string, message: string, status: RunSummary['status'] = 'ended'): RunSummary {
  return { run_id: id, status, kind: 'agent', message, request_id: 'r', started_at: 1_000, mode: null, agent: 'leaves', model: 'scripted', conversation_id: 'cnv_1', key: null, ended_at: null, stop: null, code: null, usage: null, cost_micro_usd: null } as RunSummary
}

const detail = (...runs: RunSummary[]): ConversationDetail => ({ conversation, runs, messages: [], artifacts: [], request_id: 'r' })

function show(recording: Recording = {}, at = '/act/cnv_1') {
  return mountPage(ActPage, {
    at,
    recording: { me: async () => me, conversation: async () => detail(run('run_1', 'Cancel LV-7')), events: approved, ...recording },
  })
}

/** A run that is heard as a test says. */
function stream() {
  const waiting: RunEvent[] = []
  let wake = () => {}
  const opened: number[] = []
  let isCut = false
  return {
    opened,
    tell(...events: RunEvent[]) {
      waiting.push(...events)
      wake()
      return flushPromises()
    },
    cut() {
      isCut = true
      wake()
      return flushPromises()
    },
    async *events(_: string, after: number): AsyncGenerator<RunEvent, void, undefined> {
      opened.push(after)
      isCut = false
      for (;;) {
        while (waiting.length > 0) yield waiting.shift() as RunEvent
        if (isCut) throw new ApiFailure('stream_cut', 'cut')
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

type Wrapper = Awaited<ReturnType<typeof show>>['wrapper']
const button = (wrapper: Wrapper, name: string) => wrapper.findAll('button').find((each) => each.text().includes(name))

async function say(wrapper: Wrapper, message: string) {
  await wrapper.find('textarea').setValue(message)
  await wrapper.find('textarea').trigger('keydown', { key: 'Enter' })
  await flushPromises()
}

describe('act', () => {
  it('explains what agents are where there is none', async () => {
    const { wrapper } = await show({ me: async () => ({ ...me, agents: [] }) }, '/act')
    expect(wrapper.text()).toContain('There is no agent yet')
    expect(wrapper.find('pre').text()).toContain('[servers.hr]')
    expect(wrapper.find('textarea').exists()).toBe(false)
  })

  it('begins a conversation with the chosen agent, starts a run in it, and goes there', async () => {
    const beginConversation = vi.fn(async () => conversation)
    const startRun = vi.fn(async () => ({ run_id: 'run_1', agent: 'other', events: '', request_id: 'r' }))
    const { wrapper, router } = await show({ beginConversation, startRun }, '/act')
    await wrapper.findAll('input[type=radio]')[1]?.setValue(true)
    await say(wrapper, 'Cancel LV-7\nplease')
    expect(beginConversation).toHaveBeenCalledWith('Cancel LV-7', 'other')
    expect(startRun).toHaveBeenCalledWith({ conversation: 'cnv_1', message: 'Cancel LV-7\nplease' })
    expect(router.currentRoute.value.params.conversation).toBe('cnv_1')
    expect((wrapper.find('textarea').element as HTMLTextAreaElement).value).toBe('')
  })

  it('does not send with the Enter that ends a word of an input method, nor with Shift', async () => {
    const startRun = vi.fn(async () => ({ run_id: 'run_2', agent: 'leaves', events: '', request_id: 'r' }))
    const { wrapper } = await show({ startRun })
    const box = wrapper.find('textarea')
    await box.setValue('取消')
    await box.trigger('keydown', { key: 'Enter', isComposing: true })
    await box.trigger('keydown', { key: 'Enter', keyCode: 229 })
    await box.trigger('keydown', { key: 'Enter', shiftKey: true })
    expect(startRun).not.toHaveBeenCalled()
    await box.trigger('keydown', { key: 'Enter' })
    expect(startRun).toHaveBeenCalledTimes(1)
  })

  it('asks for the limits that were set, and shows them beside what was used', async () => {
    const startRun = vi.fn(async () => ({ run_id: 'run_2', agent: 'leaves', events: '', request_id: 'r' }))
    const { wrapper } = await show({ startRun, conversation: async () => detail() })
    const [steps, calls, cost, minutes] = wrapper.findAll('.limits input')
    await steps?.setValue('0')
    expect(button(wrapper, 'Send')?.attributes('disabled')).toBeDefined()
    await steps?.setValue('5')
    await calls?.setValue('')
    await cost?.setValue('0.5')
    await minutes?.setValue('1.5')
    await say(wrapper, 'go')
    expect(startRun).toHaveBeenCalledWith({ conversation: 'cnv_1', message: 'go', limits: { max_steps: 5, max_cost: '0.5', max_wall_ms: 90_000 } })
    expect(wrapper.find('.meters').text()).toContain('2 of 5')
  })

  it('keeps what was typed if it could not be sent, and does not say it twice if it had arrived', async () => {
    let arrived = false
    const startRun = vi.fn(async () => {
      throw new ApiFailure('connection_lost', 'no network')
    })
    const { wrapper } = await show({
      startRun,
      conversation: async () => (arrived ? detail(run('run_2', 'go', 'running'), run('run_1', 'go')) : detail(run('run_1', 'go'))),
    })
    await say(wrapper, 'go')
    expect(wrapper.text()).toContain('The service cannot be reached')
    expect((wrapper.find('textarea').element as HTMLTextAreaElement).value).toBe('go')
    arrived = true
    await say(wrapper, 'go')
    expect(wrapper.findAll('.turn')).toHaveLength(2)
    expect((wrapper.find('textarea').element as HTMLTextAreaElement).value).toBe('')
  })

  it('shows what was done: words, calls with their state in words, and the answer once', async () => {
    const { wrapper } = await show()
    const cards = wrapper.findAll('.tool')
    expect(cards.map((card) => card.find('.name').text())).toEqual(['look of hr'.replace(' ', ''), 'cancel_leaveof hr'])
    expect(cards.every((card) => card.find('.state').text().startsWith('done'))).toBe(true)
    expect(wrapper.text().split('Done.').length - 1).toBe(1)
  })

  it('says why a run stopped and what to do, and offers its message again', async () => {
    const { wrapper } = await show({ events: broken })
    const banner = wrapper.find('[data-stop]')
    expect(banner.text()).toContain('The run was cut off; what it was doing may have happened')
    await button(wrapper, 'Say it again')?.trigger('click')
    expect((wrapper.find('textarea').element as HTMLTextAreaElement).value).toBe('Cancel LV-7')
  })

  it('goes on where it left off after a cut, with nothing lost or doubled, and says that it reconnects', async () => {
    vi.useFakeTimers()
    try {
      const heard = stream()
      const { wrapper } = await show({ conversation: async () => detail(run('run_1', 'Cancel LV-7', 'running')), runEvents: heard.events })
      await heard.tell(...approved.slice(0, 2), { event: 'text_delta', text: 'I lo' })
      await vi.advanceTimersByTimeAsync(20)
      expect(wrapper.find('.growing').text()).toBe('I lo')
      await heard.cut()
      expect(wrapper.text()).toContain('reconnecting')
      await vi.advanceTimersByTimeAsync(1_000)
      await heard.tell({ event: 'text_so_far', text: 'I look' }, ...approved.slice(2))
      expect(heard.opened).toEqual([0, 2])
      expect(wrapper.text()).not.toContain('reconnecting')
      expect(wrapper.text().split('I look').length - 1).toBe(1)
      expect(wrapper.findAll('.tool')).toHaveLength(2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('in two windows: an answer that came too late is no error, and the one that counted is shown', async () => {
    const heard = stream()
    const reply = vi.fn(async () => {
      throw new ApiFailure('question_answered', 'question 1 was answered already', 409)
    })
    const { wrapper } = await show({ conversation: async () => detail(run('run_1', 'Submit', 'running')), runEvents: heard.events, reply })
    await heard.tell(...elicited)
    expect(wrapper.find('.question form').exists()).toBe(true)
    await button(wrapper, 'Dismiss')?.trigger('click')
    await flushPromises()
    expect(wrapper.find('.question form').exists()).toBe(false)
    expect(wrapper.find('.question [role=alert]').exists()).toBe(false)
    await heard.tell({ event: 'reply', id: 1, action: 'accept', content: { days: 2 }, by: 'person', number: 6, at: 5_000 })
    expect(wrapper.find('.outcome').text()).toContain('Accepted.')
    expect(wrapper.find('.outcome').text()).toContain('in another window')
    expect(reply).toHaveBeenCalledTimes(1)
  })

  it('stops the run, and sends nothing meanwhile', async () => {
    const heard = stream()
    const cancelRun = vi.fn(async () => ({ run_id: 'run_1', cancelled: true, request_id: 'r' }))
    const startRun = vi.fn()
    const { wrapper } = await show({ conversation: async () => detail(run('run_1', 'Submit', 'running')), runEvents: heard.events, cancelRun, startRun })
    await heard.tell(...elicited.slice(0, 2))
    await say(wrapper, 'and another thing')
    expect(startRun).not.toHaveBeenCalled()
    await button(wrapper, 'Stop')?.trigger('click')
    await flushPromises()
    expect(cancelRun).toHaveBeenCalledWith('run_1')
    expect(button(wrapper, 'Stopping…')).toBeDefined()
  })

  it('says that the key was revoked in the middle', async () => {
    const heard = stream()
    const { wrapper } = await show({ conversation: async () => detail(run('run_1', 'Submit', 'running')), runEvents: heard.events })
    await heard.tell(...elicited.slice(0, 2), { event: 'error', code: 'invalid_key', message: 'the key is not valid any more', request_id: 'r' } as never)
    expect(wrapper.find('[role=alert]').text()).toContain('Your key is not valid any more')
    expect(button(wrapper, 'Sign in with a key')).toBeDefined()
  })

  it('deletes a conversation only after asking, and says if something goes on in it', async () => {
    const deleteConversation = vi.fn(async () => {
      throw new ApiFailure('conversation_busy', 'run run_1 goes on in this conversation', 409)
    })
    const { wrapper } = await show({ deleteConversation })
    await button(wrapper, 'Delete')?.trigger('click')
    expect(deleteConversation).not.toHaveBeenCalled()
    const dialog = wrapper.find('dialog')
    await dialog.findAll('button').find((each) => each.text() === 'Delete')?.trigger('click')
    await flushPromises()
    expect(dialog.text()).toContain('Something is going on in this conversation already')
  })

  it('can only be read where it is somebody else’s', async () => {
    const others = { ...detail(run('run_1', 'Cancel LV-7')), conversation: { ...conversation, key: 'key_2' } }
    const { wrapper } = await show({ conversation: async () => others })
    expect(wrapper.find('textarea').exists()).toBe(false)
    expect(wrapper.text()).toContain('somebody else’s')
  })
})
