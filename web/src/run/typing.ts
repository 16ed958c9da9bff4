/** Whether somebody is in the middle of writing something, or in a dialog. Then nothing may take the focus from them. */
export function isTyping(active: Element | null = document.activeElement): boolean {
  if (active === null) return false
  if (active.closest('dialog[open]')) return true
  // A form that asks something else is being filled in.
  if (active.closest('fieldset')) return true
  if (active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement) return active.value !== ''
  return active instanceof HTMLElement && active.isContentEditable
}
