import { createRouter, type RouteRecordRaw, type RouterHistory } from 'vue-router'

import { splitArticleId } from '@/api/addresses'
import { loadMessages } from '@/i18n'

declare module 'vue-router' {
  interface RouteMeta {
    /** The view, which is also the name of its messages. */
    view: string
    /** Messages of others that it shows parts of. */
    also?: string[]
    /** Without header and navigation. */
    bare?: boolean
  }
}

/** One folder of `pages` for each view; each is loaded when it is opened. */
export const routes: RouteRecordRaw[] = [
  { path: '/', name: 'ask', component: () => import('@/pages/ask/AskPage.vue'), meta: { view: 'ask' } },
  { path: '/act/:conversation?', name: 'act', component: () => import('@/pages/act/ActPage.vue'), meta: { view: 'act', also: ['run'] } },
  {
    path: '/rules/:source?/:article?',
    name: 'rules',
    component: () => import('@/pages/rules/RulesPage.vue'),
    meta: { view: 'rules' },
  },
  {
    path: '/documents',
    name: 'documents',
    component: () => import('@/pages/documents/DocumentsPage.vue'),
    meta: { view: 'documents' },
  },
  { path: '/ledger', name: 'ledger', component: () => import('@/pages/ledger/LedgerPage.vue'), meta: { view: 'ledger' } },
  { path: '/runs', name: 'runs', component: () => import('@/pages/runs/RunsPage.vue'), meta: { view: 'runs', also: ['run'] } },
  { path: '/runs/:run', name: 'run', component: () => import('@/pages/runs/RunPage.vue'), meta: { view: 'runs', also: ['run', 'ask'] } },
  {
    path: '/embed',
    name: 'embed',
    component: () => import('@/pages/embed/EmbedPage.vue'),
    meta: { view: 'ask', bare: true },
  },
  {
    path: '/:rest(.*)*',
    name: 'elsewhere',
    component: () => import('@/pages/elsewhere/ElsewherePage.vue'),
    meta: { view: 'elsewhere' },
  },
]

export function createPageRouter(history: RouterHistory) {
  const router = createRouter({
    history,
    routes,
    scrollBehavior: (to, _from, saved) => saved ?? (to.hash ? { el: to.hash } : { top: 0 }),
  })
  // Beside the view's code, not after it.
  router.beforeEach((to) => {
    const messages = [to.meta.view, ...(to.meta.also ?? [])].map(loadMessages)
    for (const { components } of to.matched) {
      const view = components?.default
      // The router asks for it again, and tells what went wrong with it.
      if (typeof view === 'function') void Promise.resolve((view as () => unknown)()).catch(() => undefined)
    }
    return Promise.all(messages).then(() => true)
  })
  return router
}

/** Where an article is read: the one permalink there is for it. */
export function articleLink(id: string) {
  const { source, article } = splitArticleId(id)
  return { name: 'rules', params: { source, article } }
}
