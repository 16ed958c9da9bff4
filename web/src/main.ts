import { createApp } from 'vue'
import { createWebHistory } from 'vue-router'

import '@/styles/index.css'
import App from '@/App.vue'
import { liveApi } from '@/api/live'
import { apiKey } from '@/composables/useApi'
import { createKeyring, createSession, sessionKey } from '@/composables/useSession'
import { i18n, loadMessages, preferredLocale, speak } from '@/i18n'
import { createPageRouter } from '@/router'

const keyring = createKeyring()
const session = createSession(() => api, keyring)
const api = liveApi({ key: () => keyring.key.value, refused: () => session.refused() })
const router = createPageRouter(createWebHistory(import.meta.env.BASE_URL))

void session.load()
await speak(preferredLocale(), false)
await loadMessages('common')

createApp(App).provide(apiKey, api).provide(sessionKey, session).use(i18n).use(router).mount('#app')
