import type { z } from 'zod'
import type { LlmStatus } from '../../../server/modules/models/models.contract.ts'
import type { SecretName, SettingName, Settings, settingsContract } from '../../../server/modules/settings/settings.contract.ts'
import type { HearthClient } from '../../api.ts'
import { fieldErrors } from '../../messages/field-errors.ts'
import { t } from '../../messages/messages.ts'
import { Edits } from '../../ui/edits.svelte.ts'
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

  now(): Promise<Settings> {
    return this.#client.settings.get()
  }

  async change(change: SettingsChange): Promise<Settings> {
    const settings = await this.#client.settings.update({ body: change })
    this.settings.value = settings
    void this.llm.load()
    return settings
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
  readonly edits: Edits<Settings, Record<Name, string>, Record<Name, string | null>>
  readonly errors = $derived.by(() => fieldErrors(this.edits.failure))
  readonly #server: ServerSettings

  constructor(server: ServerSettings, names: readonly Name[]) {
    this.#server = server
    const each = <T>(read: (name: Name) => T) => Object.fromEntries(names.map((name) => [name, read(name)])) as Record<Name, T>
    this.edits = new Edits({
      record: server.settings.value ?? null,
      valuesOf: (record) => each((name) => record?.[name] ?? ''),
      bodyOf: (values) => each((name) => values[name].trim() || null),
      read: () => server.now(),
    })
  }

  get values(): Record<Name, string> {
    return this.edits.values
  }

  get changed(): boolean {
    return Object.keys(this.edits.changes).length > 0
  }

  /** Saves what changed, with `more` beside it; true when the server took it. */
  async save(more: SettingsChange = {}): Promise<boolean> {
    const always = Object.keys(more).length > 0
    const change = async (changes: Partial<Record<Name, string | null>>) =>
      this.edits.adopt(await this.#server.change({ ...changes, ...more }))
    return this.edits.save({ change, always })
  }
}
