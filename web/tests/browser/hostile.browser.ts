// Text of strangers stays text, wherever it comes from.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { documentFile } from './rig/documents'
import { hold } from './rig/everywhere'
import { hostile, hostileDocument } from './rig/hostile'
import { text } from './rig/reply'
import { suite } from './rig/suite'
import { lodging } from './rig/articles'
import { SAMPLE } from './rig/program'

const NAME = '<img src=x onerror=window.__harmed=1>.md'

const rig = suite(async ({ upstream }) => ({
  model: upstream.url,
  documents: [...SAMPLE, await documentFile(NAME, hostileDocument)],
}))

/** Nothing ran, nothing was loaded, nothing can be clicked, and nothing sticks out. */
async function expectHarmless(page: Page, name: string) {
  await hold(page, name)
  expect(await page.evaluate(() => (globalThis as { __harmed?: number }).__harmed)).toBeUndefined()
  const main = page.getByRole('main').or(page.getByRole('dialog'))
  expect(await main.locator('img, script, iframe, object, a[href^="javascript:"]').count()).toBe(0)
  // Characters that turn around what follows are shown by name.
  expect(await page.evaluate(() => /[\u202A-\u202E\u2066-\u2069]/.test(document.body.innerText))).toBe(false)
}

for (const width of [1280, 360]) {
  test(`in an answer, at ${width} pixels`, async () => {
    const { page, ask } = await rig.ask({ width })
    rig.upstream.script(() =>
      text(
        `${hostile.markup} ${hostile.link}。${hostile.image} ${hostile.backwards}。${lodging.said}${hostile.longWord}`,
      ),
    )
    await ask.ask(lodging.question, { mode: 'pipeline' })
    await ask.settled()
    await ask.answer.getByText('onerror=').first().waitFor()
    await ask.answer.getByText('U+202E').first().waitFor()
    await expectHarmless(page, `hostile-answer-${width}`)
  })

  test(`in the names, titles and text of documents, at ${width} pixels`, async () => {
    const { page, ask } = await rig.ask({ width })
    await ask.ask('侏羅紀假有幾天？', { mode: 'extract' })
    await ask.settled()
    await ask.cards.first().waitFor()
    await ask.unfold()
    await expectHarmless(page, `hostile-document-${width}`)
    await ask.cards.first().getByRole('button').click()
    await page.getByRole('dialog').waitFor()
    await expectHarmless(page, `hostile-article-${width}`)
  })
}

test('in a question, also in what is remembered of it', async () => {
  const { page, ask } = await rig.ask()
  await ask.ask(`婚假幾天 ${hostile.markup}${hostile.backwards}`.slice(0, 400), { mode: 'extract' })
  await ask.settled()
  await page.reload()
  await page.locator('summary').first().click()
  await expectHarmless(page, 'hostile-question')
})

test('in what a model says when it fails', async () => {
  const { page, ask } = await rig.ask()
  rig.upstream.script(() => [{ say: lodging.said }, { fail: hostile.all.slice(0, 3_000) }])
  await ask.ask(lodging.question, { mode: 'pipeline' })
  await ask.settled()
  await ask.answer.getByRole('alert').waitFor()
  await expectHarmless(page, 'hostile-error')
})

test('in the address', async () => {
  const { page } = await rig.open(`?q=${encodeURIComponent(hostile.markup)}`)
  await page.getByRole('textbox').first().waitFor()
  await expectHarmless(page, 'hostile-address')
  expect(rig.upstream.calls).toEqual([])
})
