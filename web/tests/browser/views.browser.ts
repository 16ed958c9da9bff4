// Every view, in every look, as one who may see everything finds it.

import { expect, test } from 'vitest'
import { leaveAgent } from './rig/act'
import { hold, LOOKS } from './rig/everywhere'
import { suite } from './rig/suite'

const rig = suite(({ upstream, tools }) => ({
  model: upstream.url,
  keys: { boss: { role: 'admin' } },
  agents: { leave: leaveAgent(tools.url) },
}))

const VIEWS = ['', 'act', 'rules', 'documents', 'runs', 'ledger', 'embed', 'no/such/page']

test.each(LOOKS)('every view, %s', { timeout: 90_000 }, async (name, look) => {
  for (const view of VIEWS) {
    const { page, context } = await rig.open(view, { ...look, key: rig.service.secrets.boss })
    // A frame in a page of somebody else's has no heading of its own.
    await page.getByRole('heading', { level: 1 }).or(page.getByRole('textbox')).first().waitFor()
    await page.waitForLoadState('networkidle')
    await hold(page, `view-${view.replaceAll('/', '-') || 'ask'}-${name}`)
    expect.soft(await page.getByRole('alert').count(), `${view}: alerts`).toBe(0)
    await context.close()
  }
})
