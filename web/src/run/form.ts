/** A form, from the JSON Schema of a question. A schema comes from a stranger: whatever it is, there is a form for it. */
export interface Field {
  name: string
  title: string
  description: string
  isRequired: boolean
  shape: Shape
}

export interface Option {
  value: string
  title: string
}

export type Shape =
  | { kind: 'text'; format: TextFormat; least: number; most: number; pattern: string | null }
  | { kind: 'number'; isInteger: boolean; least: number; most: number; isAbove: boolean; isBelow: boolean }
  | { kind: 'yes-no' }
  | { kind: 'choice'; options: Option[] }
  | { kind: 'choices'; options: Option[]; least: number; most: number }
  /** Something that has no control of its own: written as JSON. */
  | { kind: 'json' }

export type TextFormat = 'plain' | 'email' | 'uri' | 'date' | 'date-time'

/** What a control holds: text as it was typed, `yes`, `no`, or the chosen ones. */
export type Draft = Record<string, string | string[]>

/** Why a field is not right; words for it are `run.form.problems`. */
export interface Problem {
  code: 'missing' | 'number' | 'integer' | 'least' | 'most' | 'above' | 'below' | 'short' | 'long' | 'few' | 'many' | 'email' | 'uri' | 'date' | 'pattern' | 'json'
  n?: number
}

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const text = (value: unknown, otherwise = ''): string => (typeof value === 'string' ? value : otherwise)
const count = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise)
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export function fieldsOf(schema: unknown): Field[] {
  if (!isObject(schema) || !isObject(schema.properties)) return []
  const required = new Set(list(schema.required))
  return Object.entries(schema.properties).map(([name, property]) => {
    const described = isObject(property) ? property : {}
    return {
      name,
      title: text(described.title) || name,
      description: text(described.description),
      isRequired: required.has(name),
      shape: shapeOf(described),
    }
  })
}

function shapeOf(schema: Json): Shape {
  const options = optionsOf(schema)
  if (options) return { kind: 'choice', options }
  const types = list(schema.type).filter((type) => type !== 'null')
  const type = typeof schema.type === 'string' ? schema.type : types.length === 1 ? types[0] : undefined
  switch (type) {
    case 'string':
      return {
        kind: 'text',
        format: formatOf(schema.format),
        least: count(schema.minLength, 0),
        most: count(schema.maxLength, Infinity),
        pattern: text(schema.pattern) || null,
      }
    case 'number':
    case 'integer':
      return {
        kind: 'number',
        isInteger: type === 'integer',
        least: count(schema.exclusiveMinimum, count(schema.minimum, -Infinity)),
        most: count(schema.exclusiveMaximum, count(schema.maximum, Infinity)),
        isAbove: typeof schema.exclusiveMinimum === 'number',
        isBelow: typeof schema.exclusiveMaximum === 'number',
      }
    case 'boolean':
      return { kind: 'yes-no' }
    case 'array': {
      const items = isObject(schema.items) ? optionsOf(schema.items) : null
      if (!items) return { kind: 'json' }
      return { kind: 'choices', options: items, least: count(schema.minItems, 0), most: count(schema.maxItems, Infinity) }
    }
    default:
      return { kind: 'json' }
  }
}

/** `enum` with or without `enumNames`, or constants with titles. Only of strings: others are written as JSON. */
function optionsOf(schema: Json): Option[] | null {
  const constants = [...list(schema.oneOf), ...list(schema.anyOf)]
  if (constants.length > 0 && constants.every((each) => isObject(each) && typeof each.const === 'string')) {
    return (constants as Json[]).map((each) => ({ value: text(each.const), title: text(each.title) || text(each.const) }))
  }
  const values = list(schema.enum)
  if (values.length === 0 || !values.every((value) => typeof value === 'string')) return null
  const names = list(schema.enumNames)
  return values.map((value, place) => ({ value: text(value), title: text(names[place]) || text(value) }))
}

function formatOf(format: unknown): TextFormat {
  return format === 'email' || format === 'uri' || format === 'date' || format === 'date-time' ? format : 'plain'
}

/** What the form begins with: the schema's defaults, where they fit. */
export function firstDraft(schema: unknown, fields: Field[]): Draft {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {}
  return Object.fromEntries(
    fields.map(({ name, shape }) => {
      const property = properties[name]
      const given = isObject(property) ? property.default : undefined
      return [name, draftOf(shape, given)]
    }),
  )
}

function draftOf(shape: Shape, given: unknown): string | string[] {
  switch (shape.kind) {
    case 'choices':
      return list(given).filter((value): value is string => shape.options.some((option) => option.value === value))
    case 'choice':
      return shape.options.some((option) => option.value === given) ? text(given) : ''
    case 'yes-no':
      return given === true ? 'yes' : given === false ? 'no' : ''
    case 'number':
      return typeof given === 'number' ? String(given) : ''
    case 'text':
      return shape.format === 'date-time' ? localTime(text(given)) : text(given)
    case 'json':
      return given === undefined ? '' : JSON.stringify(given)
  }
}

/** An instant as the browser's control wants it: local, without zone. */
function localTime(instant: string): string {
  const at = new Date(instant)
  if (instant === '' || Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** What is wrong, by field; nothing if the form may be sent. The service checks again. */
export function problems(fields: Field[], draft: Draft): Record<string, Problem> {
  const found: Record<string, Problem> = {}
  for (const field of fields) {
    const problem = problemOf(field, draft[field.name] ?? '')
    if (problem) found[field.name] = problem
  }
  return found
}

function problemOf({ shape, isRequired }: Field, value: string | string[]): Problem | null {
  if (shape.kind === 'choices') {
    if (value.length === 0 && !isRequired) return null
    if (value.length < Math.max(shape.least, isRequired ? 1 : 0)) return { code: 'few', n: Math.max(shape.least, 1) }
    return value.length > shape.most ? { code: 'many', n: shape.most } : null
  }
  const typed = String(value)
  if (typed.trim() === '') return isRequired ? { code: 'missing' } : null
  switch (shape.kind) {
    case 'number':
      return numberProblem(shape, Number(typed.trim()))
    case 'text':
      return textProblem(shape, typed)
    case 'json':
      return parse(typed) === undefined ? { code: 'json' } : null
    default:
      return null
  }
}

function numberProblem(shape: Extract<Shape, { kind: 'number' }>, value: number): Problem | null {
  if (!Number.isFinite(value)) return { code: 'number' }
  if (shape.isInteger && !Number.isSafeInteger(value)) return { code: 'integer' }
  if (shape.isAbove && value <= shape.least) return { code: 'above', n: shape.least }
  if (shape.isBelow && value >= shape.most) return { code: 'below', n: shape.most }
  if (value < shape.least) return { code: 'least', n: shape.least }
  return value > shape.most ? { code: 'most', n: shape.most } : null
}

function textProblem(shape: Extract<Shape, { kind: 'text' }>, value: string): Problem | null {
  const length = [...value].length
  if (length < shape.least) return { code: 'short', n: shape.least }
  if (length > shape.most) return { code: 'long', n: shape.most }
  if (shape.format === 'email' && !/^[^\s@]+@[^\s@]+$/.test(value)) return { code: 'email' }
  if (shape.format === 'uri' && !/^[a-z][a-z0-9+.-]*:\S+$/i.test(value)) return { code: 'uri' }
  if (shape.format === 'date' && !/^\d{4}-\d\d-\d\d$/.test(value)) return { code: 'date' }
  if (shape.format === 'date-time' && Number.isNaN(new Date(value).getTime())) return { code: 'date' }
  if (shape.pattern !== null && !matches(shape.pattern, value)) return { code: 'pattern' }
  return null
}

/**
 * A pattern of a stranger may take for ever. Only those that cannot are tried: no group is repeated, nothing is referred
 * back to, and little is repeated at all. The rest is left to the service, whose patterns take linear time.
 */
function matches(pattern: string, value: string): boolean {
  const repetitions = pattern.match(/[*+?{]/g)?.length ?? 0
  const isPlain = pattern.length <= 200 && value.length <= 200 && repetitions <= 3 && !/\)[*+?{]|\\[1-9k]/.test(pattern)
  if (!isPlain) return true
  try {
    return new RegExp(pattern, 'u').test(value)
  } catch {
    return true
  }
}

function parse(typed: string): unknown {
  try {
    return JSON.parse(typed) as unknown
  } catch {
    return undefined
  }
}

/** The object that answers. What was left empty is left out. */
export function contentOf(fields: Field[], draft: Draft): Json {
  const content: Json = {}
  for (const { name, shape, isRequired } of fields) {
    const value = draft[name] ?? ''
    if (shape.kind === 'choices') {
      if (value.length > 0 || isRequired) content[name] = [...value]
      continue
    }
    const typed = String(value)
    if (typed.trim() === '') continue
    content[name] = valueOf(shape, typed)
  }
  return content
}

function valueOf(shape: Shape, typed: string): unknown {
  switch (shape.kind) {
    case 'number':
      return Number(typed.trim())
    case 'yes-no':
      return typed === 'yes'
    case 'json':
      return parse(typed)
    case 'text':
      return shape.format === 'date-time' ? new Date(typed).toISOString() : typed
    default:
      return typed
  }
}
