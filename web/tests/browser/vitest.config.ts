// Tests in a real browser, of a real service. `npx vitest run --config tests/browser/vitest.config.ts`, after a build.

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  cacheDir: fileURLToPath(new URL('../../node_modules/.vite-browser', import.meta.url)),
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: ['**/*.browser.ts'],
    environment: 'node',
    // Two cores: a browser and a service for each.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    retry: 0,
  },
})
