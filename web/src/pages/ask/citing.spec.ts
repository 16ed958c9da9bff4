import { describe, expect, it } from 'vitest'

import type { Citation, Sentence } from '@/api/types'

import { conclusion, numbers, ordered, paragraphs, parts } from './citing'

const citation = (id: string, used = false) => ({ id, used, retrieved: true }) as Citation
const sentence = (text: string, status: Sentence['status'] = 'supported'): Sentence => ({
  text, status, citations: [], problems: [],
})
const ids = (citations: Citation[]) => citations.map(({ id }) => id)

describe('citations', () => {
  it('that the answer rests on come first, as it mentions them', () => {
    const found = [citation('r.md#1'), citation('r.md#2', true), citation('r.md#3', true), citation('r.md#4')]
    const { used, others } = ordered(found, 'First [r.md#3], then [r.md#2], again [r.md#3].')
    expect(ids(used)).toEqual(['r.md#3', 'r.md#2'])
    expect(ids(others)).toEqual(['r.md#1', 'r.md#4'])
  })

  it('that are used without being mentioned follow in their order', () => {
    const found = [citation('r.md#1', true), citation('r.md#2', true), citation('r.md#3', true)]
    expect(ids(ordered(found, 'Only [r.md#3].').used)).toEqual(['r.md#3', 'r.md#1', 'r.md#2'])
  })

  it('are numbered while the answer is being written as they will be when it is done', () => {
    const text = 'A [r.md#3]. B [r.md#1].'
    const writing = numbers([citation('r.md#1'), citation('r.md#2'), citation('r.md#3')], text)
    const done = numbers([citation('r.md#1', true), citation('r.md#2'), citation('r.md#3', true)], text)
    expect([...writing]).toEqual([['r.md#3', 1], ['r.md#1', 2], ['r.md#2', 3]])
    expect([...done]).toEqual([...writing])
  })

  it('that a model mentions and the answer does not rest on are not used', () => {
    expect(ids(ordered([citation('r.md#1', true), citation('r.md#2')], '[r.md#1] [r.md#2]').others)).toEqual(['r.md#2'])
  })

  it('become numbers, and what was never found stays words', () => {
    const cut = parts('看[規則.md#22-1]與[nowhere.md#9]。', new Map([['規則.md#22-1', 1]]))
    expect(cut).toEqual([
      { kind: 'words', text: '看' },
      { kind: 'cite', id: '規則.md#22-1', number: 1 },
      { kind: 'words', text: '與[nowhere.md#9]。' },
    ])
  })
})

describe('sentences', () => {
  const shape = (answer: string, sentences: Sentence[]) =>
    paragraphs(answer, sentences).map((paragraph) => paragraph.map(({ text, sentence: judged }) => [text, judged?.status ?? null]))

  it('are laid over the answer, paragraph by paragraph', () => {
    expect(shape('甲。乙。\n\n丙。', [sentence('甲。'), sentence('乙。', 'unsupported'), sentence('丙。', 'no_claim')])).toEqual([
      [['甲。', 'supported'], ['乙。', 'unsupported']],
      [['丙。', 'no_claim']],
    ])
  })

  it('that are said twice are found twice', () => {
    expect(shape('甲。甲。', [sentence('甲。'), sentence('甲。', 'unsupported')])).toEqual([
      [['甲。', 'supported'], ['甲。', 'unsupported']],
    ])
  })

  it('that are not where they should be mark nothing', () => {
    expect(shape('甲。乙。', [sentence('丁。'), sentence('乙。')])).toEqual([[['甲。', null], ['乙。', 'supported']]])
  })

  it('begin with the conclusion', () => {
    const { lead, rest } = conclusion(paragraphs('甲。乙。\n\n丙。', [sentence('甲。'), sentence('乙。'), sentence('丙。')]))
    expect(lead.map(({ text }) => text)).toEqual(['甲。'])
    expect(rest.map((paragraph) => paragraph.map(({ text }) => text))).toEqual([['乙。'], ['丙。']])
  })

  it('are no conclusion where nobody has cut them', () => {
    expect(conclusion(paragraphs('a draft', []))).toMatchObject({ lead: [], rest: [[{ text: 'a draft' }]] })
  })
})
