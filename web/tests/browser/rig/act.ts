// The Act view as a person finds it, and the agent that tests act with.

import type { Locator, Page } from 'playwright-core'
import type { Language } from './browser'
import type { Reply } from './reply'
import type { Call } from './upstream'
import { calls, text } from './reply'
import { say } from './words'

/** An agent with the scripted tools: what destroys has to be approved. */
export const leaveAgent = (url: string, more = '') => `prompt = "You help with leaves."
[servers.hr]
url = "${url}"
[approvals]
policy = "destructive"
${more}`

/** Calls one tool, then says what came of it. */
export const callsOnce =
  (tool: string, leave = 'LV-7') =>
  ({ results }: Call): Reply =>
    results.length === 0 ? calls([tool, { leave_id: leave }]) : text(`The tool said: ${results.at(-1)}`)

export class ActView {
  readonly say: (key: string, values?: Record<string, unknown>, count?: number) => string

  constructor(
    readonly page: Page,
    language: Language,
  ) {
    this.say = (key, values, count) => say(language, key, values, count)
  }

  get box(): Locator {
    return this.page.getByRole('textbox', { name: this.say('act.box.label') })
  }

  get stop(): Locator {
    return this.page.getByRole('button', { name: this.say('act.box.stop'), exact: true })
  }

  /** Messages with what was done about them. */
  get turns(): Locator {
    return this.page.getByRole('article', { name: this.say('act.turn.label') })
  }

  tool(name: string): Locator {
    return this.page.getByRole('group', { name: this.say('run.tool.label', { tool: name }) })
  }

  get approval(): Locator {
    return this.page.getByRole('region', { name: this.say('run.question.approval') })
  }

  get elicitation(): Locator {
    return this.page.getByRole('region', { name: this.say('run.question.elicitation') })
  }

  reply(action: 'accept' | 'decline' | 'cancel', within: Locator): Locator {
    return within.getByRole('button', { name: this.say(`run.question.${action}`), exact: true })
  }

  async send(message: string): Promise<void> {
    const agents = this.page.getByRole('radio')
    if ((await agents.count()) > 0) await agents.first().check()
    await this.box.fill(message)
    await this.box.press('Enter')
  }

  /** Waits until the last message has been dealt with. */
  async over(): Promise<void> {
    await this.page.getByRole('button', { name: this.say('act.box.send'), exact: true }).waitFor()
  }
}
