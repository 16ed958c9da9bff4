import { describe, expect, it } from 'vitest'

import { allFields, examples } from './fields'
import { check, problemsOf, request, type Measuring } from './form'

const typed: Measuring = { on: false, model: '', days: '30', statistic: 'mean' }
const measured: Measuring = { ...typed, on: true, model: 'small' }

describe('a comparison that is typed', () => {
  it('names every field that is missing, and every one that is no number', () => {
    const problems = check({ 'api.input_price': '2,5', tasks_per_day: 'many', 'self_hosted.gpu_price_per_hour': '2' }, typed)
    expect(problems.get('api.input_price')).toEqual({ kind: 'number' })
    expect(problems.get('tasks_per_day')).toEqual({ kind: 'number' })
    expect(problems.get('api.output_price')).toEqual({ kind: 'required' })
    expect(problems.has('self_hosted.gpu_price_per_hour')).toBe(false)
    expect(problems.has('api.batch_discount')).toBe(false)
  })

  it.each(Object.keys(examples) as ('rented' | 'owned')[])('the example %s lacks nothing and names no other field', (name) => {
    expect(check(examples[name], typed).size).toBe(0)
    const known = allFields.map(({ path }) => path)
    expect(Object.keys(examples[name]).filter((path) => !known.includes(path))).toEqual([])
  })

  it('sends figures as they were typed, and nothing that was left out', () => {
    const asked = request({ tasks_per_day: ' 0.10 ', 'api.profile.prompt_tokens': '2500', 'api.name': '' }, typed, 'en')
    expect(asked).toEqual({ language: 'en', tasks_per_day: '0.10', api: { profile: { prompt_tokens: '2500' } }, self_hosted: {} })
  })

  it('leaves the profile to the ledger where that is asked for', () => {
    const values = { ...examples.rented, tasks_per_day: '' }
    expect(check(values, measured).size).toBe(0)
    expect(request(values, measured, 'zh-Hant')).toMatchObject({
      from_ledger: { days: 30, model: 'small', statistic: 'mean' },
      api: { input_price: '1' },
    })
    expect(request(values, measured, 'zh-Hant').api).not.toHaveProperty('profile')
    expect([...check(values, { ...measured, model: ' ', days: 'x' }).keys()]).toEqual(['from_ledger.model', 'from_ledger.days'])
  })
})

describe('what the service says about fields', () => {
  it('is taken apart field by field, hints and all', () => {
    const message =
      'api.input_price: -1 is negative; write what a million tokens cost, such as 2.5; self_hosted.target_utilisation: 1.5 is ' +
      'more than 1; write a share above 0 and up to 1: 0.6 is 60 %'
    const { fields, rest } = problemsOf(message)
    expect([...fields]).toEqual([
      ['api.input_price', '-1 is negative; write what a million tokens cost, such as 2.5'],
      ['self_hosted.target_utilisation', '1.5 is more than 1; write a share above 0 and up to 1: 0.6 is 60 %'],
    ])
    expect(rest).toBe('')
  })

  it('is kept whole where it is about no field, and without the mark of what was cut off', () => {
    expect(problemsOf('other comparisons are being computed').rest).toBe('other comparisons are being computed')
    expect(problemsOf('tasks_per_day: is required; write some;...').fields.get('tasks_per_day')).toBe('is required; write some')
    expect(problemsOf('from_ledger.model: no call of "x"').fields.has('from_ledger.model')).toBe(true)
  })
})
