import type { RunSummary } from '@/api/types'
import { toneOfStop } from '@/run/tone'

export type Tone = 'running' | 'waiting' | ReturnType<typeof toneOfStop>

export function toneOf({ status, stop }: Pick<RunSummary, 'status' | 'stop'>): Tone {
  return status === 'ended' ? toneOfStop(stop) : status
}
