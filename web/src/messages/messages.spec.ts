import { describe, expect, it } from 'vitest'

import { i18n } from '@/i18n'

const files = import.meta.glob<{ default: object }>('./*/*.ts', { eager: true })

/** Names of all messages of a file, with what each takes: `common.health.label {state}`. */
function keys(messages: object, above = ''): string[] {
  return Object.entries(messages).flatMap(([key, value]) => {
    const path = above ? `${above}.${key}` : key
    if (typeof value === 'object' && value !== null) return keys(value as object, path)
    const takes = [...new Set(String(value).match(/\{\w+\}/g) ?? [])].sort()
    return [[path, ...takes].join(' ')]
  })
}

const views = (locale: string) =>
  Object.keys(files)
    .filter((path) => path.startsWith(`./${locale}/`))
    .map((path) => path.slice(locale.length + 3, -3))

describe('messages', () => {
  it('are in both languages for the same views', () => {
    expect(views('zh-TW')).toEqual(views('en'))
    expect(views('en')).toContain('common')
  })

  it.each(views('en'))('of %s have the same names and take the same things in both languages', (view) => {
    const of = (locale: string) => keys(files[`./${locale}/${view}.ts`]?.default ?? {}).sort()
    expect(of('zh-TW')).toEqual(of('en'))
  })

  it('are all read by the compiler, and none is empty', () => {
    const problems: string[] = []
    for (const [path, file] of Object.entries(files)) {
      const locale = path.split('/')[1] as 'en' | 'zh-TW'
      const view = path.split('/')[2]?.replace('.ts', '') ?? ''
      i18n.global.mergeLocaleMessage(locale, { [view]: file.default })
      i18n.global.locale.value = locale
      for (const key of keys(file.default)) {
        const name = `${view}.${key.split(' ')[0]}`
        const said = i18n.global.t(name, { n: 2 }, 2)
        if (said === '' || said === name) problems.push(`${locale} ${name}`)
      }
    }
    expect(problems).toEqual([])
  })
})
