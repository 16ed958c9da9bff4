import type { CostAsked } from '@/api/types'

import { allFields } from './fields'

/** What is typed, by path. */
export type Values = Record<string, string>

/** What of the ledger is measured, as it is typed. */
export interface Measuring {
  on: boolean
  model: string
  days: string
  statistic: 'mean' | 'p50' | 'p95'
}

/** What is wrong with a field: in our words, or in the service's. */
export type Problem = { kind: 'required' | 'number' } | { kind: 'said'; text: string }

const measuredPaths = (path: string) => path.startsWith('api.profile.') || path === 'tasks_per_day'

/** Whether a field takes no part, because it is measured. */
export const isMeasured = (path: string, measuring: Measuring) => measuring.on && path.startsWith('api.profile.')

/** What can be seen to be wrong without asking. Ranges are the service's business. */
export function check(values: Values, measuring: Measuring): Map<string, Problem> {
  const problems = new Map<string, Problem>()
  for (const { path, required, kind } of allFields) {
    if (isMeasured(path, measuring)) continue
    const text = (values[path] ?? '').trim()
    if (text === '') {
      if (required && !(measuring.on && measuredPaths(path))) problems.set(path, { kind: 'required' })
    } else if (kind === undefined && !/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) {
      problems.set(path, { kind: 'number' })
    }
  }
  if (measuring.on) {
    if (measuring.model.trim() === '') problems.set('from_ledger.model', { kind: 'required' })
    if (!/^\d+$/.test(measuring.days.trim())) problems.set('from_ledger.days', { kind: 'number' })
  }
  return problems
}

/** The request: figures as they were typed, and nothing that was left out. */
export function request(values: Values, measuring: Measuring, language: 'zh-Hant' | 'en'): CostAsked {
  const asked: Record<string, unknown> = { language, api: {}, self_hosted: {} }
  for (const { path } of allFields) {
    const text = (values[path] ?? '').trim()
    if (text === '' || isMeasured(path, measuring)) continue
    const steps = path.split('.')
    const name = steps.pop() ?? ''
    let into = asked
    for (const step of steps) into = (into[step] ??= {}) as Record<string, unknown>
    into[name] = text
  }
  if (measuring.on) {
    asked.from_ledger = { days: Number(measuring.days), model: measuring.model.trim(), statistic: measuring.statistic }
  }
  return asked as CostAsked
}

const knownPaths = new Set([
  ...allFields.map(({ path }) => path),
  'from_ledger',
  'from_ledger.model',
  'from_ledger.days',
  'api.currency',
  'self_hosted.currency',
])

/** The service's sentence about several fields, field by field. What is about none of them comes as the rest. */
export function problemsOf(message: string): { fields: Map<string, string>; rest: string } {
  const starts = [...message.matchAll(/(?:^|; )([a-z_]+(?:\.[a-z_]+)*): /g)].filter(([, path]) => knownPaths.has(path ?? ''))
  const fields = new Map<string, string>()
  starts.forEach((start, place) => {
    const from = start.index + start[0].length
    const text = message.slice(from, starts[place + 1]?.index ?? message.length).replace(/;?\s*\.\.\.$/, '')
    fields.set(start[1] ?? '', text.trim())
  })
  return { fields, rest: message.slice(0, starts[0]?.index ?? message.length).trim() }
}
