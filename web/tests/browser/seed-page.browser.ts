// The page of the service that came before this one would still work.

import type { Service } from './rig/service'
import type { Upstream } from './rig/upstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { replay } from '../seed-page.mjs'
import { calls, text } from './rig/reply'
import { startService } from './rig/service'
import { startUpstream } from './rig/upstream'

let upstream: Upstream
let service: Service

beforeAll(async () => {
  upstream = await startUpstream()
  service = await startService({ model: upstream.url })
  upstream.script(({ tools, results }) => {
    if (tools.includes('search') && results.length === 0) return calls(['search', { query: '住宿費' }])
    const answer = '國內出差每晚以新臺幣 2,400 元為上限 [員工工作規則.md#45]。'
    return tools.includes('answer')
      ? calls(['answer', { text: answer, citations: ['員工工作規則.md#45'] }])
      : text(answer)
  })
})

afterAll(async () => {
  await service?.stop()
  await upstream?.stop()
})

test('all that the earlier page sends and reads holds', async () => {
  const { held, broken } = await replay(service.url)
  expect(broken).toEqual([])
  expect(held.length).toBeGreaterThan(15)
})
