import { describe, expect, it } from 'vitest'

import { ApiFailure } from '@/api/failure'
import { recordedApi } from '@/api/recorded'
import type { Role } from '@/api/types'

import { createKeyring, createSession } from './useSession'

/** A service that lets in whoever has the key, as what it is. */
function service(right: string, role: Role = 'reader') {
  const keyring = createKeyring()
  const api = recordedApi({
    me: async () => {
      if (keyring.key.value === right) return { principal: 'k1', role, keys_required: true }
      session.refused()
      throw new ApiFailure('invalid_key', 'no', 401)
    },
  })
  const session = createSession(() => api, keyring)
  return { session, keyring }
}

describe('a session', () => {
  it('asks for a key where one is needed', async () => {
    const { session } = service('right')
    await session.load()
    expect(session.needsKey.value).toBe(true)
    expect(session.may('reader')).toBe(false)
  })

  it('keeps a key for the tab, unless it is to be remembered', async () => {
    const { session } = service('right')
    expect(await session.signIn('right', false)).toBe(true)
    expect([sessionStorage.getItem('bylaw.key'), localStorage.getItem('bylaw.key')]).toEqual(['right', null])
    expect(await session.signIn('right', true)).toBe(true)
    expect([sessionStorage.getItem('bylaw.key'), localStorage.getItem('bylaw.key')]).toEqual([null, 'right'])
  })

  it('does not keep a key that opens nothing', async () => {
    const { session, keyring } = service('right')
    expect(await session.signIn('wrong', true)).toBe(false)
    expect([keyring.key.value, localStorage.getItem('bylaw.key')]).toEqual([null, null])
    expect(session.needsKey.value).toBe(true)
  })

  it('has everything loaded again for somebody else', async () => {
    const { session } = service('right')
    const before = session.turn.value
    await session.signIn('right', false)
    await session.signOut()
    expect(session.turn.value).toBe(before + 2)
    expect(session.signedIn.value).toBe(false)
  })

  it.each<[Role, boolean[]]>([
    ['reader', [true, false, false]],
    ['editor', [true, true, false]],
    ['admin', [true, true, true]],
  ])('of a %s may do what that role may', async (role, expected) => {
    const { session } = service('right', role)
    await session.signIn('right', false)
    expect((['reader', 'editor', 'admin'] as const).map(session.may)).toEqual(expected)
  })
})
