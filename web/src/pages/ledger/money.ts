/** Amounts come as decimal text and stay text: a float would be another amount. */

interface Decimal {
  /** The digits as a whole number. */
  digits: bigint
  /** How many of them stand behind the point. */
  scale: number
}

function parse(text: string): Decimal | null {
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text.trim())
  if (!parts) return null
  const [, sign = '', whole = '', fraction = ''] = parts
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length }
}

function write({ digits, scale }: Decimal): string {
  const negative = digits < 0n
  const text = String(negative ? -digits : digits).padStart(scale + 1, '0')
  const whole = text.slice(0, text.length - scale)
  const fraction = text.slice(text.length - scale)
  return `${negative ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`
}

const rescale = ({ digits, scale }: Decimal, to: number) => digits * 10n ** BigInt(to - scale)

/** The sum of decimals, exactly; without zeros at its end. */
export function sum(amounts: readonly string[]): string {
  const all = amounts.map(parse).filter((each) => each !== null)
  const scale = Math.max(0, ...all.map((each) => each.scale))
  const text = write({ digits: all.reduce((total, each) => total + rescale(each, scale), 0n), scale })
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

/** A decimal with its thousands set apart, to the last digit. What is none is shown as it came. */
export function grouped(text: string): string {
  if (parse(text) === null) return text
  const [whole = '', fraction] = text.trim().split('.')
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${apart.replace(/^-/, '−')}${fraction === undefined ? '' : `.${fraction}`}`
}

/** An amount for people: `TWD 1,234.5`. */
export function money(text: string, currency: string): string {
  return `${currency}\u00A0${grouped(text)}`
}

export const isZero = (text: string) => parse(text)?.digits === 0n

/** Amounts of a column with their points under one another: zeros are added behind, never digits taken away. */
export function aligned(amounts: readonly string[]): string[] {
  const fraction = (text: string) => (parse(text) ? (text.split('.')[1]?.length ?? 0) : 0)
  const most = Math.max(0, ...amounts.map(fraction))
  return amounts.map((text) => {
    if (parse(text) === null || isZero(text)) return grouped(text)
    const missing = most - fraction(text)
    return grouped(missing === 0 ? text : `${text}${text.includes('.') ? '' : '.'}${'0'.repeat(missing)}`)
  })
}
