import type { AskedLimits } from '@/api/types'

/** Limits as they are typed. Empty means the agent's own. */
export interface LimitsDraft {
  steps: string
  toolCalls: string
  cost: string
  minutes: string
}

export const noLimits: LimitsDraft = { steps: '', toolCalls: '', cost: '', minutes: '' }

const isWhole = (text: string, most: number) => /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= most

/** Whether each that is given may be asked for. */
export function wrongLimits({ steps, toolCalls, cost, minutes }: LimitsDraft): (keyof LimitsDraft)[] {
  const wrong: (keyof LimitsDraft)[] = []
  if (steps !== '' && !isWhole(steps, 200)) wrong.push('steps')
  if (toolCalls !== '' && !isWhole(toolCalls, 1_000)) wrong.push('toolCalls')
  // Money stays decimal text; a float would not be what was typed.
  if (cost !== '' && !(/^\d{1,9}(\.\d{1,6})?$/.test(cost) && /[1-9]/.test(cost))) wrong.push('cost')
  if (minutes !== '' && !(/^\d{1,4}(\.\d+)?$/.test(minutes) && Number(minutes) > 0 && Number(minutes) <= 1_440)) wrong.push('minutes')
  return wrong
}

/** What is asked for; null if nothing is. */
export function limitsFrom({ steps, toolCalls, cost, minutes }: LimitsDraft): AskedLimits | null {
  const limits: AskedLimits = {}
  if (steps !== '') limits.max_steps = Number(steps)
  if (toolCalls !== '') limits.max_tool_calls = Number(toolCalls)
  if (cost !== '') limits.max_cost = cost
  if (minutes !== '') limits.max_wall_ms = Math.round(Number(minutes) * 60_000)
  return Object.keys(limits).length > 0 ? limits : null
}
