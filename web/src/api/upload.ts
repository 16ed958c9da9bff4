import type { UploadOptions } from './client'
import { ApiFailure, failureFrom } from './failure'
import type { IngestJob } from './types'

/** Sends a document. `fetch` does not tell how far it has come, so this is the one place that does not use it. */
export function upload(
  address: string,
  file: File,
  headers: Record<string, string>,
  { source, onProgress, signal }: UploadOptions = {},
): Promise<IngestJob> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const aborted = () => new DOMException('the upload was given up', 'AbortError')
    if (signal?.aborted) return reject(aborted())
    signal?.addEventListener('abort', () => request.abort(), { once: true })
    request.upload.onprogress = ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress?.(loaded / total)
    }
    request.onabort = () => reject(aborted())
    request.onerror = () => reject(new ApiFailure('connection_lost', ''))
    request.onload = () => {
      const { status, responseText } = request
      if (status < 200 || status > 299) {
        return reject(failureFrom(status, responseText, request.getResponseHeader('x-request-id')))
      }
      try {
        resolve(JSON.parse(responseText) as IngestJob)
      } catch (error) {
        reject(new ApiFailure('unreadable_reply', String(error), status))
      }
    }
    request.open('POST', address)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    const form = new FormData()
    // Before the file: a reader of the form knows the name by the time the bytes come.
    if (source !== undefined) form.append('source', source)
    form.append('file', file, file.name)
    request.send(form)
  })
}
