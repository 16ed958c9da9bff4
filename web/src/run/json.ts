/**
 * JSON with line breaks and indentation; null if it is none. The text itself is kept, since reading and writing numbers
 * would change those that are too long for a browser.
 */
export function indentJson(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null
  try {
    JSON.parse(text)
  } catch {
    return null
  }
  const pieces = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g) ?? []
  let depth = 0
  let out = ''
  pieces.forEach((piece, place) => {
    const before = pieces[place - 1]
    if (piece === '}' || piece === ']') {
      depth -= 1
      out += before === '{' || before === '[' ? piece : `\n${'  '.repeat(depth)}${piece}`
      return
    }
    if (before === '{' || before === '[' || before === ',') out += `\n${'  '.repeat(depth)}`
    out += piece
    if (piece === ':') out += ' '
    if (piece === '{' || piece === '[') depth += 1
  })
  return out
}

/** A value as people read it: text as it is, the rest as JSON. */
export function readable(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
