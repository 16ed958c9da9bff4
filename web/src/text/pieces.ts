/** Text of models, documents and strangers, cut into what is shown as it is and what is shown by name. */
export type Piece = { kind: 'text'; text: string } | { kind: 'control'; name: string }

/** Characters that reorder or hide what stands around them, and controls that no text needs. Tab and line breaks stay. */
// eslint-disable-next-line no-control-regex -- finding them is the point
const hidden = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/

/** Cuts a text at characters that could make it read as something else. */
export function pieces(text: string): Piece[] {
  if (!hidden.test(text)) return text === '' ? [] : [{ kind: 'text', text }]
  const found: Piece[] = []
  let plain = ''
  for (const character of text) {
    if (hidden.test(character)) {
      if (plain !== '') found.push({ kind: 'text', text: plain })
      plain = ''
      const code = character.codePointAt(0) ?? 0
      found.push({ kind: 'control', name: `U+${code.toString(16).toUpperCase().padStart(4, '0')}` })
    } else {
      plain += character
    }
  }
  if (plain !== '') found.push({ kind: 'text', text: plain })
  return found
}

/** The text without such characters, for names of controls, titles and the clipboard. */
export function plain(text: string): string {
  return pieces(text)
    .map((piece) => (piece.kind === 'text' ? piece.text : ''))
    .join('')
}
