import { useI18n } from 'vue-i18n'

/** Times, sizes and money as people of the language write them. */
export function useFormats() {
  const { t, locale } = useI18n()
  const number = (value: number, options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale.value, options).format(value)

  return {
    count: (value: number) => number(value),

    /** `9 Mar, 14:05:07`, in the reader's own zone. */
    moment: (at: number) =>
      new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }).format(at),

    /** As short as it can be told: the time of today, else the day. */
    shortly: (at: number, now: number) => {
      const isToday = new Date(at).toDateString() === new Date(now).toDateString()
      const options: Intl.DateTimeFormatOptions = isToday
        ? { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
        : { month: 'short', day: 'numeric' }
      return new Intl.DateTimeFormat(locale.value, options).format(at)
    },

    duration: (ms: number) => {
      if (ms < 1_000) return t('run.duration.ms', { n: Math.round(ms) })
      const seconds = ms / 1_000
      if (seconds < 10) return t('run.duration.s', { n: number(seconds, { maximumFractionDigits: 1 }) })
      if (seconds < 60) return t('run.duration.s', { n: Math.floor(seconds) })
      const minutes = Math.floor(seconds / 60)
      const rest = Math.floor(seconds % 60)
      if (minutes < 60) return rest === 0 ? t('run.duration.min', { m: minutes }) : t('run.duration.m', { m: minutes, s: rest })
      return t('run.duration.h', { h: Math.floor(minutes / 60), m: minutes % 60 })
    },

    bytes: (size: number) => {
      if (size < 1_000) return t('run.size.b', { n: number(size) })
      if (size < 1_000_000) return t('run.size.kb', { n: number(size / 1_000, { maximumFractionDigits: 1 }) })
      return t('run.size.mb', { n: number(size / 1_000_000, { maximumFractionDigits: 1 }) })
    },

    /** Millionths of a US dollar. */
    dollars: (micro: number) => {
      // Cut to six decimals by hand: a float would round what is small.
      const whole = Math.trunc(micro / 1_000_000)
      const rest = String(Math.abs(micro % 1_000_000)).padStart(6, '0').replace(/0{1,4}$/, '')
      return t('run.dollars', { n: `${micro < 0 && whole === 0 ? '-' : ''}${whole}.${rest}` })
    },
  }
}

export type Formats = ReturnType<typeof useFormats>
