import { fileURLToPath } from 'node:url'

import vue from '@vitejs/plugin-vue'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

/** Where the service listens while one works on the page. */
const service = process.env.BYLAW_URL ?? 'http://127.0.0.1:8024'

/** Addresses of the service that the page asks for. `/ui/` is the page itself. */
const addresses =
  '^/(ask|search|articles|sources|documents|runs|conversations|artifacts|usage|budgets|cost|me|healthz|readyz|openapi\\.json)(/|\\?|$)'

/**
 * The view that most people open is fetched beside the page's own code, not after it. Messages are not: which language is
 * wanted is known only there.
 */
function firstView(name: string): Plugin {
  return {
    name: 'first-view',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const files = new Set<string>()
        const collect = (file: string) => {
          const chunk = bundle[file]
          if (chunk?.type !== 'chunk' || files.has(file)) return
          files.add(file)
          chunk.imports.forEach(collect)
        }
        const view = Object.values(bundle).find((each) => each.type === 'chunk' && each.facadeModuleId?.endsWith(name))
        if (!view) throw new Error(`no chunk is made of ${name}`)
        collect(view.fileName)
        return [...files]
          .filter((file) => !html.includes(file))
          .map((file) => ({ tag: 'link', attrs: { rel: 'modulepreload', crossorigin: true, href: `/ui/${file}` }, injectTo: 'head' }))
      },
    },
  }
}

export default defineConfig({
  base: '/ui/',
  plugins: [vue(), firstView('/pages/ask/AskPage.vue')],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  // Neither the options API nor development tools are in what people load; messages are compiled without `eval`.
  define: {
    __VUE_OPTIONS_API__: false,
    __VUE_PROD_DEVTOOLS__: false,
    __VUE_I18N_LEGACY_API__: false,
    __INTLIFY_PROD_DEVTOOLS__: false,
    __INTLIFY_JIT_COMPILATION__: true,
    __INTLIFY_DROP_MESSAGE_COMPILER__: false,
  },
  // The service refuses what comes from pages of other hosts; here it is told that the page is its own.
  server: { proxy: { [addresses]: { target: service, changeOrigin: true, headers: { origin: service } } } },
  build: {
    // Strict CSP: nothing inline, no `data:`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.spec.ts'],
    setupFiles: ['src/test/setup.ts'],
    restoreMocks: true,
  },
})
