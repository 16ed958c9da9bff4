import type { StopReason } from '@/api/types'

/** How a stop reads: what broke, what a limit ended, what somebody decided. */
export function toneOfStop(reason: StopReason | null | undefined): 'good' | 'info' | 'warning' | 'bad' {
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
