import { describe, expect, it } from 'vitest'

import { ApiFailure } from '@/api/failure'
import { answer as recorded } from '@/api/sample'
import type { AskEvent } from '@/api/types'

import { idle, reduce, type AskAction, type AskState } from './state'

const asked: AskAction = { type: 'asked', request: { question: '特休？' }, at: 10 }
const told = (event: Partial<AskEvent> & { event: AskEvent['event'] }): AskAction => ({
  type: 'told',
  event: event as AskEvent,
  at: 20,
})
const step = (tool: string) => told({ event: 'step', step: 1, tool, query: 'q', found: [] })
const citations = told({ event: 'citations', citations: [], elapsed_ms: 1 })
const token = (text: string) => told({ event: 'token', text })
const done = (answer: string | null, draft?: string) => told({ event: 'done', answer, draft, citations: [] })
const cancelled: AskAction = { type: 'cancelled', at: 30 }
const broke: AskAction = { type: 'broke', failure: new ApiFailure('stream_cut', 'cut', 0, 'r1'), at: 30 }

const after = (...actions: AskAction[]): AskState => actions.reduce(reduce, idle)

describe('an answer', () => {
  it.each<[string, AskAction[], string, string]>([
    ['begins with a search', [asked], 'searching', ''],
    ['is read for once articles are there', [asked, citations], 'reading', ''],
    ['is written piece by piece', [asked, citations, token('七'), token('日')], 'writing', '七日'],
    ['is done', [asked, citations, token('七日'), done('七日')], 'done', '七日'],
    ['of an agent searches', [asked, step('search')], 'searching', ''],
    ['of an agent reads', [asked, step('search'), step('read_article')], 'reading', ''],
    ['of an agent searches again after reading', [asked, step('read_article'), step('search')], 'searching', ''],
    ['of an agent is being written once it is checked', [asked, step('check')], 'writing', ''],
    ['that is none leaves no text', [asked, done(null)], 'done', ''],
    ['that a cap cut off leaves its draft', [asked, token('七'), done(null, '七日')], 'done', '七日'],
    ['that was stopped keeps what was written', [asked, token('七'), cancelled], 'cancelled', '七'],
    ['that broke keeps what was written', [asked, token('七'), broke], 'failed', '七'],
    ['that was stopped hears nothing more', [asked, cancelled, token('七'), done('七')], 'cancelled', ''],
    ['that is done stays done', [asked, done('七'), cancelled, broke], 'done', '七'],
    ['is not there before anything was asked', [token('七'), cancelled], 'idle', ''],
    ['to the next question begins anew', [asked, token('七'), done('七'), asked], 'searching', ''],
    ['does not stumble over events of a newer service', [asked, told({ event: 'mood' as 'token' })], 'searching', ''],
  ])('%s', (_, actions, phase, text) => {
    expect(after(...actions)).toMatchObject({ phase, text })
  })

  it('that breaks in the middle keeps why, and the rules’ own words', () => {
    const state = after(
      asked,
      token('七'),
      told({
        event: 'error', code: 'upstream_incomplete', message: 'broke off', partial_answer: '七日', sent_chars: 2,
        request_id: 'r9', stop: { reason: 'upstream_incomplete', at_step: 0, message: '中斷' },
        extract: { sentences: [] },
      }),
    )
    expect(state).toMatchObject({
      phase: 'failed',
      text: '七日',
      trouble: { code: 'upstream_incomplete', requestId: 'r9', stop: { message: '中斷' }, extract: { sentences: [] } },
    })
  })

  it('as the service sends it ends with its citations marked', () => {
    const state = after(asked, ...recorded.map((event): AskAction => ({ type: 'told', event, at: 20 })))
    expect(state.phase).toBe('done')
    expect(state.citations.filter(({ used }) => used).map(({ article }) => article)).toEqual(['22-1'])
    expect(state.answer?.sentences.map(({ status }) => status)).toEqual(['supported'])
  })
})
