import type { UsageEntry, UsageResponse, UsageSums } from '@/api/types'

import { sum } from './money'

export const groupings = ['day', 'model', 'mode', 'key'] as const
export type Grouping = (typeof groupings)[number]

/** What was charged, by how sure the amount is. */
export const charges = ['spent', 'estimated', 'abandoned', 'unknown'] as const
export type Charge = (typeof charges)[number]

/** Everything that was charged, however sure. */
export const charged = (sums: UsageSums) => sum(charges.map((kind) => sums[kind].shown))

/** Amounts of a line, then counts, in the order of the table. */
export const amounts = [...charges, 'avoided', 'debt'] as const
export const counts = ['paid_calls', 'cache_hits', 'extract_answers', 'input_tokens', 'output_tokens', 'embedding_tokens'] as const

/** What a line is about, as the service says it. */
export const about = (entry: UsageEntry, by: Grouping): string | null => entry[by] ?? null

const DAY_MS = 86_400_000
/** A gap longer than this is left as it is. */
const MOST_DAYS = 370

/** Every day from the first to the last: one on which nothing happened is a day, too. */
export function days(first: string, last: string): string[] {
  const [from, to] = [Date.parse(`${first}T00:00:00Z`), Date.parse(`${last}T00:00:00Z`)]
  if (!Number.isFinite(from) || !Number.isFinite(to) || to < from || (to - from) / DAY_MS > MOST_DAYS) return []
  const found: string[] = []
  for (let at = from; at <= to; at += DAY_MS) found.push(new Date(at).toISOString().slice(0, 10))
  return found
}

/** The day that is so many days before a moment, in the time zone of whoever looks. */
export function dayBefore(now: Date, before: number): string {
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - before)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`
}

/** A usage reply as rows of a table for other programs: exact amounts, and names of keys where they are known. */
export function tableOf(usage: UsageResponse, by: Grouping, keyName: (key: string | null) => string): (string | number | null)[][] {
  const header = [
    by,
    ...(by === 'key' ? ['key_name'] : []),
    ...amounts.map((kind) => `${kind}_${usage.currency.toLowerCase()}`),
    ...amounts.map((kind) => `${kind}_micro_usd`),
    ...counts,
  ]
  const rows = usage.lines.map((line) => [
    about(line, by),
    ...(by === 'key' ? [keyName(about(line, by))] : []),
    ...amounts.map((kind) => line[kind].shown),
    ...amounts.map((kind) => line[kind].micro_usd),
    ...counts.map((kind) => line[kind]),
  ])
  return [header, ...rows]
}
