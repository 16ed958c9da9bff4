import { computed, onScopeDispose, ref, shallowReactive } from 'vue'

import { ApiFailure, asFailure, isAbort } from '@/api/failure'
import type { IngestJob } from '@/api/types'
import { useApi } from '@/composables/useApi'

/** Documents that are sent at once. */
const AT_ONCE = 2
/** How long to wait before looking at a job: shortly at first, then less and less often. */
const FIRST_LOOK_MS = 250
const SLOWEST_LOOK_MS = 3_000
const SLOWER = 1.6
/** Looks that may fail in a row. */
const PATIENCE = 6

export type UploadState = 'waiting' | 'sending' | 'reading' | 'done' | 'failed' | 'cancelled'

export interface Upload {
  key: number
  name: string
  file: File
  /** The source that it is a version of; its own name without it. */
  source?: string
  state: UploadState
  /** Share of the bytes that were sent. */
  sent: number
  job: IngestJob | null
  error: ApiFailure | null
}

interface UploadsOptions {
  /** A document answers now. */
  onDone?: (job: IngestJob) => void
  wait?: (ms: number) => Promise<void>
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Documents on their way in: a few are sent at a time, and each is followed until it answers or was refused. */
export function useUploads({ onDone, wait = sleep }: UploadsOptions = {}) {
  const api = useApi()
  const uploads = ref<Upload[]>([])
  const stops = new Map<number, AbortController>()
  let next = 1

  function add(files: Iterable<File>, source?: string) {
    for (const file of files) {
      const upload: Upload = { key: next, name: file.name, file, source, state: 'waiting', sent: 0, job: null, error: null }
      next += 1
      uploads.value = [shallowReactive(upload), ...uploads.value]
    }
    begin()
  }

  function begin() {
    const sending = uploads.value.filter(({ state }) => state === 'sending').length
    // The newest stands on top; whoever came first is sent first.
    const waiting = uploads.value.filter(({ state }) => state === 'waiting').reverse()
    for (const upload of waiting.slice(0, Math.max(0, AT_ONCE - sending))) void send(upload)
  }

  async function send(upload: Upload) {
    const stop = new AbortController()
    stops.set(upload.key, stop)
    upload.state = 'sending'
    upload.sent = 0
    upload.error = null
    try {
      upload.job = await api.upload(upload.file, {
        source: upload.source,
        signal: stop.signal,
        onProgress: (share) => (upload.sent = share),
      })
      upload.state = 'reading'
      begin()
      await follow(upload, stop.signal)
    } catch (reason) {
      if (isAbort(reason) || stop.signal.aborted) upload.state = 'cancelled'
      else {
        upload.error = asFailure(reason)
        upload.state = 'failed'
      }
    } finally {
      stops.delete(upload.key)
      begin()
    }
  }

  /** Looks at the job until it has ended. A look that fails is no news of the job. */
  async function follow(upload: Upload, signal: AbortSignal) {
    let pause = FIRST_LOOK_MS
    let failures = 0
    while (upload.job) {
      const { job } = upload
      if (job.status === 'done') {
        upload.state = 'done'
        onDone?.(job)
        return
      }
      if (job.status === 'failed') {
        throw new ApiFailure(job.error?.code ?? 'internal_error', job.error?.message ?? '', 200)
      }
      await wait(pause)
      signal.throwIfAborted()
      pause = Math.min(SLOWEST_LOOK_MS, pause * SLOWER)
      try {
        upload.job = await api.document(job.job_id, { signal })
        failures = 0
      } catch (reason) {
        failures += 1
        const { status } = asFailure(reason)
        const final = status >= 400 && status < 500 && status !== 429
        if (isAbort(reason) || final || failures >= PATIENCE) throw reason
      }
    }
  }

  /** Gives up sending. What has arrived is read all the same. */
  function cancel(upload: Upload) {
    if (upload.state === 'waiting') upload.state = 'cancelled'
    else stops.get(upload.key)?.abort()
  }

  function again(upload: Upload) {
    upload.state = 'waiting'
    upload.job = null
    upload.error = null
    begin()
  }

  function forget(upload: Upload) {
    uploads.value = uploads.value.filter(({ key }) => key !== upload.key)
  }

  onScopeDispose(() => stops.forEach((stop) => stop.abort()))

  return {
    uploads,
    busy: computed(() => uploads.value.some(({ state }) => ['waiting', 'sending', 'reading'].includes(state))),
    add,
    cancel,
    again,
    forget,
  }
}
