import type { Household, Person } from '../../../server/modules/household/household.contract.ts'
import type { PairedDevice, QuietHours, Scope } from '../../../server/modules/paired-devices/paired-devices.contract.ts'
import type { HearthClient } from '../../api.ts'
import { Resource } from '../../ui/resource.svelte.ts'

const REFRESH_MS = 20_000
/** A device that was let in asks every 2.5 s whether it was. */
const SOON_MS = [3_000, 6_000]

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

  constructor(client: HearthClient) {
    this.#client = client
    this.devices = new Resource((signal) => client.pairedDevices.list({}, { signal }))
    this.home = new Resource((signal) => client.household.get({}, { signal }))
  }

  /** Reads the list now, every 20 s and when the page comes back into view; returns what ends that. */
  watch(): () => void {
    const look = () => {
      if (document.visibilityState === 'visible') void this.devices.load()
    }
    look()
    void this.home.load()
    const timer = setInterval(look, REFRESH_MS)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }

  /** Looks again in a moment, for a device that is on its way in. */
  lookSoon(): void {
    for (const ms of SOON_MS) setTimeout(() => void this.devices.load(), ms)
  }

  /** Sends only what differs, so that a new name alone does not sign the device in anew. */
  async save(device: PairedDevice, edit: DeviceEdit): Promise<void> {
    const personBefore = device.userId === this.householdId ? null : device.userId
    const quietChanged = JSON.stringify(edit.quietHours) !== JSON.stringify(device.quietHours)
    const body = {
      ...(edit.name === device.name ? {} : { name: edit.name }),
      ...(edit.scope === device.scope ? {} : { scope: edit.scope }),
      ...(edit.personId === personBefore ? {} : { personId: edit.personId }),
      ...(quietChanged ? { quietHours: edit.quietHours } : {}),
    }
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
