import { expect, it } from 'vitest'

import { answer, silence } from '@/api/sample'
import type { DoneEvent } from '@/api/types'

import { asText } from './copying'

const linkTo = ({ id }: { id: string }) => `https://rules.example/${id}`
const done = (events: unknown[]) => events.at(-1) as DoneEvent

it('an answer is copied with numbers, and what they stand for', () => {
  const text = '可以[員工工作規則.md#22]，一次為限[員工工作規則.md#22-1]。'
  const citations = done(answer).citations.map((each) => ({ ...each, used: each.article !== '21' }))
  expect(asText('特休可以遞延嗎？', { ...done(answer), answer: text, citations }, linkTo)).toBe(
    [
      '特休可以遞延嗎？',
      '',
      '可以[1]，一次為限[2]。',
      '',
      '[1] 第 22 條（特別休假之排定）, 員工工作規則.md',
      '    https://rules.example/員工工作規則.md#22',
      '[2] 第 22 條之 1（特別休假之遞延及結算）, 員工工作規則.md',
      '    https://rules.example/員工工作規則.md#22-1',
    ].join('\n'),
  )
})

it('a quoted sentence is copied with the number of its article', () => {
  expect(asText('特休可以遞延嗎？', done(answer), linkTo)).toContain('遞延以一次為限。[1]\n\n[1] 第 22 條之 1')
})

it('a "no" is copied as one, with what comes nearest', () => {
  const copied = asText('可以帶寵物上班嗎？', done(silence), linkTo)
  expect(copied).toContain('規章裡沒有這一項規定')
  expect(copied).toMatch(/「四、計程車.*」 \(2\)\n\n\[2\] 第 44 條/)
})

it('what is copied reads as it is written', () => {
  const copied = asText('a\u202Eb', { ...done(answer), answer: 'c\u2066d' }, linkTo)
  expect(copied).toMatch(/^ab\n\ncd\n/)
})
