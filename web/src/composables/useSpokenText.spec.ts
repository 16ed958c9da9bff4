import { expect, it } from 'vitest'

import { useSpokenText } from './useSpokenText'

function speaker() {
  const said: string[] = []
  let at = 0
  const { hear, rest } = useSpokenText((text) => said.push(text), () => at)
  return { said, hear, rest, pass: (ms: number) => (at += ms) }
}

it('growing text is said sentence by sentence, each once', () => {
  const { said, hear, rest, pass } = speaker()
  hear('可以，但')
  hear('可以，但要先講好。沒有')
  pass(2_000)
  hear('可以，但要先講好。沒有休完的可以遞延。一般')
  expect(said).toEqual(['可以，但要先講好。', '沒有休完的可以遞延。'])
  expect(rest('可以，但要先講好。沒有休完的可以遞延。一般來說會同意。')).toBe('一般來說會同意。')
})

it('sentences that come fast are said together', () => {
  const { said, hear, pass } = speaker()
  hear('One. ')
  hear('One. Two. ')
  hear('One. Two. Three. ')
  pass(1_500)
  hear('One. Two. Three. 1.5')
  expect(said).toEqual(['One.', 'Two. Three.'])
})

it('the next answer begins anew', () => {
  const { said, hear } = speaker()
  hear('One. Two. ')
  hear('')
  hear('Other. ')
  expect(said).toEqual(['One. Two.', 'Other.'])
})
