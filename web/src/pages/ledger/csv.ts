/** Tables for spreadsheet programs. */

/** Without it they take UTF-8 for something older. */
const BYTE_ORDER_MARK = '\uFEFF'

/**
 * One cell. A text that a spreadsheet program would compute is marked as text, since keys and models are named by others;
 * numbers, negative ones too, stay numbers.
 */
export function cell(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? '' : String(value)
  const isNumber = /^-?\d+(\.\d+)?$/.test(text)
  const safe = !isNumber && /^\s*[=+\-@\t\r|%]/.test(text) ? `'${text}` : text
  return /[",\r\n\t;]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export function csv(rows: readonly (readonly (string | number | null | undefined)[])[]): string {
  return BYTE_ORDER_MARK + rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

/** Hands a text to whoever asked for it, as a file. */
export function download(name: string, text: string, type = 'text/csv;charset=utf-8') {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser takes its time to begin.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
