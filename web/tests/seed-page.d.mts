/** Replays what the earlier page sends; one line for each thing that held, and one for each that did not. */
export function replay(url: string, key?: string): Promise<{ held: string[]; broken: string[] }>
