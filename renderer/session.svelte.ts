import { ApiError } from '../server/kit/client.ts'
import type { User } from '../server/modules/auth/auth.contract.ts'
import type { PairedDevice, Scope } from '../server/modules/paired-devices/paired-devices.contract.ts'
import type { HearthClient } from './api.ts'

/** What a page asks for; the same ladder as the server's. */
export type Right = Scope | 'owner'
const ladder: Right[] = ['guest', 'member', 'admin', 'owner']

/** Who this browser is: the owner, a paired device, or nobody. */
export class Session {
  status = $state<'loading' | 'ready' | 'unset' | 'stranger' | 'failed'>('loading')
  /** Why it could not be learned, while `status` is `failed`. */
  error = $state.raw<unknown>(null)
  user = $state.raw<User | null>(null)
  device = $state.raw<PairedDevice | null>(null)
  readonly right = $derived<Right | null>(this.user ? 'owner' : (this.device?.scope ?? null))
  readonly #client: HearthClient

  constructor(client: HearthClient) {
    this.#client = client
  }

  may(right: Right): boolean {
    return this.right !== null && ladder.indexOf(this.right) >= ladder.indexOf(right)
  }

  /**
   * Asks the server anew; on failure what was known stays. `unset` means that the house is not set up yet, `stranger`
   * that the server does not know itself by the name in the address.
   */
  async load(): Promise<void> {
    try {
      const { user, device } = await this.#client.auth.session()
      this.user = user
      this.device = device ?? null
      this.status = 'ready'
    } catch (error) {
      const code = error instanceof ApiError ? error.code : null
      this.error = error
      if (code === 'setup_required') this.status = 'unset'
      else if (code === 'unknown_host') this.status = 'stranger'
      else if (this.status === 'loading') this.status = 'failed'
    }
  }

  clear(): void {
    this.user = null
    this.device = null
  }
}
