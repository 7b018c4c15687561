import type { z } from 'zod'
import type { LlmStatus } from '../../../server/modules/models/models.contract.ts'
import type { SecretName, SettingName, Settings, settingsContract } from '../../../server/modules/settings/settings.contract.ts'
import type { HearthClient } from '../../api.ts'
import { fieldErrors } from '../../messages/field-errors.ts'
import { t } from '../../messages/messages.ts'
import { Resource } from '../../ui/resource.svelte.ts'

export type SettingsChange = z.input<(typeof settingsContract.update)['body']>

const MODEL_LOOK_MS = 3000

/** The settings of the server and the state of its model. */
export class ServerSettings {
  readonly settings: Resource<Settings>
  readonly llm: Resource<LlmStatus>
  readonly #client: HearthClient

  constructor(client: HearthClient) {
    this.#client = client
    this.settings = new Resource((signal) => client.settings.get({}, { signal }))
    this.llm = new Resource((signal) => client.models.llm({}, { signal }))
  }

  isLocked(name: SettingName | SecretName): boolean {
    return this.settings.value?.locked.includes(name) ?? false
  }

  /** Why a setting cannot be changed here, where the environment fixes it. */
  lockReason(name: SettingName | SecretName): string | undefined {
    return this.isLocked(name) ? t('settings.locked', name) : undefined
  }

  async change(change: SettingsChange): Promise<void> {
    this.settings.value = await this.#client.settings.update({ body: change })
    void this.llm.load()
  }

  /** Reads the model's state, again and again while it is loading; returns what ends that. */
  watchModel(): () => void {
    void this.llm.load()
    const timer = setInterval(() => {
      if (this.llm.value?.status === 'loading') void this.llm.load()
    }, MODEL_LOOK_MS)
    return () => clearInterval(timer)
  }
}

/** One form of settings: values as typed, saved together. An emptied field goes back to the default. */
export class SettingsForm<Name extends SettingName> {
  values = $state<Record<Name, string>>() as Record<Name, string>
  failure = $state.raw<unknown>(null)
  busy = $state(false)
  readonly errors = $derived(fieldErrors(this.failure))
  readonly #server: ServerSettings
  readonly #names: readonly Name[]

  constructor(server: ServerSettings, names: readonly Name[]) {
    this.#server = server
    this.#names = names
    this.values = this.#stored()
  }

  get changed(): boolean {
    const stored = this.#stored()
    return this.#names.some((name) => this.values[name].trim() !== stored[name])
  }

  /** Saves what changed, with `more` beside it; true when the server took it. */
  async save(more: SettingsChange = {}): Promise<boolean> {
    if (this.busy) return false
    this.busy = true
    this.failure = null
    const stored = this.#stored()
    const changed = this.#names.filter((name) => this.values[name].trim() !== stored[name])
    try {
      await this.#server.change({ ...Object.fromEntries(changed.map((name) => [name, this.values[name].trim() || null])), ...more })
      this.values = this.#stored()
      return true
    } catch (error) {
      this.failure = error
      return false
    } finally {
      this.busy = false
    }
  }

  #stored(): Record<Name, string> {
    const { value } = this.#server.settings
    return Object.fromEntries(this.#names.map((name) => [name, value?.[name] ?? ''])) as Record<Name, string>
  }
}
