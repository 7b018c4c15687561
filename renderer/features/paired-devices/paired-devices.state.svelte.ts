import type { Household, Person } from '../../../server/modules/household/household.contract.ts'
import type { PairedDevice, QuietHours, Scope } from '../../../server/modules/paired-devices/paired-devices.contract.ts'
import type { HearthClient } from '../../api.ts'
import type { Hearth } from '../../app-context.ts'
import { Resource } from '../../ui/resource.svelte.ts'
import { whileLive } from '../../ui/while-live.ts'

const REFRESH_MS = 60_000

export interface DeviceEdit {
  name: string
  scope: Scope
  personId: string | null
  quietHours: QuietHours | null
}

/** The paired devices and the people they belong to. */
export class PairedDevicesState {
  readonly devices: Resource<PairedDevice[]>
  readonly home: Resource<{ household: Household; persons: Person[] }>
  readonly people = $derived.by(() => this.home.value?.persons ?? null)
  readonly householdId = $derived.by(() => this.home.value?.household.id ?? null)
  readonly #client: HearthClient
  readonly #live: Hearth['live']

  constructor(client: HearthClient, live: Hearth['live']) {
    this.#client = client
    this.#live = live
    this.devices = new Resource((signal) => client.pairedDevices.list({}, { signal }))
    this.home = new Resource((signal) => client.household.get({}, { signal }))
  }

  /** Reads now, and whenever a device was let in, changed, came or went; returns what ends that. */
  watch(): () => void {
    const stops = [
      whileLive(this.#live, ['pairing.changed'], () => void this.devices.load(), REFRESH_MS),
      whileLive(this.#live, ['household.changed'], () => void this.home.load(), REFRESH_MS),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** Null for one that was revoked. */
  async deviceNow({ id }: PairedDevice): Promise<PairedDevice | null> {
    const devices = await this.#client.pairedDevices.list()
    return devices.find((device) => device.id === id) ?? null
  }

  /** Takes only what differs, so that a new name alone does not sign the device in anew. */
  async save(device: PairedDevice, body: Partial<DeviceEdit>): Promise<void> {
    const saved = await this.#client.pairedDevices.update({ params: { id: device.id }, body })
    this.#put(this.devices.value?.map((other) => (other.id === saved.id ? saved : other)))
  }

  async revoke({ id }: PairedDevice): Promise<void> {
    await this.#client.pairedDevices.revoke({ params: { id } })
    this.#put(this.devices.value?.filter((other) => other.id !== id))
  }

  #put(devices: PairedDevice[] | undefined): void {
    if (devices) this.devices.value = devices
  }
}
