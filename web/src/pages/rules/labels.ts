import { splitArticleId } from '@/api/addresses'
import type { OutlineEntry, SourceSummary } from '@/api/types'

/** Titles of sources by name; a source without a title goes by its name. */
export function titlesOf(sources: readonly SourceSummary[]): Map<string, string> {
  return new Map(sources.map(({ source, title }) => [source, title ?? source]))
}

/** What an article is called by people, as far as it is known: its heading, and its source if that is another one. */
export function namer(source: string, outline: readonly OutlineEntry[], titles: ReadonlyMap<string, string>) {
  const own = new Map(outline.map(({ article, title }) => [article, title]))
  return (id: string): string => {
    const parts = splitArticleId(id)
    if (parts.source === source) return own.get(parts.article) || parts.article
    return `${titles.get(parts.source) ?? parts.source} ${parts.article}`
  }
}
