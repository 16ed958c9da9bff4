import { afterEach, beforeEach } from 'vitest'

import { i18n } from '@/i18n'

const files = import.meta.glob<{ default: Record<string, unknown> }>('../messages/*/*.ts', { eager: true })

for (const [path, file] of Object.entries(files)) {
  const [locale, view] = path.replace('../messages/', '').replace('.ts', '').split('/') as ['en' | 'zh-TW', string]
  i18n.global.mergeLocaleMessage(locale, { [view]: file.default })
}

beforeEach(() => {
  i18n.global.locale.value = 'en'
})

afterEach(() => {
  localStorage.clear()
  sessionStorage.clear()
  document.body.innerHTML = ''
})
