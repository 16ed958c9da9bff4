import { describe, expect, it } from 'vitest'

import { mountPage } from '@/test/mount'

import AskForm from './AskForm.vue'

const form = async (modelValue: string, busy = false) =>
  (await mountPage(AskForm, { props: { modelValue, busy } })).wrapper

describe('the question', () => {
  it.each<[string, object, number]>([
    ['Enter asks', { key: 'Enter' }, 1],
    ['Shift+Enter does not ask', { key: 'Enter', shiftKey: true }, 0],
    ['Enter that ends a word of an input method does not ask', { key: 'Enter', isComposing: true }, 0],
    ['nor does it in Safari, which says so by a code', { key: 'Enter', keyCode: 229 }, 0],
    ['another key does not ask', { key: 'a' }, 0],
  ])('%s', async (_, event, times) => {
    const wrapper = await form('特休？')
    await wrapper.get('textarea').trigger('keydown', event)
    expect(wrapper.emitted('ask') ?? []).toHaveLength(times)
  })

  it.each(['', '   ', '？！', '😀'])('without words is not asked: %j', async (text) => {
    const wrapper = await form(text)
    await wrapper.get('textarea').trigger('keydown', { key: 'Enter' })
    expect(wrapper.emitted('ask')).toBeUndefined()
    expect(wrapper.get('textarea').attributes('aria-invalid')).toBe('true')
  })

  it('of 500 characters is asked, of 501 it is not, and says how many are too many', async () => {
    expect((await form('😀'.repeat(499) + '假')).find('[type=submit]').attributes('disabled')).toBeUndefined()
    const wrapper = await form('假'.repeat(502))
    await wrapper.get('form').trigger('submit')
    expect(wrapper.emitted('ask')).toBeUndefined()
    expect(wrapper.text()).toContain('2 characters too long')
  })

  it('that is being answered can be stopped, by a button and by Escape', async () => {
    const wrapper = await form('特休？', true)
    await wrapper.get('.send').trigger('click')
    await wrapper.get('textarea').trigger('keydown', { key: 'Escape' })
    await wrapper.get('textarea').trigger('keydown', { key: 'Enter' })
    expect(wrapper.emitted('cancel')).toHaveLength(2)
    expect(wrapper.emitted('ask')).toBeUndefined()
  })
})
