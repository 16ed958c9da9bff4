import type { Span } from '@/api/types'
import { stretches, type Stretch } from '@/text/spans'

/** One line of an article: how far it stands in, and what of it was found. */
export interface Paragraph {
  /** 0: a paragraph. 1: 一、 or 1. 2: （一） or (a). */
  level: 0 | 1 | 2
  parts: Stretch<'found'>[]
}

const item = /^\s*(?:[一二三四五六七八九十百]+、|\d{1,3}(?:\.(?!\d)|[、)）])|[-*•]\s)/
const subitem = /^\s*(?:[（(][一二三四五六七八九十百\d]{1,3}[)）]|[（(][a-z]{1,2}[)）]|[a-z]\.\s)/

/** How far a line stands in, by the number that it begins with in the text. */
export function levelOf(line: string): Paragraph['level'] {
  if (item.test(line)) return 1
  return subitem.test(line) ? 2 : 0
}

/** An article's text, line by line as it was written, with its numbers. Spans are the service's, in bytes. */
export function paragraphs(text: string, found: readonly Span[] = []): Paragraph[] {
  const lines: Stretch<'found'>[][] = [[]]
  for (const { text: stretch, kind } of stretches(text, [{ kind: 'found', spans: found }])) {
    stretch.split('\n').forEach((part, place) => {
      if (place > 0) lines.push([])
      if (part !== '') lines.at(-1)?.push({ text: part, kind })
    })
  }
  const whole = (parts: Stretch<'found'>[]) => parts.map(({ text: part }) => part).join('')
  return lines
    .filter((parts) => whole(parts).trim() !== '')
    .map((parts) => ({ level: levelOf(whole(parts)), parts }))
}
