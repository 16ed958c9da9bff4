import { flushPromises } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'

import { ApiFailure } from '@/api/failure'
import { mountPage } from '@/test/mount'

import QuestionCard from './QuestionCard.vue'
import { approved, elicited } from './samples'
import { blank, reduce, type QuestionEntry } from './state'

function question(events = elicited): QuestionEntry {
  const until = events.findIndex(({ event }) => event === 'question')
  const entry = events.slice(0, until + 1).reduce(reduce, blank).entries.find(({ kind }) => kind === 'question')
  return entry as QuestionEntry
}

const show = (props: Record<string, unknown> = {}) => mountPage(QuestionCard, { props: { question: question(), ...props } })
type Wrapper = Awaited<ReturnType<typeof show>>['wrapper']
const button = (wrapper: Wrapper, name: string) => wrapper.findAll('button').find((each) => each.text() === name)

describe('a question', () => {
  it('is a form with a control for each field, and says what each answer means', async () => {
    const { wrapper } = await show()
    expect(wrapper.find('blockquote').text()).toContain('Days and kind?')
    expect(wrapper.findAll('.name').map((name) => name.text())).toEqual(['Daysrequired', 'Kindrequired', 'Paidoptional', 'Mailoptional'])
    expect(wrapper.find('.meaning').text()).toContain('Decline is final')
    expect((wrapper.findAll('input[type=radio]')[0]?.element as HTMLInputElement).checked).toBe(true)
  })

  it('is not sent before it is right, and the first field that is wrong gets the focus', async () => {
    const { wrapper } = await show()
    await wrapper.find('form').trigger('submit')
    expect(wrapper.emitted('reply')).toBeUndefined()
    expect(wrapper.findAll('.problem').map((each) => each.text())).toEqual(['This is needed.', 'This is needed.'])
    expect(document.activeElement).toBe(wrapper.find('input').element)
  })

  it('is answered with the object that was filled in', async () => {
    const { wrapper } = await show()
    await wrapper.find('input').setValue('3')
    await wrapper.find('select').setValue('sick')
    await wrapper.find('form').trigger('submit')
    expect(wrapper.emitted('reply')).toEqual([[{ action: 'accept', content: { days: 3, kind: 'sick', paid: true } }]])
  })

  it('can be declined and dismissed whatever is filled in', async () => {
    const { wrapper } = await show()
    await button(wrapper, 'Decline')?.trigger('click')
    await button(wrapper, 'Dismiss')?.trigger('click')
    expect(wrapper.emitted('reply')).toEqual([[{ action: 'decline' }], [{ action: 'cancel' }]])
  })

  it('about a call shows the arguments that it is bound to, and is accepted without content', async () => {
    const { wrapper } = await show({ question: question(approved) })
    expect(wrapper.text()).toContain('cancel_leave')
    expect(wrapper.find('dl').text()).toBe('leave_idLV-7')
    await wrapper.find('form').trigger('submit')
    expect(wrapper.emitted('reply')).toEqual([[{ action: 'accept' }]])
  })

  it('takes the focus when it appears, but not from somebody who is typing', async () => {
    const { wrapper } = await show()
    expect(document.activeElement).toBe(wrapper.find('h2').element)
    wrapper.unmount()
    const box = document.body.appendChild(document.createElement('textarea'))
    box.value = 'half a sen'
    box.focus()
    await show()
    expect(document.activeElement).toBe(box)
  })

  it('that was answered in another window says so, calmly, and has no form any more', async () => {
    const open = question()
    const { wrapper } = await show({ question: open })
    await wrapper.setProps({ question: { ...open, state: 'answered', reply: { action: 'accept', content: { days: 3, kind: 'sick' }, by: 'person', at: 1 } } })
    expect(wrapper.find('form').exists()).toBe(false)
    expect(wrapper.find('.outcome').text()).toBe('Accepted.Days3KindSick leaveThat was answered in another window.')
    expect(wrapper.find('[role=alert]').exists()).toBe(false)
  })

  it('does not call another window what was pressed here', async () => {
    const open = question(approved)
    const { wrapper } = await show({ question: open })
    await button(wrapper, 'Decline')?.trigger('click')
    await wrapper.setProps({ sent: { state: 'taken', failure: null } })
    expect(wrapper.text()).toContain('It was taken')
    await wrapper.setProps({ question: { ...open, state: 'answered', reply: { action: 'decline', content: null, by: 'person', at: 1 } } })
    expect(wrapper.find('.outcome').text()).toBe('Declined. That is final.')
  })

  it('whose answer came too late waits for the one that counted', async () => {
    const late = new ApiFailure('question_answered', 'it was answered', 409)
    const { wrapper } = await show({ sent: { state: 'elsewhere', failure: late } })
    expect(wrapper.find('form').exists()).toBe(false)
    expect(wrapper.text()).toContain('This was answered already.')
  })

  it('keeps what was filled in if it could not be sent', async () => {
    const { wrapper } = await show()
    await wrapper.find('input').setValue('3')
    await wrapper.setProps({ sent: { state: 'failed', failure: new ApiFailure('connection_lost', 'no network') } })
    expect(wrapper.find('[role=alert]').text()).toContain('The service cannot be reached')
    expect((wrapper.find('input').element as HTMLInputElement).value).toBe('3')
  })

  it('of somebody else’s run can only be read', async () => {
    const { wrapper } = await show({ canAnswer: false })
    await flushPromises()
    expect(wrapper.findAll('button')).toEqual([])
    expect(wrapper.text()).toContain('Only whose run it is may answer.')
  })

  it('shows hostile words as words', async () => {
    const hostile = { ...question(), message: '<img src=x onerror=alert(1)> \u202Egnp.exe', server: '<b>hr</b>' }
    const { wrapper } = await show({ question: hostile })
    expect(wrapper.find('img, b').exists()).toBe(false)
    expect(wrapper.find('blockquote').text()).toContain('U+202E')
  })
})
