// The rulebooks of the shared material, which nobody of us wrote, where they are there.

import { expect, test } from 'vitest'
import { AskView } from './rig/ask'
import { hold } from './rig/everywhere'
import { shared } from './rig/shared'
import { suite } from './rig/suite'
import { say } from './rig/words'

const RULES = shared('trustrag/work_rules.md')
const LAWS = shared('labour-laws/zh/N0030001.md')
const ACT = shared('labour-laws/en/N0030001.md')
const documents = [RULES, LAWS, ACT].filter((path) => path !== undefined)

const rig = suite(() => ({ documents: documents.length ? documents : undefined }))

test.skipIf(!RULES)('a rulebook of 59 articles answers with its article', async () => {
  const { page, ask } = await rig.ask()
  await ask.ask('病假一年最多幾天？')
  await ask.settled()
  await ask.cards.filter({ hasText: '第 24 條（病假）' }).first().waitFor()
  await hold(page, 'shared-work-rules-zh')
})

test.skipIf(!LAWS || !ACT)('a statute is read by chapter and article, in both languages', async () => {
  for (const language of ['zh-TW', 'en'] as const) {
    const { page } = await rig.open('rules', { language })
    const name = language === 'en' ? /Labor Standards Act/ : /勞動基準法/
    await page
      .getByRole('list', { name: say(language, 'rules.sources') })
      .getByRole('link', { name })
      .click()
    const items = page.getByRole('tree').getByRole('treeitem')
    await items.nth(3).waitFor()
    await hold(page, `shared-statute-${language}`)
    const view = new AskView(page, language)
    await page.getByRole('link', { name: say(language, 'common.nav.ask'), exact: true }).click()
    await view.ask(
      language === 'en' ? 'What are the regular working hours of a worker?' : '勞工正常工作時間每日不得超過幾小時？',
      { mode: 'extract' },
    )
    await view.settled()
    expect(await view.cards.count()).toBeGreaterThan(0)
    await hold(page, `shared-statute-answer-${language}`)
  }
})
