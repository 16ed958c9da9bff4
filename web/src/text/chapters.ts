import type { OutlineEntry } from '@/api/types'

/** A chapter that a question can be restricted to. */
export interface Chapter {
  number: number
  title: string
}

const digits: Record<string, number> = {
  〇: 0, 零: 0, 一: 1, 二: 2, 兩: 2, 三: 3, 四: 4, 五: 5, 六: 6, 七: 7, 八: 8, 九: 9,
}

/** The number of a heading such as 第十二章 休假, Chapter 3 or Part IV; null if it is no chapter's. */
export function chapterNumber(heading: string): number | null {
  const chinese = /^\s*第\s*([0-9０-９]+|[〇零一二兩三四五六七八九十]+)\s*章/.exec(heading)?.[1]
  if (chinese) return numeral(chinese)
  const english = /^\s*(?:chapter|part)\s+(\d+|[ivxl]+)\b/i.exec(heading)?.[1]
  if (english) return /^\d+$/.test(english) ? Number(english) : roman(english.toUpperCase())
  return null
}

function numeral(text: string): number | null {
  const western = text.replace(/[０-９]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) - 0xfee0))
  if (/^\d+$/.test(western)) return Number(western)
  const [tens, ones] = text.includes('十') ? text.split('十') : ['', text]
  const ten = text.includes('十') ? (tens === '' ? 1 : (digits[tens ?? ''] ?? null)) : 0
  const one = ones === '' ? 0 : (digits[ones ?? ''] ?? null)
  return ten === null || one === null ? null : ten * 10 + one
}

function roman(text: string): number {
  const worth: Record<string, number> = { I: 1, V: 5, X: 10, L: 50 }
  const values = [...text].map((letter) => worth[letter] ?? 0)
  return values.reduce((sum, value, place) => sum + (value < (values[place + 1] ?? 0) ? -value : value), 0)
}

/** The chapters of an outline, in its order, each once. The service takes numbers from 1 to 99. */
export function chaptersOf(outline: readonly OutlineEntry[]): Chapter[] {
  const found = new Map<number, Chapter>()
  for (const { heading_path: path } of outline) {
    for (const title of path) {
      const number = chapterNumber(title)
      if (number !== null && number >= 1 && number <= 99 && !found.has(number)) found.set(number, { number, title })
    }
  }
  return [...found.values()]
}
