import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { settingsContract } from './settings.contract.ts'
import type { SettingsService } from './settings.service.ts'

export function createSettings({ settings }: { settings: SettingsService }): Module {
  return {
    name: 'settings',
    routes: [
      routes(settingsContract, {
        get: () => settings.get(),
        update({ body }) {
          settings.update(body)
          return settings.get()
        },
      }),
    ],
  }
}
