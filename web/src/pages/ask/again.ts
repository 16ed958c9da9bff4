import type { Options } from './options'

/** What one may do when an answer was not one. */
export type Again = 'again' | 'extract' | 'more-steps' | 'everywhere' | 'reword'

/** The options for asking once more; null where the question itself has to change. */
export function optionsAgain(how: Again, options: Options): Options | null {
  switch (how) {
    case 'again':
      return options
    case 'extract':
      return { ...options, mode: 'extract' }
    case 'more-steps':
      return { ...options, mode: 'agent', steps: Math.min(12, options.steps + 4) }
    case 'everywhere':
      return { ...options, source: '', chapter: null }
    case 'reword':
      return null
  }
}
