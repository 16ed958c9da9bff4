// A keyboard is enough, and the focus is always somewhere sensible.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { lodging } from './rig/articles'
import { suite } from './rig/suite'
import { say } from './rig/words'

const rig = suite(({ upstream }) => ({ model: upstream.url }))

const active = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement
    return `${element?.tagName.toLowerCase()} ${element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? ''}`
  })

/** Tabs on until something is focused whose name holds a text; fails after so many. */
async function tabTo(page: Page, name: string, most = 40): Promise<void> {
  for (let tabs = 0; tabs < most; tabs += 1) {
    if ((await active(page)).includes(name)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${name} was not reached in ${most} tabs; the focus is on ${await active(page)}`)
}

test('ask, open a citation, close it, and be where one was', async () => {
  const { page, ask } = await rig.ask()
  await ask.box.waitFor()
  expect(await ask.box.evaluate((box) => box === document.activeElement)).toBe(true)
  await page.keyboard.insertText(lodging.question)
  await page.keyboard.press('Enter')
  await ask.settled()
  const opener = lodging.title
  await tabTo(page, opener)
  await page.keyboard.press('Enter')
  const sheet = page.getByRole('dialog', { name: lodging.title })
  await sheet.waitFor()
  expect(await sheet.evaluate((dialog) => dialog.contains(document.activeElement))).toBe(true)
  for (let tabs = 0; tabs < 12; tabs += 1) await page.keyboard.press('Tab')
  const within = await page.evaluate(
    () =>
      document.activeElement === document.body || document.querySelector('dialog')?.contains(document.activeElement),
  )
  expect(within).toBe(true)
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
  expect(await active(page)).toContain(opener)
})

test('how and where to look can be set', async () => {
  const { page, ask } = await rig.ask()
  await ask.box.waitFor()
  await tabTo(page, ask.say('how'))
  await page.keyboard.press('Enter')
  await tabTo(page, '', 1)
  const radio = page.locator('input[name=mode]:checked')
  await radio.focus()
  await page.keyboard.press('ArrowDown')
  expect(await page.locator('input[name=mode]:checked').getAttribute('value')).toBe('extract')
})

test('whatever has the focus shows it', async () => {
  const { page, ask } = await rig.ask()
  await ask.ask(lodging.question, { mode: 'extract' })
  await ask.settled()
  await page.locator('body').evaluate(() => (document.activeElement as HTMLElement).blur())
  const unseen: string[] = []
  for (let tabs = 0; tabs < 30; tabs += 1) {
    await page.keyboard.press('Tab')
    const shows = await page.evaluate(() => {
      // It, or the card or field that it is the heart of.
      const shown = (element: Element | null, levels = 4): boolean => {
        if (!element || element === document.body) return document.activeElement === document.body
        const style = getComputedStyle(element)
        if (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1) return true
        return levels > 0 && shown(element.parentElement, levels - 1)
      }
      return shown(document.activeElement)
    })
    if (!shows) unseen.push(await active(page))
  }
  expect([...new Set(unseen)]).toEqual([])
})

test('the sign-in dialog and the menus give the focus back', async () => {
  const { page } = await rig.open('', { language: 'en' })
  const settings = page.getByRole('button', { name: say('en', 'common.settings.label') })
  await page.waitForFunction(() => document.activeElement?.localName === 'textarea')
  await settings.focus()
  await page.keyboard.press('Enter')
  await page.getByLabel('繁體中文').waitFor()
  await page.keyboard.press('Escape')
  expect(await settings.evaluate((button) => button === document.activeElement)).toBe(true)
})
