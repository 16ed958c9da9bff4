import type { Answer, Citation, RunEvent } from '@/api/types'

/** Runs as the service tells them, for tests. */
const usage = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  embedding_tokens: 0,
})

/** Numbers events from `first` on, 100 ms apart. The generated types take no arguments of tools, whatever they are. */
export function numbered(events: object[], first = 1, from = 1_000): RunEvent[] {
  return events.map((event, place) => ({ ...event, number: first + place, at: from + 100 * place }) as RunEvent)
}

const started = { event: 'started', version: 1, run_id: 'run_1', agent: 'leaves', model: 'scripted', message: 'Cancel LV-7' }

/** It looks, asks whether it may cancel, is allowed to, and cancels. */
export const approved: RunEvent[] = numbered([
  started,
  { event: 'model_call', step: 0, tools: 2, last: false },
  { event: 'model_reply', text: 'I look.', calls: [{ call_id: 'c1', tool: 'look', arguments: '{"leave_id":"LV-7"}' }], finish: 'tool_calls', usage: usage(100, 10) },
  { event: 'tool_call', call_id: 'c1', tool: 'look', server: 'hr', arguments: { leave_id: 'LV-7' }, may_repeat: true },
  { event: 'tool_result', call_id: 'c1', tool: 'look', status: 'succeeded', text: 'LV-7: draft' },
  { event: 'model_call', step: 1, tools: 2, last: false },
  { event: 'model_reply', text: '', calls: [{ call_id: 'c2', tool: 'cancel_leave', arguments: '{"leave_id":"LV-7"}' }], finish: 'tool_calls', usage: usage(100, 10) },
  { event: 'question', id: 1, kind: 'approval', server: 'hr', tool: 'cancel_leave', arguments: { leave_id: 'LV-7' }, message: 'May cancel_leave be called?' },
  { event: 'reply', id: 1, action: 'accept', by: 'person' },
  { event: 'tool_call', call_id: 'c2', tool: 'cancel_leave', server: 'hr', arguments: { leave_id: 'LV-7' }, may_repeat: false },
  { event: 'tool_result', call_id: 'c2', tool: 'cancel_leave', status: 'succeeded', text: 'cancelled' },
  { event: 'model_call', step: 2, tools: 2, last: false },
  { event: 'model_reply', text: 'Done.', calls: [], finish: 'stop', usage: usage(100, 10) },
  { event: 'ended', reason: 'completed', message: 'the model answered', answer: 'Done.', steps: 2, tool_calls: 2, usage: usage(300, 30) },
])

/** The process died while a tool was being called. */
export const broken: RunEvent[] = numbered([
  started,
  { event: 'model_call', step: 0, tools: 2, last: false },
  {
    event: 'model_reply',
    text: '',
    calls: [
      { call_id: 'c1', tool: 'cancel_leave', arguments: '{"leave_id":"LV-7"}' },
      { call_id: 'c2', tool: 'look', arguments: '{}' },
    ],
    finish: 'tool_calls',
    usage: null,
  },
  { event: 'tool_call', call_id: 'c1', tool: 'cancel_leave', server: 'hr', arguments: { leave_id: 'LV-7' }, may_repeat: false },
  { event: 'ended', reason: 'failed', code: 'run_lost', message: 'the process ended', answer: null, steps: 0, tool_calls: 0, usage: usage(0, 0) },
])

/** A server asks for what is missing, with a form. */
export const form = {
  type: 'object',
  required: ['days', 'kind'],
  properties: {
    days: { type: 'integer', title: 'Days', description: 'Whole days', minimum: 1, maximum: 7 },
    kind: { type: 'string', title: 'Kind', enum: ['family', 'sick'], enumNames: ['Family care', 'Sick leave'] },
    paid: { type: 'boolean', title: 'Paid', default: true },
    mail: { type: 'string', title: 'Mail', format: 'email' },
  },
}

export const elicited: RunEvent[] = numbered([
  started,
  { event: 'model_call', step: 0, tools: 2, last: false },
  { event: 'model_reply', text: 'I submit it.', calls: [{ call_id: 'c1', tool: 'submit_leave', arguments: '{}' }], finish: 'tool_calls', usage: null },
  { event: 'tool_call', call_id: 'c1', tool: 'submit_leave', server: 'hr', arguments: {}, may_repeat: false },
  { event: 'question', id: 1, kind: 'elicitation', server: 'hr', tool: 'submit_leave', message: 'Days and kind?', schema: form },
])

/** A question of `/ask`. */
export const asked: RunEvent[] = numbered([
  { event: 'citations', citations: [{ id: 'a.md#1', title: 'Article 1' } as Citation] },
  { event: 'done', answer: { answer: 'Eight days.', note: 'answered', stop: null } as unknown as Answer },
])
