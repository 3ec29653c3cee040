/** An object that tells those who show it when it has changed. */
export abstract class Model {
  readonly #listeners = new Set<() => void>()

  /** @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  protected changed(): void {
    for (const listener of this.#listeners) listener()
  }
}
