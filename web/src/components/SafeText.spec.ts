import { describe, expect, it } from 'vitest'

import { mountPage } from '@/test/mount'
import { plain } from '@/text/pieces'

import SafeText from './SafeText.vue'

const shown = async (text: string) => (await mountPage(SafeText, { props: { text } })).wrapper

describe('text of strangers', () => {
  it.each([
    '<img src=x onerror=alert(1)>',
    '<script>alert(1)</script>',
    '[click](javascript:alert(1))',
    '![](https://elsewhere.example/track.png)',
    '&lt;b&gt;',
  ])('is shown as it is written: %s', async (text) => {
    const wrapper = await shown(text)
    expect(wrapper.text()).toBe(text)
    expect(wrapper.element.querySelectorAll('*')).toHaveLength(0)
  })

  it('cannot turn the reading around: the characters that would are shown by name', async () => {
    const wrapper = await shown('a\u202Egnp.exe\u2066b\u0000c')
    expect(wrapper.findAll('.control').map((each) => each.text())).toEqual(['U+202E', 'U+2066', 'U+0000'])
    expect(wrapper.element.textContent).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u0000]/) // eslint-disable-line no-control-regex
  })

  it('keeps its line breaks and tabs', async () => {
    const wrapper = await shown('one\n\ttwo')
    expect(wrapper.element.textContent).toBe('one\n\ttwo')
  })

  it('has no such characters left in names and on the clipboard', () => {
    expect(plain('a\u202Eb\u200Fc\nd')).toBe('abc\nd')
  })
})
