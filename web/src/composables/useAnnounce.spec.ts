import { expect, test } from 'vitest'

import { useAnnounce } from './useAnnounce'

test('what turns text around is not said, whoever wrote it', () => {
  const { message, announce } = useAnnounce()
  announce('rules\u202Efdp.exe\u2066')
  expect(message.value).toBe('rulesfdp.exe')
})

test('the same words twice are a change', () => {
  const { message, announce } = useAnnounce()
  announce('Copied')
  const first = message.value
  announce('Copied')
  expect(message.value).not.toBe(first)
  expect(message.value.trim()).toBe('Copied')
})
