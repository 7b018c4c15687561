import type { Trust } from '../../../server/modules/trust/trust.contract.ts'
import type { HearthClient } from '../../api.ts'
import { Resource } from '../../ui/resource.svelte.ts'

const CHECK_MS = 8_000

/** The server’s own certificate authority, and whether this device trusts it. */
export class TrustState {
  readonly trust: Resource<Trust>
  checking = $state(false)
  trusted = $state<boolean | null>(null)
  readonly #client: HearthClient['trust']

  constructor(client: HearthClient['trust']) {
    this.#client = client
    this.trust = new Resource((signal) => client.get({}, { signal }))
  }

  async enable(): Promise<void> {
    this.trust.value = await this.#client.enable()
  }

  async disable(): Promise<void> {
    await this.#client.disable()
    await this.trust.load()
  }

  /** Fetches something over TLS from the address this page came from; only a device that trusts the certificate gets it. */
  async check(host: string): Promise<void> {
    this.checking = true
    try {
      const answer = await fetch(`https://${host}/trust/hearth-ca.crt`, { cache: 'no-store', signal: AbortSignal.timeout(CHECK_MS) })
      this.trusted = answer.ok
    } catch {
      this.trusted = false
    }
    this.checking = false
  }
}
