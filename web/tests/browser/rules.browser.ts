// Reading the rules: by chapter and article, by search, and by following references.

import { expect, test } from 'vitest'
import { lodging } from './rig/articles'
import { documentFile } from './rig/documents'
import { hold, LOOKS } from './rig/everywhere'
import { hostileDocument } from './rig/hostile'
import { SAMPLE } from './rig/program'
import { suite } from './rig/suite'
import { say } from './rig/words'

const rig = suite(async () => ({
  documents: [...SAMPLE, await documentFile('<img src=x onerror=window.__harmed=1>.md', hostileDocument)],
}))

const zh = (key: string, values?: Record<string, unknown>, count?: number) => say('zh-TW', key, values, count)
const LAW = `rules/${encodeURIComponent('員工工作規則.md')}`

test('from the shelf to a chapter to an article, and on to the next', async () => {
  const { page } = await rig.open('rules')
  await page
    .getByRole('list', { name: zh('rules.sources') })
    .getByRole('link', { name: /員工工作規則/ })
    .click()
  const tree = page.getByRole('tree', { name: zh('rules.outline') })
  await tree.waitFor()
  await hold(page, 'rules-source-zh')
  await tree.getByRole('treeitem', { name: '第 8 條（正常工作時間）' }).click()
  const article = page.getByRole('article', { name: '第 8 條（正常工作時間）' })
  await article.getByText('每週不超過四十小時').waitFor()
  expect(decodeURIComponent(page.url())).toMatch(/\/ui\/rules\/員工工作規則\.md\/8$/)
  await hold(page, 'rules-article-zh')
  await page
    .getByRole('navigation', { name: zh('rules.beside') })
    .getByRole('link', { name: '第 9 條' })
    .click()
  await page.getByRole('article', { name: '第 9 條（彈性出勤）' }).waitFor()
  await page.goBack()
  await article.waitFor()
})

test('a permalink opens its article, and references lead both ways', async () => {
  const { page } = await rig.open(`${LAW}/13`)
  await page.getByRole('article', { name: '第 13 條（曠職）' }).waitFor()
  await page.getByRole('heading', { name: zh('rules.refersTo') }).waitFor()
  await page
    .getByRole('main')
    .getByRole('link', { name: /^第 64 條/ })
    .last()
    .click()
  await page.getByRole('article', { name: /^第 64 條/ }).waitFor()
  await page.getByRole('heading', { name: zh('rules.referredBy') }).waitFor()
  await page
    .getByRole('main')
    .getByRole('link', { name: /^第 13 條/ })
    .last()
    .click()
  await page.getByRole('article', { name: '第 13 條（曠職）' }).waitFor()
})

test('what is typed is searched for at once, and what matches is marked', async () => {
  const { page } = await rig.open('rules')
  const box = page.getByRole('searchbox', { name: zh('rules.search.label') })
  await box.pressSequentially('住宿費', { delay: 30 })
  const results = page.getByRole('region', { name: zh('rules.search.results') })
  await results.getByRole('link', { name: lodging.title }).waitFor()
  expect(await results.locator('mark').count()).toBeGreaterThan(0)
  await hold(page, 'rules-search-zh')
  await results.getByRole('link', { name: lodging.title }).click()
  await page.getByRole('article', { name: lodging.title }).locator('mark').first().waitFor()
  await page.getByRole('link', { name: zh('rules.search.back', { q: '住宿費' }) }).click()
  await results.getByRole('link', { name: lodging.title }).waitFor()
  await box.fill('qqqqzzzz')
  await page.getByText(zh('rules.search.nothing')).waitFor()
  await hold(page, 'rules-search-nothing-zh')
})

test('the outline is a tree that a keyboard walks', async () => {
  const { page } = await rig.open(LAW)
  const tree = page.getByRole('tree', { name: zh('rules.outline') })
  await tree.getByRole('treeitem', { name: '第一章 總則' }).focus()
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
  expect(await focused()).toBe('第一章 總則')
  await page.keyboard.press('ArrowDown')
  expect(await focused()).toBe('第 1 條（目的）')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowDown')
  expect(await focused()).toBe('第二章 任用及試用')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.getByRole('article').waitFor()
})

test('an address that leads nowhere says so', async () => {
  const { page } = await rig.open(`${LAW}/9999`, { refusals: true })
  await page.getByText(zh('common.errors.article_not_found')).waitFor()
  await hold(page, 'rules-no-article-zh')
  const other = await rig.open('rules/nothing.md', { refusals: true })
  await other.page.getByText(zh('common.errors.source_not_found')).waitFor()
})

test('names, titles and text of documents stay text', async () => {
  const { page } = await rig.open('rules')
  await hold(page, 'rules-hostile-shelf-zh')
  await page
    .getByRole('link', { name: /img src=/ })
    .first()
    .click()
  await page.getByRole('treeitem').last().click()
  await page.getByRole('article').waitFor()
  await hold(page, 'rules-hostile-article-zh')
  expect(await page.evaluate(() => (globalThis as { __harmed?: number }).__harmed)).toBeUndefined()
  expect(await page.getByRole('main').locator('img, script, a[href^="javascript:"]').count()).toBe(0)
  expect(await page.evaluate(() => /[\u202A-\u202E\u2066-\u2069]/.test(document.body.innerText))).toBe(false)
})

test.each(LOOKS)('an article, %s', async (name, look) => {
  const { page } = await rig.open(`${LAW}/45`, look)
  await page.getByRole('article', { name: lodging.title }).waitFor()
  await hold(page, `rules-article-${name}`)
})
