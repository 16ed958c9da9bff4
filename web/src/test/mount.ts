import { flushPromises, mount } from '@vue/test-utils'
import type { Component } from 'vue'
import { createMemoryHistory } from 'vue-router'

import type { Api } from '@/api/client'
import { recordedApi, type Recording } from '@/api/recorded'
import { apiKey } from '@/composables/useApi'
import { createKeyring, createSession, sessionKey } from '@/composables/useSession'
import { i18n, type Locale } from '@/i18n'
import { createPageRouter } from '@/router'

interface MountOptions {
  props?: Record<string, unknown>
  slots?: Record<string, string>
  /** What the service says; `recorded.ts` has the rest. */
  recording?: Recording
  /** Stands in for the service where a test wants to see the calls. */
  api?: Api
  locale?: Locale
  /** Address below `/ui`. */
  at?: string
}

/** Mounts a component with everything the page gives it, and waits until it is quiet. */
export async function mountPage(component: Component, options: MountOptions = {}) {
  i18n.global.locale.value = options.locale ?? 'en'
  const api = options.api ?? recordedApi(options.recording)
  const session = createSession(() => api, createKeyring())
  await session.load()
  const router = createPageRouter(createMemoryHistory('/ui/'))
  await router.push(options.at ?? '/')
  await router.isReady()
  const wrapper = mount(component, {
    attachTo: document.body,
    props: options.props,
    slots: options.slots,
    global: { plugins: [i18n, router], provide: { [apiKey as symbol]: api, [sessionKey as symbol]: session } },
  })
  await flushPromises()
  return { wrapper, api, session, router }
}
