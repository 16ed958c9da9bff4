// What stands around every view: the header, the lamp, settings, and signing in.

import { expect, test } from 'vitest'
import { command } from './rig/program'
import { hold } from './rig/everywhere'
import { suite } from './rig/suite'
import { keys, say } from './rig/words'

const rig = suite(({ upstream }) => ({
  model: upstream.url,
  keys: { boss: { role: 'admin' }, writer: { role: 'editor' }, guest: { sources: ['employee-handbook.md'] } },
}))

const en = (key: string, values?: Record<string, unknown>) => say('en', key, values)

test('a service with keys asks for one, and a wrong one is refused', async () => {
  const { page } = await rig.open('', { language: 'en', refusals: true })
  const dialog = page.getByRole('dialog', { name: en('common.signIn.title') })
  await dialog.waitFor()
  await hold(page, 'sign-in-en')
  await dialog.getByLabel(en('common.signIn.key'), { exact: true }).fill('bylaw_wrong')
  await dialog.getByRole('button', { name: en('common.signIn.submit') }).click()
  await dialog.getByRole('alert').waitFor()
  await hold(page, 'sign-in-refused-en')
  await page.reload()
  await dialog.waitFor()
  expect(await stored(page)).toEqual({ tab: null, browser: null })
})

test('a key is kept for the tab, and for the browser only when asked', async () => {
  for (const remember of [false, true]) {
    const { page } = await rig.open('', { language: 'en', refusals: true })
    const dialog = page.getByRole('dialog', { name: en('common.signIn.title') })
    await dialog.getByLabel(en('common.signIn.key'), { exact: true }).fill(rig.service.secrets.guest ?? '')
    if (remember) await dialog.getByLabel(en('common.signIn.remember')).check()
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    const secret = rig.service.secrets.guest
    expect(await stored(page)).toEqual(remember ? { tab: null, browser: secret } : { tab: secret, browser: null })
    await page.reload()
    await page.getByRole('link', { name: en('common.nav.rules') }).waitFor()
    expect(await dialog.count()).toBe(0)
  }
})

test('each role sees the views that it may use', async () => {
  const rows = [
    ['guest', ['ask', 'rules', 'runs']],
    ['writer', ['ask', 'rules', 'documents', 'runs']],
    ['boss', ['ask', 'rules', 'documents', 'runs', 'ledger']],
  ] as const
  for (const [key, views] of rows) {
    const { page } = await rig.open('', { language: 'en', key: rig.service.secrets[key] })
    await page.getByRole('link', { name: en('common.nav.ask'), exact: true }).waitFor()
    const shown = await page.getByRole('navigation').getByRole('link').allInnerTexts()
    // Where no agent is configured, there may or may not be something to act with.
    expect(shown.filter((name) => name !== en('common.nav.act'))).toEqual(views.map((view) => en(`common.nav.${view}`)))
  }
})

test('whoever signs out is asked for a key again', async () => {
  const { page } = await rig.open('', { language: 'en', refusals: true, key: rig.service.secrets.boss })
  await page.getByRole('button', { name: en('common.settings.label') }).click()
  await page.getByText('boss').waitFor()
  await hold(page, 'settings-en')
  await page.getByRole('button', { name: en('common.signIn.out') }).click()
  await page.getByRole('dialog', { name: en('common.signIn.title') }).waitFor()
  expect(await stored(page)).toEqual({ tab: null, browser: null })
})

test('the language that was chosen is kept, and the page says which it is', async () => {
  const { page } = await rig.open('', { language: 'zh-TW', key: rig.service.secrets.boss })
  await page.getByRole('link', { name: say('zh-TW', 'common.nav.ask'), exact: true }).waitFor()
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-TW')
  await page.getByRole('button', { name: say('zh-TW', 'common.settings.label') }).click()
  await page.getByLabel('English').check()
  await page.getByRole('link', { name: en('common.nav.rules') }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: en('common.nav.rules') }).waitFor()
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('en')
})

test('dark is chosen by the system or by hand, and there is no white flash after a reload', async () => {
  const { page } = await rig.open('', { language: 'en', key: rig.service.secrets.boss })
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
  const light = await ground()
  await page.getByRole('button', { name: en('common.settings.label') }).click()
  await page.getByLabel(en('common.settings.themes.dark')).check()
  const dark = await ground()
  expect(luminance(dark)).toBeLessThan(0.1)
  expect(luminance(light)).toBeGreaterThan(0.8)
  await page.reload({ waitUntil: 'commit' })
  await page.waitForFunction(() => document.body !== null)
  expect(await ground()).toBe(dark)
})

test('the lamp tells ready from unreachable, in words', async () => {
  const { page, context } = await rig.open('', { language: 'en', refusals: true, key: rig.service.secrets.boss })
  const lamp = (state: string) =>
    page.getByRole('button', { name: en('common.health.label', { state: en(`common.health.${state}`) }) })
  await lamp('well').click()
  await page.getByText(en('common.health.wellSentence')).waitFor()
  await page.getByText('scripted').waitFor()
  await hold(page, 'lamp-well-en')
  await page.keyboard.press('Escape')
  expect(await page.getByText(en('common.health.wellSentence')).count()).toBe(0)
  await context.route(/\/(healthz|readyz)$/, (route) => route.abort())
  await page.reload()
  await lamp('away').click()
  await hold(page, 'lamp-away-en')
})

test('the lamp names the part that is degraded, and tells alive from ready', async () => {
  const { page, context } = await rig.open('', { language: 'en', refusals: true, key: rig.service.secrets.boss })
  const lamp = (state: string) =>
    page.getByRole('button', { name: en('common.health.label', { state: en(`common.health.${state}`) }) })
  const whole = (await rig.service.api('GET', '/healthz', { key: rig.service.secrets.boss })).body
  const degraded = [{ part: 'model', reason: 'the endpoint <b>refuses</b> the key' }]
  await context.route(/\/healthz$/, (route) => route.fulfill({ json: { ...whole, degraded } }))
  await page.reload()
  await lamp('degraded').click()
  await page.getByText('the endpoint <b>refuses</b> the key').waitFor()
  await hold(page, 'lamp-degraded-en')
  const error = { code: 'not_ready', message: 'the index is not loaded', request_id: 'r1' }
  await context.route(/\/readyz$/, (route) => route.fulfill({ status: 503, json: { error } }))
  await context.route(/\/healthz$/, (route) => route.fulfill({ json: { ...whole, ready: false } }))
  await page.reload()
  await lamp('waiting').click()
  await hold(page, 'lamp-waiting-en')
})

test('a keyboard skips to the content and reaches every view', async () => {
  const { page } = await rig.open('runs', { language: 'en', key: rig.service.secrets.boss })
  await page.getByRole('link', { name: en('common.nav.ledger') }).waitFor()
  await page.locator('body').press('Tab')
  expect(await focused(page)).toBe(en('common.skip'))
  await page.keyboard.press('Enter')
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN')
  await page.getByRole('link', { name: en('common.nav.rules') }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/rules$/)
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN')
  expect(await page.title()).toContain(en('common.nav.rules'))
})

test('every error that the page has words for is one that exists', async () => {
  const codes = JSON.stringify(await command(['config', 'codes']))
  const own = ['other', 'connection_lost', 'stream_cut', 'unreadable_reply']
  const named = keys('en')
    .filter((key) => key.startsWith('common.errors.'))
    .map((key) => key.replace('common.errors.', ''))
  expect(named.filter((code) => !own.includes(code) && !codes.includes(`"${code}"`))).toEqual([])
})

type Page = Awaited<ReturnType<typeof rig.open>>['page']

async function stored(page: Page) {
  return page.evaluate(() => ({ tab: sessionStorage.getItem('bylaw.key'), browser: localStorage.getItem('bylaw.key') }))
}

async function focused(page: Page) {
  return page.evaluate(() => document.activeElement?.textContent?.trim())
}

/** Roughly how bright a computed colour is, 0 to 1. */
function luminance(colour: string): number {
  const parts = (colour.match(/[\d.]+/g) ?? []).map(Number)
  const scale = colour.startsWith('rgb') ? 255 : 1
  return (0.2126 * (parts[0] ?? 0) + 0.7152 * (parts[1] ?? 0) + 0.0722 * (parts[2] ?? 0)) / scale
}
