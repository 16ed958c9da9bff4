import { enableAutoUnmount, flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it } from 'vitest'

import { ApiFailure } from '@/api/failure'
import recorded from '@/api/recordings/cost.json'
import type { Recording } from '@/api/recorded'
import type { CostAsked, CostResponse } from '@/api/types'
import { mountPage } from '@/test/mount'

import CostPanel from './CostPanel.vue'

enableAutoUnmount(afterEach)

const report = recorded as unknown as CostResponse

async function begin(recording: Recording = {}, measurable = true) {
  const asked: CostAsked[] = []
  const { wrapper } = await mountPage(CostPanel, {
    props: { measurable },
    recording: {
      cost: async (input) => {
        asked.push(input)
        return report
      },
      usage: async () => ({ lines: [] }) as never,
      ...recording,
    },
  })
  const button = (text: string) => wrapper.findAll('button').find((each) => each.text() === text)
  const compare = async () => {
    await wrapper.get('form').trigger('submit')
    await flushPromises()
  }
  const example = () => button('Example: a rented GPU')?.trigger('click')
  const beside = (path: string) => {
    const input = wrapper.get(`[name="${path}"]`)
    const ids = input.attributes('aria-describedby')?.split(' ') ?? []
    return { invalid: input.attributes('aria-invalid'), text: ids.map((id) => document.getElementById(id)?.textContent ?? '').join(' ') }
  }
  return { wrapper, asked, compare, example, beside }
}

describe('comparing two options', () => {
  it('says beside each field what is missing, and asks nothing before', async () => {
    const { asked, compare, beside, wrapper } = await begin()
    await compare()
    expect(asked).toEqual([])
    expect(beside('api.input_price')).toMatchObject({ invalid: 'true' })
    expect(beside('api.input_price').text).toContain('Write a figure here.')
    expect(beside('api.batch_discount').invalid).toBeUndefined()
    expect(document.activeElement?.getAttribute('name')).toBe('tasks_per_day')
    expect(wrapper.get('[role=alert]').text()).toContain('figures above')
  })

  it('puts what the service says beside the field that it is about', async () => {
    const message = 'self_hosted.target_utilisation: 1.5 is more than 1; write a share above 0 and up to 1: 0.6 is 60 %'
    const cost = async () => {
      throw new ApiFailure('invalid_request', message, 422)
    }
    const { compare, example, beside } = await begin({ cost })
    await example()
    await compare()
    expect(beside('self_hosted.target_utilisation').text).toContain('1.5 is more than 1')
    expect(beside('self_hosted.peak_factor').invalid).toBeUndefined()
    expect(document.activeElement?.getAttribute('name')).toBe('self_hosted.target_utilisation')
  })

  it('shows every part of the result, the numbers as they were written', async () => {
    const { asked, compare, example, wrapper } = await begin()
    await example()
    await compare()
    expect(asked[0]).toMatchObject({ language: 'en', api: { input_price: '1' } })
    const text = wrapper.get('article').text()
    for (const part of [
      'from 43,236.14 tasks a day on', // the set
      '32,569.47', // what a formula without capacity says
      '4,461', // both costs
      '10.61%', // utilisation
      '1,305.99', // idle
      '0.25%', // draws
      '−2,471.63', // sensitivity
      'nobody knows how old these prices are', // assumptions
    ]) {
      expect(text).toContain(part)
    }
    expect(wrapper.get('article svg[role=img]').attributes('aria-label')).toContain('Cost of a month')
  })

  it('says why hosting never pays', async () => {
    const never: CostResponse['break_even'] = { ...report.break_even, first_tasks_per_day: null, never: 'api_is_free', ranges: [], steps: [], gaps: [] }
    const { compare, example, wrapper } = await begin({ cost: async () => ({ ...report, break_even: never }) })
    await example()
    await compare()
    expect(wrapper.text()).toContain('Never. A task costs nothing at the API.')
  })

  it('lists the gaps in which a new replica makes hosting dearer again', async () => {
    const ranges = [{ from: 100, to: 200 }, { from: 250.5, to: null }]
    const gapped = { ...report.break_even, ranges, gaps: [{ from: 200, to: 250.5 }] }
    const { compare, example, wrapper } = await begin({ cost: async () => ({ ...report, break_even: gapped }) })
    await example()
    await compare()
    expect(wrapper.text()).toContain('Hosting costs no more: 100 to 200 tasks a day')
    expect(wrapper.text()).toContain('In between it costs more again: 200 to 250.5 tasks a day')
  })

  it('leaves the profile of the API to the ledger, for those who may see it', async () => {
    const { asked, compare, example, wrapper } = await begin()
    await example()
    await wrapper.get('[name=from_ledger]').setValue(true)
    await wrapper.get('[name="from_ledger.model"]').setValue('small')
    await compare()
    expect(asked[0]?.from_ledger).toEqual({ days: 30, model: 'small', statistic: 'mean' })
    expect(wrapper.get('[name="api.profile.prompt_tokens"]').attributes('disabled')).toBeDefined()
    expect((await begin({}, false)).wrapper.find('[name=from_ledger]').exists()).toBe(false)
  })
})
