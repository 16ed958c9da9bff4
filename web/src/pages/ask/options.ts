import type { AskRequest, Mode } from '@/api/types'

/** How a question is to be answered, and from what. */
export interface Options {
  mode: Mode
  /** Of the agent. */
  steps: number
  /** Whether the agent's answer is checked before it is given. */
  check: boolean
  /** Empty for all. */
  source: string
  chapter: number | null
}

export const modes: readonly Mode[] = ['auto', 'extract', 'pipeline', 'agent']

export const usual: Options = Object.freeze({ mode: 'auto', steps: 6, check: false, source: '', chapter: null })

/** The request. What is left to the service is left out. */
export function requestOf(question: string, { mode, steps, check, source, chapter }: Options): AskRequest {
  return {
    question: question.trim(),
    mode,
    ...(source === '' ? {} : { source }),
    ...(chapter === null ? {} : { chapter_no: chapter }),
    ...(mode === 'agent' ? { max_steps: steps, self_check: check } : {}),
  }
}
