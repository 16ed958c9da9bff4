// Bringing documents in, asking about them, taking them away, and bringing them back.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { AskView } from './rig/ask'
import { petRule } from './rig/documents'
import { hold } from './rig/everywhere'
import { hostileDocument } from './rig/hostile'
import { suite } from './rig/suite'
import { say } from './rig/words'

const rig = suite(({ upstream }) => ({
  model: upstream.url,
  keys: { writer: { role: 'editor' }, guest: {} },
}))

type Language = 'en' | 'zh-TW'

async function openDocuments(language: Language = 'en', key = 'writer') {
  const watched = await rig.open('documents', { language, key: rig.service.secrets[key], refusals: true })
  const t = (name: string, values?: Record<string, unknown>, count?: number) =>
    say(language, `documents.${name}`, values, count)
  await watched.page.getByRole('heading', { level: 1 }).waitFor()
  return { ...watched, t }
}

const file = (name: string, text: string | Buffer) => ({ name, mimeType: 'text/markdown', buffer: Buffer.from(text) })

async function upload(page: Page, language: Language, ...files: ReturnType<typeof file>[]) {
  await page.locator('input[type=file]').first().setInputFiles(files)
  await page.getByRole('region', { name: say(language, 'documents.uploads') }).waitFor()
}

/** Asks in the same tab; the page as it is then. */
async function ask(page: Page, language: Language, question: string): Promise<AskView> {
  await page.getByRole('link', { name: say(language, 'common.nav.ask'), exact: true }).click()
  const view = new AskView(page, language)
  await view.ask(question, { mode: 'extract' })
  await view.settled()
  return view
}

test('a document that was brought in answers; deleted, it does not; brought back, it does', async () => {
  const { page, t } = await openDocuments('zh-TW')
  await upload(page, 'zh-TW', file(petRule.name, petRule.text))
  await page.getByText(t('effects.added', { n: 2 }, 2)).waitFor()
  await hold(page, 'documents-uploaded-zh')
  let view = await ask(page, 'zh-TW', petRule.question)
  await view.answer.getByText(petRule.answer).first().waitFor()

  await page.getByRole('link', { name: say('zh-TW', 'common.nav.documents'), exact: true }).click()
  await page.getByRole('button', { name: t('deleteOf', { source: petRule.name }) }).click()
  const back = page.getByRole('button', { name: t('undo.act') })
  await back.waitFor()
  await hold(page, 'documents-deleted-zh')
  view = await ask(page, 'zh-TW', petRule.question)
  expect(await view.answer.getByText(petRule.answer).count()).toBe(0)

  await page.getByRole('link', { name: say('zh-TW', 'common.nav.documents'), exact: true }).click()
  await back.click()
  await page.getByRole('button', { name: t('deleteOf', { source: petRule.name }) }).waitFor()
  view = await ask(page, 'zh-TW', petRule.question)
  await view.answer.getByText(petRule.answer).first().waitFor()
})

test('several are brought in at once; what is refused says why and what to do, and the others are not held up', async () => {
  const { page, t } = await openDocuments()
  const bad = Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x41, 0xff])
  await upload(
    page,
    'en',
    file('empty.md', ''),
    file('bytes.md', bad),
    file('tool.exe', 'MZ'),
    file(petRule.name, petRule.text),
  )
  await page.getByText(t('effects.added', { n: 2 }, 2)).waitFor()
  const uploads = page.getByRole('region', { name: t('uploads') })
  await expect.poll(async () => uploads.getByText(t('states.failed')).count()).toBe(3)
  await uploads.getByText(t('advice.invalid_encoding')).waitFor()
  await uploads.getByText(t('advice.empty_document')).waitFor()
  await uploads.getByText(t('advice.unsupported_format')).waitFor()
  await hold(page, 'documents-refused-en')
})

test('dropping works as choosing does', async () => {
  const { page, t } = await openDocuments()
  const data = await page.evaluateHandle(
    ([name, text]) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text ?? ''], name ?? '', { type: 'text/markdown' }))
      return transfer
    },
    [petRule.name, petRule.text],
  )
  await page.getByRole('group', { name: t('bring') }).dispatchEvent('drop', { dataTransfer: data })
  await page.getByText(t('effects.added', { n: 2 }, 2)).waitFor()
})

test('the same document again is a new version, and the rules say what it changed', async () => {
  const { page, t } = await openDocuments()
  await upload(page, 'en', file(petRule.name, petRule.text))
  await page.getByText(t('effects.added', { n: 2 }, 2)).waitFor()
  await upload(page, 'en', file(petRule.name, petRule.text.replace('三日', '五日')))
  await page.getByText(t('effects.updated', { n: 2 }, 2)).waitFor()
  await upload(page, 'en', file(petRule.name, petRule.text.replace('三日', '五日')))
  await page.getByText(t('effects.unchanged')).waitFor()
  const answer = await ask(page, 'en', petRule.question)
  await answer.answer.getByText('全年以五日為限').first().waitFor()
  expect(await answer.answer.getByText('全年以三日為限').count()).toBe(0)
})

test('names and warnings of documents stay text', async () => {
  const { page, t } = await openDocuments()
  await upload(
    page,
    'en',
    file('<img src=x onerror=window.__harmed=1>.md', hostileDocument),
    file('invoice\u202Egnp.md', petRule.text),
  )
  await expect.poll(() => page.getByText(t('effects.added', { n: 2 }, 2)).count()).toBeGreaterThan(0)
  await hold(page, 'documents-hostile-en')
  expect(await page.evaluate(() => (globalThis as { __harmed?: number }).__harmed)).toBeUndefined()
  expect(await page.getByRole('main').locator('img, script').count()).toBe(0)
  expect(await page.evaluate(() => /[\u202A-\u202E\u2066-\u2069]/.test(document.body.innerText))).toBe(false)
})

test('who may only read is told who brings documents in', async () => {
  const { page, t } = await openDocuments('en', 'guest')
  await page.getByText(t('editors.title')).waitFor()
  expect(await page.locator('input[type=file]').count()).toBe(0)
  await hold(page, 'documents-reader-en')
})
