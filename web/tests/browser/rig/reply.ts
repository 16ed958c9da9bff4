// What the scripted model says, step by step.

/** One step of a reply. */
export type Step =
  | { say: string }
  | { call: string; with: Record<string, unknown> }
  /** Nothing more is sent before this settles. */
  | { wait: Promise<unknown> }
  | { pause: number }
  /** The connection ends here, without an end marker. */
  | { cut: true }
  /** An error in the middle of the stream, as providers send it. */
  | { fail: string }

/** A reply: steps, or a status that is not 200. */
export type Reply = Iterable<Step> | { status: number; message: string }

/** A text in one piece. */
export function text(said: string): Reply {
  return [{ say: said }]
}

/** A text in pieces of so many characters, with a pause after each. */
export function* slowly(said: string, { size = 4, pause = 10 } = {}): Generator<Step> {
  const characters = Array.from(said)
  for (let at = 0; at < characters.length; at += size) {
    yield { say: characters.slice(at, at + size).join('') }
    yield { pause }
  }
}

/** A text that stops at a gate; what comes after it is sent once the gate opens. */
export function held(before: string, gate: Gate, after: string): Reply {
  return [{ say: before }, { wait: gate.opened }, { say: after }]
}

/** Calls of tools. */
export function calls(...wanted: [tool: string, args: Record<string, unknown>][]): Reply {
  return wanted.map(([tool, args]) => ({ call: tool, with: args }))
}

/** Something to wait for, which a test lets happen. */
export interface Gate {
  opened: Promise<void>
  open: () => void
}

export function gate(): Gate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
