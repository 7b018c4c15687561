import MessageCircle from '@lucide/svelte/icons/message-circle'
import Settings from '@lucide/svelte/icons/settings'
import TabletSmartphone from '@lucide/svelte/icons/tablet-smartphone'
import type { Component } from 'svelte'
import type { PlainKey } from '../messages/messages.ts'
import type { Right, Session } from '../session.svelte.ts'

export interface Area {
  /** The route that is this area. */
  route: string
  href: string
  label: PlainKey
  /** For the bar of narrow screens. */
  short: PlainKey
  icon: Component<{ 'aria-hidden'?: 'true' }>
  right: Right
  /** Stands at the foot of the rail. */
  foot?: true
}

const all: Area[] = [
  { route: 'chat', href: '/chat', label: 'nav.chat', short: 'nav.chat', icon: MessageCircle, right: 'guest' },
  {
    route: 'paired-devices',
    href: '/paired-devices',
    label: 'nav.devices',
    short: 'nav.devicesShort',
    icon: TabletSmartphone,
    right: 'admin',
  },
  { route: 'settings', href: '/settings', label: 'nav.settings', short: 'nav.settings', icon: Settings, right: 'guest', foot: true },
]

/** The areas this browser may open. */
export const areasFor = (session: Session): Area[] => all.filter((area) => session.may(area.right))
