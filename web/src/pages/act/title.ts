import { plain } from '@/text/pieces'

/** Longest title of our own, in characters. The service takes 200. */
const MOST = 60

/** What a conversation is called, from the first thing that is said in it. */
export function titleOf(message: string): string {
  const line = plain(message.trim().split('\n')[0] ?? '').replace(/\s+/g, ' ')
  const characters = [...line]
  return characters.length > MOST ? `${characters.slice(0, MOST - 1).join('')}…` : line
}
