import { describe, expect, it } from 'vitest'

import { contentOf, fieldsOf, firstDraft, problems, type Draft } from './form'
import { form } from './samples'

const of = (property: object, isRequired = false) =>
  fieldsOf({ type: 'object', properties: { it: property }, required: isRequired ? ['it'] : [] })

/** The problem with a draft of one field, or the content that it makes. */
function check(property: object, typed: string | string[], isRequired = false): unknown {
  const fields = of(property, isRequired)
  const draft: Draft = { it: typed }
  const problem = problems(fields, draft).it
  return problem ? [problem.code, problem.n] : contentOf(fields, draft).it
}

describe('a form from a schema', () => {
  it('has a field for each property, with its title, its description and whether it is needed', () => {
    const fields = fieldsOf(form)
    expect(fields.map(({ name, title, description, isRequired, shape }) => [name, title, description, isRequired, shape.kind])).toEqual([
      ['days', 'Days', 'Whole days', true, 'number'],
      ['kind', 'Kind', '', true, 'choice'],
      ['paid', 'Paid', '', false, 'yes-no'],
      ['mail', 'Mail', '', false, 'text'],
    ])
  })

  it('begins with the defaults that fit', () => {
    const schema = {
      properties: {
        a: { type: 'boolean', default: false },
        b: { type: 'integer', default: 3 },
        c: { type: 'string', enum: ['x'], default: 'y' },
        d: { type: 'array', items: { enum: ['x', 'y'] }, default: ['y', 'z'] },
        e: { type: 'string', default: 7 },
        f: { type: 'boolean' },
      },
    }
    expect(firstDraft(schema, fieldsOf(schema))).toEqual({ a: 'no', b: '3', c: '', d: ['y'], e: '', f: '' })
  })

  it('knows choices however they are written', () => {
    const titled = { type: 'string', oneOf: [{ const: 'a', title: 'First' }, { const: 'b' }] }
    const many = { type: 'array', items: { anyOf: [{ const: 'a', title: 'First' }] } }
    expect(of(form.properties.kind)[0]?.shape).toMatchObject({ options: [{ value: 'family', title: 'Family care' }, { value: 'sick', title: 'Sick leave' }] })
    expect(of(titled)[0]?.shape).toMatchObject({ kind: 'choice', options: [{ title: 'First' }, { title: 'b' }] })
    expect(of(many)[0]?.shape).toMatchObject({ kind: 'choices', options: [{ title: 'First' }] })
    expect(of({ enum: ['x'] })[0]?.shape.kind).toBe('choice')
  })

  it.each([
    [{ type: 'integer', minimum: 1, maximum: 7 }, '3', 3],
    [{ type: 'integer', minimum: 1, maximum: 7 }, ' 7 ', 7],
    [{ type: 'integer', minimum: 1, maximum: 7 }, '8', ['most', 7]],
    [{ type: 'integer', minimum: 1, maximum: 7 }, '0', ['least', 1]],
    [{ type: 'integer' }, '1.5', ['integer', undefined]],
    [{ type: 'integer' }, 'three', ['number', undefined]],
    [{ type: 'number', exclusiveMinimum: 0 }, '0', ['above', 0]],
    [{ type: 'number', exclusiveMaximum: 1 }, '1', ['below', 1]],
    [{ type: 'number' }, '-0.25', -0.25],
    [{ type: 'string', minLength: 2 }, '假', ['short', 2]],
    [{ type: 'string', maxLength: 2 }, '😀😀', '😀😀'],
    [{ type: 'string', maxLength: 2 }, 'abc', ['long', 2]],
    [{ type: 'string', format: 'email' }, 'a@b', 'a@b'],
    [{ type: 'string', format: 'email' }, 'a', ['email', undefined]],
    [{ type: 'string', format: 'uri' }, 'no address', ['uri', undefined]],
    [{ type: 'string', format: 'date' }, '2026-03-09', '2026-03-09'],
    [{ type: 'string', format: 'date' }, '9 March', ['date', undefined]],
    [{ type: 'string', pattern: '^LV-[0-9]$' }, 'LV-7', 'LV-7'],
    [{ type: 'string', pattern: '^LV-[0-9]$' }, 'LV-x', ['pattern', undefined]],
    [{ type: 'string', pattern: '(' }, 'left to the service', 'left to the service'],
    [{ type: 'boolean' }, 'no', false],
    [{ type: 'string', enum: ['a'] }, 'a', 'a'],
    [{ type: 'array', items: { enum: ['a', 'b'] }, minItems: 2 }, ['a'], ['few', 2]],
    [{ type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 }, ['a', 'b'], ['many', 1]],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, ['b'], ['b']],
    [{ type: 'object' }, '{"a":1}', { a: 1 }],
    [{ type: 'object' }, '{a}', ['json', undefined]],
    [{}, '[1,2]', [1, 2]],
  ])('%j with %j is %j', (property, typed, expected) => {
    expect(check(property, typed)).toEqual(expected)
  })

  it('leaves out what is empty, and asks for it where it is needed', () => {
    for (const type of ['string', 'integer', 'boolean', 'object']) {
      expect(check({ type }, '')).toBeUndefined()
      expect(check({ type }, ' ', true)).toEqual(['missing', undefined])
    }
    expect(check({ type: 'array', items: { enum: ['a'] } }, [], true)).toEqual(['few', 1])
  })

  it('sends an instant with its zone', () => {
    const sent = check({ type: 'string', format: 'date-time' }, '2026-03-09T08:30')
    expect(new Date(String(sent)).getTime()).toBe(new Date(2026, 2, 9, 8, 30).getTime())
    expect(String(sent)).toMatch(/Z$/)
  })

  it('is not held up by a pattern that would take for ever', () => {
    const begun = Date.now()
    check({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`)
    check({ type: 'string', pattern: '^(a|a)*$' }, `${'a'.repeat(25)}!`)
    check({ type: 'string', pattern: '^a*a*a*$' }, `${'a'.repeat(199)}!`)
    check({ type: 'string', pattern: `^${'a*'.repeat(50)}$` }, `${'a'.repeat(30)}!`)
    expect(Date.now() - begun).toBeLessThan(500)
  })

  it('is empty for a schema that is none', () => {
    for (const schema of [null, undefined, 'x', [], {}, { properties: 3 }, { type: 'string' }]) expect(fieldsOf(schema)).toEqual([])
    expect(fieldsOf({ properties: { a: null, b: 3 } }).map(({ shape }) => shape.kind)).toEqual(['json', 'json'])
  })
})
