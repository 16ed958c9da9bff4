// The page of the service that came before this one, as far as it shows on the wire: what it sends, and what it reads of the
// replies. Pointed at Bylaw, it must still work.
//
//   node web/tests/seed-page.mjs http://127.0.0.1:8024 [KEY]
//
// It needs a service with documents and a model, whatever they say. Each line is one thing that the page relies on.

import process from 'node:process'
import { pathToFileURL } from 'node:url'

const QUESTION = '出差住飯店一晚最多報多少？'

/** Replays everything; one line for each thing that held, and one for each that did not. */
export async function replay(url, key) {
  const held = []
  const broken = []
  const check = (what, holds) => void (holds ? held : broken).push(what)
  const post = (path, body) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
      body: JSON.stringify(body),
    })

  await lamp(url, key, check)
  await quick(post, check)
  await agent(post, check)
  await refusals(url, post, check, key)
  await documents(url, key, check)
  return { held, broken }
}

/** The lamp: one look when the page opens. */
async function lamp(url, key, check) {
  const reply = await fetch(`${url}/healthz`, { headers: key ? { authorization: `Bearer ${key}` } : {} })
  const health = await reply.json()
  check(
    'healthz is 200 and says ready, chunks, version, retrievers and default_retriever',
    reply.status === 200 &&
      typeof health.ready === 'boolean' &&
      Number.isInteger(health.chunks) &&
      typeof health.version === 'string' &&
      Array.isArray(health.retrievers) &&
      typeof health.default_retriever === 'string',
  )
  const ready = await fetch(`${url}/readyz`)
  check('readyz is 204 once ready', ready.status === 204)
}

/** The quick mode: a stream of citations, then tokens, then done. */
async function quick(post, check) {
  const reply = await post('/ask', {
    question: QUESTION,
    k: 3,
    use_cache: true,
    mode: 'pipeline',
    max_steps: 4,
    stream: true,
  })
  check(
    'a stream is text/event-stream that nobody keeps',
    reply.status === 200 &&
      reply.headers.get('content-type')?.startsWith('text/event-stream') &&
      reply.headers.get('cache-control')?.includes('no-cache') &&
      reply.headers.get('x-accel-buffering') === 'no',
  )
  check(
    'a stream carries x-request-id and no timing headers',
    reply.headers.has('x-request-id') && !reply.headers.has('x-total-ms'),
  )
  const told = []
  for await (const event of events(reply)) told.push(event)
  const names = told.map(({ name }) => name)
  check(
    'citations come first, tokens next, done last, each of the ends once',
    names[0] === 'citations' &&
      names.at(-1) === 'done' &&
      names.slice(1, -1).length > 0 &&
      names.slice(1, -1).every((name) => name === 'token'),
  )
  const [first, done] = [told[0]?.data ?? {}, told.at(-1)?.data ?? {}]
  check(
    'citations have article_no, title, similarity, text and source',
    isCited(first.citations) && typeof first.elapsed_ms === 'number',
  )
  const joined = told
    .filter(({ name }) => name === 'token')
    .map(({ data }) => data.text)
    .join('')
  check('tokens joined are the answer of done', joined.length > 0 && joined === done.answer)
  check(
    'done has usage, timing, first_token_ms and retriever',
    isUsage(done.usage) &&
      isTiming(done.timing) &&
      typeof done.first_token_ms === 'number' &&
      typeof done.retriever === 'string',
  )
}

/** The agent mode: one JSON reply, with a limit on steps. */
async function agent(post, check) {
  const reply = await post('/ask', { question: QUESTION, mode: 'agent', max_steps: 4, stream: false })
  const answer = await reply.json()
  check(
    "an agent's reply is 200 with x-request-id and x-total-ms",
    reply.status === 200 && reply.headers.has('x-request-id') && Number(reply.headers.get('x-total-ms')) >= 0,
  )
  check(
    'it has answer, citations, usage, timing, retriever and mode',
    (answer.answer === null || typeof answer.answer === 'string') &&
      isCited(answer.citations) &&
      isUsage(answer.usage) &&
      isTiming(answer.timing) &&
      answer.mode === 'agent',
  )
  const trace = answer.agent ?? {}
  check(
    'its trace has steps, searches, llm_calls, queries, repeats, hit_cap, n_checks, flagged, revised, stopped_reason and stopped_at_step',
    ['steps', 'searches', 'llm_calls', 'repeats', 'n_checks'].every((field) => Number.isInteger(trace[field])) &&
      ['hit_cap', 'flagged', 'revised'].every((field) => typeof trace[field] === 'boolean') &&
      Array.isArray(trace.queries) &&
      'stopped_reason' in trace &&
      'stopped_at_step' in trace,
  )

  const capped = await (
    await post('/ask', { question: QUESTION, mode: 'agent', max_steps: 1, use_cache: false })
  ).json()
  check('under a cap of one step nothing says two', capped.agent.steps <= 1 && (capped.agent.stopped_at_step ?? 0) <= 1)
}

/** What the banner of errors reads: a status, a code, a sentence and a request id. */
async function refusals(url, post, check, key) {
  const isError = async (reply, status, code) => {
    const { error } = await reply.json()
    return reply.status === status && error.code === code && error.message.length > 0 && error.request_id.length > 0
  }
  check(
    'an empty question is 422 invalid_request',
    await isError(await post('/ask', { question: '' }), 422, 'invalid_request'),
  )
  check(
    'so is a long one, also of a stream',
    await isError(await post('/ask', { question: '假'.repeat(501), stream: true }), 422, 'invalid_request'),
  )
  check(
    'a retriever that is not there is 404 unknown_retriever',
    await isError(await post('/ask?retriever=nope', { question: QUESTION }), 404, 'unknown_retriever'),
  )
  const lost = await fetch(`${url}/nope`, { headers: key ? { authorization: `Bearer ${key}` } : {} })
  check('an address that is not there is 404 in the same shape', await isError(lost, 404, 'not_found'))
  const named = await fetch(`${url}/healthz`, { headers: { 'x-request-id': 'page-1' } })
  check('a request id that the page sends comes back', named.headers.get('x-request-id') === 'page-1')
}

/** What the page of documents would read. */
async function documents(url, key, check) {
  const headers = key ? { authorization: `Bearer ${key}` } : {}
  const sources = await (await fetch(`${url}/sources`, { headers })).json()
  check(
    'sources are a list of source, chunks and articles, by name',
    Array.isArray(sources) &&
      sources.length > 0 &&
      sources.every(
        (each) => typeof each.source === 'string' && Number.isInteger(each.chunks) && Array.isArray(each.articles),
      ),
  )
  const page = await fetch(`${url}/ui/`)
  check('the page itself is at /ui/', page.status === 200 && page.headers.get('content-type')?.startsWith('text/html'))
}

function isCited(citations) {
  return (
    Array.isArray(citations) &&
    citations.length > 0 &&
    citations.every(
      (each) =>
        Number.isInteger(each.article_no) &&
        typeof each.title === 'string' &&
        typeof each.similarity === 'number' &&
        typeof each.text === 'string' &&
        typeof each.source === 'string',
    )
  )
}

function isUsage(usage) {
  return (
    usage &&
    ['embedding_tokens', 'input_tokens', 'output_tokens'].every((field) => Number.isInteger(usage[field])) &&
    typeof usage.cached === 'boolean' &&
    'cost_twd' in usage &&
    'avoided_twd' in usage
  )
}

function isTiming(timing) {
  return (
    timing &&
    ['embed_ms', 'retrieve_ms', 'llm_ms', 'serialize_ms', 'total_ms', 'overhead_ms'].every(
      (field) => typeof timing[field] === 'number',
    )
  )
}

/** Reads a stream as that page did: cut at blank lines, one `event:` and one `data:` line each. */
async function* events(reply) {
  const decoder = new TextDecoder()
  let held = ''
  for await (const piece of reply.body) {
    held += decoder.decode(piece, { stream: true })
    for (let end = held.indexOf('\n\n'); end >= 0; end = held.indexOf('\n\n')) {
      const lines = held.slice(0, end).split('\n')
      held = held.slice(end + 2)
      const field = (name) =>
        lines
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim()
      const [name, data] = [field('event'), field('data')]
      if (name && data) yield { name, data: JSON.parse(data) }
    }
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [url, key] = process.argv.slice(2)
  if (!url) {
    console.error('usage: node web/tests/seed-page.mjs URL [KEY]')
    process.exit(2)
  }
  const { held, broken } = await replay(url.replace(/\/$/, ''), key)
  held.forEach((what) => console.log(`  held    ${what}`))
  broken.forEach((what) => console.log(`  BROKEN  ${what}`))
  process.exit(broken.length ? 1 : 0)
}
