import { computed, ref, shallowRef, watch } from 'vue'
import { useI18n } from 'vue-i18n'

import type { Citation, Sentence } from '@/api/types'
import { useAnnounce } from '@/composables/useAnnounce'
import { useApi } from '@/composables/useApi'
import { useLoad } from '@/composables/useLoad'
import { useSpokenText } from '@/composables/useSpokenText'
import type { Locale } from '@/i18n'

import { optionsAgain, type Again } from './again'
import { numbers, parts } from './citing'
import { requestOf, usual, type Options } from './options'
import { topics } from './trying'
import { useAsk } from './useAsk'
import { useHistory, type Asked } from './useHistory'

/** The most documents that are looked through for questions to try. */
const MOST_OUTLINES = 3

/** Everything the ask page knows and does; the components draw it. */
export function useAskPage(initial = '') {
  const { t, locale } = useI18n()
  const api = useApi()
  const { announce } = useAnnounce()
  const { state, busy, ask: send, cancel, clear } = useAsk()
  const history = useHistory()

  const question = ref(initial)
  const options = ref<Options>(usual)
  const asked = ref('')
  const opened = shallowRef<{ id: string; cited: Citation | null; quotes: { start: number; end: number }[] } | null>(null)

  const { data: sources } = useLoad((signal) => api.sources({ signal }))
  const { data: details } = useLoad(
    async (signal) => {
      const names = (sources.value ?? []).slice(0, MOST_OUTLINES).map(({ source }) => source)
      const outlines = await Promise.allSettled(names.map((name) => api.source(name, { signal })))
      return outlines.flatMap((outline) => (outline.status === 'fulfilled' ? [outline.value] : []))
    },
    { on: [sources] },
  )
  const toTry = computed(() =>
    topics(details.value ?? [], locale.value as Locale).map((topic) => t('ask.tryQuestion', { topic })),
  )

  const numberOf = computed(() => numbers(state.value.citations, state.value.text))
  const titleOf = (id: string) => state.value.citations.find((citation) => citation.id === id)?.title ?? id

  async function ask(how: Options = options.value) {
    options.value = how
    asked.value = question.value.trim()
    opened.value = null
    hear('')
    await send(requestOf(question.value, how))
  }

  function again(how: Again): boolean {
    const next = optionsAgain(how, options.value)
    if (next === null) return false
    question.value = asked.value
    void ask(next)
    return true
  }

  function choose(entry: Asked) {
    question.value = entry.question
    options.value = { ...usual, mode: entry.mode, source: entry.source ?? '' }
  }

  function open(id: string, sentence: Sentence | null = null) {
    const cited = state.value.citations.find((citation) => citation.id === id) ?? null
    // A sentence of an extract is the article's own: it can be found there, and is what the reader came for.
    const at = sentence && cited ? cited.text.indexOf(words(sentence.text)) : -1
    const quotes = at < 0 || !cited || !sentence ? [] : [bytes(cited.text, at, words(sentence.text))]
    const extract = state.value.answer?.extract ?? state.value.trouble?.extract
    const spans = extract?.sentences.filter((each) => each.id === id).map(({ span }) => span) ?? []
    opened.value = { id, cited, quotes: [...quotes, ...spans] }
  }

  /** The sentence without what it cites. */
  const words = (text: string) =>
    parts(text, numberOf.value)
      .flatMap((part) => (part.kind === 'words' ? [part.text] : []))
      .join('')
      .trim()

  const { hear, rest } = useSpokenText((text) => announce(words(text)))
  watch(() => state.value.text, (text) => busy.value && hear(text))

  // What is heard is what is seen: where it stands, sentences as they come, and how it ended.
  watch(
    () => state.value.phase,
    (phase) => {
      const { answer, citations } = state.value
      if (phase === 'searching' || phase === 'writing') announce(t(`ask.stages.${phase}`))
      if (phase === 'reading' && citations.length > 0) announce(t('ask.heard.reading', citations.length))
      if (phase === 'cancelled') announce(t('ask.cancelled.title'))
      if (phase === 'done' && answer) {
        announce([t(`ask.outcomes.${answer.outcome}.title`), words(rest(state.value.text))].join(' ').trim())
        history.remember({
          question: asked.value,
          mode: options.value.mode,
          outcome: answer.outcome,
          at: answer.asked_at,
          ...(options.value.source === '' ? {} : { source: options.value.source }),
        })
      }
    },
  )

  return {
    state, busy, question, options, asked, opened, sources, toTry, numberOf, history,
    ask, cancel, clear, again, choose, open, titleOf,
  }
}

/** A part of a text as a span of bytes, as the service counts. */
function bytes(text: string, at: number, part: string): { start: number; end: number } {
  const encoder = new TextEncoder()
  const start = encoder.encode(text.slice(0, at)).length
  return { start, end: start + encoder.encode(part).length }
}
