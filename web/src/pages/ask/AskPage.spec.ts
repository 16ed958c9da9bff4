import { flushPromises, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'

import type { Recording } from '@/api/recorded'
import * as sample from '@/api/sample'
import type { AskEvent, AskRequest, DoneEvent } from '@/api/types'
import type { Locale } from '@/i18n'
import { mountPage } from '@/test/mount'

import AskPage from './AskPage.vue'

const done = sample.answer.at(-1) as { event: 'done' } & DoneEvent
const ended = (changes: Partial<DoneEvent>): AskEvent[] => [{ ...done, ...changes }]

async function page(recording: Recording = {}, locale: Locale = 'en', at = '/') {
  return mountPage(AskPage, { recording, locale, at })
}

async function ask(wrapper: VueWrapper, question = '特休可以遞延嗎？') {
  await wrapper.get('textarea').setValue(question)
  await wrapper.get('textarea').trigger('keydown', { key: 'Enter' })
  await flushPromises()
  await flushPromises()
}

describe('asking', () => {
  it('gives the answer, what it stands on, and what was only looked up, apart', async () => {
    const { wrapper } = await page()
    await ask(wrapper)
    expect(wrapper.get('.answer').text()).toContain('得遞延至次一年度實施')
    expect(wrapper.get('.standing').text()).toBe('The rules’ own words')
    expect(wrapper.findAll('.citations > ol h3').map((title) => title.text())).toEqual(['1第 22 條之 1（特別休假之遞延及結算）read it in context'])
    const unused = wrapper.get('.citations details')
    expect(unused.attributes('open')).toBeUndefined()
    expect(unused.get('summary').text()).toBe('2 looked up, not used')
  })

  it('opens an article in its context, with the quote marked, its neighbours and its version', async () => {
    const { wrapper } = await page()
    await ask(wrapper)
    await wrapper.get('.citations h3 button').trigger('click')
    await flushPromises()
    const sheet = wrapper.get('dialog')
    expect(sheet.get('mark.quote').text()).toContain('特別休假於年度終結未休畢者')
    expect(sheet.text()).toContain('§ 23')
    expect(sheet.get('footer code').text()).toBe(`${done.citations[0]?.source_version.slice(0, 10)}…`)
    await sheet.get('nav button').trigger('click')
    await flushPromises()
    expect(sheet.get('[role=heading]').text()).toBe('第 22 條（特別休假之排定）')
    expect(sheet.find('mark.quote').exists()).toBe(false)
    expect(document.activeElement).toBe(sheet.get('article').element)
  })

  it('says that an article has changed since the answer was given', async () => {
    const article = async (id: string) => {
      const found = sample.articles.find((each) => each.id === id) ?? sample.articles[0]
      return { ...found, text: '修正後的條文', source_version: 'newer' } as (typeof sample.articles)[number]
    }
    const { wrapper } = await page({ article })
    await ask(wrapper)
    await wrapper.get('.citations h3 button').trigger('click')
    await flushPromises()
    expect(wrapper.get('dialog').text()).toContain('This article has changed since')
    expect(wrapper.get('dialog').find('mark').exists()).toBe(false)
  })

  it('says that the rules are silent, and shows what comes nearest', async () => {
    const { wrapper } = await page({ answer: sample.silence })
    await ask(wrapper, '可以帶寵物上班嗎？')
    expect(wrapper.get('.banner').classes()).toContain('info')
    expect(wrapper.get('.banner').text()).toContain('The rules do not mention this')
    expect(wrapper.get('.citations h2').text()).toContain('nearest articles')
    expect(wrapper.find('.answer').exists()).toBe(false)
    expect(wrapper.get('blockquote').text()).toContain('四、計程車')
  })

  it.each<[string, Partial<DoneEvent>, string, string]>([
    ['steps', { stop: { reason: 'steps', at_step: 2, message: 'two steps' } }, 'warning', 'limit of steps'],
    ['money', { answer: null, outcome: 'stopped', stop: { reason: 'cost', at_step: 0, message: 'm' } }, 'warning', 'money'],
    ['time', { answer: null, outcome: 'stopped', stop: { reason: 'time', at_step: 0, message: 'm' } }, 'warning', 'too long'],
    ['a broken part', { answer: null, outcome: 'degraded' }, 'bad', 'does not work'],
    ['unknown words', { answer: null, outcome: 'not_understood' }, 'warning', 'not known here'],
    ['another document', { answer: null, outcome: 'ruled_elsewhere' }, 'info', 'Another document'],
  ])('tells a stop by %s from an answer and from silence', async (_, changes, kind, words) => {
    const { wrapper } = await page({ answer: ended(changes) })
    await ask(wrapper)
    expect(wrapper.get('.banner').classes()).toContain(kind)
    expect(wrapper.get('.banner').text()).toContain(words)
  })

  it('keeps what was written when the stream breaks off, with the request to tell support', async () => {
    const broken: AskEvent = {
      event: 'error', code: 'upstream_incomplete', message: 'broke', partial_answer: '七日', sent_chars: 2, request_id: 'req-7',
      stop: { reason: 'upstream_incomplete', at_step: 0, message: '中途斷線' },
    }
    const { wrapper } = await page({ answer: [broken] })
    await ask(wrapper)
    expect(wrapper.get('.banner').text()).toMatch(/broke off.*中途斷線.*upstream_incomplete.*req-7/s)
    expect(wrapper.get('.draft').text()).toContain('七日')
  })

  it('says so when the stream just ends', async () => {
    const { liveApi } = await import('@/api/live')
    const fetch = async () => new Response('event: token\ndata: {"text":"七"}\n\n')
    const { ask: cut } = liveApi({ key: () => null, refused: () => undefined, fetch })
    const { wrapper } = await page({ ask: cut })
    await ask(wrapper)
    await flushPromises()
    expect(wrapper.get('.banner').text()).toContain('cut before the end')
  })

  it('asks for what was chosen: mode, steps, document and chapter', async () => {
    const requests: AskRequest[] = []
    const { wrapper } = await page({
      async *ask(request) {
        requests.push(request)
        yield* sample.answer
      },
    })
    await wrapper.get('.how').trigger('click')
    await wrapper.get('select[name=source]').setValue('員工工作規則.md')
    await flushPromises()
    await wrapper.get('select[name=chapter]').setValue('4')
    await wrapper.get('input[value=agent]').setValue()
    await wrapper.get('input[name=steps]').setValue('3')
    await ask(wrapper)
    expect(requests).toEqual([
      { question: '特休可以遞延嗎？', mode: 'agent', source: '員工工作規則.md', chapter_no: 4, max_steps: 3, self_check: false },
    ])
  })

  it('offers only the documents that the key may read', async () => {
    const { wrapper } = await page({ sources: async () => sample.sources.slice(0, 1) })
    await wrapper.get('.how').trigger('click')
    const names = wrapper.findAll('select[name=source] option').map((option) => option.attributes('value'))
    expect(names).toEqual(['', sample.sources[0]?.source])
  })

  it('offers questions from the rules, in the language of the page', async () => {
    const { wrapper } = await page({}, 'zh-TW')
    const offered = wrapper.findAll('.try button').map((button) => button.text())
    expect(offered.length).toBeGreaterThan(1)
    for (const question of offered) expect(question).toMatch(/是怎麼規定的？$/)
  })

  it('remembers questions in this browser until they are forgotten', async () => {
    const { wrapper } = await page()
    await ask(wrapper)
    expect(wrapper.get('.history').text()).toContain('特休可以遞延嗎？')
    expect(localStorage.getItem('bylaw.history.local')).not.toContain('遞延至次一年度')
    await wrapper.findAll('.history button').at(-1)?.trigger('click')
    expect(wrapper.find('.history').exists()).toBe(false)
    expect(localStorage.getItem('bylaw.history.local')).toBeNull()
  })

  it('copies the answer with its citations and where they can be read', async () => {
    const writeText = vi.fn<(text: string) => Promise<void>>(async () => undefined)
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } })
    const { wrapper } = await page()
    await ask(wrapper)
    await wrapper.get('.after button').trigger('click')
    await flushPromises()
    const copied = writeText.mock.calls[0]?.[0] ?? ''
    expect(copied).toContain('特休可以遞延嗎？\n\n特別休假於年度終結未休畢者')
    expect(copied).toMatch(/\[1\] 第 22 條之 1.*\n {4}http.*\/ui\/rules\/%E5.*\.md\/22-1$/)
    vi.unstubAllGlobals()
  })

  it('links to everything that happened', async () => {
    const { wrapper } = await page()
    await ask(wrapper)
    expect(wrapper.get('.facts a').attributes('href')).toBe(`/ui/runs/${done.run_id}`)
    expect(wrapper.get('.facts').text()).toContain(done.request_id)
  })

  it('says who may open the link to a run when it is copied', async () => {
    const writeText = vi.fn<(text: string) => Promise<void>>(async () => undefined)
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } })
    const { wrapper } = await page()
    await ask(wrapper)
    await wrapper.findAll('.facts .chip').at(-1)?.trigger('click')
    await flushPromises()
    expect(writeText.mock.calls[0]?.[0]).toMatch(new RegExp(`^http.*/ui/runs/${done.run_id}$`))
    expect(wrapper.get('.facts').text()).toContain('others are told that there is no such run')
    vi.unstubAllGlobals()
  })

  it('begins with the question of its address, and does not ask it by itself', async () => {
    const { wrapper } = await page({}, 'en', '/?q=%E7%89%B9%E4%BC%91')
    expect((wrapper.get('textarea').element as HTMLTextAreaElement).value).toBe('特休')
    expect(wrapper.find('.result').exists()).toBe(false)
  })
})
