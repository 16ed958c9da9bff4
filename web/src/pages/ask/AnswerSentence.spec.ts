import { describe, expect, it } from 'vitest'

import type { Sentence } from '@/api/types'
import { mountPage } from '@/test/mount'

import AnswerSentence from './AnswerSentence.vue'

async function sentence(status: Sentence['status'], problems: string[] = [], text = 'Seven days [r.md#26].') {
  const props = { text, sentence: { text, status, citations: [], problems }, numberOf: new Map([['r.md#26', 2]]) }
  return (await mountPage(AnswerSentence, { props })).wrapper
}

describe('a sentence', () => {
  it.each<[Sentence['status'], string[], string, boolean]>([
    ['supported', [], 'supported by the article', true],
    ['unsupported', ['no_citation'], 'no article is cited for this', true],
    ['unsupported', ['invalid_citation'], 'cited an article that does not exist', true],
    ['unsupported', ['something_new'], 'not supported by an article', true],
    ['unsupported', [], 'not supported by an article', true],
  ])('that is %s (%j) says so in words: %s', async (status, problems, words, hasShape) => {
    const wrapper = await sentence(status, problems)
    expect(wrapper.text()).toContain(words)
    expect(wrapper.find('svg').exists()).toBe(hasShape)
    expect(wrapper.find('.flag').exists()).toBe(status === 'unsupported')
    expect(wrapper.classes()).toContain(status)
  })

  it('that is quoted has the number of its article behind it', async () => {
    const quoted: Sentence = { text: '事假以十四日為限。', status: 'supported', citations: ['r.md#26'], problems: [] }
    const props = { text: quoted.text, sentence: quoted, numberOf: new Map([['r.md#26', 2]]) }
    const { wrapper } = await mountPage(AnswerSentence, { props })
    expect(wrapper.get('button').text()).toBe('2')
    expect(wrapper.text()).toMatch(/^事假以十四日為限。2/)
  })

  it('that claims nothing has no mark', async () => {
    const wrapper = await sentence('no_claim', [], 'Hope this helps.')
    expect(wrapper.text()).toBe('Hope this helps.')
  })

  it('opens the article by its number', async () => {
    const wrapper = await sentence('supported')
    const number = wrapper.get('button')
    expect(number.text()).toBe('2')
    expect(number.attributes('aria-label')).toBe('Article 2: read it in context')
    await number.trigger('click')
    expect(wrapper.emitted('open')).toEqual([['r.md#26']])
  })
})
