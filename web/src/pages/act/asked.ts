import type { AskedLimits } from '@/api/types'
import { tabStorage } from '@/composables/storage'

/** The service does not tell what a run was limited to, so what was asked for here is kept for this tab. */
const NAME = 'act.limits'

/** Runs that are remembered. */
const MOST = 50

function kept(): [string, AskedLimits][] {
  try {
    const list = JSON.parse(tabStorage.read(NAME) ?? '[]') as unknown
    return Array.isArray(list) ? (list as [string, AskedLimits][]) : []
  } catch {
    return []
  }
}

export function keepLimits(run: string, limits: AskedLimits | null) {
  if (limits) tabStorage.write(NAME, JSON.stringify([...kept(), [run, limits]].slice(-MOST)))
}

export function limitsOf(run: string): AskedLimits | null {
  return kept().find(([each]) => each === run)?.[1] ?? null
}
