/** Clients that each make one mistake. */
import type { Change, NewPlant } from '../../../client/client.ts'
import type { Copy } from './client.ts'
import { Refused, RightClient } from './right-client.ts'

export class NeverRetries extends RightClient {
  protected override readonly attempts = 1
}

export class RetriesForever extends RightClient {
  protected override readonly attempts = Number.POSITIVE_INFINITY
}

export class WaitsForever extends RightClient {
  protected override readonly timeoutMs = 600_000
}

export class RetriesRefusals extends RightClient {
  protected override isTransient(status: number): boolean {
    return status >= 400
  }
}

export class RetriesWithNewId extends RightClient {
  override async create({ id, ...plant }: NewPlant): Promise<void> {
    await this.send('/plants', (attempt) => this.toPost({ id: id + BigInt(attempt - 1), ...plant }))
  }
}

export class IgnoresRetryAfter extends RightClient {
  protected override delayMs(): number {
    return 10
  }
}

export class DropsIfMatch extends RightClient {
  protected override toPatch(...[name, ifMatch, attempt]: Parameters<RightClient['toPatch']>) {
    return super.toPatch(name, attempt === 1 ? ifMatch : {}, attempt)
  }
}

export class ReadsOnePage extends RightClient {
  protected override nextPath(): undefined {}
}

export class AcceptsHalfAPage extends RightClient {
  protected override async read(response: Response): Promise<string> {
    let text = ''
    try {
      for await (const part of response.body ?? []) text += Buffer.from(part)
      return text
    } catch {
      return `${text.slice(0, text.lastIndexOf('},'))}}]`
    }
  }
}

export class RoundsIds extends RightClient {
  protected override parse(json: string): unknown {
    return JSON.parse(json)
  }
}

export class LosesCursor extends RightClient {
  protected override stream(): AsyncGenerator<Change> {
    return super.stream(undefined)
  }
}

export class TakesGoneForEmpty extends RightClient {
  override async follow(copy: Copy, until: bigint): Promise<void> {
    await super.follow(copy, until).catch((error) => {
      if (error.status !== 410) throw error
    })
  }

  protected override async recover(error: unknown): Promise<void> {
    if (error instanceof Refused) throw error
  }
}

export class TakesItsOwnChangeForAnothers extends RightClient {
  protected override async hasName(): Promise<boolean> {
    return false
  }
}
