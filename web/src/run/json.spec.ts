import { describe, expect, it } from 'vitest'

import { indentJson, readable } from './json'

describe('indented JSON', () => {
  it('is what the browser itself would write', () => {
    for (const value of [{}, [], { a: [] }, [{}, { b: { c: [1, 'x, {y}', null, true] } }], { '"': '\\"\n' }]) {
      expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2))
    }
  })

  it('changes no number, however long', () => {
    expect(indentJson('{"id":12345678901234567890,"x":1.10e2}')).toBe('{\n  "id": 12345678901234567890,\n  "x": 1.10e2\n}')
  })

  it('is not made of what is none', () => {
    for (const text of ['', 'hello', '{a}', '12', '{"a":1} and more']) expect(indentJson(text)).toBeNull()
  })
})

it('shows text as it is and anything else as JSON', () => {
  expect([readable('a "b"'), readable(3), readable({ a: 1 })]).toEqual(['a "b"', '3', '{\n  "a": 1\n}'])
})
