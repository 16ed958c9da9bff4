/** Whether somebody is in the middle of writing something, or in a dialog. Then nothing may take the focus from them. */
export function isTyping(active: Element | null = document.activeElement): boolean {
  if (active === null) return false
  if (active.closest('dialog[open]')) return true
  // A form that asks something else is being filled in.
  if (active.closest('fieldset')) return true
  if (active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement) return active.value !== ''
  return active instanceof HTMLElement && active.isContentEditable
}

/** Whether a key belongs to an input method. Safari ends a composition before it tells of the Enter that ended it: code 229. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229
}
