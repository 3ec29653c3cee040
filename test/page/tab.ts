import type { Test } from 'tap'

/** The parts of the browser's storage that the page uses. */
export class MemoryStorage extends Map<string, string> {
  getItem(key: string): string | null {
    return this.get(key) ?? null
  }
  setItem(key: string, value: string): void {
    this.set(key, value)
  }
  removeItem(key: string): void {
    this.delete(key)
  }
}

/** A tab of a browser, as far as the page's logic uses it. */
export class Tab {
  readonly sessionStorage = new MemoryStorage()
  readonly localStorage = new MemoryStorage()
  readonly isSecureContext: boolean = true
  readonly history = {
    replaceState: (_state: unknown, _title: string, url: string) => this.open(url),
  }
  location = new URL('http://127.0.0.1:3000/')

  open(url: string | URL): void {
    this.location = Object.assign(new URL(url), { replace: (next: URL) => this.open(next) })
  }
}

/** Makes a new tab the global object of the page's logic until the test ends. */
export function openTab(t: Test, changes: Partial<Tab> = {}): Tab {
  const tab = Object.assign(new Tab(), changes)
  const names = [
    'sessionStorage',
    'localStorage',
    'isSecureContext',
    'history',
    'location',
  ] as const
  for (const name of names)
    t.intercept(globalThis, name as never, { get: () => tab[name] as never })
  return tab
}

/** Makes the browser refuse the page its storage until the test ends. */
export function blockStorage(t: Test): void {
  t.intercept(globalThis, 'sessionStorage' as never, {
    get: () => {
      throw new DOMException('Access is denied for this document.', 'SecurityError')
    },
  })
}
