// How fast the page is. Runs alone: what is measured has the machine to itself.

import { expect, test } from 'vitest'
import { newPage } from './rig/browser'
import { firstPaint, median, weighScripts } from './rig/measure'
import { suite } from './rig/suite'

const rig = suite(({ upstream }) => ({ model: upstream.url, keys: { boss: { role: 'admin' } } }))

test('the first paint with something in it comes within 200 ms', async () => {
  const times: number[] = []
  for (let round = 0; round < 9; round += 1) {
    const { page, context } = await newPage(rig.browser, rig.service.url, { refusals: true })
    await page.goto(`${rig.service.url}/ui/`)
    times.push(await firstPaint(page))
    await context.close()
  }
  console.log(
    `first contentful paint, median of ${times.length}: ${median(times)} ms (${times.map(Math.round).join(', ')})`,
  )
  expect(median(times)).toBeLessThanOrEqual(200)
})
