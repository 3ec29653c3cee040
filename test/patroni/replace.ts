/**
 * Replaces each name by its value.
 *
 * @throws Error if the text does not contain a name, which would leave the value of the documentation in force
 */
export function replaceAll(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((replaced, [name, value]) => {
    if (!replaced.includes(name)) throw new Error(`there is no ${name} to replace`)
    return replaced.replaceAll(name, value)
  }, text)
}
