// A stop by each limit, and by each way a model can fail, looks like what it is, and never like a silent rulebook.

import type { Call } from './rig/upstream'
import type { Plan } from './rig/service'
import type { Reply } from './rig/reply'
import { describe, expect, test } from 'vitest'
import { lodging } from './rig/articles'
import { hold } from './rig/everywhere'
import { calls, text } from './rig/reply'
import { suite } from './rig/suite'
import { say } from './rig/words'

const searches = ({ results }: Call): Reply =>
  calls(['search', { query: `住宿費 ${'甲乙丙丁戊己庚辛'[results.length]}` }])
const forced = (call: Call): Reply => (call.tools.length ? searches(call) : text(lodging.said))

interface Row {
  name: string
  script: (call: Call) => Reply
  how: { mode: 'pipeline' | 'agent'; steps?: number }
  /** The message that stands above what there is. */
  title: string
  /** Something of the answer or the draft. */
  shows?: string
  config?: string
  price?: Plan['price']
  budget?: string
}

const rows: Row[] = [
  { name: 'steps', script: forced, how: { mode: 'agent', steps: 2 }, title: 'stops.steps.title', shows: lodging.shown },
  {
    name: 'time',
    script: () => [{ say: lodging.said }, { pause: 60_000 }],
    how: { mode: 'pipeline' },
    title: 'stops.time.title',
    shows: lodging.shown,
    config: '[caps]\nmax_wall_seconds = 3',
  },
  {
    name: 'cost',
    script: searches,
    how: { mode: 'agent' },
    title: 'stops.cost.title',
    config: '[caps]\nmax_cost = "1"',
    price: { input: '10', output: '30' },
  },
  {
    name: 'budget',
    script: () => text(lodging.said),
    how: { mode: 'pipeline' },
    title: 'stops.cost.title',
    budget: '0.01/day',
    price: { input: '10', output: '30' },
  },
  {
    name: 'repeated-call',
    script: () => calls(['search', { query: '住宿費' }]),
    how: { mode: 'agent', steps: 6 },
    title: 'stops.repeated_call.title',
  },
]

for (const { name, script, how, title, shows, config, price, budget } of rows) {
  describe(name, () => {
    const keys = budget ? { guest: { budget } } : undefined
    const rig = suite(({ upstream }) => ({ model: upstream.url, config, price, keys }))

    test(`a stop by ${name} says so, gives what there is, and offers the rules' own words`, async () => {
      const { page, ask } = await rig.ask({ key: rig.service.secrets.guest })
      rig.upstream.script(script)
      await ask.ask(lodging.question, how)
      await ask.settled()
      await ask.answer.getByText(ask.say(title)).waitFor()
      expect(await ask.answer.getByText(ask.say('outcomes.not_in_rules.title')).count()).toBe(0)
      if (shows) await ask.answer.getByText(shows).first().waitFor()
      await hold(page, `stop-${name}-zh`)
      await ask.answer.getByRole('button', { name: ask.say('again.extract') }).click()
      await ask.settled()
      await ask.answer.getByText(ask.say('standing.verbatim')).first().waitFor()
    })
  })
}

describe('a model that fails', () => {
  const rig = suite(({ upstream }) => ({ model: upstream.url }))

  test('before it says anything: the rules answer, and the page says that a part is missing', async () => {
    const { page, ask } = await rig.ask()
    rig.upstream.script(() => ({ status: 500, message: '<b>boom</b>' }))
    await ask.ask(lodging.question, { mode: 'pipeline' })
    await ask.settled()
    await ask.answer.getByText(ask.say('outcomes.degraded.title'), { exact: true }).waitFor()
    await ask.answer.getByText(lodging.quote).first().waitFor()
    await hold(page, 'degraded-zh')
  })

  for (const [name, end, code] of [
    ['an error in the middle', { fail: 'boom <img src=x>' }, 'upstream_failed'],
    ['an end without an end marker', { cut: true }, 'upstream_incomplete'],
  ] as const) {
    test(`${name}: what was written stays, marked as unchecked, with what support needs`, async () => {
      const { page, ask } = await rig.ask()
      rig.upstream.script(() => [{ say: lodging.said }, end])
      await ask.ask(lodging.question, { mode: 'pipeline' })
      await ask.settled()
      const alert = ask.answer.getByRole('alert')
      await alert.getByText(say('zh-TW', `common.errors.${code}`)).waitFor()
      await alert.getByText(code).waitFor()
      await ask.answer.getByText(ask.say('draft')).waitFor()
      await ask.answer.getByText(lodging.shown).first().waitFor()
      await ask.answer.getByText(lodging.quote).first().waitFor()
      await hold(page, `failed-${code}-zh`)
    })
  }

  test('a service that goes away in the middle: what was written stays, and one may ask again', async () => {
    const { page, ask } = await rig.ask({ refusals: true })
    rig.upstream.script(() => [{ say: lodging.said }, { pause: 60_000 }])
    await ask.ask(lodging.question, { mode: 'pipeline' })
    await ask.answer.getByText(lodging.shown).first().waitFor()
    await rig.service.kill()
    await ask.settled()
    const alert = ask.answer.getByRole('alert')
    await alert.getByText(/connection_lost|stream_cut/).waitFor()
    await ask.answer.getByText(lodging.shown).first().waitFor()
    await alert.getByRole('button', { name: ask.say('again.again') }).waitFor()
    await hold(page, 'failed-connection-zh')
  })
})
