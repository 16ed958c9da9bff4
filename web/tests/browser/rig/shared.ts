// Documents of the shared material beside the repository, which not everyone has.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './program'

/** A file of the shared material; nothing, said loudly, where it is absent. */
export function shared(path: string): string | undefined {
  const places = [process.env.BYLAW_SHARED, join(ROOT, '../shared/data')]
  const found = places.map((place) => place && join(place, path)).find((file) => file && existsSync(file))
  if (!found) console.warn(`\n!! ${path} of ../shared/data is absent: what needs it is NOT TESTED\n`)
  return found
}
