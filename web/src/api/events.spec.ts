import { describe, expect, it } from 'vitest'

import { readEvents } from './events'

/** A body that arrives in these pieces. */
function body(chunks: (string | Uint8Array)[], end: 'closes' | 'breaks' = 'closes'): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let next = 0
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks[next]
      next += 1
      if (chunk !== undefined) controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk)
      else if (end === 'closes') controller.close()
      else controller.error(new TypeError('network error'))
    },
  })
}

async function told(chunks: (string | Uint8Array)[]): Promise<string[]> {
  const events: string[] = []
  for await (const { event, data, id } of readEvents(body(chunks))) events.push(`${event}|${data}|${id ?? ''}`)
  return events
}

describe('events of a stream', () => {
  const rows: [string, string[], string[]][] = [
    ['are told one by one', ['event: token\ndata: 七\n\nevent: done\ndata: {}\n\n'], ['token|七|', 'done|{}|']],
    ['end their lines with CRLF', ['event: a\r\ndata: 1\r\n\r\nevent: b\r\ndata: 2\r\n\r\n'], ['a|1|', 'b|2|']],
    ['end their lines with CR', ['event: a\rdata: 1\r\rdata: 2\r\r'], ['a|1|', 'message|2|']],
    ['survive a cut between CR and LF', ['event: a\r', '\ndata: 1\r', '\n\r', '\n', 'data: 2\r\n\r\n'], ['a|1|', 'message|2|']],
    ['survive a cut anywhere', [...'event: a\r\ndata: 1\r\n\r\n'], ['a|1|']],
    ['may have several lines of data', ['data: one\ndata:two\n\n'], ['message|one\ntwo|']],
    ['are not made of comments', [': waiting\n\n', 'data: 1\n\n'], ['message|1|']],
    ['without data are none', ['event: a\n\ndata: 1\n\n'], ['message|1|']],
    ['remember the last id', ['id: 7\ndata: 1\n\ndata: 2\n\n'], ['message|1|7', 'message|2|7']],
    ['that are not closed are not told', ['data: 1\n\nevent: done\ndata: {"half"'], ['message|1|']],
    ['may not come at all', [], []],
  ]
  it.each(rows)('%s', async (_, chunks, expected) => {
    expect(await told(chunks)).toEqual(expected)
  })

  it('survive a cut inside a character, at every byte', async () => {
    const bytes = new TextEncoder().encode('data: 特別休假😀\n\n')
    for (let at = 1; at < bytes.length; at += 1) {
      expect(await told([bytes.slice(0, at), bytes.slice(at)])).toEqual(['message|特別休假😀|'])
    }
  })

  it('end with the error of a body that breaks', async () => {
    const events: string[] = []
    const read = async () => {
      for await (const { data } of readEvents(body(['data: 1\n\n'], 'breaks'))) events.push(data)
    }
    await expect(read()).rejects.toThrow('network error')
    expect(events).toEqual(['1'])
  })

  it('close the connection when nobody listens any more', async () => {
    let closed = false
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
      cancel: () => void (closed = true),
    })
    for await (const event of readEvents(stream)) {
      expect(event.data).toBe('1')
      break
    }
    expect(closed).toBe(true)
  })
})
