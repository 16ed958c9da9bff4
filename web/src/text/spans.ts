import type { Span } from '@/api/types'

/** A stretch of a text and what it is. Stretches follow one another and are the whole text together. */
export interface Stretch<Kind extends string> {
  text: string
  kind: Kind | null
}

/** Bytes of a character in UTF-8. */
function width(code: number): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
}

/**
 * Where bytes of the UTF-8 of a text are in the string, for ascending offsets. The service counts bytes, strings are
 * indexed by UTF-16 units. An offset inside a character or past the end becomes the next boundary.
 */
export function indexesOf(text: string, offsets: number[]): number[] {
  const found: number[] = []
  let byte = 0
  let index = 0
  for (const offset of offsets) {
    while (byte < offset && index < text.length) {
      const code = text.codePointAt(index) ?? 0
      byte += width(code)
      index += code > 0xffff ? 2 : 1
    }
    found.push(index)
  }
  return found
}

/** Cuts a text at spans. Where spans of two kinds overlap, the kind that is named first wins. */
export function stretches<Kind extends string>(
  text: string,
  marks: { kind: Kind; spans: readonly Span[] }[],
): Stretch<Kind>[] {
  const offsets = marks.flatMap(({ spans }) => spans.flatMap(({ start, end }) => [start, end]))
  const ordered = [...new Set(offsets)].sort((a, b) => a - b)
  const indexes = indexesOf(text, ordered)
  const at = new Map(ordered.map((offset, place) => [offset, indexes[place] ?? text.length]))
  const cuts = [...new Set([0, ...indexes, text.length])].sort((a, b) => a - b)
  const ranges = marks.map(({ kind, spans }) => ({
    kind,
    spans: spans.map(({ start, end }) => ({ from: at.get(start) ?? 0, to: at.get(end) ?? 0 })),
  }))
  const result: Stretch<Kind>[] = []
  for (let place = 0; place + 1 < cuts.length; place += 1) {
    const from = cuts[place] ?? 0
    const to = cuts[place + 1] ?? 0
    const kind = ranges.find(({ spans }) => spans.some((span) => span.from <= from && to <= span.to))?.kind ?? null
    const last = result.at(-1)
    if (last && last.kind === kind) last.text += text.slice(from, to)
    else result.push({ text: text.slice(from, to), kind })
  }
  return result
}
