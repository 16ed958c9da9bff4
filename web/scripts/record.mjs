// Writes down what a running service says, for tests and for screens without a service:
//
//   cargo run -- serve --sample --port 8124 &
//   node scripts/record.mjs http://127.0.0.1:8124
import { mkdir, writeFile } from 'node:fs/promises'

const [, , base = 'http://127.0.0.1:8024'] = process.argv
const folder = new URL('../src/api/recordings/', import.meta.url)
const rules = '員工工作規則.md'

const get = async (address) => (await fetch(base + address)).json()
const post = (address, body) =>
  fetch(base + address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** The events of a streamed answer, each as one flat object. */
async function ask(question) {
  const text = await (await post('/ask', { question, stream: true, use_cache: false })).text()
  const blocks = text.split('\n\n').filter((block) => block.startsWith('event: '))
  return blocks.map((block) => {
    const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block)
    return { event, ...JSON.parse(data) }
  })
}

const article = (name) => get(`/articles/${encodeURIComponent(rules)}/${name}`)

const recordings = {
  health: await get('/healthz'),
  sources: await get('/sources'),
  source: await get(`/sources/${encodeURIComponent(rules)}`),
  articles: await Promise.all(['21', '22', '22-1', '23', '25', '26'].map(article)),
  search: await (await post('/search', { question: '特休可以遞延嗎？' })).json(),
  answer: await ask('特休可以遞延嗎？'),
  silence: await ask('可以帶寵物上班嗎？'),
}

await mkdir(folder, { recursive: true })
for (const [name, recording] of Object.entries(recordings)) {
  await writeFile(new URL(`${name}.json`, folder), `${JSON.stringify(recording, null, 1)}\n`)
}
