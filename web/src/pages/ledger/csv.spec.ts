import { describe, expect, it } from 'vitest'

import { cell, csv } from './csv'

describe('a table for spreadsheet programs', () => {
  it.each([
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ['+1+cmd', "'+1+cmd"],
    ['-2+3', "'-2+3"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', '"\'\t=1"'],
    [' =1', "' =1"],
    ['|calc', "'|calc"],
  ])('does not let a name be computed: %j', (text, expected) => {
    expect(cell(text)).toBe(expected)
  })

  it.each([
    ['-12.5', '-12.5'],
    [0, '0'],
    ['2026-12-01', '2026-12-01'],
    ['模型', '模型'],
    [null, ''],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
  ])('keeps %j what it is', (value, expected) => {
    expect(cell(value)).toBe(expected)
  })

  it('begins with the mark that tells its encoding, and ends its lines as such programs expect', () => {
    expect(csv([['天', 'a'], [1, '']])).toBe('\uFEFF天,a\r\n1,\r\n')
  })
})
