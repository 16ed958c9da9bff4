import type { RunSummary, StopReason } from '@/api/types'

export type Tone = 'running' | 'waiting' | 'good' | 'info' | 'warning' | 'bad'

/** How a stop reads: what broke, what a limit ended, what somebody decided. */
export function toneOfStop(reason: StopReason | null | undefined): Tone {
  switch (reason) {
    case 'completed':
    case null:
    case undefined:
      return 'good'
    case 'cancelled':
    case 'refused':
      return 'info'
    case 'failed':
    case 'upstream_incomplete':
    case 'upstream_timeout':
      return 'bad'
    default:
      return 'warning'
  }
}

export function toneOf({ status, stop }: Pick<RunSummary, 'status' | 'stop'>): Tone {
  return status === 'ended' ? toneOfStop(stop) : status
}
