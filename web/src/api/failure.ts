import type { components } from './schema'

/** Codes of our own, for what happens before or between replies of the service. */
export type OwnCode = 'connection_lost' | 'stream_cut' | 'unreadable_reply'

/** What went wrong with a request. `code` is stable; `message` is the service's sentence for people. */
export class ApiFailure extends Error {
  constructor(
    readonly code: components['schemas']['ErrorCode'] | OwnCode | (string & {}),
    message: string,
    /** The HTTP status; 0 if there was no reply. */
    readonly status = 0,
    readonly requestId: string | null = null,
    readonly hint: string | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = 'ApiFailure'
  }
}

/** Whether somebody ended it on purpose. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** Whatever was thrown, as a failure that can be shown. */
export function asFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ApiFailure('connection_lost', message, 0, null, null, { cause: error })
}

/** The failure that a reply other than 2xx tells of, whether or not it has the shape that was promised. */
export async function failureOf(reply: Response): Promise<ApiFailure> {
  return failureFrom(reply.status, await reply.text().catch(() => ''), reply.headers.get('x-request-id'))
}

export function failureFrom(status: number, body: string, requestId: string | null): ApiFailure {
  try {
    const { error } = JSON.parse(body) as components['schemas']['ErrorResponse']
    if (typeof error.code === 'string' && typeof error.message === 'string') {
      return new ApiFailure(error.code, error.message, status, error.request_id ?? requestId, error.hint ?? null)
    }
  } catch {
    // A proxy in between speaks its own language.
  }
  return new ApiFailure(`http_${status}`, body.slice(0, 300).trim() || `HTTP ${status}`, status, requestId)
}
