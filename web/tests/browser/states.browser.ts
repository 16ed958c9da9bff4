// Every state of the Ask view in every look, for whoever changes it to look at.

import type { AskView } from './rig/ask'
import type { Upstream } from './rig/upstream'
import { expect, test } from 'vitest'
import { annualLeave, lodging, outcomes } from './rig/articles'
import { hold, LOOKS } from './rig/everywhere'
import { calls, gate, text } from './rig/reply'
import { suite } from './rig/suite'

const rig = suite(({ upstream }) => ({ model: upstream.url, price: { input: '0.5', output: '1.5' } }))

type State = [name: string, show: (ask: AskView, upstream: Upstream, language: string) => Promise<void>]

const STATES: State[] = [
  [
    'answered',
    async (ask, _, language) => {
      await ask.ask(language === 'en' ? annualLeave.question : lodging.question)
      await ask.settled()
      await ask.cards.first().waitFor()
    },
  ],
  [
    'searching',
    async (ask, upstream) => {
      upstream.script(() => [{ wait: gate().opened }])
      await ask.ask(lodging.question, { mode: 'pipeline' })
      await ask.cards.first().waitFor()
    },
  ],
  [
    'agent-under-way',
    async (ask, upstream) => {
      upstream.script(({ results }) => {
        if (results.length === 0) return calls(['search', { query: '住宿費上限' }])
        if (results.length === 1) return calls(['read_article', { article: lodging.id }])
        if (results.length === 2) return calls(['search', { query: '國外出差 日支數額' }])
        return [{ wait: gate().opened }]
      })
      await ask.ask(lodging.question, { mode: 'agent', steps: 6 })
      await ask.answer.getByText('國外出差 日支數額').waitFor()
    },
  ],
  [
    'model-answered',
    async (ask, upstream) => {
      upstream.script(() =>
        text(
          `${lodging.said}經理級以上人員每晚以新臺幣 3,200 元為上限 [${lodging.id}]。\n\n董事長不設上限 [員工工作規則.md#999]。也可以另外申請。`,
        ),
      )
      await ask.ask(lodging.question, { mode: 'pipeline' })
      await ask.settled()
      await ask.answer.locator('summary').first().click()
    },
  ],
  [
    'cancelled',
    async (ask, upstream) => {
      upstream.script(() => [{ say: '員工結婚，給予婚假八日 [員工工作規則.md#27]。' }, { wait: gate().opened }])
      // A question that no other state has an answer to by now.
      await ask.ask('婚假幾天？', { mode: 'pipeline' })
      await ask.answer.getByText('給予婚假八日').first().waitFor()
      await ask.cancelButton.click()
      await ask.answer.getByText(ask.say('cancelled.title')).waitFor()
    },
  ],
  ...Object.entries(outcomes).map(([outcome, question]): State => [
    outcome,
    async (ask) => {
      await ask.ask(question, { mode: 'extract' })
      await ask.settled()
    },
  ]),
]

for (const [name, look] of LOOKS) {
  test(`every state, ${name}`, { timeout: 90_000 }, async () => {
    for (const [state, show] of STATES) {
      const { page, ask } = await rig.ask(look)
      await show(ask, rig.upstream, look.language)
      await hold(page, `ask-${state}-${name}`)
      await page.context().close()
    }
    expect(STATES.length).toBe(9)
  })
}
