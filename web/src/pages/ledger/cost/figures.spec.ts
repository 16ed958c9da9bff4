import { describe, expect, it } from 'vitest'

import { figure, leaves } from './figures'

describe('figures of a report', () => {
  it.each([
    [43236.14, '43,236.14'],
    [0.007821, '0.007821'],
    [0.000001, '0.000001'],
    [-1721.63, '−1,721.63'],
    [999999999999999, '999,999,999,999,999'],
    [1e18, '1,000,000,000,000,000,000'],
  ])('are shown as they were written: %d', (value, shown) => {
    expect(figure(value)).toBe(shown)
  })

  it('are found by their paths', () => {
    expect(leaves({ tasks_per_day: 5, api: { profile: { prompt_tokens: 2 }, name: 'x' }, none: null })).toEqual([
      { path: 'tasks_per_day', value: 5 },
      { path: 'api.profile.prompt_tokens', value: 2 },
    ])
  })
})
