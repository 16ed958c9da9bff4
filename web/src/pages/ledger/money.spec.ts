import { describe, expect, it } from 'vitest'

import { aligned, grouped, isZero, money, sum } from './money'

describe('money', () => {
  it('is added exactly, also where floats would not', () => {
    expect(sum(['0.1', '0.2'])).toBe('0.3')
    expect(sum(['9007199254740993', '0.000001'])).toBe('9007199254740993.000001')
    expect(sum(['1.50', '-0.5', '2'])).toBe('3')
    expect(sum(['100', '0'])).toBe('100')
    expect(sum([])).toBe('0')
  })

  it.each([
    ['0.000096', '0.000096'],
    ['1234567.891', '1,234,567.891'],
    ['-1234', '−1,234'],
    ['999', '999'],
    ['a lot', 'a lot'],
  ])('keeps every digit that was told: %s', (text, shown) => {
    expect(grouped(text)).toBe(shown)
  })

  it('has its currency beside it', () => {
    expect(money('1234.5', 'TWD')).toBe('TWD\u00A01,234.5')
  })

  it('stands point under point in a column; nothing is just 0', () => {
    expect(aligned(['0.14976', '12', '0', '3.5'])).toEqual(['0.14976', '12.00000', '0', '3.50000'])
  })

  it('knows nothing from next to nothing', () => {
    expect(isZero('0.000')).toBe(true)
    expect(isZero('0.000001')).toBe(false)
  })
})
