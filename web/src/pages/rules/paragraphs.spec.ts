import { describe, expect, it } from 'vitest'

import { levelOf, paragraphs } from './paragraphs'

describe('paragraphs of an article', () => {
  it.each([
    ['本法用詞，定義如下：', 0],
    ['一、勞工：指受雇主僱用者。', 1],
    ['十二、其他。', 1],
    ['（一）現金。', 2],
    ['(1) Cash.', 2],
    ['1. Wages.', 1],
    ['1.5 times the wage', 0],
    ['a. one', 2],
    ['一般工作', 0],
  ])('stand in by their number: %s', (line, level) => {
    expect(levelOf(line)).toBe(level)
  })

  it('are the lines of the text, empty ones left out, and nothing is lost', () => {
    const text = '甲。\n\n一、乙；\n二、丙。'
    const lines = paragraphs(text).map(({ parts }) => parts.map((part) => part.text).join(''))
    expect(lines).toEqual(['甲。', '一、乙；', '二、丙。'])
  })

  it('keep what was found where it was found, also across a line', () => {
    // Bytes: 甲 0–3, 乙 3–6, line break 6, 丙 7–10.
    const found = paragraphs('甲乙\n丙丁', [{ start: 3, end: 10 }])
    expect(found.map(({ parts }) => parts)).toEqual([
      [
        { text: '甲', kind: null },
        { text: '乙', kind: 'found' },
      ],
      [
        { text: '丙', kind: 'found' },
        { text: '丁', kind: null },
      ],
    ])
  })
})
