import { describe, expect, it } from 'vitest'

import type { UsageSums } from '@/api/types'

import { charged, dayBefore, days } from './usage'

describe('usage', () => {
  it('counts the days on which nothing happened', () => {
    expect(days('2026-02-27', '2026-03-02')).toEqual(['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'])
    expect(days('2026-03-02', '2026-03-01')).toEqual([])
    expect(days('2020-01-01', '2026-01-01')).toEqual([])
  })

  it('goes back over months and years', () => {
    expect(dayBefore(new Date(2026, 2, 1, 23, 59), 1)).toBe('2026-02-28')
    expect(dayBefore(new Date(2026, 0, 1), 0)).toBe('2026-01-01')
    expect(dayBefore(new Date(2026, 0, 1), 1)).toBe('2025-12-31')
  })

  it('adds up what was charged, and not what was avoided', () => {
    const of = (shown: string) => ({ shown, micro_usd: 0 })
    const sums = { spent: of('0.1'), estimated: of('0.2'), abandoned: of('0'), unknown: of('0.05'), avoided: of('9'), debt: of('9') }
    expect(charged(sums as UsageSums)).toBe('0.35')
  })
})
