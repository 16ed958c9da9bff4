// What a browser says of its own speed.

import type { Page } from 'playwright-core'
import { gzipSync } from 'node:zlib'

/** Milliseconds from the navigation to the first paint, and to the first that shows something. */
export async function firstPaints(page: Page): Promise<{ any: number; content: number }> {
  return page.evaluate(
    () =>
      new Promise<{ any: number; content: number }>((resolve) => {
        new PerformanceObserver(() => {
          const of = (name: string) => performance.getEntriesByName(name)[0]?.startTime
          const [any, content] = [of('first-paint'), of('first-contentful-paint')]
          if (any !== undefined && content !== undefined) resolve({ any, content })
        }).observe({ type: 'paint', buffered: true })
      }),
  )
}

/** Notes the scripts that a page loads from now on; what they weigh, compressed as the service sends them. */
export function weighScripts(page: Page): () => Promise<{ bytes: number; files: string[] }> {
  const loaded = new Set<string>()
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script') loaded.add(response.url())
  })
  return async () => {
    const each = await Promise.all(
      [...loaded].map(async (url) => {
        const body = await fetch(url).then((reply) => reply.arrayBuffer())
        return { name: url.replace(/.*\//, ''), bytes: gzipSync(Buffer.from(body), { level: 9 }).length }
      }),
    )
    const files = each.sort((a, b) => b.bytes - a.bytes).map(({ name, bytes }) => `${name} ${bytes}`)
    return { bytes: each.reduce((sum, { bytes }) => sum + bytes, 0), files }
  }
}

/** Notes every task of the main thread over 50 ms from now on; the lengths so far, in milliseconds. */
export async function noteLongTasks(page: Page): Promise<() => Promise<number[]>> {
  await page.evaluate(() => {
    const noted: number[] = []
    const observer = new PerformanceObserver((list) => noted.push(...list.getEntries().map((entry) => entry.duration)))
    observer.observe({ type: 'longtask' })
    Object.assign(globalThis, {
      __longTasks: () => {
        noted.push(...observer.takeRecords().map((entry) => entry.duration))
        return noted
      },
    })
  })
  return () => page.evaluate(() => (globalThis as unknown as { __longTasks: () => number[] }).__longTasks())
}

/** Scrolls something from its top to its end, a step in each frame; the milliseconds between frames, ascending. */
export async function scrollFrames(page: Page, selector: string | undefined, steps: number): Promise<number[]> {
  return page.evaluate(
    ([selector, steps]) =>
      new Promise<number[]>((resolve, reject) => {
        const scrolled = selector ? document.querySelector(selector) : document.scrollingElement
        if (!scrolled) return reject(new Error(`nothing is ${selector}`))
        const frames: number[] = []
        let before = performance.now()
        let step = 0
        const next = (): void => {
          const now = performance.now()
          frames.push(now - before)
          before = now
          step += 1
          scrolled.scrollTop = (scrolled.scrollHeight * step) / steps
          if (step < steps) requestAnimationFrame(next)
          else resolve(frames.slice(1).sort((a, b) => a - b))
        }
        requestAnimationFrame(next)
      }),
    [selector, steps] as const,
  )
}

/** The value below which this share of them lies. */
export function percentile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: number[]): number {
  return percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  )
}
