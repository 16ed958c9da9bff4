// The program under test: where it is, and how its commands are run.

import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The top of the repository. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..')

/** The documents that ship with the program. */
export const SAMPLE = ['員工工作規則.md', 'employee-handbook.md'].map((name) => join(ROOT, 'crates/cli/sample', name))

/** The binary that `BYLAW_BIN` names, or the one that was built last: release before debug. */
export function binary(): string {
  const places = [process.env.BYLAW_BIN, join(ROOT, 'target/release/bylaw'), join(ROOT, 'target/debug/bylaw')]
  const found = places.find((place) => place && existsSync(place))
  if (!found) throw new Error('there is no bylaw binary: build one (cargo build), or name one in BYLAW_BIN')
  return found
}

/** Runs a command to its end and reads the JSON that it prints. */
export async function command(args: string[], env: Record<string, string> = {}): Promise<unknown> {
  const { stdout } = await promisify(execFile)(binary(), ['--json', ...args], { env: clean(env), maxBuffer: 2 ** 26 })
  return JSON.parse(stdout)
}

export interface Running {
  /** The first line that it printed, as JSON. */
  said: Record<string, unknown>
  /** What it wrote to its log so far. */
  log: () => string
  /** Ends it at once. */
  kill: () => Promise<void>
  stop: () => Promise<void>
}

/** Starts a command that goes on, and waits for its first line. */
export async function start(args: string[], env: Record<string, string> = {}): Promise<Running> {
  const child = spawn(binary(), ['--json', ...args], { env: clean(env), stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  child.stderr.on('data', (piece: Buffer) => {
    log += piece.toString('utf8')
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const said = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve)
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`bylaw ${args[0]} ended with ${code}:\n${log}`)))
  })
  return {
    said: JSON.parse(said) as Record<string, unknown>,
    log: () => log,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    stop: async () => {
      // Streams that browsers hold would be waited for until the grace is over; nothing here is worth that.
      child.kill('SIGTERM')
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), 2_000)
      await ended
      clearTimeout(late)
    },
  }
}

/** An environment in which nothing but what a test says configures the program. */
function clean(env: Record<string, string>): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('BYLAW_'))
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...env }
}
