import { describe, expect, it } from 'vitest'

import type { BudgetState } from '@/api/types'
import { mountPage } from '@/test/mount'

import BudgetBar from './BudgetBar.vue'

const amount = (micro_usd: number, shown: string) => ({ micro_usd, shown })
const budget: BudgetState = {
  period: 'day', current: 'day:2026-03-08', ends_at: null, limited: true, limit: amount(1_000, '0.032'),
  settled: amount(500, '0.016'), reserved: amount(250, '0.008'), debt: amount(0, '0'), left: amount(250, '0.008'),
}

describe('a budget', () => {
  it('says in words what its bar shows', async () => {
    const { wrapper } = await mountPage(BudgetBar, { props: { budget, currency: 'TWD' } })
    const words = 'TWD 0.016 of TWD 0.032 used (50%) · TWD 0.008 reserved now · TWD 0.008 left'
    expect(wrapper.get('.words').text().replaceAll('\u00A0', ' ')).toBe(words)
    expect(wrapper.get('[role=img]').attributes('aria-label')?.replaceAll('\u00A0', ' ')).toBe(words)
    expect(Number(wrapper.get('rect.reserved').attributes('x'))).toBe(200)
    expect(Number(wrapper.get('rect.reserved').attributes('width'))).toBe(100)
  })

  it('stays within its frame when there is debt, and names it', async () => {
    const over = { ...budget, settled: amount(900, '0.0288'), debt: amount(400, '0.0128'), left: amount(0, '0') }
    const { wrapper } = await mountPage(BudgetBar, { props: { budget: over, currency: 'TWD' } })
    expect(Number(wrapper.get('rect.used:not(.frame)[y]').attributes('width'))).toBe(400)
    expect(Number(wrapper.get('rect.reserved').attributes('width'))).toBe(0)
    expect(wrapper.get('.words').text()).toContain('of it debt')
  })

  it('only counts where there is no limit', async () => {
    const counted = { ...budget, limited: false, limit: null, left: null }
    const { wrapper } = await mountPage(BudgetBar, { props: { budget: counted, currency: 'TWD' } })
    expect(wrapper.find('[role=img]').exists()).toBe(false)
    expect(wrapper.text()).toContain('no limit')
  })
})
