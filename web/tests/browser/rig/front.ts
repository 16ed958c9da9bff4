// A door in front of a service, with another page than the one in the program: `/ui/` comes from a folder, all else from the
// service.

import type { Server } from 'node:http'
import { readFile } from 'node:fs/promises'
import { createServer, request as ask } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { listen } from './listen'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

export async function startFront(service: string, folder: string): Promise<{ url: string; server: Server }> {
  const { hostname, port } = new URL(service)
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', service).pathname
    if (path.startsWith('/ui')) {
      page(folder, path)
        .then(async ({ type, body }) => {
          const headers: Record<string, string> = { 'content-type': type }
          if (type.startsWith('text/html')) {
            // What browsers are told of the page is the service's word.
            headers['content-security-policy'] =
              (await fetch(service + path)).headers.get('content-security-policy') ?? ''
          }
          response.writeHead(200, headers).end(body)
        })
        .catch(() => response.writeHead(404).end())
      return
    }
    // The service takes its own pages' requests only.
    const headers = { ...request.headers, host: `${hostname}:${port}` }
    if (headers.origin) headers.origin = service
    const onward = ask({ hostname, port, path: request.url, method: request.method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
      // What the service cuts off is cut off for the browser, too.
      reply.once('error', () => response.destroy())
    })
    onward.once('error', () => response.destroy())
    response.once('close', () => onward.destroy())
    request.pipe(onward)
  })
  return { url: await listen(server), server }
}

/** A file of the page; any other address is one of the page's own. */
async function page(folder: string, path: string): Promise<{ type: string; body: Buffer }> {
  const name = normalize(decodeURIComponent(path.replace(/^\/ui\/?/, '')))
  const isFile = extname(name) in TYPES && !name.startsWith('..')
  const file = isFile ? name : 'index.html'
  return { type: TYPES[extname(file)] ?? '', body: await readFile(join(folder, file)) }
}
