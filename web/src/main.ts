import { createApp } from 'vue'
import { createWebHistory } from 'vue-router'

import '@/styles/index.css'
import App from '@/App.vue'
import type { Api } from '@/api/client'
import { liveApi } from '@/api/live'
import { apiKey } from '@/composables/useApi'
import { createKeyring, createSession, sessionKey } from '@/composables/useSession'
import { begin, i18n, loadMessages, preferredLocale } from '@/i18n'
import { createPageRouter } from '@/router'

const keyring = createKeyring()
const session = createSession(() => api, keyring)
const live = liveApi({ key: () => keyring.key.value, refused: () => session.refused() })
// `npm run dev:recorded` shows every screen without a service. Nothing of it is in what is built.
const api: Api = import.meta.env.MODE === 'recorded' ? (await import('@/api/recorded')).recordedApi({ pace: 400 }) : live
const router = createPageRouter(createWebHistory(import.meta.env.BASE_URL))

// Everything the first view needs is fetched side by side, and it is shown when all of it is there.
const app = createApp(App).provide(apiKey, api).provide(sessionKey, session)
begin(preferredLocale())
app.use(i18n).use(router)
await Promise.allSettled([loadMessages('common'), router.isReady(), session.load()])
app.mount('#app')
