import type { SourceDetail } from '@/api/types'
import type { Locale } from '@/i18n'

/** A heading that says little about what stands below it. */
const vague = /目的|總則|適用|定義|附則|施行|修正|purpose|scope|definition|general|preamble|amend|interpretation|commencement/i

/** What stands in the brackets of 第 26 條（病假） or Article 8 (Annual Leave). */
const topic = /[（(]([^（()）]{2,24})[)）]\s*$/

/**
 * Topics of the rules to ask about, at most `most`, spread over each document. Those in the reader's language come first,
 * since a question finds best what is written in its own.
 */
export function topics(sources: readonly SourceDetail[], locale: Locale, most = 4): string[] {
  const all = sources.map(({ outline }) => {
    const found = outline
      .map(({ title }) => topic.exec(title)?.[1]?.trim() ?? '')
      .filter((words) => words !== '' && !vague.test(words))
    return [...new Set(found)].filter((words) => isChinese(words) === (locale === 'zh-TW'))
  })
  const wanted = all.filter((found) => found.length > 0)
  const each = Math.ceil(most / Math.max(wanted.length, 1))
  return wanted.flatMap((found) => spread(found, each)).slice(0, most)
}

function isChinese(text: string): boolean {
  return /[\u3400-\u9fff]/.test(text)
}

/** `count` of them, evenly spaced, none from the very ends, where the formalities are. */
function spread<T>(all: readonly T[], count: number): T[] {
  if (all.length <= count) return [...all]
  return Array.from({ length: count }, (_, place) => all[Math.floor(((place + 0.5) * all.length) / count)] as T)
}
