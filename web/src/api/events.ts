/** Server-Sent Events from the body of a reply. */
export interface ServerEvent {
  /** `message` where the server names none. */
  event: string
  data: string
  /** The last id that was given, which is what `Last-Event-ID` wants. */
  id: string | null
}

/**
 * Reads events until the body ends. Lines end with LF, CRLF or CR, wherever the network has cut them, and so may
 * characters. An event that is not closed by an empty line is not told: it may be half of one.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const parser = new EventParser()
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      yield* parser.feed(decoder.decode(value, { stream: true }))
    }
  } finally {
    // Whoever stops listening closes the connection, and thereby stops the work.
    await reader.cancel().catch(() => undefined)
  }
}

class EventParser {
  private rest = ''
  private afterReturn = false
  private name = ''
  private data: string[] = []
  private id: string | null = null

  feed(text: string): ServerEvent[] {
    let fresh = text
    if (this.afterReturn && fresh.length > 0) {
      // The LF of a CRLF that was cut in two.
      if (fresh.startsWith('\n')) fresh = fresh.slice(1)
      this.afterReturn = false
    }
    if (fresh.endsWith('\r')) this.afterReturn = true
    const lines = (this.rest + fresh).split(/\r\n|\n|\r/)
    this.rest = lines.pop() ?? ''
    return lines.map((line) => this.line(line)).filter((event) => event !== null)
  }

  private line(line: string): ServerEvent | null {
    if (line === '') return this.close()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') this.name = value
    else if (field === 'data') this.data.push(value)
    else if (field === 'id' && !value.includes('\0')) this.id = value
    return null
  }

  private close(): ServerEvent | null {
    const { name, data } = this
    this.name = ''
    this.data = []
    return data.length === 0 ? null : { event: name || 'message', data: data.join('\n'), id: this.id }
  }
}
