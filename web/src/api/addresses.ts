/** Addresses of the service, relative to its root. Nothing outside this folder writes one. */
const part = encodeURIComponent

/** `work_rules.md#26-1` in its two parts. The last `#` parts them: a name may hold others. */
export function splitArticleId(id: string): { source: string; article: string } {
  const at = id.lastIndexOf('#')
  return at < 0 ? { source: id, article: '' } : { source: id.slice(0, at), article: id.slice(at + 1) }
}

export const addresses = {
  me: '/me',
  healthz: '/healthz',
  readyz: '/readyz',
  ask: '/ask',
  search: '/search',
  sources: '/sources',
  documents: '/documents',
  runs: '/runs',
  conversations: '/conversations',
  usage: '/usage',
  budgets: '/budgets',
  article: (id: string) => {
    const { source, article } = splitArticleId(id)
    return `/articles/${part(source)}/${part(article)}`
  },
  source: (name: string) => `/sources/${part(name)}`,
  undo: (name: string) => `/sources/${part(name)}/undo`,
  document: (job: string) => `/documents/${part(job)}`,
  run: (id: string) => `/runs/${part(id)}`,
  runEvents: (id: string) => `/runs/${part(id)}/events`,
  reply: (run: string, question: number) => `/runs/${part(run)}/replies/${question}`,
  conversation: (id: string) => `/conversations/${part(id)}`,
  artifact: (id: string) => `/artifacts/${part(id)}`,
} as const

/** An address with parameters; what is undefined or empty is left out. */
export function withQuery(address: string, query: object = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return text ? `${address}?${text}` : address
}
