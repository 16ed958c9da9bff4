import type { LocationQuery } from 'vue-router'

import type { RunQuery } from '@/api/client'

export const statuses = ['running', 'waiting', 'ended'] as const
export const kinds = ['ask', 'agent'] as const

export interface Filters {
  status: string
  kind: string
  agent: string
  key: string
}

const oneOf = <T extends string>(all: readonly T[], value: string): T | undefined => all.find((each) => each === value)

/** Filters as an address has them. What it says wrongly is left out. */
export function filtersOf(query: LocationQuery): Filters {
  const text = (name: string) => (typeof query[name] === 'string' ? query[name].slice(0, 100) : '')
  return {
    status: oneOf(statuses, text('status')) ?? '',
    kind: oneOf(kinds, text('kind')) ?? '',
    agent: text('agent'),
    key: text('key'),
  }
}

/** The same for the service. */
export function queryOf({ status, kind, agent, key }: Filters): RunQuery {
  return {
    status: oneOf(statuses, status),
    kind: oneOf(kinds, kind),
    agent: agent.trim() || undefined,
    key: key.trim() || undefined,
  }
}

/** The same for the address: only what is set. */
export function addressOf(filters: Filters): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value.trim() !== ''))
}
