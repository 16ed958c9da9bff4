import type { Answer, Citation } from '@/api/types'
import { plain } from '@/text/pieces'

import { numbers, ordered, paragraphs, parts, withCitations } from './citing'

/**
 * An answer as text that can be shown to others: the question, the answer with numbers, the articles with where they can
 * be read, and what kind of answer it was. Permalinks need the right to read the rules, and nothing more.
 */
export function asText(question: string, answer: Answer, linkTo: (citation: Citation) => string): string {
  const text = answer.answer ?? answer.draft ?? ''
  const numberOf = numbers(answer.citations, text)
  const cited = paragraphs(text, answer.sentences).map((paragraph) =>
    paragraph.map((each) => withCitations(each.text, each.sentence)).join(''),
  )
  const said = parts(cited.join('\n\n'), numberOf).map((part) => (part.kind === 'words' ? part.text : `[${part.number}]`))
  const quoted = answer.answer === null ? (answer.extract?.sentences ?? []) : []
  const { used, others } = ordered(answer.citations, text)
  const quotedIds = new Set(quoted.map(({ id }) => id))
  const shown = used.length > 0 ? used : others.filter(({ id }) => quotedIds.has(id))
  return [
    question,
    '',
    ...(text === '' ? [answer.note] : [said.join('')]),
    ...quoted.map((sentence) => `「${sentence.text}」 (${numberOf.get(sentence.id) ?? sentence.id})`),
    '',
    ...shown.map((citation) => `[${numberOf.get(citation.id)}] ${citation.title}, ${citation.source}\n    ${linkTo(citation)}`),
  ]
    .map(plain)
    .join('\n')
    .trim()
}
