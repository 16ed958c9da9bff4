import { flushPromises } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'

import { articleLink } from '@/router'
import { mountPage } from '@/test/mount'

import OutlineTree from './OutlineTree.vue'

const outline = (articles: number, chapters: number) =>
  Array.from({ length: articles }, (_, n) => ({
    heading_path: chapters > 0 ? [`第 ${Math.floor((n * chapters) / articles) + 1} 章`] : [],
    article: String(n + 1),
    title: `第 ${n + 1} 條`,
  }))

async function begin(articles: number, chapters: number, current: string | null = null) {
  const { wrapper, router } = await mountPage(OutlineTree, { at: '/rules', props: { source: 'a.md', outline: outline(articles, chapters), current } })
  await flushPromises()
  const tree = wrapper.get('[role=tree]')
  const key = async (name: string) => {
    await tree.trigger('keydown', { key: name })
    await flushPromises()
  }
  const active = () => wrapper.get('[tabindex="0"]').text()
  return { wrapper, router, key, active }
}

describe('an outline of chapters and articles', () => {
  it('draws a few of five thousand rows, and is one stop for the Tab key', async () => {
    const { wrapper } = await begin(5_000, 0)
    expect(wrapper.findAll('[role=treeitem]').length).toBeLessThan(80)
    expect(wrapper.findAll('[tabindex="0"]')).toHaveLength(1)
    expect(wrapper.get('[role=treeitem]').attributes('aria-setsize')).toBe('5000')
  })

  it('is walked with arrows, opened to the right, closed to the left, and read with Enter', async () => {
    const { wrapper, router, key, active } = await begin(300, 3)
    expect(wrapper.findAll('[role=treeitem]')).toHaveLength(3)
    await key('ArrowRight')
    await key('ArrowDown')
    expect(active()).toBe('第 1 條')
    const push = vi.spyOn(router, 'push')
    await key('Enter')
    expect(push).toHaveBeenCalledWith(articleLink('a.md#1'))
    await key('ArrowLeft')
    expect(active()).toBe('第 1 章')
    await key('ArrowLeft')
    expect(wrapper.get('[role=treeitem]').attributes('aria-expanded')).toBe('false')
    await key('End')
    expect(active()).toBe('第 3 章')
  })

  it('is open where one reads', async () => {
    const { wrapper } = await begin(300, 3, '150')
    expect(wrapper.get('[aria-selected=true]').text()).toBe('第 150 條')
    // Three chapters, and the hundred articles of the one that is open.
    expect(wrapper.get('[role=tree]').attributes('style')).toContain(`${103 * 36}px`)
  })
})
