// What axe-core finds on a page.

import type { Page } from 'playwright-core'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

interface Found {
  id: string
  impact: string | null
  help: string
  nodes: { target: unknown[]; failureSummary?: string }[]
}

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Rules of WCAG 2.2 A and AA that the page breaks seriously or critically, one line each. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Evaluated from outside of the page, which its content security policy rightly has no word in.
  await page.evaluate(source)
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: (options: object) => Promise<{ violations: Found[] }> } }
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    return (await axe.run({ runOnly: { type: 'tag', values: tags } })).violations
  })
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, help, nodes }) =>
        `${id}: ${help} ${nodes
          .slice(0, 3)
          .map((node) => `${node.target.join(' ')} (${(node.failureSummary ?? '').replace(/\s+/g, ' ')})`)
          .join(', ')}`,
    )
}
