import { describe, expect, it } from 'vitest'

import { Growing, type Grown } from './growing'

const shown = (grown: Grown[]) =>
  grown
    .map((each) => (each.kind === 'words' ? each.text : each.kind === 'cite' ? `<${each.id}>` : each.kind === 'break' ? '¶' : '|'))
    .join('')

describe('text that grows', () => {
  it.each<[string, string]>([
    ['可以。要講好。', '可以。|要講好。'],
    ['可以[工作規則.md#22-1]。要講好。', '可以<工作規則.md#22-1>。|要講好。'],
    ['One.\n\nTwo.', 'One.|¶Two.'],
    ['At most 1.5 days. More is not said.', 'At most 1.5 days.| More is not said.'],
    ['A line\nand another', 'A line|\nand another'],
    ['See [the annex] and [3].', 'See [the annex] and [3].|'],
    ['[[a.md#1]', '[<a.md#1>'],
    ['Nothing after [a.md#', 'Nothing after [a.md#'],
    [`${'長'.repeat(241)}。`, `${'長'.repeat(240)}|長。`],
    ['', ''],
  ])('%s', (text, expected) => {
    expect(shown(new Growing().feed(text, true))).toBe(expected)
  })

  it('says the same, in whatever pieces it comes, and takes nothing back', () => {
    const text = 'Yes [a.md#1]. At 1.5 days\n\nit [b.md#2-1] ends [x]. 完。\n\n\n再見[c'
    const whole = shown(new Growing().feed(text, true))
    for (let size = 1; size < text.length; size += 1) {
      const growing = new Growing()
      let said = ''
      for (let at = size; at < text.length + size; at += size) {
        said += shown(growing.feed(text.slice(0, at), at >= text.length))
      }
      expect(said).toBe(whole)
    }
  })
})
