// What must hold of every page in every state.

import type { Page } from 'playwright-core'
import type { Look } from './browser'
import { expect } from 'vitest'
import { seriousFindings } from './axe'
import { shot } from './shots'

/** The looks that each state is shown in: each language, each colour, each width at least twice. */
export const LOOKS: [name: string, look: Look & { language: 'zh-TW' | 'en' }][] = [
  ['zh', { language: 'zh-TW' }],
  ['en-dark', { language: 'en', dark: true }],
  ['zh-dark-phone', { language: 'zh-TW', dark: true, width: 360, height: 740, touch: true }],
  ['en-phone', { language: 'en', width: 360, height: 740, touch: true }],
]

/** Keeps a screenshot, and holds that the page is accessible, fits its window, and shows no key in place of a message. */
export async function hold(page: Page, name: string): Promise<void> {
  await shot(page, name)
  expect.soft(await seriousFindings(page), `${name}: axe`).toEqual([])
  expect.soft(await overflowing(page), `${name}: wider than the window`).toEqual([])
  expect.soft(await rawKeys(page), `${name}: keys in place of messages`).toEqual([])
}

/** What sticks out of the window to the side, if the page can be scrolled there. */
async function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth
    if ((document.scrollingElement?.scrollWidth ?? 0) <= width) return []
    const wide = [...document.body.querySelectorAll('*')].filter(
      (each) => each.getBoundingClientRect().right > width + 1,
    )
    return wide.slice(0, 5).map((each) => `${each.tagName.toLowerCase()}.${each.className}`)
  })
}

/** Words such as `ask.outcome.answered`: a message that does not exist is shown as its key. */
async function rawKeys(page: Page): Promise<string[]> {
  const views = 'common|ask|act|rules|documents|ledger|runs|elsewhere|embed'
  return page.evaluate((views) => {
    const key = new RegExp(`(?:^|[^\\w.#/-])((?:${views})(?:\\.[a-zA-Z_]\\w*)+)`, 'g')
    const named = [...document.body.querySelectorAll('[aria-label], [title], [placeholder]')].flatMap((each) =>
      ['aria-label', 'title', 'placeholder'].map((name) => each.getAttribute(name) ?? ''),
    )
    return [document.body.innerText, ...named]
      .flatMap((text) => [...text.matchAll(key)].map((match) => match[1] ?? ''))
      .filter((found) => !found.endsWith('.md'))
  }, views)
}
