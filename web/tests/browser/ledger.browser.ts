// The ledger: what was spent, by whom and for what, what may still be, and the same as a file.

import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { lodging } from './rig/articles'
import { hold, LOOKS } from './rig/everywhere'
import { gate, held, text } from './rig/reply'
import { suite } from './rig/suite'
import { say } from './rig/words'

const rig = suite(({ upstream }) => ({
  model: upstream.url,
  price: { input: '10', output: '30' },
  keys: { boss: { role: 'admin' }, guest: { budget: '5/day' }, other: {} },
  config: '[budgets]\nservice = ["50/day", "800/month"]',
}))

const en = (key: string, values?: Record<string, unknown>, count?: number) => say('en', `ledger.${key}`, values, count)

/** A paid answer, the same from the cache, one that the rules gave, and one whose caller left. */
async function spend() {
  const guest = rig.service.secrets.guest
  rig.upstream.script(() => text(lodging.said))
  const ask = (body: object, signal?: AbortSignal) =>
    fetch(`${rig.service.url}/ask`, {
      method: 'POST',
      headers: { authorization: `Bearer ${guest}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
  const paid = await ask({ question: lodging.question, mode: 'pipeline' })
  const { usage } = (await paid.json()) as { usage: { cost: string } }
  await ask({ question: lodging.question, mode: 'pipeline' })
  await ask({ question: '婚假幾天？', mode: 'extract' })
  rig.upstream.script(() => held('離開 ', gate(), 'never'))
  const leave = new AbortController()
  const called = rig.upstream.calls.length
  const left = ask({ question: '喪假幾天？', mode: 'pipeline', stream: true }, leave.signal).catch(() => undefined)
  await expect.poll(() => rig.upstream.calls.length).toBe(called + 1)
  await left
  leave.abort()
  await rig.upstream.calls[called]?.left
  return usage.cost
}

const reserved = (shown: string) => Number(shown.replace(/[^\d.]/g, ''))

test('spending is told by day, model, mode and key, and is the same in the file', async () => {
  const cost = await spend()
  const { page } = await rig.open('ledger', { language: 'en', key: rig.service.secrets.boss })
  const table = () => page.getByRole('region', { name: new RegExp(`^${en('table', { by: '' }).trim()}`) })
  await table().waitFor()
  await hold(page, 'ledger-en')
  expect(await page.getByRole('main').innerText()).toContain(cost.replace(/0+$/, ''))
  for (const [by, name] of [
    ['model', 'scripted'],
    ['mode', en('modes.pipeline')],
    ['key', 'guest'],
  ] as const) {
    await page.getByLabel(en('by.label')).selectOption(by)
    await table().getByRole('rowheader', { name, exact: true }).waitFor()
  }
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: en('csv') }).click(),
  ])
  const lines = (await readFile(await download.path(), 'utf8')).trim().split(/\r?\n/)
  expect(lines.length).toBeGreaterThan(1)
  expect(lines.find((line) => line.includes('guest'))).toContain(cost.replace(/0+$/, ''))
})

test('budgets are bars that say what is used, reserved now, and left', async () => {
  await spend()
  const more = gate()
  rig.upstream.script(() => held('還在寫 ', more, lodging.said))
  const pending = rig.service.api('POST', '/ask', {
    key: rig.service.secrets.guest,
    body: { question: '事假幾天？', mode: 'pipeline', use_cache: false },
  })
  await rig.upstream.next()
  const { page } = await rig.open('ledger?view=budgets', { language: 'en', key: rig.service.secrets.boss })
  const guest = page
    .getByRole('list', { name: en('budget.keys') })
    .getByRole('listitem')
    .filter({ hasText: 'guest' })
  const bar = guest.getByRole('img').first()
  await bar.waitFor()
  const name = (await bar.getAttribute('aria-label')) ?? ''
  const part = /([\d.,]+)[^·]*reserved now/.exec(name)
  expect(reserved(part?.[1] ?? '0')).toBeGreaterThan(0)
  await hold(page, 'ledger-budgets-en')
  more.open()
  await pending
})

test('a key that is no admin sees its own spending', async () => {
  await spend()
  const { page } = await rig.open('ledger', { language: 'en', key: rig.service.secrets.other })
  await page.getByText(en('own'), { exact: true }).waitFor()
  await page.getByText(en('nothing')).waitFor()
  await hold(page, 'ledger-own-en')
})

test.each(LOOKS)('each part of the ledger, %s', async (name, look) => {
  await spend()
  for (const view of ['', '?view=budgets', '?view=cost']) {
    const { page } = await rig.open(`ledger${view}`, { ...look, key: rig.service.secrets.boss })
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    await hold(page, `ledger${view.replace('?view=', '-')}-${name}`)
  }
})
