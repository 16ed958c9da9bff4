import { describe, expect, it } from 'vitest'

import type { RunEvent } from '@/api/types'

import { approved, asked, broken, numbered } from './samples'
import { blank, elapsedMs, openQuestions, reduce, type CallEntry, type RunState } from './state'

const after = (events: RunEvent[], from: RunState = blank) => events.reduce(reduce, from)
const calls = (state: RunState) => state.entries.filter((entry): entry is CallEntry => entry.kind === 'call')
const upTo = (events: RunEvent[], name: string) => events.slice(0, events.findIndex(({ event }) => event === name) + 1)

describe('a run, from its events', () => {
  it('is told in the order in which things happened, a call after what was asked before it', () => {
    const state = after(approved)
    expect(state.entries.map(({ kind }) => kind)).toEqual(['model', 'call', 'model', 'question', 'call', 'model'])
    expect(calls(state).map(({ tool, server, state, result }) => [tool, server, state, result])).toEqual([
      ['look', 'hr', 'succeeded', 'LV-7: draft'],
      ['cancel_leave', 'hr', 'succeeded', 'cancelled'],
    ])
    expect(state).toMatchObject({ steps: 2, toolCalls: 2, agent: 'leaves', tokens: { input: 300, output: 30 } })
    expect(state.end).toMatchObject({ reason: 'completed', answer: 'Done.' })
  })

  it('shows the text of a reply as it comes, and the whole of it in its place once that is told', () => {
    const before = upTo(approved, 'model_call')
    const state = after([...before, { event: 'text_delta', text: 'I ' }, { event: 'text_delta', text: 'look.' }])
    expect(state).toMatchObject({ writing: 'I look.', isAsking: true })
    const whole = after(approved.slice(before.length), state)
    expect(whole.writing).toBe('')
    expect(whole.entries[0]).toMatchObject({ kind: 'model', text: 'I look.', state: 'done' })
  })

  it('takes the text so far in place of the pieces that were shown before', () => {
    const state = after([...upTo(approved, 'model_call'), { event: 'text_delta', text: 'I l' }, { event: 'text_so_far', text: 'I loo' }, { event: 'text_delta', text: 'k' }])
    expect(state.writing).toBe('I look')
  })

  it('has an open question until it is answered, and nothing more changes with the same event again', () => {
    const waiting = after(upTo(approved, 'question'))
    expect(openQuestions(waiting)).toMatchObject([{ id: 1, why: 'approval', tool: 'cancel_leave', arguments: { leave_id: 'LV-7' } }])
    const state = after(approved, waiting)
    expect(openQuestions(state)).toEqual([])
    expect(reduce(waiting, approved[0] as RunEvent)).toBe(waiting)
  })

  it('puts a question away that nobody answered before the run went on', () => {
    const state = after([
      ...upTo(approved, 'question'),
      ...numbered([{ event: 'model_call', step: 2, tools: 1, last: false }], 9, 20_000),
    ])
    expect(openQuestions(state)).toEqual([])
    expect(state.entries.find(({ kind }) => kind === 'question')).toMatchObject({ state: 'lapsed', reply: null })
  })

  it('does not count the wait for a person as its time', () => {
    const waiting = after(upTo(approved, 'question'))
    const since = waiting.waitingSince ?? 0
    expect(elapsedMs(waiting, since + 60_000)).toBe(since - (waiting.startedAt ?? 0))
    const state = after(approved)
    const whole = (state.end?.at ?? 0) - (state.startedAt ?? 0)
    expect(elapsedMs(state, 9e15)).toBe(whole - 100)
  })

  it('that was cut off knows of no call that has no result whether it happened, and keeps what was written', () => {
    const state = after(broken)
    expect(calls(state).map(({ state }) => state)).toEqual(['unknown', 'skipped'])
    expect(state.end).toMatchObject({ reason: 'failed', code: 'run_lost', answer: null })
    const cut = after([...upTo(approved, 'model_call'), { event: 'text_delta', text: 'I lo' }, ...numbered([cancelled], 3)])
    expect(cut.entries[0]).toMatchObject({ state: 'cut', text: 'I lo' })
    expect(cut.writing).toBe('')
  })

  it('tells a result for a call that was not made, and for calls that share an id', () => {
    const reply = (n: number) =>
      numbered([{ event: 'model_call', step: 0, tools: 1, last: false }, { event: 'model_reply', text: '', calls: [{ call_id: 'c', tool: 'look', arguments: '{"n":1}' }], finish: 'tool_calls', usage: null }], n)
    const result = (n: number, text: string) => numbered([{ event: 'tool_result', call_id: 'c', tool: 'look', status: 'invalid', text }], n)
    const state = after([...reply(1), ...result(3, 'first'), ...reply(4), ...result(6, 'second')])
    expect(calls(state).map(({ result, state, requested }) => [result, state, requested])).toEqual([
      ['first', 'invalid', '{"n":1}'],
      ['second', 'invalid', '{"n":1}'],
    ])
    expect(state.toolCalls).toBe(0)
  })

  it('of a question ends with the whole answer', () => {
    const state = after(asked)
    expect(state.entries).toMatchObject([{ kind: 'found', citations: [{ id: 'a.md#1' }] }])
    expect(state.end).toMatchObject({ reason: 'completed', answer: 'Eight days.', full: { note: 'answered' } })
  })

  it('passes over an event that it does not know, and goes on after it', () => {
    const state = after([...numbered([{ event: 'of_tomorrow' } as never, { event: 'model_call', step: 0, tools: 1, last: false }], 1)])
    expect(state).toMatchObject({ last: 2, isAsking: true })
  })
})

const cancelled: RunEvent = {
  event: 'ended',
  reason: 'cancelled',
  message: 'cancelled',
  answer: null,
  steps: 0,
  tool_calls: 0,
  usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0, embedding_tokens: 0 },
}
