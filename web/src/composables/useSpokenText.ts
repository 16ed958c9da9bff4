/** Between two announcements: a screen reader that is told every word says none to its end. */
const PAUSE_MS = 1_500

/** The most that is said at the end; the rest is there to be read. */
const MOST = 600

/**
 * Says text that grows: whole sentences, and not too often. `hear` takes the whole text so far; a shorter one begins anew.
 * `rest` is what has not been said yet.
 */
export function useSpokenText(say: (text: string) => void, now: () => number = () => performance.now()) {
  let said = 0
  let last = -Infinity

  function hear(text: string) {
    if (text.length < said) {
      said = 0
      last = -Infinity
    }
    const end = lastEnd(text, said)
    if (end <= said || now() - last < PAUSE_MS) return
    say(text.slice(said, end).trim())
    said = end
    last = now()
  }

  return { hear, rest: (text: string) => text.slice(said, said + MOST).trim() }
}

/** Where the last whole sentence ends. A full stop counts once something follows it: 1.5 is no end. */
function lastEnd(text: string, from: number): number {
  let end = from
  for (const match of text.slice(from).matchAll(/[。！？]|[.!?](?=\s)|\n/g)) end = from + match.index + match[0].length
  return end
}
