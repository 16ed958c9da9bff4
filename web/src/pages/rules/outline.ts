import type { OutlineEntry } from '@/api/types'

/** One row of the tree: a heading, or an article below its headings. */
export interface Row {
  key: string
  kind: 'heading' | 'article'
  text: string
  /** The address, of an article. */
  article: string | null
  /** 1 at the top. */
  level: number
  /** Its place among its siblings, from 1, and how many they are. */
  place: number
  of: number
  /** Keys of the headings above, outermost first. */
  above: string[]
}

/** The outline as rows in order. A heading that comes again after another one is another heading. */
export function rowsOf(outline: readonly OutlineEntry[]): Row[] {
  const rows: Row[] = []
  let open: Row[] = []
  const children = new Map<string, Row[]>()
  const add = (row: Row) => {
    const above = row.above.at(-1) ?? ''
    const siblings = children.get(above) ?? []
    siblings.push(row)
    children.set(above, siblings)
    row.place = siblings.length
    rows.push(row)
  }
  for (const { heading_path, article, title } of outline) {
    let same = 0
    while (same < open.length && same < heading_path.length && open[same]?.text === heading_path[same]) same += 1
    open = open.slice(0, same)
    for (const text of heading_path.slice(same)) {
      const above = open.map(({ key }) => key)
      const row: Row = { key: `h${rows.length}`, kind: 'heading', text, article: null, level: open.length + 1, place: 0, of: 0, above }
      add(row)
      open.push(row)
    }
    const above = open.map(({ key }) => key)
    add({ key: `a${article}`, kind: 'article', text: title, article, level: open.length + 1, place: 0, of: 0, above })
  }
  for (const siblings of children.values()) for (const row of siblings) row.of = siblings.length
  return rows
}

/** Rows that are seen while these headings are closed. */
export function seen(rows: readonly Row[], closed: ReadonlySet<string>): Row[] {
  if (closed.size === 0) return [...rows]
  return rows.filter(({ above }) => !above.some((key) => closed.has(key)))
}

/** Above so many rows, headings begin closed, but for those above the article that is read. */
export const MANY_ROWS = 240

/** The headings that are closed at first. */
export function closedAtFirst(rows: readonly Row[], current: string | null): Set<string> {
  if (rows.length <= MANY_ROWS) return new Set()
  const open = rows.find(({ article }) => article !== null && article === current)?.above ?? []
  return new Set(rows.filter(({ kind, key }) => kind === 'heading' && !open.includes(key)).map(({ key }) => key))
}
