// Acting: calls are seen, what destroys is asked for, questions of tools are forms, and a run is tied to no window.

import { expect, test } from 'vitest'
import { ActView, callsOnce, leaveAgent } from './rig/act'
import { hold } from './rig/everywhere'
import { hostile } from './rig/hostile'
import { calls, gate, held, text } from './rig/reply'
import { suite } from './rig/suite'
import { startWire } from './rig/wire'

const rig = suite(({ upstream, tools }) => ({
  model: upstream.url,
  keys: { boss: { role: 'admin' }, guest: {}, other: {} },
  agents: { leave: leaveAgent(tools.url) },
}))

async function openAct(language: 'en' | 'zh-TW' = 'en', key = 'boss') {
  const watched = await rig.open('act', { language, key: rig.service.secrets[key], refusals: true })
  const act = new ActView(watched.page, language)
  await act.box.waitFor()
  return { ...watched, act }
}

for (const [action, isDone] of [
  ['accept', true],
  ['decline', false],
  ['cancel', false],
] as const) {
  test(`what destroys is shown before; after "${action}" it is ${isDone ? 'done once' : 'not done'}`, async () => {
    const { page, act } = await openAct()
    rig.upstream.script(callsOnce('cancel_leave'))
    await act.send('Delete my leave LV-7')
    await act.approval.getByText('LV-7').waitFor()
    await act.approval.getByText('cancel_leave').waitFor()
    expect(rig.tools.done).toEqual([])
    if (action === 'accept') await hold(page, 'act-approval-en')
    await act.reply(action, act.approval).click()
    await act.over()
    await act.approval.getByText(act.say(`run.question.was.${action}`)).waitFor()
    expect(rig.tools.done).toEqual(isDone ? ['cancel_leave {"leave_id":"LV-7"}'] : [])
    await hold(page, `act-approval-${action}-en`)
  })

  test(`a question of a tool is a form made from its schema; after "${action}" the tool ${isDone ? 'hears it' : 'hears nothing of it'}`, async () => {
    const { page, act } = await openAct()
    rig.upstream.script(callsOnce('submit_leave'))
    await act.send('Submit LV-7')
    await act.elicitation.getByText('還缺天數與假別').waitFor()
    if (action === 'accept') {
      // What is missing or wrong is said, and nothing is sent.
      await act.elicitation.getByLabel('天數').fill('9')
      await act.reply('accept', act.elicitation).click()
      await act.elicitation.getByText(act.say('run.form.problems.most', { n: 7 })).waitFor()
      await act.elicitation.getByText(act.say('run.form.problems.missing')).waitFor()
      await hold(page, 'act-form-wrong-en')
      await act.elicitation.getByLabel('天數').fill('3')
      await act.elicitation.getByLabel('假別').selectOption({ label: '病假' })
    }
    await act.reply(action, act.elicitation).click()
    await act.over()
    await act.elicitation.getByText(act.say(`run.question.was.${action}`)).waitFor()
    const accepted = rig.tools.done.filter((call) => call.includes(' accept '))
    if (isDone) {
      expect(accepted).toHaveLength(1)
      expect(JSON.parse(accepted[0]?.replace(/.* accept /, '') ?? '')).toMatchObject({ days: 3, kind: 'sick' })
    } else {
      expect(accepted).toEqual([])
    }
    await hold(page, `act-form-${action}-en`)
  })
}

test('a reload in the middle of a run loses nothing and doubles nothing', async () => {
  const { page, act } = await openAct()
  rig.upstream.script(({ results }) => {
    if (results.length === 0) return calls(['look', { leave_id: 'LV-1' }])
    if (results.length === 1) return calls(['cancel_leave', { leave_id: 'LV-7' }])
    return text('Both are dealt with.')
  })
  await act.send('Look at LV-1, then delete LV-7')
  await act.approval.waitFor()
  await page.reload()
  await act.approval.getByText('LV-7').waitFor()
  expect(await act.turns.count()).toBe(1)
  expect(await act.tool('look').count()).toBe(1)
  await act.reply('accept', act.approval).click()
  await act.page.getByRole('main').getByText('Both are dealt with.').waitFor()
  await act.over()
  await page.reload()
  await act.page.getByRole('main').getByText('Both are dealt with.').waitFor()
  expect(await act.page.getByRole('main').getByText('Both are dealt with.').count()).toBe(1)
  expect(await act.tool('cancel_leave').count()).toBe(1)
  expect(rig.tools.done).toEqual(['look {"leave_id":"LV-1"}', 'cancel_leave {"leave_id":"LV-7"}'])
})

test('a reload in the middle of a text goes on from what had been written', async () => {
  const { page, act } = await openAct()
  const more = gate()
  rig.upstream.script(() => held('The first half. ', more, 'The second half.'))
  await act.send('Say something long')
  await page.getByRole('main').getByText('The first half.').waitFor()
  await page.reload()
  await page.getByRole('main').getByText('The first half.').waitFor()
  more.open()
  await page.getByRole('main').getByText('The first half. The second half.').waitFor()
  expect(await page.getByRole('main').getByText('The first half.').count()).toBe(1)
  expect(rig.upstream.calls).toHaveLength(1)
})

test('a connection that was lost comes back by itself, and the run has gone on', async () => {
  const wire = await startWire(rig.service.url)
  try {
    const { page } = await rig.open('act', {
      language: 'en',
      key: rig.service.secrets.boss,
      refusals: true,
      at: wire.url,
    })
    const act = new ActView(page, 'en')
    const more = gate()
    rig.upstream.script(() => held('Before. ', more, 'After.'))
    await act.send('Say something long')
    await page.getByRole('main').getByText('Before.').waitFor()
    wire.cut()
    await page.getByText(act.say('run.connection.lost')).waitFor()
    more.open()
    wire.mend()
    await act.over()
    await page.getByRole('main').getByText('Before. After.').waitFor()
    expect(await page.getByRole('main').getByText('After.').count()).toBe(1)
    expect(rig.upstream.calls).toHaveLength(1)
  } finally {
    await wire.stop()
  }
})

test('two windows on one run: an answer in one is seen in the other, and counts once', async () => {
  const { page, context, act } = await openAct()
  rig.upstream.script(callsOnce('cancel_leave'))
  await act.send('Delete LV-7')
  await act.approval.waitFor()
  await page.waitForURL(/\/act\/cnv_/)
  const second = await context.newPage()
  await second.goto(page.url())
  const other = new ActView(second, 'en')
  await other.approval.waitFor()
  await act.reply('accept', act.approval).click()
  await act.over()
  await other.approval.getByText(act.say('run.question.was.accept')).waitFor()
  await other.over()
  for (const view of [act, other]) {
    expect(await view.turns.count()).toBe(1)
    expect(await view.tool('cancel_leave').count()).toBe(1)
    expect(await view.page.getByRole('main').getByText('The tool said: cancelled LV-7').count()).toBe(1)
  }
  expect(rig.tools.done).toHaveLength(1)
})

test('two windows that answer at once: the first counts, and the second hears which that was', async () => {
  const { page, context, act } = await openAct()
  rig.upstream.script(callsOnce('cancel_leave'))
  await act.send('Delete LV-7')
  await act.approval.waitFor()
  await page.waitForURL(/\/act\/cnv_/)
  const second = await context.newPage()
  await second.goto(page.url())
  const other = new ActView(second, 'en')
  await other.approval.waitFor()
  // At once: whoever is late finds a button that still says something.
  const buttons = await Promise.all(
    [act.reply('accept', act.approval), other.reply('decline', other.approval)].map((button) => button.elementHandle()),
  )
  await Promise.all(buttons.map((button) => button?.evaluate((element) => (element as HTMLElement).click())))
  await Promise.all([act.over(), other.over()])
  const [one, two] = await Promise.all([act.approval.innerText(), other.approval.innerText()])
  const accepted = act.say('run.question.was.accept')
  expect(one.includes(accepted)).toBe(two.includes(accepted))
  expect(rig.tools.done).toHaveLength(one.includes(accepted) ? 1 : 0)
})

test('stopping closes the connection to the model', async () => {
  const { page, act } = await openAct()
  rig.upstream.script(() => held('On my way. ', gate(), 'never'))
  const called = rig.upstream.next()
  await act.send('Take your time')
  await page.getByRole('main').getByText('On my way.').waitFor()
  await act.stop.click()
  expect(await (await called).left).toBe(true)
  await act.over()
  await page.getByRole('main').getByText(act.say('run.stop.cancelled')).first().waitFor()
  await hold(page, 'act-stopped-en')
})

for (const [limit, field, value] of [
  ['steps', 'steps', '1'],
  ['tool_calls', 'toolCalls', '1'],
] as const) {
  test(`the limit of ${limit} that was asked for holds, and says so`, async () => {
    const { page, act } = await openAct()
    rig.upstream.script(({ results, tools }) =>
      tools.length === 0 ? text('That is all I know.') : calls(['look', { leave_id: `LV-${results.length}` }]),
    )
    await page.getByText(act.say('act.limits.title'), { exact: true }).click()
    await page.getByLabel(act.say(`act.limits.${field}`), { exact: true }).fill(value)
    await act.send('Look at everything')
    await act.over()
    await page
      .getByRole('main')
      .getByText(act.say(`run.stop.${limit}`))
      .first()
      .waitFor()
    expect(rig.tools.done).toHaveLength(1)
    await hold(page, `act-limit-${limit}-en`)
  })
}

test('what tools, servers and models say stays text', async () => {
  const { page, act } = await openAct('zh-TW')
  rig.upstream.script(({ results }) => {
    if (results.length === 0) return calls(['hostile', { leave_id: hostile.markup }])
    if (results.length === 1) return calls(['submit_leave', { leave_id: hostile.backwards }])
    return text(`${hostile.markup}${hostile.link}${hostile.image}${hostile.backwards}${hostile.longWord}`)
  })
  await act.send(`看一下 ${hostile.markup}${hostile.backwards}`)
  await act.elicitation.waitFor()
  await hold(page, 'act-hostile-form-zh')
  await act.reply('decline', act.elicitation).click()
  await act.over()
  await hold(page, 'act-hostile-zh')
  expect(await page.evaluate(() => (globalThis as { __harmed?: number }).__harmed)).toBeUndefined()
  expect(await page.getByRole('main').locator('img, script, iframe, a[href^="javascript:"]').count()).toBe(0)
  expect(await page.evaluate(() => /[\u202A-\u202E\u2066-\u2069]/.test(document.body.innerText))).toBe(false)
})

test('a model that fails in the middle says so, and what was done stays', async () => {
  const { page, act } = await openAct()
  rig.upstream.script(({ results }) =>
    results.length === 0 ? calls(['look', { leave_id: 'LV-1' }]) : [{ say: 'It is' }, { fail: '<b>boom</b>' }],
  )
  await act.send('Look at LV-1')
  await act.over()
  await page.getByRole('main').getByText(act.say('common.errors.upstream_failed')).first().waitFor()
  await act.tool('look').waitFor()
  await hold(page, 'act-failed-en')
})

test('a key that is revoked takes its run with it, and the page says so', async () => {
  const { page, act } = await openAct('en', 'guest')
  const more = gate()
  rig.upstream.script(() => held('On my way. ', more, 'A secret.'))
  await act.send('Take your time')
  await page.getByRole('main').getByText('On my way.').waitFor()
  await rig.service.revoke('guest')
  await page
    .getByText(act.say('run.connection.revoked'))
    .or(page.getByRole('dialog', { name: act.say('common.signIn.title') }))
    .first()
    .waitFor()
  more.open()
  expect(await page.getByRole('main').getByText('A secret.').count()).toBe(0)
})

test('a run opens for its owner and for admins, and for nobody else', async () => {
  const { page, act } = await openAct('en', 'guest')
  rig.upstream.script(callsOnce('look'))
  await act.send('Look at LV-7')
  await act.over()
  await page.getByRole('link', { name: act.say('act.turn.run') }).click()
  await page.waitForURL(/\/runs\/run_/)
  await page.getByRole('heading', { name: 'Look at LV-7' }).waitFor()
  await hold(page, 'run-en')
  const path = new URL(page.url()).pathname.replace('/ui/', '')
  const admin = await rig.open(path, { language: 'zh-TW', key: rig.service.secrets.boss })
  await admin.page.getByRole('heading', { name: 'Look at LV-7' }).waitFor()
  const stranger = await rig.open(path, { language: 'en', key: rig.service.secrets.other, refusals: true })
  await stranger.page.getByText(act.say('runs.missing.title')).waitFor()
  await hold(stranger.page, 'run-of-somebody-else-en')
})

test('the list of runs shows what was asked and done, and can be narrowed', async () => {
  const { page, act } = await openAct()
  rig.upstream.script(callsOnce('look'))
  await act.send('Look at LV-7')
  await act.over()
  await rig.service.api('POST', '/ask', {
    key: rig.service.secrets.boss,
    body: { question: '婚假幾天？', mode: 'extract' },
  })
  const listed = async () => (await rig.service.api('GET', '/runs', { key: rig.service.secrets.boss })).body.runs.length
  await expect.poll(listed).toBe(2)
  await page.getByRole('link', { name: act.say('common.nav.runs'), exact: true }).click()
  await page.getByRole('link', { name: '婚假幾天？' }).waitFor()
  await hold(page, 'runs-en')
  await page.getByLabel(act.say('runs.filters.kind')).selectOption('agent')
  await page.getByRole('link', { name: '婚假幾天？' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Look at LV-7' }).click()
  await page.getByRole('region', { name: act.say('runs.timeline') }).waitFor()
})
