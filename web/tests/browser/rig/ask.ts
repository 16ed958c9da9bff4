// The Ask view as a person finds it: by what its controls are and what they are called.

import type { Locator, Page } from 'playwright-core'
import type { Language } from './browser'
import { say } from './words'

export interface How {
  mode?: 'auto' | 'extract' | 'pipeline' | 'agent'
  steps?: number
  selfCheck?: boolean
  source?: string
  chapter?: string
}

export class AskView {
  readonly say: (key: string, values?: Record<string, unknown>, count?: number) => string

  constructor(
    readonly page: Page,
    language: Language,
  ) {
    this.say = (key, values, count) => say(language, `ask.${key}`, values, count)
  }

  get box(): Locator {
    return this.page.getByRole('textbox', { name: this.say('question') })
  }

  get askButton(): Locator {
    return this.page.getByRole('button', { name: this.say('ask'), exact: true })
  }

  get cancelButton(): Locator {
    return this.page.getByRole('button', { name: this.say('cancel'), exact: true })
  }

  get content(): Locator {
    return this.page.getByRole('main')
  }

  /** The answer with everything that belongs to it. */
  get answer(): Locator {
    return this.page.getByRole('region', { name: this.say('result') })
  }

  /** The articles that are shown with it now. */
  get cards(): Locator {
    return this.answer.getByRole('article').filter({ visible: true })
  }

  /** Asks, and waits for the answer to begin being made. */
  async ask(question: string, how: How = {}): Promise<void> {
    await this.choose(how)
    await this.box.fill(question)
    await this.box.press('Enter')
  }

  /** Waits until nothing is being answered any more. */
  async settled(): Promise<void> {
    await this.cancelButton.waitFor({ state: 'detached' })
    await this.askButton.waitFor()
  }

  /** Sets how and where to look, behind the control that hides it. */
  async choose({ mode, steps, selfCheck, source, chapter }: How): Promise<void> {
    if (mode === undefined && source === undefined) return
    await this.unfold()
    if (source !== undefined) await this.page.getByRole('combobox', { name: this.say('source') }).selectOption(source)
    if (chapter !== undefined)
      await this.page.getByRole('combobox', { name: this.say('chapter') }).selectOption({ label: chapter })
    if (mode !== undefined) await this.page.locator(`input[name=mode][value=${mode}]`).check()
    if (steps !== undefined) await this.page.getByLabel(this.say('steps')).fill(String(steps))
    if (selfCheck !== undefined) await this.page.getByLabel(this.say('selfCheck')).setChecked(selfCheck)
  }

  async unfold(): Promise<void> {
    const fold = this.page.getByRole('button', { name: this.say('how') })
    if ((await fold.getAttribute('aria-expanded')) === 'false') await fold.click()
  }
}
