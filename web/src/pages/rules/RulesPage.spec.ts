import { enableAutoUnmount, flushPromises } from '@vue/test-utils'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { ApiFailure } from '@/api/failure'
import * as sample from '@/api/sample'
import { mountPage } from '@/test/mount'

import RulesPage from './RulesPage.vue'
import { useLetterKeys } from './useKeys'

enableAutoUnmount(afterEach)
afterEach(() => useLetterKeys().set(true))

const source = encodeURIComponent(sample.source.source)
const press = async (key: string) => {
  document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
  await flushPromises()
}

describe('the rules', () => {
  it('show a shelf of sources, each a link to its outline', async () => {
    const { wrapper } = await mountPage(RulesPage, { at: '/rules' })
    const links = wrapper.findAll('.shelf a').map((link) => link.attributes('href'))
    expect(links).toContain(`/ui/rules/${source}`)
    expect(wrapper.get('h1').text()).toBe('The rules')
  })

  it('show an article at its own address, and those beside it by key and by link', async () => {
    const { wrapper, router } = await mountPage(RulesPage, { at: `/rules/${source}/22` })
    expect(wrapper.get('h1').text()).toBe('第 22 條（特別休假之排定）')
    expect(wrapper.get('a[rel=next]').attributes('href')).toBe(`/ui/rules/${source}/22-1`)
    expect(wrapper.get('[aria-selected=true]').text()).toContain('第 22 條')
    await press('j')
    expect(router.currentRoute.value.params.article).toBe('22-1')
    await press('ArrowLeft')
    expect(router.currentRoute.value.params.article).toBe('22')
  })

  it('leave letters alone while one types, and where they were turned off', async () => {
    const { wrapper, router } = await mountPage(RulesPage, { at: `/rules/${source}/22` })
    await wrapper.get('input[type=search]').trigger('keydown', { key: 'j' })
    expect(router.currentRoute.value.params.article).toBe('22')
    await press('?')
    await wrapper.get('dialog input[type=checkbox]').setValue(false)
    await wrapper.get('dialog .close').trigger('click')
    await press('j')
    expect(router.currentRoute.value.params.article).toBe('22')
    await press('ArrowRight')
    expect(router.currentRoute.value.params.article).toBe('22-1')
  })

  it('find what is in the address, mark it, and keep it for the article', async () => {
    const { wrapper } = await mountPage(RulesPage, { at: `/rules?q=${encodeURIComponent('特別休假')}` })
    expect(wrapper.findAll('.hits > li')).toHaveLength(sample.search.hits.length)
    expect(wrapper.find('.excerpt mark').exists()).toBe(true)
    expect(wrapper.get('.hit').attributes('href')).toContain('?q=')
  })

  it('search for what was composed, not for what is being composed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const asked: string[] = []
    const search = async ({ question }: { question: string }) => {
      asked.push(question)
      return sample.search
    }
    const { wrapper } = await mountPage(RulesPage, { at: '/rules', recording: { search } })
    const box = wrapper.get<HTMLInputElement>('input[type=search]')
    box.element.value = 'ㄊㄜˋ'
    await box.trigger('input', { isComposing: true })
    vi.advanceTimersByTime(1_000)
    expect(asked).toEqual([])
    box.element.value = '特別'
    await box.trigger('compositionend')
    vi.advanceTimersByTime(1_000)
    vi.useRealTimers()
    expect(asked).toEqual(['特別'])
  })

  it('say that there is no such article, below a heading', async () => {
    const article = async () => {
      throw new ApiFailure('article_not_found', 'there is no article "999"', 404, '1', 'GET /sources/{source} has the outline')
    }
    const { wrapper } = await mountPage(RulesPage, { at: `/rules/${source}/999`, recording: { article } })
    expect(wrapper.get('[role=alert]').text()).toContain('There is no such article')
    expect(wrapper.find('h1').exists()).toBe(true)
  })
})
