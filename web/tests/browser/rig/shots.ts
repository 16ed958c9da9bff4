// Screenshots, kept for whoever changes a page: target/page-shots/.

import type { Page } from 'playwright-core'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './program'

const folder = join(ROOT, 'target/page-shots')
mkdirSync(folder, { recursive: true })

/** Keeps what a page looks like, whole, under a name such as `ask-answered-en-dark`. */
export async function shot(page: Page, name: string): Promise<void> {
  // A dialog lies over the window, not over the whole page.
  const whole = (await page.getByRole('dialog').count()) === 0
  // What sticks to the window's top would stand in the middle of a whole page that was scrolled.
  if (whole) await page.evaluate(() => scrollTo(0, 0))
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: whole, animations: 'disabled' })
}
