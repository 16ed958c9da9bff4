import { describe, expect, it } from 'vitest'

import { ticks } from './axis'

describe('marks of an axis', () => {
  it.each([
    [10, ['0', '2', '4', '6', '8', '10']],
    [0.15, ['0', '0.05', '0.10', '0.15']],
    [0.00012, ['0', '0.00005', '0.00010']],
    [73000, ['0', '20000', '40000', '60000']],
    [0, ['0']],
    [Number.NaN, ['0']],
  ])('are round up to %d', (end, texts) => {
    expect(ticks(end).map(({ text }) => text)).toEqual(texts)
  })
})
