import { Component, type ComponentType } from 'preact'

/** A component that is rendered again only with other props. */
export function memo<Props extends object>(Rendered: ComponentType<Props>): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      return !isShallowEqual(this.props, next)
    }

    override render() {
      return <Rendered {...this.props} />
    }
  }
}

function isShallowEqual(one: object, other: object): boolean {
  const values: { readonly [name: string]: unknown } = { ...other }
  const entries = Object.entries(one)
  return (
    entries.length === Object.keys(values).length &&
    entries.every(([name, value]) => value === values[name])
  )
}
