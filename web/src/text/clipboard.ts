/** Copies a text. Whether that worked: a page that is not served securely has no clipboard, and a frame may be refused. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

/** The way of old, which needs no permission. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'unseen'
  const before = document.activeElement
  // Inside a dialog nothing outside of it can be selected.
  const host = document.querySelector('dialog[open]') ?? document.body
  host.append(area)
  area.select()
  const worked = typeof document.execCommand === 'function' && document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  return worked
}
