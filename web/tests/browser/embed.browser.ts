// The Ask view in a frame of somebody else's page: only where it is allowed.

import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { lodging } from './rig/articles'
import { hold } from './rig/everywhere'
import { close, listen } from './rig/listen'
import { suite } from './rig/suite'
import { newPage } from './rig/browser'
import { say } from './rig/words'

/** A portal that shows a frame. Its address has to be known before the service starts. */
let shown = ''
const portal = createServer((_, response) => {
  response
    .writeHead(200, { 'content-type': 'text/html' })
    .end(
      `<!doctype html><html lang="zh-TW"><title>portal</title><main><h1>portal</h1><iframe title="Bylaw" src="${shown}" width="600" height="800"></iframe></main>`,
    )
})
const origin = await listen(portal)

const rig = suite(({ upstream }) => ({ model: upstream.url, server: `frame_ancestors = ["${origin}"]` }))

test('in a frame, it answers without header and navigation', async () => {
  shown = `${rig.service.url}/ui/embed`
  const { page } = await newPage(rig.browser, [origin, rig.service.url], { width: 640 })
  await page.goto(origin)
  const frame = page.frameLocator('iframe')
  const box = frame.getByRole('textbox', { name: say('zh-TW', 'ask.question') })
  await box.fill(lodging.question)
  await box.press('Enter')
  await frame.getByText(lodging.quote).first().waitFor()
  expect(await frame.getByRole('navigation').count()).toBe(0)
  await hold(page, 'embed-in-a-portal')
})

test('elsewhere, and of the other views, no frame shows anything', async () => {
  for (const [path, from] of [
    ['/ui/', origin],
    ['/ui/rules', origin],
  ] as const) {
    const policy = (await fetch(rig.service.url + path)).headers.get('content-security-policy')
    expect(policy, `${path} from ${from}`).toContain("frame-ancestors 'none'")
  }
  const policy = (await fetch(`${rig.service.url}/ui/embed`)).headers.get('content-security-policy')
  expect(policy).toContain(`frame-ancestors ${origin}`)
  await close(portal)
})
