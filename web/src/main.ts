import { createApp } from 'vue'
import { createWebHistory } from 'vue-router'

import '@/styles/index.css'
import App from '@/App.vue'
import { liveApi } from '@/api/live'
import { apiKey } from '@/composables/useApi'
import { createKeyring, createSession, sessionKey } from '@/composables/useSession'
import { begin, i18n, loadMessages, preferredLocale } from '@/i18n'
import { createPageRouter } from '@/router'

const keyring = createKeyring()
const session = createSession(() => api, keyring)
const api = liveApi({ key: () => keyring.key.value, refused: () => session.refused() })
const router = createPageRouter(createWebHistory(import.meta.env.BASE_URL))

// Everything the first view needs is fetched side by side, and it is shown when all of it is there.
const app = createApp(App).provide(apiKey, api).provide(sessionKey, session)
begin(preferredLocale())
app.use(i18n).use(router)
await Promise.allSettled([loadMessages('common'), router.isReady(), session.load()])
app.mount('#app')
