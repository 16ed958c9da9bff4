// What the page says, in either language: the page's own messages, by their keys.

import type { Language } from './browser'
import { createI18n, type DefineLocaleMessage } from 'vue-i18n'

const files = import.meta.glob<{ default: Record<string, unknown> }>('../../../src/messages/*/*.ts', { eager: true })

function messages(language: Language): Record<string, unknown> {
  const found = Object.entries(files).filter(([path]) => path.includes(`/messages/${language}/`))
  return Object.fromEntries(found.map(([path, file]) => [path.replace(/.*\/|\.ts$/g, ''), file.default]))
}

const i18n = createI18n({
  legacy: false,
  locale: 'en',
  fallbackLocale: false,
  messages: { en: messages('en'), 'zh-TW': messages('zh-TW') } as Record<Language, DefineLocaleMessage>,
})

/** A message with its values filled in, in its form for so many. A key that there is no message for is an error. */
export function say(language: Language, key: string, values: Record<string, unknown> = {}, count?: number): string {
  const { t } = i18n.global
  const options = { locale: language }
  const said =
    count === undefined ? t(key, values, options) : t(key, { ...values, n: count }, { ...options, plural: count })
  if (said === key) throw new Error(`there is no message ${key} in ${language}`)
  return said
}

/** Every key of a language, `view.part.name`. */
export function keys(language: Language): string[] {
  const walk = (value: unknown, path: string): string[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => walk(inner, path ? `${path}.${name}` : name))
      : [path]
  return walk(messages(language), '')
}
