import { expect, it } from 'vitest'

import { chapterNumber, chaptersOf } from './chapters'

it.each([
  ['第四章 休假及請假', 4],
  ['第十章', 10],
  ['第十二章 附則', 12],
  ['第二十章', 20],
  ['第三十一章', 31],
  ['第１２章', 12],
  ['第 3 章 工資', 3],
  ['Chapter 3', 3],
  ['Part 4. Pay', 4],
  ['PART IV Leave', 4],
  ['第一節 通則', null],
  ['Particulars', null],
  ['附表', null],
])('%s is chapter %s', (heading, expected) => {
  expect(chapterNumber(heading)).toBe(expected)
})

it('chapters are listed once, in the order of the document', () => {
  const entry = (...heading_path: string[]) => ({ heading_path, article: '1', title: '' })
  const outline = [entry(), entry('第一編', '第一章 總則'), entry('第一編', '第一章 總則', '第一節'), entry('第二章 工資')]
  expect(chaptersOf(outline)).toEqual([
    { number: 1, title: '第一章 總則' },
    { number: 2, title: '第二章 工資' },
  ])
})
