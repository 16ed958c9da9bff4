import { describe, expect, it } from 'vitest'

import { closedAtFirst, MANY_ROWS, rowsOf, seen } from './outline'

const entry = (article: string, ...heading_path: string[]) => ({ article, title: `第 ${article} 條`, heading_path })

describe('an outline', () => {
  const rows = rowsOf([entry('1', '總則'), entry('2', '總則'), entry('3', '休假', '特別休假'), entry('4', '休假'), entry('5', '總則')])

  it('has each heading once, above its articles, and again if it comes again', () => {
    expect(rows.map(({ text }) => text)).toEqual([
      '總則', '第 1 條', '第 2 條', '休假', '特別休假', '第 3 條', '第 4 條', '總則', '第 5 條',
    ])
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
  })

  it('knows levels and places for whoever hears it', () => {
    const of = (text: string) => rows.find((row) => row.text === text)
    expect(of('第 3 條')).toMatchObject({ level: 3, place: 1, of: 1 })
    expect(of('第 4 條')).toMatchObject({ level: 2, place: 2, of: 2 })
    expect(of('休假')).toMatchObject({ level: 1, place: 2, of: 3 })
  })

  it('hides what stands below a closed heading, at any depth', () => {
    const leave = rows.find(({ text }) => text === '休假')?.key ?? ''
    expect(seen(rows, new Set([leave])).map(({ text }) => text)).toEqual([
      '總則', '第 1 條', '第 2 條', '休假', '總則', '第 5 條',
    ])
  })

  it('begins open if it is short; else closed but for where one reads', () => {
    expect(closedAtFirst(rows, null).size).toBe(0)
    const long = rowsOf(Array.from({ length: MANY_ROWS }, (_, n) => entry(String(n), `第 ${n % 2 ? 1 : 0} 章`)).sort((a, b) => (a.heading_path[0] ?? '') < (b.heading_path[0] ?? '') ? -1 : 1))
    const closed = closedAtFirst(long, '1')
    expect(seen(long, closed).filter(({ kind }) => kind === 'article')).toHaveLength(MANY_ROWS / 2)
    expect(seen(long, closed).some(({ article }) => article === '1')).toBe(true)
  })
})
