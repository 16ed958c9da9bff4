// A scripted model behind an OpenAI-compatible endpoint: for looking at the page with a model, and for tests in a browser.
//
//   node tests/model.mjs 8125
//
// It cites whatever articles the prompt gives it. Words in the question choose what else happens: LONG writes 20,000
// characters, SLOW takes its time, BREAK stops in the middle, HANG says nothing, HOSTILE writes what a page must not obey.
import { createServer } from 'node:http'

const port = Number(process.argv[2] ?? 8125)
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** How many requests are being answered, and how many were left by their caller. Tests ask `GET /left`. */
const left = { under_way: 0, cancelled: 0 }

const idsIn = (text) => [...new Set(text.match(/[^\s[\]"'“”<>()（）:：,，]+\.(?:md|txt|html)#[\w.-]+/g) ?? [])]

/** What the person asked, without the articles that stand before it. */
function asked(messages) {
  const content = [...messages].reverse().find(({ role }) => role === 'user')?.content ?? ''
  return /<question>\n([^]*?)\n<\/question>/.exec(content)?.[1] ?? content
}

function write(messages) {
  // The system's message names an article as an example.
  const text = messages
    .filter(({ role }) => role === 'user' || role === 'tool')
    .map(({ content }) => content)
    .join('\n')
  const question = asked(messages)
  const [first = 'nothing.md#1', second = first] = idsIn(text)
  const chinese = /[\u4e00-\u9fff]/.test(question)
  if (question.includes('HOSTILE')) {
    return `<img src=x onerror=alert(1)> [click](javascript:alert(1)) \u202Egnp.exe\u202C ${'W'.repeat(10_000)} [${first}]。`
  }
  if (question.includes('LONG')) {
    const line = chinese
      ? `特別休假於年度終結未休畢者，經雙方書面合意，得遞延至次一年度[${first}]。`
      : `Leave that was not taken by the end of the year may be carried over once, if both agree in writing [${first}]. `
    let answer = ''
    for (let n = 1; answer.length < 20_000; n += 1) answer += line + (n % 6 === 0 ? '\n\n' : '')
    return answer
  }
  return chinese
    ? `可以，但要先講好[${first}]。沒有休完的日數，經雙方書面合意得遞延一次[${first}]。` +
        `另外也要注意排定的期限[${second}]。\n\n一般來說，主管都會同意。`
    : `Yes, within the limits that the rules set [${first}]. The details depend on how long you have been here [${first}]. ` +
        `See also what is said beside it [${second}].\n\nMost managers will agree.`
}

function callFor(messages) {
  const results = messages.filter(({ role }) => role === 'tool')
  const question = asked(messages)
  const ids = idsIn(results.map(({ content }) => content).join('\n'))
  const words = question.slice(0, 12)
  if (question.includes('ENDLESS')) return ['search', { query: `${words} ${results.length + 1}` }]
  if (results.length === 0) return ['search', { query: words }]
  if (results.length === 1 && ids.length > 1) return ['read_article', { article: ids[1] }]
  if (results.length === 2) return ['search', { query: `${words} 期限` }]
  return ['answer', { text: write(messages) }]
}

createServer(async (request, reply) => {
  if (request.url === '/left') return reply.end(JSON.stringify(left))
  let body = ''
  for await (const chunk of request) body += chunk
  if (request.method !== 'POST') return reply.writeHead(404).end()
  const { messages, tools, stream, model, tool_choice } = JSON.parse(body)
  if (process.env.SHOW_REQUESTS)
    console.error(JSON.stringify({ messages, tools: tools?.map((t) => t.function.name), stream }))
  const question = asked(messages)
  const usage = { prompt_tokens: 812, completion_tokens: 96, total_tokens: 908 }
  let open = true
  left.under_way += 1
  reply.on('close', () => {
    left.under_way -= 1
    if (!reply.writableFinished) left.cancelled += 1
    open = false
  })
  if (question.includes('HANG')) return

  const base = { id: 'c', object: stream ? 'chat.completion.chunk' : 'chat.completion', created: 0, model }
  const useTool = tools?.length > 0 && tool_choice !== 'none'
  const [name, given] = useTool ? callFor(messages) : []
  const call = useTool
    ? { id: `call_${messages.length}`, type: 'function', function: { name, arguments: JSON.stringify(given) } }
    : null
  const text = useTool ? '' : write(messages)
  if (!stream) {
    const message = { role: 'assistant', content: text || null, ...(call ? { tool_calls: [call] } : {}) }
    const choices = [{ index: 0, message, finish_reason: call ? 'tool_calls' : 'stop' }]
    return reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...base, choices, usage }))
  }
  reply.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta, finish_reason = null, more = {}) =>
    reply.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`)
  const gap = question.includes('SLOW') ? 120 : question.includes('LONG') ? 2 : 25
  if (call) {
    await wait(question.includes('SLOW') ? 1500 : 300)
    send({ role: 'assistant', tool_calls: [{ index: 0, ...call }] })
  } else {
    const size = question.includes('LONG') ? 24 : question.includes('HOSTILE') ? 400 : 4
    for (let at = 0; at < text.length && open; at += size) {
      if (question.includes('BREAK') && at > text.length / 2) return reply.destroy()
      send({ content: text.slice(at, at + size) })
      await wait(gap)
    }
  }
  send({}, call ? 'tool_calls' : 'stop', { usage })
  reply.end('data: [DONE]\n\n')
}).listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/v1`))
