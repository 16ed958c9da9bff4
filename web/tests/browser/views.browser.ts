// Every view, in every look, as one who may see everything finds it.

import { expect, test } from 'vitest'
import { hold, LOOKS } from './rig/everywhere'
import { suite } from './rig/suite'

const rig = suite(({ upstream, tools }) => ({
  model: upstream.url,
  keys: { boss: { role: 'admin' } },
  agents: { leave: `prompt = "You help with leaves."\n[servers.hr]\nurl = "${tools.url}"\n` },
}))

const VIEWS = ['', 'act', 'rules', 'documents', 'runs', 'ledger', 'embed', 'no/such/page']

for (const view of VIEWS) {
  test.each(LOOKS)(`/ui/${view} %s`, async (name, look) => {
    const { page } = await rig.open(view, { ...look, key: rig.service.secrets.boss })
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.waitForLoadState('networkidle')
    await hold(page, `view-${view.replaceAll('/', '-') || 'ask'}-${name}`)
    expect(await page.getByRole('alert').count()).toBe(0)
  })
}
