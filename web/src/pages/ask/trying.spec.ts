import { expect, it } from 'vitest'

import type { SourceDetail } from '@/api/types'

import { topics } from './trying'

const source = (...titles: string[]) =>
  ({ outline: titles.map((title, at) => ({ title, article: String(at), heading_path: [] })) }) as unknown as SourceDetail

const chinese = source('第 1 條（目的）', '第 2 條（工時）', '第 3 條', '第 4 條（病假）', '第 5 條（事假）', '第 6 條（施行）')
const english = source('Article 1 (Purpose)', 'Article 2 (Overtime)', 'Article 3 (Sick Leave)')

it.each([
  ['zh-TW', [chinese, english], 4, ['工時', '病假', '事假']],
  ['en', [chinese, english], 4, ['Overtime', 'Sick Leave']],
  ['zh-TW', [chinese, chinese], 2, ['病假', '病假']],
  ['zh-TW', [chinese], 1, ['病假']],
  ['en', [chinese], 4, []],
  ['en', [], 4, []],
] as const)('topics to ask about, in %s', (locale, sources, most, expected) => {
  expect(topics(sources, locale, most)).toEqual(expected)
})
