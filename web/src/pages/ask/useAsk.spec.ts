import { flushPromises } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'

import { recordedApi } from '@/api/recorded'
import type { AskEvent } from '@/api/types'
import { mountPage } from '@/test/mount'

import { joined, useAsk } from './useAsk'

const token = (text: string): AskEvent => ({ event: 'token', text })

/** A service that says what it is told to, when it is told to, and remembers who left. */
function spoken() {
  const signals: AbortSignal[] = []
  const say: ((event: AskEvent) => void)[] = []
  const api = recordedApi({
    async *ask(_, call) {
      const signal = call?.signal as AbortSignal
      signals.push(signal)
      const queue: AskEvent[] = []
      let wake: () => void = () => undefined
      say.push((event) => (queue.push(event), wake()))
      signal.addEventListener('abort', () => wake())
      for (;;) {
        signal.throwIfAborted()
        const next = queue.shift()
        if (next) yield next
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  })
  return { api, signals, say }
}

async function asking(api = recordedApi()) {
  let ask!: ReturnType<typeof useAsk>
  const host = defineComponent({ setup: () => ((ask = useAsk(() => 0)), () => h('i')) })
  const { wrapper } = await mountPage(host, { api })
  return { ask, wrapper }
}

const frame = async () => {
  await flushPromises()
  await new Promise((resolve) => setTimeout(resolve, 40))
}

describe('asking', () => {
  it('hears an answer to its end', async () => {
    const { ask } = await asking()
    await ask.ask({ question: '特休？' })
    expect(ask.state.value.phase).toBe('done')
    expect(ask.busy.value).toBe(false)
  })

  it('that is cancelled closes the connection and keeps what was written', async () => {
    const service = spoken()
    const { ask } = await asking(service.api)
    void ask.ask({ question: 'a' })
    service.say[0]?.(token('Seven'))
    await frame()
    expect(ask.state.value).toMatchObject({ phase: 'writing', text: 'Seven' })
    ask.cancel()
    expect(service.signals[0]?.aborted).toBe(true)
    await frame()
    expect(ask.state.value).toMatchObject({ phase: 'cancelled', text: 'Seven', trouble: null })
  })

  it('again gives the first question up, and hears nothing more of it', async () => {
    const service = spoken()
    const { ask } = await asking(service.api)
    void ask.ask({ question: 'a' })
    await frame()
    void ask.ask({ question: 'b' })
    expect(service.signals[0]?.aborted).toBe(true)
    service.say[0]?.(token('old'))
    service.say[1]?.(token('new'))
    await frame()
    expect(ask.state.value).toMatchObject({ text: 'new', request: { question: 'b' } })
  })

  it('ends with the page', async () => {
    const service = spoken()
    const { ask, wrapper } = await asking(service.api)
    void ask.ask({ question: 'a' })
    await frame()
    wrapper.unmount()
    expect(service.signals[0]?.aborted).toBe(true)
  })

  it('changes what is seen once for all that a frame brings', async () => {
    const events = Array.from({ length: 500 }, (_, place) => token(`${place} `))
    const { ask } = await asking(recordedApi({ answer: events }))
    const frames = vi.spyOn(globalThis, 'requestAnimationFrame')
    await ask.ask({ question: 'a' })
    expect(frames.mock.calls.length).toBeLessThan(5)
    expect(ask.state.value.text.split(' ')).toHaveLength(501)
  })

  it('joins neighbouring pieces and keeps the order of everything else', () => {
    const citations: AskEvent = { event: 'citations', citations: [], elapsed_ms: 0 }
    expect(joined([token('a'), token('b'), citations, token('c')])).toEqual([token('ab'), citations, token('c')])
  })
})
