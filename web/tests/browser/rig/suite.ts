// One browser for all tests of a file; for each test a service, a model and an MCP server of its own, so that no test finds what
// another left behind; and after each the question whether anything went wrong that it did not look at.

import type { Browser } from 'playwright-core'
import type { Look, Watched } from './browser'
import type { Plan, Service } from './service'
import type { ToolServer } from './tools'
import type { Upstream } from './upstream'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { AskView } from './ask'
import { closePages, newPage, openPages, startBrowser } from './browser'
import { startService } from './service'
import { shot } from './shots'
import { startTools } from './tools'
import { startUpstream } from './upstream'

export interface Suite {
  readonly upstream: Upstream
  readonly tools: ToolServer
  readonly service: Service
  readonly browser: Browser
  /** A new page, with nothing stored, at an address below `/ui/`; `at` another door than the service's own. */
  /** A new page at the Ask view. */
  ask: (look?: Look & { key?: string }) => Promise<Watched & { ask: AskView }>
  open: (path?: string, look?: Look & { key?: string; at?: string }) => Promise<Watched>
}

/** Starts everything for the tests of the file that calls it, and ends it after them. */
export function suite(plan: (peers: { upstream: Upstream; tools: ToolServer }) => Plan | Promise<Plan>): Suite {
  const made: Partial<{ upstream: Upstream; tools: ToolServer; service: Service; browser: Browser }> = {}
  const get = <K extends keyof typeof made>(name: K): NonNullable<(typeof made)[K]> => {
    const found = made[name]
    if (!found) throw new Error(`${name} is not there outside of a test`)
    return found
  }

  beforeAll(async () => {
    made.browser = await startBrowser()
  })

  beforeEach(async () => {
    const [upstream, tools] = await Promise.all([startUpstream(), startTools()])
    Object.assign(made, { upstream, tools })
    made.service = await startService(await plan({ upstream, tools }))
  })

  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail')
      await shotsOfOpenPages(`failed-${task.name.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80)}`)
    const problems = await closePages()
    await made.service?.stop()
    await Promise.all([made.upstream?.stop(), made.tools?.stop()])
    expect(problems, 'what went wrong beside').toEqual([])
  })

  afterAll(async () => {
    await made.browser?.close()
  })

  const open: Suite['open'] = async (path = '', { key, at, ...look } = {}) => {
    const url = at ?? get('service').url
    const watched = await newPage(get('browser'), new URL(url).origin, look)
    if (key)
      await watched.context.addInitScript((secret) => {
        // A page that has not gone anywhere has no storage.
        if (location.protocol === 'http:') sessionStorage.setItem('bylaw.key', secret)
      }, key)
    await watched.page.goto(`${url}/ui/${path}`)
    return watched
  }

  return {
    get upstream() {
      return get('upstream')
    },
    get tools() {
      return get('tools')
    },
    get service() {
      return get('service')
    },
    get browser() {
      return get('browser')
    },
    open,
    ask: async (look = {}) => {
      const watched = await open('', look)
      return { ...watched, ask: new AskView(watched.page, look.language ?? 'zh-TW') }
    },
  }
}

/** Keeps what every open page looks like, for whoever looks for what went wrong. */
async function shotsOfOpenPages(name: string): Promise<void> {
  for (const [number, page] of openPages().entries()) await shot(page, `${name}-${number + 1}`).catch(() => {})
}
