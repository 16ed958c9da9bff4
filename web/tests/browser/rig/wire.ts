// A wire to a service that can be cut and mended: what a lost network is to a browser.

import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

export interface Wire {
  /** The service, over the wire. */
  url: string
  /** Ends every connection, and refuses new ones. */
  cut: () => void
  mend: () => void
  stop: () => Promise<void>
}

export async function startWire(service: string): Promise<Wire> {
  const { hostname, port } = new URL(service)
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.once('error', () => to.destroy())
      from.once('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const end = () => sockets.forEach((socket) => socket.destroy())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true
      end()
    },
    mend: () => {
      isCut = false
    },
    stop: () => {
      end()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
