/** A mark on an axis. Its text is exact; its value says where it stands. */
export interface Tick {
  value: number
  text: string
}

/** Round marks from 0 up to an end: steps of 1, 2 or 5 with zeros. */
export function ticks(end: number, most = 5): Tick[] {
  if (!Number.isFinite(end) || end <= 0) return [{ value: 0, text: '0' }]
  let exponent = Math.floor(Math.log10(end / most))
  let digit = [1, 2, 5].find((each) => end / (each * 10 ** exponent) <= most)
  if (digit === undefined) {
    digit = 1
    exponent += 1
  }
  const step = digit * 10 ** exponent
  const marks: Tick[] = []
  for (let place = 0; place * step <= end * (1 + 1e-9); place += 1) {
    const value = place * step
    marks.push({ value, text: place === 0 ? '0' : value.toFixed(Math.max(0, -exponent)) })
  }
  return marks
}
