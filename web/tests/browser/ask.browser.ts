// Asking: what streams, what cancels, what is quoted, and what "no" looks like.

import { expect, test } from 'vitest'
import { annualLeave, lodging, outcomes } from './rig/articles'
import { AskView } from './rig/ask'
import { calls, gate, held, text } from './rig/reply'
import { suite } from './rig/suite'

const rig = suite(({ upstream }) => ({ model: upstream.url }))

async function openAsk(language: 'en' | 'zh-TW' = 'zh-TW') {
  const watched = await rig.open('', { language })
  return { ...watched, ask: new AskView(watched.page, language) }
}

test('the rules answer by themselves, with their sentence and its article', async () => {
  const { page, ask } = await openAsk('en')
  await ask.ask(annualLeave.question, { mode: 'extract' })
  await ask.settled()
  await ask.content.getByText(annualLeave.quote).first().waitFor()
  await ask.content.getByText(annualLeave.title).first().waitFor()
  expect(rig.upstream.calls).toEqual([])
  // What was looked up and not used stands apart, and is folded.
  expect(await page.getByText('employee-handbook.md#5', { exact: true }).first().isVisible()).toBe(false)
})

test('an answer appears as it is written, and says what is being done', async () => {
  const { ask } = await openAsk()
  const more = gate()
  rig.upstream.script(() => held(lodging.said, more, `經理級以上人員每晚以新臺幣 3,200 元為上限 [${lodging.id}]。`))
  await ask.ask(lodging.question, { mode: 'pipeline' })
  await ask.content.getByText(lodging.shown).first().waitFor()
  expect(await ask.cancelButton.isVisible()).toBe(true)
  expect(await ask.content.getByText('3,200 元為上限').count()).toBe(0)
  more.open()
  await ask.settled()
  await ask.content.getByText('經理級以上人員每晚以新臺幣 3,200 元為上限').first().waitFor()
})

for (const [how, leave] of [
  ['by its button', async (ask: AskView) => ask.cancelButton.click()],
  ['by Escape', async (ask: AskView) => ask.box.press('Escape')],
  ['by leaving', async (ask: AskView) => ask.page.getByRole('navigation').getByRole('link').nth(1).click()],
  ['by closing the tab', async (ask: AskView) => ask.page.close()],
] as const) {
  test(`cancelling ${how} closes the model's connection`, async () => {
    const { ask } = await openAsk()
    rig.upstream.script(() => held(lodging.said, gate(), 'never'))
    const called = rig.upstream.next()
    await ask.ask(lodging.question, { mode: 'pipeline' })
    await ask.content.getByText(lodging.shown).first().waitFor()
    await leave(ask)
    expect(await (await called).left).toBe(true)
  })
}

test('asking anew cancels what is being answered', async () => {
  const { ask } = await openAsk()
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
  const { ask } = await openAsk()
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
})

for (const [outcome, question] of Object.entries(outcomes)) {
  test(`"${outcome}" says what it means, and what stands nearest`, async () => {
    const { ask } = await openAsk()
    await ask.ask(question, { mode: 'extract' })
    await ask.settled()
    await ask.content.getByText(ask.say(`outcomes.${outcome}.title`)).waitFor()
    await ask.content.getByText(ask.say(`outcomes.${outcome}.next`)).waitFor()
  })
}
