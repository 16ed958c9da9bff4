/**
 * Text that grows, cut into what can be shown for good: words, paragraph breaks, cited articles. What might still become
 * something else, such as `[work_ru`, is held back until it is clear. Nothing that was told is ever taken back, so showing
 * it only appends.
 */
export type Grown = { kind: 'words'; text: string } | { kind: 'cite'; id: string } | { kind: 'break' } | { kind: 'lead-end' }

/** Longest `[source#article]`: 300 and 64 characters, and what is around them. */
const LONGEST_MARKER = 367

/** A first sentence longer than this is no conclusion. */
const LONGEST_LEAD = 240

const marker = /^\[([^[\]]{1,300}#[^[\]\s]{1,64})\]/

export class Growing {
  private text = ''
  private at = 0
  private inLead = true
  private leadLength = 0

  /** What is new, for the whole text so far. The end of the text tells also what was held back. */
  feed(whole: string, isEnd = false): Grown[] {
    this.text = whole
    const grown: Grown[] = []
    const say = (words: string) => {
      const last = grown.at(-1)
      if (last?.kind === 'words') last.text += words
      else if (words !== '') grown.push({ kind: 'words', text: words })
    }
    while (this.at < this.text.length) {
      const rest = this.text.slice(this.at, this.at + LONGEST_MARKER + 1)
      const character = rest[0] ?? ''
      if (character === '[') {
        const found = marker.exec(rest)
        if (found) {
          grown.push({ kind: 'cite', id: found[1] ?? '' })
          this.at += found[0].length
          continue
        }
        const mayBecomeOne = !rest.slice(1).includes('[') && !rest.includes(']') && rest.length <= LONGEST_MARKER
        if (mayBecomeOne && !isEnd) break
      }
      if (character === '\n') {
        const lines = /^\n+/.exec(rest)?.[0].length ?? 1
        // More may come that makes it a paragraph.
        if (lines === rest.length && !isEnd) break
        this.endLead(grown)
        if (lines > 1) grown.push({ kind: 'break' })
        else say('\n')
        this.at += lines
        continue
      }
      if (this.inLead && /[。！？!?.]/.test(character)) {
        const next = rest[1]
        if (next === undefined && !isEnd) break
        say(character)
        this.at += 1
        const ends = character !== '.' || next === undefined || /\s/.test(next)
        if (ends) this.endLead(grown)
        continue
      }
      if (this.inLead && (this.leadLength += 1) > LONGEST_LEAD) this.endLead(grown)
      say(character)
      this.at += 1
    }
    return grown
  }

  private endLead(grown: Grown[]) {
    if (!this.inLead) return
    this.inLead = false
    grown.push({ kind: 'lead-end' })
  }
}
