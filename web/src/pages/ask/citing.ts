import type { Citation, Sentence } from '@/api/types'

/** A part of an answer: words, or the number of an article that it cites. */
export type Part = { kind: 'words'; text: string } | { kind: 'cite'; id: string; number: number }

/** `[work_rules.md#26-1]`, as answers cite. */
const marker = /\[([^[\]]{1,300}#[^[\]\s]{1,64})\]/g

/** Ids that a text cites, in the order of their first mention. */
export function mentioned(text: string): string[] {
  return [...new Set([...text.matchAll(marker)].map((match) => match[1] ?? ''))]
}

/**
 * Citations in the order in which they are numbered: what the answer rests on first, as it mentions them, then what was
 * only looked up. While an answer is being written nothing is marked as used yet; then what it mentions counts.
 */
export function ordered(citations: readonly Citation[], text: string): { used: Citation[]; others: Citation[] } {
  const mentions = mentioned(text)
  const place = ({ id }: Citation) => {
    const at = mentions.indexOf(id)
    return at < 0 ? mentions.length : at
  }
  const settled = citations.some(({ used }) => used)
  const rests = (citation: Citation) => (settled ? citation.used : mentions.includes(citation.id))
  const used = citations.filter(rests)
  const first = new Map(used.map((citation, index) => [citation.id, index]))
  used.sort((a, b) => place(a) - place(b) || (first.get(a.id) ?? 0) - (first.get(b.id) ?? 0))
  return { used, others: citations.filter((citation) => !rests(citation)) }
}

/** The number of each citation, from 1. */
export function numbers(citations: readonly Citation[], text: string): Map<string, number> {
  const { used, others } = ordered(citations, text)
  return new Map([...used, ...others].map(({ id }, index) => [id, index + 1]))
}

/** Cuts a text at what it cites. An id that was not found stays as the words it is. */
export function parts(text: string, numberOf: Map<string, number>): Part[] {
  const result: Part[] = []
  let from = 0
  for (const match of text.matchAll(marker)) {
    const id = match[1] ?? ''
    const number = numberOf.get(id)
    if (number === undefined) continue
    if (match.index > from) result.push({ kind: 'words', text: text.slice(from, match.index) })
    result.push({ kind: 'cite', id, number })
    from = match.index + match[0].length
  }
  if (from < text.length) result.push({ kind: 'words', text: text.slice(from) })
  return result
}

/** A sentence with all that it cites: a quoted one names its article beside its words, not in them. */
export function withCitations(text: string, sentence: Sentence | null): string {
  const said = mentioned(text)
  const missing = sentence?.citations.filter((id) => !said.includes(id)) ?? []
  return text + missing.map((id) => `[${id}]`).join('')
}

/** A sentence with its judgement, or what stands between sentences, which has none. */
export interface Stretch {
  text: string
  sentence: Sentence | null
}

/**
 * Lays the sentences over the answer and cuts it into paragraphs. Sentences come in order; one that is not found where it
 * should be is skipped, and its words stay unjudged: a mark in the wrong place would be worse than none.
 */
export function paragraphs(answer: string, sentences: readonly Sentence[]): Stretch[][] {
  const stretches: Stretch[] = []
  let from = 0
  for (const sentence of sentences) {
    const at = answer.indexOf(sentence.text, from)
    if (at < 0 || sentence.text === '') continue
    if (at > from) stretches.push({ text: answer.slice(from, at), sentence: null })
    stretches.push({ text: sentence.text, sentence })
    from = at + sentence.text.length
  }
  if (from < answer.length) stretches.push({ text: answer.slice(from), sentence: null })
  const result: Stretch[][] = [[]]
  for (const { text, sentence } of stretches) {
    const lines = sentence ? [text] : text.split(/\n{2,}/)
    lines.forEach((line, index) => {
      if (index > 0) result.push([])
      if (line !== '') result.at(-1)?.push({ text: line, sentence })
    })
  }
  return result.filter((paragraph) => paragraph.some(({ text }) => text.trim() !== ''))
}

/** The first sentence, which says the conclusion, and the rest. A text that nobody has cut into sentences has none. */
export function conclusion(all: Stretch[][]): { lead: Stretch[]; rest: Stretch[][] } {
  const [first = [], ...others] = all
  const at = first.findIndex(({ sentence }) => sentence !== null)
  if (at < 0) return { lead: [], rest: all }
  const lead = first.slice(0, at + 1)
  const after = first.slice(at + 1).filter(({ text }, index) => index > 0 || text.trim() !== '')
  return { lead, rest: after.length > 0 ? [after, ...others] : others }
}
