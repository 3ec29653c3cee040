/** A grouped bar chart. Each group has at most one bar per series. */
export interface Chart {
  readonly title: string
  readonly subtitle: string
  /** Colors in SVG's notation. */
  readonly series: readonly { readonly title: string; readonly color: string }[]
  readonly groups: readonly { readonly title: string; readonly bars: readonly Bar[] }[]
}

export interface Bar {
  /** Index into `series`. */
  readonly series: number
  readonly value: number
  readonly label: string
}

const WIDTH = 720
const [LEFT, TOP] = [110, 66]

/** Width of a letter of a label. */
const LETTER = 5.6
const [BAR, GAP] = [13, 16]

/** Draws a chart as SVG, on white so that it is readable on a dark page. */
export function draw({ title, subtitle, series, groups }: Chart): string {
  const bars = groups.flatMap(({ bars }) => bars)
  const max = Math.max(...bars.map(({ value }) => value))
  const longest = Math.max(...bars.map(({ label }) => label.length))
  const lengthMax = WIDTH - LEFT - longest * LETTER - 8
  const step = series.length * BAR + GAP
  const height = TOP + groups.length * step
  const drawn = groups.flatMap((group, index) => {
    const top = TOP + index * step
    const middle = top + (series.length * BAR) / 2 + 3
    const name = text(LEFT - 8, middle, group.title, 'text-anchor="end" font-weight="600"')
    const bars = group.bars.flatMap(({ series: number, value, label }) => {
      const y = top + number * BAR
      const length = (value / max) * lengthMax
      return [
        rectangle(LEFT, y, length, BAR - 2, series[number]?.color ?? ''),
        text(LEFT + length + 4, y + BAR - 4, label, 'font-size="10"'),
      ]
    })
    return [name, ...bars]
  })
  const legend = series.flatMap(({ title, color }, index) => {
    const x = 8 + index * ((WIDTH - 8) / series.length)
    return [rectangle(x, 40, 10, 10, color), text(x + 14, 49, title, 'font-size="10"')]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#1f2933">`,
    `<title>${escapeXml(title)}</title>`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    text(8, 18, title, 'font-size="14" font-weight="600"'),
    text(8, 33, subtitle, 'font-size="10" fill="#52606d"'),
    ...legend,
    ...drawn,
    '</svg>\n',
  ].join('\n')
}

function rectangle(x: number, y: number, width: number, height: number, color: string): string {
  return `<rect x="${roundLength(x)}" y="${roundLength(y)}" width="${roundLength(width)}" height="${height}" fill="${color}"/>`
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${roundLength(x)}" y="${roundLength(y)}" ${attributes}>${escapeXml(content)}</text>`
}

function escapeXml(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function roundLength(length: number): string {
  return String(Math.round(length * 10) / 10)
}
