// A model that does what a test says: an OpenAI-compatible endpoint on a free port of this machine.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { close, listen } from './listen'
import type { Reply, Step } from './reply'
import { text } from './reply'

/** A request to the model, and what became of it. */
export interface Call {
  /** What the person asked or said last. */
  asked: string
  /** What tools have said since, oldest first. */
  results: string[]
  /** Ids of the articles that it was given with the question. */
  given: string[]
  /** The tools that it may call. */
  tools: string[]
  /** Settles when the connection ends: true if the client closed it before the reply was whole. */
  left: Promise<boolean>
}

interface Message {
  role: string
  content: unknown
}

export interface Upstream {
  url: string
  /** Every call so far. */
  calls: Call[]
  /** What it says from now on. */
  script: (answer: (call: Call) => Reply) => void
  /** The next call that is made, or one that was made and not yet taken. */
  next: () => Promise<Call>
  stop: () => Promise<void>
}

export async function startUpstream(): Promise<Upstream> {
  const calls: Call[] = []
  let answer: (call: Call) => Reply = () => text('NOT_IN_RULES')
  let taken = 0
  const waiting: ((call: Call) => void)[] = []
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await read(request)) as {
      messages: Message[]
      tools?: { function: { name: string } }[]
      stream?: boolean
    }
    const left = new Promise<boolean>((resolve) => response.once('close', () => resolve(!response.writableFinished)))
    const call = { ...understood(body.messages), tools: (body.tools ?? []).map((tool) => tool.function.name), left }
    calls.push(call)
    const first = waiting.shift()
    if (first) {
      taken += 1
      first(call)
    }
    const reply = answer(call)
    if ('status' in reply)
      return void response
        .writeHead(reply.status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: reply.message } }))
    if (body.stream) await stream(response, reply, left)
    else await whole(response, reply, left)
  }

  const url = await listen(server)
  return {
    url,
    calls,
    script: (next) => {
      answer = next
    },
    next: () => {
      const call = calls[taken]
      if (call) {
        taken += 1
        return Promise.resolve(call)
      }
      return new Promise((resolve) => waiting.push(resolve))
    },
    stop: () => close(server),
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}

/** What a request asks, out of its messages. */
function understood(messages: Message[]): Pick<Call, 'asked' | 'results' | 'given'> {
  const last = messages.findLastIndex((message) => message.role === 'user')
  const said = String(messages[last]?.content ?? '')
  const results = messages
    .slice(last + 1)
    .filter((message) => message.role === 'tool')
    .map((message) => String(message.content))
  const asked = /<question>\n([\s\S]*)\n<\/question>/.exec(said)?.[1] ?? said
  const given = [...said.matchAll(/<article id="([^"]+)">/g)].map((match) => match[1] ?? '')
  return { asked, results, given }
}

const usage = { prompt_tokens: 900, completion_tokens: 60, total_tokens: 960 }

async function stream(response: ServerResponse, reply: Iterable<Step>, left: Promise<unknown>): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  response.socket?.setNoDelay(true)
  const chunk = (delta: object, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }]
    response.write(
      `data: ${JSON.stringify({ id: 'r', object: 'chat.completion.chunk', model: 'scripted', choices })}\n\n`,
    )
  }
  let made = 0
  for (const step of reply) {
    if (response.destroyed) return
    if ('say' in step) {
      chunk({ role: 'assistant', content: step.say })
    } else if ('call' in step) {
      const called = { name: step.call, arguments: JSON.stringify(step.with) }
      chunk({ role: 'assistant', tool_calls: [{ index: made, id: id(), type: 'function', function: called }] })
      made += 1
    } else if ('cut' in step) {
      return void response.end()
    } else if ('fail' in step) {
      response.write(`data: ${JSON.stringify({ error: { message: step.fail, type: 'server_error', code: 500 } })}\n\n`)
      return void response.end()
    } else {
      await passed(step, left)
    }
  }
  chunk({}, made ? 'tool_calls' : 'stop')
  response.write(
    `data: ${JSON.stringify({ id: 'r', object: 'chat.completion.chunk', model: 'scripted', choices: [], usage })}\n\n`,
  )
  response.end('data: [DONE]\n\n')
}

async function whole(response: ServerResponse, reply: Iterable<Step>, left: Promise<unknown>): Promise<void> {
  let content = ''
  const tool_calls: object[] = []
  for (const step of reply) {
    if ('say' in step) content += step.say
    else if ('call' in step)
      tool_calls.push({
        id: id(),
        type: 'function',
        function: { name: step.call, arguments: JSON.stringify(step.with) },
      })
    else if ('cut' in step || 'fail' in step) return void response.destroy()
    else await passed(step, left)
  }
  const message = tool_calls.length ? { role: 'assistant', content: null, tool_calls } : { role: 'assistant', content }
  const choices = [{ index: 0, message, finish_reason: tool_calls.length ? 'tool_calls' : 'stop' }]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ id: 'r', object: 'chat.completion', model: 'scripted', choices, usage }))
}

let made = 0
function id(): string {
  made += 1
  return `call_${made}`
}

/** A pause or a gate, or the client's leaving, whichever comes first. */
async function passed(step: { wait: Promise<unknown> } | { pause: number }, left: Promise<unknown>): Promise<void> {
  const over = 'wait' in step ? step.wait : new Promise((resolve) => setTimeout(resolve, step.pause))
  await Promise.race([over, left])
}
