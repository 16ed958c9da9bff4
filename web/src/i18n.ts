import { createI18n } from 'vue-i18n'

import { browserStorage } from '@/composables/storage'

export const locales = ['zh-TW', 'en'] as const

export type Locale = (typeof locales)[number]

/** One file per language and view, loaded with the view. `common` is what every view uses. */
const files = import.meta.glob<{ default: Record<string, unknown> }>('./messages/*/*.ts')

export const i18n = createI18n({
  legacy: false,
  locale: 'en' as string,
  fallbackLocale: false,
  missingWarn: false,
  fallbackWarn: false,
  messages: { 'zh-TW': {}, en: {} },
})

const loaded = new Set<string>()
const views = new Set<string>(['common'])

async function load(locale: Locale, view: string) {
  const path = `./messages/${locale}/${view}.ts`
  const file = files[path]
  if (loaded.has(path) || !file) return
  const messages = await file()
  i18n.global.mergeLocaleMessage(locale, { [view]: messages.default })
  loaded.add(path)
}

/** Loads what a view says, in the language of the moment. Its keys begin with the view's name: `ask.title`. */
export async function loadMessages(view: string) {
  views.add(view)
  await Promise.all([...views].map((each) => load(i18n.global.locale.value as Locale, each)))
}

/** The language that was chosen here, or the first of the browser's that the page speaks. */
export function preferredLocale(): Locale {
  const kept = browserStorage.read('locale')
  const wanted = [kept ?? '', ...navigator.languages]
  for (const tag of wanted) {
    if (/^zh/i.test(tag)) return 'zh-TW'
    if (/^en/i.test(tag)) return 'en'
  }
  return 'en'
}

/** Sets the language before anything is shown. */
export function begin(locale: Locale) {
  i18n.global.locale.value = locale
  document.documentElement.lang = locale
}

/** Changes the language once everything that is on the page can be said in it. */
export async function speak(locale: Locale) {
  await Promise.all([...views].map((view) => load(locale, view)))
  begin(locale)
  browserStorage.write('locale', locale)
}
