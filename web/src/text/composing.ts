/** Whether a key belongs to an input method. Safari ends a composition before it tells of the Enter that ended it: code 229. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229
}
