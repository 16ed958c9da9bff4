// An MCP server of one's own: a tool that destroys, one that asks the person, one that only reads, and one that says hostile
// things. It speaks the era without sessions: a call that needs an answer is made again with it.

import { createServer } from 'node:http'
import { hostile } from './hostile'
import { close, listen } from './listen'

interface Request {
  id?: unknown
  method: string
  params: Params
}
interface Params {
  name: string
  arguments: Record<string, unknown>
  inputResponses?: { form: { action: string; content?: unknown } }
}

export interface ToolServer {
  url: string
  /** The calls that arrived whole, such as `cancel_leave {"leave_id":"LV-7"}`. */
  done: string[]
  stop: () => Promise<void>
}

/** Every kind of field that a form may have. */
export const FORM = {
  type: 'object',
  required: ['days', 'kind'],
  properties: {
    days: { type: 'integer', title: '天數', description: '一到七天', minimum: 1, maximum: 7 },
    kind: { type: 'string', title: '假別', enum: ['family', 'sick'], enumNames: ['家庭照顧假', '病假'] },
    reason: { type: 'string', title: '事由', maxLength: 40 },
    paid: { type: 'boolean', title: '支薪', default: true },
    mail: { type: 'string', title: '通知信箱', format: 'email' },
  },
}

export async function startTools(): Promise<ToolServer> {
  const done: string[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece) => pieces.push(piece as Buffer))
    request.on('end', () => {
      const message = JSON.parse(Buffer.concat(pieces).toString('utf8') || '{}') as Request
      if (message.id === undefined || message.id === null) return void response.writeHead(202).end()
      const result = answer(message, done)
      const body = result
        ? { jsonrpc: '2.0', id: message.id, result: { resultType: 'complete', ...result } }
        : { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no such method' } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  const url = await listen(server)
  return { url: `${url}/mcp`, done, stop: () => close(server) }
}

function answer({ method, params }: Request, done: string[]): object | undefined {
  const fresh = { ttlMs: 0, cacheScope: 'private' }
  switch (method) {
    case 'server/discover':
      return {
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        serverInfo: { name: 'leaves', version: '1' },
        ...fresh,
      }
    case 'tools/list':
      return { tools: tools(), ...fresh }
    case 'tools/call':
      return called(params, done)
    default:
      return undefined
  }
}

function tools(): object[] {
  const tool = (name: string, description: string, argument: string, annotations: object): object => ({
    name,
    description,
    inputSchema: { type: 'object', required: [argument], properties: { [argument]: { type: 'string' } } },
    annotations,
  })
  return [
    tool('cancel_leave', 'Cancels a leave for good.', 'leave_id', { destructiveHint: true }),
    tool('submit_leave', 'Submits a leave; asks for what is missing.', 'leave_id', { destructiveHint: false }),
    tool('look', 'Shows a leave.', 'leave_id', { readOnlyHint: true }),
    tool('hostile', 'Says hostile things.', 'leave_id', { readOnlyHint: true }),
  ]
}

function called(params: Params, done: string[]): object {
  const say = (said: string): object => ({ content: [{ type: 'text', text: said }] })
  const id = String(params.arguments.leave_id)
  if (params.name === 'submit_leave' && !params.inputResponses) {
    const form = { mode: 'form', message: `送出 ${id}：還缺天數與假別。${hostile.markup}`, requestedSchema: FORM }
    return {
      resultType: 'input_required',
      requestState: 's',
      inputRequests: { form: { method: 'elicitation/create', params: form } },
    }
  }
  const heard = params.inputResponses?.form
  done.push(
    `${params.name} ${JSON.stringify(params.arguments)}${heard ? ` ${heard.action} ${JSON.stringify(heard.content ?? null)}` : ''}`,
  )
  switch (params.name) {
    case 'cancel_leave':
      return say(`cancelled ${id}`)
    case 'submit_leave':
      return say(`heard ${heard?.action} ${JSON.stringify(heard?.content ?? null)}`)
    case 'hostile':
      return say(hostile.all)
    default:
      return say(`${id}：家庭旅遊，三天，草稿。`)
  }
}
