import { describe, expect, it } from 'vitest'

import { excerpt } from './excerpt'

const bytes = (text: string) => new TextEncoder().encode(text).length

describe('an excerpt', () => {
  it('is around what was found first, and says that there is more', () => {
    const before = '甲'.repeat(100)
    const span = { start: bytes(before), end: bytes(`${before}特別`) }
    const parts = excerpt(`${before}特別${'乙'.repeat(300)}`, [span])
    expect(parts[0]).toEqual({ text: '…', kind: null })
    expect(parts[1]?.text).toHaveLength(24)
    expect(parts[2]).toEqual({ text: '特別', kind: 'found' })
    expect(parts.at(-1)).toEqual({ text: '…', kind: null })
  })

  it('is the whole text, on one line, if that is short', () => {
    expect(excerpt('甲。\n乙。', [])).toEqual([{ text: '甲。 乙。', kind: null }])
  })
})
