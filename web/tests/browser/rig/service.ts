// A service with documents, a model, keys and agents, in a folder of its own.

import type { Server } from 'node:http'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFront } from './front'
import { close } from './listen'
import { command, ROOT, SAMPLE, start } from './program'

export interface Plan {
  /** Files or folders to answer from; the documents that ship with the program unless given. */
  documents?: string[]
  /** The model's URL, before `/v1`. */
  model?: string
  /** Price of the model in US dollars per million tokens; free unless given. */
  price?: { input: string; output: string }
  /** Keys by name; none: the door is open to this machine. */
  keys?: Record<string, KeyPlan>
  /** Agents by name: the text of their files. */
  agents?: Record<string, string>
  /** More lines for the section `[server]` of `bylaw.toml`. */
  server?: string
  /** More sections for it. */
  config?: string
  /** The environment, for the secrets of agents. */
  env?: Record<string, string>
}

export interface KeyPlan {
  role?: 'reader' | 'editor' | 'admin'
  sources?: string[]
  budget?: string
}

/** A reply: its status, and its body as JSON where it is that, else as text. */
export interface Replied {
  status: number
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look at whatever they expect
  body: any
}

export interface Service {
  url: string
  /** Secrets by the key's name. */
  secrets: Record<string, string>
  /** One request; what comes back, as JSON. */
  api: (method: string, path: string, options?: { body?: unknown; key?: string }) => Promise<Replied>
  revoke: (name: string) => Promise<void>
  log: () => string
  /** Ends it at once, as a crash would. */
  kill: () => Promise<void>
  stop: () => Promise<void>
}

export async function startService(plan: Plan = {}): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'bylaw-page-'))
  const config = join(folder, 'bylaw.toml')
  const data = join(folder, 'data')
  await writeFile(config, settings(plan))
  await mkdir(join(folder, 'agents'))
  for (const [name, file] of Object.entries(plan.agents ?? {}))
    await writeFile(join(folder, 'agents', `${name}.toml`), file)
  const global = ['--config', config, '--data', data]
  const secrets: Record<string, string> = {}
  for (const [name, key] of Object.entries(plan.keys ?? {})) {
    const readable = (key.sources ?? []).flatMap((source) => ['--source', source])
    const budget = key.budget ? ['--budget', key.budget] : []
    const made = await command([
      ...global,
      'key',
      'create',
      name,
      '--role',
      key.role ?? 'reader',
      ...readable,
      ...budget,
    ])
    secrets[name] = (made as { secret: string }).secret
  }
  const running = await start([...global, 'serve', '--port', '0', ...(plan.documents ?? SAMPLE)], plan.env)
  await ready(String(running.said.url))
  const { url, server } = await door(String(running.said.url))
  return {
    url,
    secrets,
    api: (method, path, options = {}) => request(url + path, method, options),
    revoke: async (name) => {
      await command([...global, 'key', 'revoke', name])
    },
    log: running.log,
    kill: running.kill,
    stop: async () => {
      if (server) await close(server)
      await running.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Where the page is. A program holds the page that was there when it was built; `BYLAW_PAGE=FOLDER` puts another one in front of
 * it, so that work on the page needs no Rust.
 */
async function door(url: string): Promise<{ url: string; server?: Server }> {
  if (process.env.BYLAW_PAGE) return startFront(url, process.env.BYLAW_PAGE)
  const built = await readFile(join(ROOT, 'web/dist/index.html'), 'utf8')
  const served = await fetch(`${url}/ui/`).then((reply) => reply.text())
  if (served !== built)
    throw new Error('the page in the program is not the one in web/dist: build the program again, or set BYLAW_PAGE')
  return { url }
}

function settings(plan: Plan): string {
  const lines = ['[server]', 'shutdown_grace_seconds = 1', plan.server ?? '']
  if (plan.model) {
    const price = plan.price ? `{ input = "${plan.price.input}", output = "${plan.price.output}" }` : '{ free = true }'
    lines.push(
      '[model]',
      `base_url = "${plan.model}/v1"`,
      'name = "scripted"',
      'retries = 0',
      '[prices]',
      `scripted = ${price}`,
    )
  }
  return [...lines, plan.config ?? ''].join('\n')
}

async function ready(url: string): Promise<void> {
  const until = Date.now() + 30_000
  while (Date.now() < until) {
    const reply = await fetch(`${url}/readyz`).catch(() => undefined)
    if (reply?.status === 204) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`${url}/readyz did not say that the service is ready`)
}

async function request(url: string, method: string, { body, key }: { body?: unknown; key?: string }): Promise<Replied> {
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {}
  if (body !== undefined) headers['content-type'] = 'application/json'
  const reply = await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) })
  const text = await reply.text()
  return {
    status: reply.status,
    body: text && reply.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text,
  }
}
