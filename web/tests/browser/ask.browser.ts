// Asking: what streams, what cancels, what is quoted, and what "no" looks like.

import { expect, test } from 'vitest'
import { annualLeave, lodging, outcomes } from './rig/articles'
import type { AskView } from './rig/ask'
import { calls, gate, held, slowly, text } from './rig/reply'
import { hold } from './rig/everywhere'
import { suite } from './rig/suite'
import { say } from './rig/words'

const rig = suite(({ upstream }) => ({ model: upstream.url }))

test('the rules answer by themselves, and what was not used stands apart, folded', async () => {
  const { ask } = await rig.ask({ language: 'en' })
  await ask.ask(annualLeave.question, { mode: 'extract' })
  await ask.settled()
  await ask.answer.getByText(annualLeave.quote).first().waitFor()
  await ask.answer.getByText(ask.say('standing.verbatim')).first().waitFor()
  expect(await ask.cards.count()).toBe(1)
  expect(await ask.cards.getByRole('heading').innerText()).toContain(annualLeave.title)
  await ask.answer.getByText(ask.say('citations.unused', { n: 2 }, 2)).click()
  expect(await ask.cards.count()).toBe(3)
  expect(rig.upstream.calls).toEqual([])
})

test('a citation opens its article with the quote highlighted, and its neighbours beside it', async () => {
  const { page, ask } = await rig.ask()
  await ask.ask(lodging.question, { mode: 'extract' })
  await ask.settled()
  await ask.answer
    .getByRole('button', { name: ask.say('openCitation', { number: 1 }) })
    .or(ask.cards.first().getByRole('button'))
    .first()
    .click()
  const sheet = page.getByRole('dialog', { name: lodging.title })
  expect(await sheet.locator('mark.quote').allInnerTexts()).toEqual([expect.stringContaining(lodging.quote)])
  await sheet.getByText(say('zh-TW', 'common.article.version')).waitFor()
  await hold(page, 'article-zh')
  await sheet.getByRole('button', { name: say('zh-TW', 'common.article.next') }).click()
  await page.getByRole('dialog', { name: '第 46 條' }).waitFor()
  expect(await page.getByRole('dialog').locator('mark.quote').count()).toBe(0)
  await page.keyboard.press('Escape')
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test("a model's sentence is marked by how it stands, and its citation opens the article", async () => {
  const { page, ask } = await rig.ask()
  rig.upstream.script(() => text(`${lodging.said}董事長每晚九千元 [員工工作規則.md#999]。祝順利。`))
  await ask.ask(lodging.question, { mode: 'pipeline' })
  await ask.settled()
  await ask.answer.getByText(ask.say('problems.invalid_citation')).waitFor()
  await ask.answer.getByText(ask.say('supported')).first().waitFor({ state: 'attached' })
  await ask.answer
    .getByRole('button', { name: ask.say('openCitation', { number: 1 }) })
    .first()
    .click()
  await page.getByRole('dialog', { name: lodging.title }).waitFor()
})

test('an answer appears as it is written, and says what is being done', async () => {
  const { ask } = await rig.ask()
  const more = gate()
  rig.upstream.script(() => held(lodging.said, more, `請檢附收據辦理 [${lodging.id}]。`))
  await ask.ask(lodging.question, { mode: 'pipeline' })
  await ask.content.getByText(lodging.shown).first().waitFor()
  expect(await ask.cancelButton.isVisible()).toBe(true)
  expect(await ask.content.getByText('請檢附收據辦理').count()).toBe(0)
  more.open()
  await ask.settled()
  await ask.content.getByText('請檢附收據辦理').first().waitFor()
})

for (const [how, leave] of [
  ['by its button', async (ask: AskView) => ask.cancelButton.click()],
  ['by Escape', async (ask: AskView) => ask.box.press('Escape')],
  ['by leaving', async (ask: AskView) => ask.page.getByRole('navigation').getByRole('link').nth(1).click()],
  ['by closing the tab', async (ask: AskView) => ask.page.close()],
] as const) {
  test(`cancelling ${how} closes the model's connection`, async () => {
    const { ask } = await rig.ask()
    rig.upstream.script(() => held(lodging.said, gate(), 'never'))
    const called = rig.upstream.next()
    await ask.ask(lodging.question, { mode: 'pipeline' })
    await ask.content.getByText(lodging.shown).first().waitFor()
    await leave(ask)
    expect(await (await called).left).toBe(true)
  })
}

test('asking anew cancels what is being answered', async () => {
  const { ask } = await rig.ask()
  rig.upstream.script(() => held(lodging.said, gate(), 'never'))
  const called = rig.upstream.next()
  await ask.ask(lodging.question, { mode: 'pipeline' })
  await ask.content.getByText(lodging.shown).first().waitFor()
  await ask.cancelButton.click()
  expect(await (await called).left).toBe(true)
  rig.upstream.script(() => text(`員工結婚，給予婚假八日 [員工工作規則.md#27]。`))
  await ask.ask('婚假幾天？', { mode: 'pipeline' })
  await ask.content.getByText('給予婚假八日').first().waitFor()
  await ask.settled()
})

test('an agent shows each of its steps with what it looked for', async () => {
  const { ask } = await rig.ask()
  const read = gate()
  rig.upstream.script(({ results }) => {
    if (results.length === 0) return calls(['search', { query: '住宿費上限' }])
    if (results.length === 1)
      return [{ wait: read.opened }, ...(calls(['read_article', { article: lodging.id }]) as [])]
    return calls(['answer', { text: lodging.said, citations: [lodging.id] }])
  })
  await ask.ask(lodging.question, { mode: 'agent', steps: 4 })
  await ask.content.getByText('住宿費上限').first().waitFor()
  expect(await ask.cancelButton.isVisible()).toBe(true)
  read.open()
  await ask.settled()
  await ask.content.getByText(lodging.shown).first().waitFor()
  await ask.answer.getByText(ask.say('way', { n: 3 }, 3)).click()
  const steps = ask.answer.getByRole('list', { name: ask.say('stepList') }).getByRole('listitem')
  expect(await steps.allInnerTexts()).toEqual([
    expect.stringContaining('住宿費上限'),
    expect.stringContaining(lodging.id),
    expect.stringContaining(ask.say('tools.answer')),
  ])
})

for (const [outcome, question] of Object.entries(outcomes)) {
  test(`"${outcome}" says what it means, and what stands nearest`, async () => {
    const { ask } = await rig.ask()
    await ask.ask(question, { mode: 'extract' })
    await ask.settled()
    await ask.content.getByText(ask.say(`outcomes.${outcome}.title`)).waitFor()
    await ask.content.getByText(ask.say(`outcomes.${outcome}.next`)).waitFor()
  })
}

test('the answer can be copied with its citations and where they are read', async () => {
  const { page, ask } = await rig.ask()
  await ask.ask(lodging.question, { mode: 'extract' })
  await ask.settled()
  await ask.answer.getByRole('button', { name: ask.say('copy') }).click()
  await ask.answer.getByRole('button', { name: say('zh-TW', 'common.copied') }).waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toContain(lodging.question)
  expect(copied).toContain(lodging.quote)
  const link = /http\S+/.exec(copied)?.[0] ?? ''
  expect(link).toBe(`${rig.service.url}/ui/rules/${encodeURIComponent('員工工作規則.md')}/45`)
})

test('what was asked is kept in this browser until it is forgotten', async () => {
  const { page, ask } = await rig.ask({ language: 'en' })
  await ask.ask(annualLeave.question, { mode: 'extract' })
  await ask.settled()
  await page.reload()
  await ask.content.getByText(ask.say('history.title', { n: 1 }, 1)).click()
  await ask.content.getByRole('button', { name: annualLeave.question }).click()
  expect(await ask.box.inputValue()).toBe(annualLeave.question)
  expect(rig.upstream.calls).toEqual([])
  await ask.content.getByRole('button', { name: ask.say('history.clear') }).click()
  await page.reload()
  await ask.box.waitFor()
  expect(await page.getByText(annualLeave.question).count()).toBe(0)
})

test('Enter asks, Shift+Enter breaks the line, and Enter that ends a word of an input method does neither', async () => {
  const { page, ask } = await rig.ask()
  await ask.choose({ mode: 'extract' })
  await ask.box.focus()
  await page.keyboard.insertText('婚')
  const keyboard = await page.context().newCDPSession(page)
  await keyboard.send('Input.imeSetComposition', { text: 'ㄐㄧㄚˋ', selectionStart: 4, selectionEnd: 4 })
  // Chromium says `isComposing` of the Enter that ends a word; Safari says 229.
  for (const windowsVirtualKeyCode of [13, 229])
    await keyboard.send('Input.dispatchKeyEvent', {
      type: 'rawKeyDown',
      key: 'Enter',
      code: 'Enter',
      windowsVirtualKeyCode,
    })
  await keyboard.send('Input.insertText', { text: '假' })
  expect(await ask.answer.count()).toBe(0)
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.insertText('幾天')
  expect(await ask.box.inputValue()).toBe('婚假\n幾天')
  expect(await ask.answer.count()).toBe(0)
  await page.keyboard.press('Enter')
  await ask.settled()
  await ask.answer.getByText('給予婚假八日').first().waitFor()
})

test('a question that says nothing, or too much, is refused before it is sent', async () => {
  const { ask } = await rig.ask({ language: 'en' })
  await ask.ask('？！')
  await ask.content.getByText(ask.say('empty')).waitFor()
  await ask.box.fill('a'.repeat(502))
  await ask.content.getByText(ask.say('tooLong', { n: 2 }, 2)).waitFor()
  expect(await ask.askButton.isDisabled()).toBe(true)
  await ask.box.fill('假'.repeat(500))
  expect(await ask.askButton.isEnabled()).toBe(true)
})

test('a question can be kept to one document and chapter', async () => {
  const { ask } = await rig.ask()
  await ask.choose({ mode: 'extract', source: 'employee-handbook.md' })
  await ask.ask(lodging.question)
  await ask.settled()
  expect(await ask.answer.getByText(lodging.title).count()).toBe(0)
})

test('what is written is announced in few words, and not piece by piece', async () => {
  const { page, ask } = await rig.ask({ language: 'en' })
  await ask.box.waitFor()
  rig.upstream.script(() => slowly(`You get 22 days [${annualLeave.id}]. `.repeat(20), { size: 3, pause: 2 }))
  await page.evaluate(() => {
    const region = document.querySelector('[role=status][aria-live=polite]')
    const heard: string[] = []
    Object.assign(globalThis, { __heard: heard })
    if (region)
      new MutationObserver(() => heard.push(region.textContent ?? '')).observe(region, {
        childList: true,
        characterData: true,
        subtree: true,
      })
  })
  await ask.ask(annualLeave.question, { mode: 'pipeline' })
  await ask.settled()
  const heard = await page.evaluate(() => (globalThis as unknown as { __heard: string[] }).__heard)
  expect(heard.at(-1)).toContain('You get 22 days')
  expect(heard).toContain(ask.say('stages.writing'))
  expect(heard.length).toBeLessThan(8)
})
