// What a key may not read does not exist for it, and a key that is revoked hears no more.

import { expect, test } from 'vitest'
import { annualLeave, lodging } from './rig/articles'
import { hold } from './rig/everywhere'
import { gate, held } from './rig/reply'
import { suite } from './rig/suite'
import { say } from './rig/words'

const rig = suite(({ upstream }) => ({
  model: upstream.url,
  keys: { boss: { role: 'admin' }, guest: { sources: ['employee-handbook.md'] }, other: {} },
}))

test('a limited key is offered and answered from its own documents only', async () => {
  const { page, ask } = await rig.ask({ language: 'en', key: rig.service.secrets.guest })
  await ask.unfold()
  const offered = page.getByRole('combobox', { name: ask.say('source') }).getByRole('option')
  await expect.poll(() => offered.count()).toBe(2)
  expect((await offered.allInnerTexts()).join()).not.toContain('工作規則')
  await ask.ask(lodging.question, { mode: 'extract' })
  await ask.settled()
  expect(await page.getByRole('main').innerText()).not.toContain('員工工作規則')
  await ask.ask(annualLeave.question)
  await ask.settled()
  await ask.answer.getByText(annualLeave.quote).first().waitFor()
  await hold(page, 'limited-key-en')
})

test('a key that is revoked while an answer is written hears no more of it, and is asked for another', async () => {
  const { page, ask } = await rig.ask({ language: 'en', key: rig.service.secrets.guest, refusals: true })
  const more = gate()
  rig.upstream.script(() => held(`You get 22 days [${annualLeave.id}]. `, more, `And a secret [${annualLeave.id}].`))
  await ask.ask(annualLeave.question, { mode: 'pipeline' })
  await ask.answer.getByText('You get 22 days').first().waitFor()
  await rig.service.revoke('guest')
  await ask.settled()
  more.open()
  await page.getByRole('dialog', { name: say('en', 'common.signIn.title') }).waitFor()
  expect(await page.getByText('And a secret').count()).toBe(0)
  await hold(page, 'revoked-en')
})

test('two keys in one browser do not see what the other asked', async () => {
  const { page, context, ask } = await rig.ask({ language: 'en', key: rig.service.secrets.guest })
  await ask.ask(annualLeave.question, { mode: 'extract' })
  await ask.settled()
  await page.close()
  const another = await context.newPage()
  await another.addInitScript((secret) => {
    if (location.protocol === 'http:') sessionStorage.setItem('bylaw.key', secret)
  }, rig.service.secrets.other ?? '')
  await another.goto(`${rig.service.url}/ui/`)
  await another.getByRole('textbox', { name: ask.say('question') }).waitFor()
  await another.waitForLoadState('networkidle')
  expect(await another.getByText(annualLeave.question).count()).toBe(0)
})
