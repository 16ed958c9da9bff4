// A browser whose pages are watched: whatever they ask of another host, whatever the content security policy refuses, and
// whatever they throw is a failure of the test.

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** No name is looked up: even a page that asks for another host reaches none. */
const ALONE = ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']

export async function startBrowser(): Promise<Browser> {
  const executablePath = PLACES.find((place) => place && existsSync(place))
  if (!executablePath) throw new Error('there is no Chromium: scripts/page installs one, or name one in CHROMIUM')
  return chromium.launch({ executablePath, args: [...ALONE, '--no-sandbox', '--disable-dev-shm-usage'] })
}

export type Language = 'zh-TW' | 'en'

export interface Look {
  language?: Language
  dark?: boolean
  width?: number
  height?: number
  /** A finger in place of a mouse. */
  touch?: boolean
  /** Responses of 4xx and 5xx are part of the test, and the browser's complaints about them are not failures. */
  refusals?: boolean
}

export interface Watched {
  context: BrowserContext
  page: Page
  /** What went wrong so far, one line each. */
  problems: string[]
}

/** Pages that were opened and have not been checked yet. */
const opened = new Set<Watched>()

/** A page with nothing stored that has not gone anywhere yet, and may ask its own origins only. */
export async function newPage(browser: Browser, own: string | string[], look: Look = {}): Promise<Watched> {
  const context = await browser.newContext({
    locale: look.language ?? 'zh-TW',
    colorScheme: look.dark ? 'dark' : 'light',
    viewport: { width: look.width ?? 1280, height: look.height ?? 900 },
    hasTouch: look.touch ?? false,
    reducedMotion: 'reduce',
    timezoneId: 'Asia/Taipei',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  context.setDefaultTimeout(10_000)
  const problems: string[] = []
  // Watched, not intercepted: going through here would make each request slower than it is.
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (url.protocol.startsWith('http') && ![own].flat().includes(url.origin))
      problems.push(`asks another host: ${url.href}`)
  })
  await context.exposeBinding(
    '__violated',
    (_source, said: string) => void problems.push(`refused by the content security policy: ${said}`),
  )
  await context.addInitScript(() => {
    const told = globalThis as unknown as { __violated: (said: string) => void }
    document.addEventListener('securitypolicyviolation', (event) =>
      told.__violated(`${event.violatedDirective} ${event.blockedURI}`),
    )
  })
  const page = await context.newPage()
  const watched = { context, page, problems }
  watch(watched, page, look)
  context.on('page', (another) => watch(watched, another, look))
  opened.add(watched)
  return watched
}

function watch({ problems }: Watched, page: Page, look: Look): void {
  page.on('pageerror', (error) => problems.push(`throws: ${error.stack ?? error.message}`))
  page.on('dialog', (dialog) => {
    problems.push(`opens a dialog of the browser: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    const isRefusal = /Failed to load resource/.test(message.text())
    if (message.type() === 'error' && !(isRefusal && look.refusals))
      problems.push(`complains: ${message.text()} (${message.location().url})`)
    if (/\[(?:Vue warn|intlify)\]/.test(message.text())) problems.push(`warns: ${message.text()}`)
  })
}

/** Every page that is open now. */
export function openPages(): Page[] {
  return [...opened].flatMap(({ context }) => context.pages())
}

/** Closes every page that was opened; what went wrong on them, one line each. */
export async function closePages(): Promise<string[]> {
  const all = [...opened]
  opened.clear()
  await Promise.all(all.map(({ context }) => context.close()))
  return all.flatMap(({ problems }) => problems)
}
