import Smartphone from '@lucide/svelte/icons/smartphone'
import Tablet from '@lucide/svelte/icons/tablet'
import Tv from '@lucide/svelte/icons/tv'
import type { Person } from '../../../server/modules/household/household.contract.ts'
import { type DeviceType, type PairedDevice, Scope } from '../../../server/modules/paired-devices/paired-devices.contract.ts'
import { relative } from '../../messages/format.ts'
import { t } from '../../messages/messages.ts'

export const deviceIcons = { phone: Smartphone, tablet: Tablet, tv: Tv } satisfies Record<DeviceType, unknown>

/** The scopes with what each means, least first. */
export const scopeOptions = () =>
  Scope.options.toReversed().map((scope) => ({ value: scope, label: t(`scope.${scope}`), hint: t(`scope.${scope}.hint`) }))

/** The people a device can belong to; the empty value stands for a shared one. */
export const personOptions = (people: Person[]) => [
  { value: '', label: t('person.shared') },
  ...people.map(({ id, displayName }) => ({ value: id, label: displayName })),
]

/** Whose a device is. `people` is null while they are not known. */
export function ownerName({ userId }: PairedDevice, people: Person[] | null, householdId: string | null): string | null {
  if (userId === householdId) return t('devices.shared')
  if (!people) return null
  return people.find(({ id }) => id === userId)?.displayName ?? t('devices.someone')
}

export const presence = ({ isConnected, lastSeen }: PairedDevice) =>
  isConnected ? t('devices.connected') : t('devices.lastSeen', relative(lastSeen))
