import { grouped } from '../money'

/**
 * A figure of a report. The service writes at most eighteen digits before the point and six behind it, rounded to fifteen;
 * the shortest text of such a number is what was written, and it is not computed with here.
 */
export function figure(value: number): string {
  return grouped(String(value))
}

/** Decimal shares as people read them: 0.1061 is 10.61 %. */
export function percent(value: number, n: (value: number, options: Intl.NumberFormatOptions) => string): string {
  return n(value, { style: 'percent', maximumFractionDigits: 2 })
}

/** Every figure of a nested record, with its path: `api.profile.prompt_tokens`. */
export function leaves(record: object, above = ''): { path: string; value: number }[] {
  return Object.entries(record).flatMap(([name, value]: [string, unknown]) => {
    const path = above ? `${above}.${name}` : name
    if (typeof value === 'number') return [{ path, value }]
    return typeof value === 'object' && value !== null ? leaves(value, path) : []
  })
}
