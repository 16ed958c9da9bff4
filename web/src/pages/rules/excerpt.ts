import type { Span } from '@/api/types'
import { stretches, type Stretch } from '@/text/spans'

/** Characters before the first thing that was found, and altogether. */
const BEFORE = 24
const LENGTH = 180

/** The part of a text around the first thing that was found, on one line. */
export function excerpt(text: string, found: readonly Span[]): Stretch<'found'>[] {
  const all = stretches(text, [{ kind: 'found', spans: found }])
  const first = all.findIndex(({ kind }) => kind === 'found')
  const start = all.slice(0, Math.max(0, first)).reduce((sum, part) => sum + part.text.length, 0)
  let skip = Math.max(0, start - BEFORE)
  let left = LENGTH
  const kept: Stretch<'found'>[] = []
  if (skip > 0) kept.push({ text: '…', kind: null })
  for (const part of all) {
    const characters = [...part.text]
    const rest = characters.slice(skip).slice(0, left)
    skip = Math.max(0, skip - characters.length)
    left -= rest.length
    if (rest.length > 0) kept.push({ text: rest.join('').replace(/\s+/g, ' '), kind: part.kind })
  }
  if (left === 0) kept.push({ text: '…', kind: null })
  return kept
}
