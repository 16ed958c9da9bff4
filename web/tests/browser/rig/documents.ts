// Documents that tests bring in.

import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Writes a document into a folder of its own; its path. The folder is left to the system's temporary folder. */
export async function documentFile(name: string, text: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'bylaw-document-')), name)
  await writeFile(file, text)
  return file
}

/** A rule that is in no other document, and a question that only it answers. */
export const petRule = {
  name: '寵物友善辦法.md',
  text: `# 寵物友善辦法

## 第 1 條（寵物陪伴假）

員工飼養之寵物就醫者，得請寵物陪伴假，全年以三日為限，工資照給。

## 第 2 條（申請）

寵物陪伴假應於前一日於人事系統提出申請，並檢附獸醫診斷證明。
`,
  question: '寵物陪伴假一年有幾天？',
  answer: '全年以三日為限',
}

/** So many articles, all in one chapter unless told otherwise. */
export function manyArticles(count: number, inChapter = count): string {
  const lines = ['# 大規章\n']
  for (let number = 1; number <= count; number += 1) {
    if (number % inChapter === 1)
      lines.push(`## 第 ${Math.ceil(number / inChapter)} 章 事務之${Math.ceil(number / inChapter)}\n`)
    lines.push(`### 第 ${number} 條（事項${number}）\n`)
    lines.push(
      `員工辦理事項${number}者，應於 ${(number % 30) + 1} 日內提出申請，並依第 ${Math.max(1, number - 1)} 條檢附文件；逾期未提出者，視為放棄。\n`,
    )
  }
  return lines.join('\n')
}
