import { computed, inject, readonly, ref, shallowRef, type InjectionKey } from 'vue'

import type { Api } from '@/api/client'
import type { Me, Role } from '@/api/types'

import { browserStorage, tabStorage, type Keep } from './storage'

const rank: Record<Role, number> = { reader: 0, editor: 1, admin: 2 }

/** The key that is sent: for this tab, unless its owner asked to be remembered. */
export function createKeyring(tab: Keep = tabStorage, browser: Keep = browserStorage) {
  const key = ref(tab.read('key') ?? browser.read('key'))
  return {
    key: readonly(key),
    set(secret: string, remember: boolean) {
      this.clear()
      ;(remember ? browser : tab).write('key', secret)
      key.value = secret
    },
    clear() {
      tab.remove('key')
      browser.remove('key')
      key.value = null
    },
  }
}

export type Keyring = ReturnType<typeof createKeyring>

/** Who asks, and what they may do. */
export function createSession(api: () => Api, keyring: Keyring) {
  const me = shallowRef<Me | null>(null)
  const needsKey = ref(false)
  /** Grows whenever somebody else asks; whatever was loaded is loaded again. */
  const turn = ref(0)

  async function load() {
    try {
      me.value = await api().me()
    } catch {
      // A refusal has opened the dialog; anything else the health lamp tells.
      me.value = null
    }
  }

  return {
    me: readonly(me),
    needsKey: readonly(needsKey),
    turn: readonly(turn),
    signedIn: computed(() => keyring.key.value !== null),
    load,

    /** Whether whoever asks has this role or a higher one. Not known yet means no. */
    may: (role: Role) => me.value !== null && rank[me.value.role] >= rank[role],

    /** Whether there is a model, or an agent to act with. What the service does not mention may be there. */
    has: (what: 'model' | 'agents') =>
      what === 'model' ? me.value?.model !== false : me.value?.agents === undefined || me.value.agents.length > 0,

    /** The service has refused the key, or wants one. */
    refused() {
      needsKey.value = true
    },

    /** Somebody wants to sign in, or as somebody else. */
    ask() {
      needsKey.value = true
    },

    dismiss() {
      needsKey.value = false
    },

    /** Tries a key. Whether it opens the door. */
    async signIn(secret: string, remember: boolean): Promise<boolean> {
      keyring.set(secret, remember)
      needsKey.value = false
      await load()
      // `refused` was called meanwhile if it did not.
      if (needsKey.value) {
        keyring.clear()
        return false
      }
      turn.value += 1
      return true
    },

    async signOut() {
      keyring.clear()
      needsKey.value = false
      await load()
      turn.value += 1
    },
  }
}

export type Session = ReturnType<typeof createSession>

export const sessionKey: InjectionKey<Session> = Symbol('session')

export function useSession(): Session {
  const session = inject(sessionKey)
  if (!session) throw new Error('no session was provided')
  return session
}
