import { describe, expect, it } from 'vitest'

import { indexesOf, stretches } from './spans'

describe('spans of bytes', () => {
  it.each([
    ['abc', [0, 1, 3], [0, 1, 3]],
    ['特休', [0, 3, 6], [0, 1, 2]],
    ['a特😀é', [1, 4, 8, 10], [1, 2, 4, 5]],
    ['éa', [2, 3], [1, 2]],
    ['特', [1, 99], [1, 1]],
    ['', [0, 5], [0, 0]],
  ])('in %j are found in the string', (text, offsets, expected) => {
    expect(indexesOf(text, offsets)).toEqual(expected)
  })

  it('cut a text without losing any of it', () => {
    const cut = stretches('事假以七日為限😀。', [{ kind: 'quote', spans: [{ start: 6, end: 21 }] }])
    expect(cut).toEqual([
      { text: '事假', kind: null },
      { text: '以七日為限', kind: 'quote' },
      { text: '😀。', kind: null },
    ])
  })

  it('of the first kind win where they overlap', () => {
    const cut = stretches('abcdef', [
      { kind: 'quote', spans: [{ start: 1, end: 3 }] },
      { kind: 'match', spans: [{ start: 2, end: 5 }] },
    ])
    expect(cut.map(({ text, kind }) => `${text}:${kind}`)).toEqual(['a:null', 'bc:quote', 'de:match', 'f:null'])
  })

  it('that lie outside of the text mark nothing', () => {
    expect(stretches('abc', [{ kind: 'quote', spans: [{ start: 7, end: 9 }] }])).toEqual([{ text: 'abc', kind: null }])
  })
})
