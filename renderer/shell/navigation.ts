import Bell from '@lucide/svelte/icons/bell'
import Bot from '@lucide/svelte/icons/bot'
import Brain from '@lucide/svelte/icons/brain'
import CalendarDays from '@lucide/svelte/icons/calendar-days'
import House from '@lucide/svelte/icons/house'
import ListTodo from '@lucide/svelte/icons/list-todo'
import MessageCircle from '@lucide/svelte/icons/message-circle'
import Settings from '@lucide/svelte/icons/settings'
import TabletSmartphone from '@lucide/svelte/icons/tablet-smartphone'
import Timer from '@lucide/svelte/icons/timer'
import Users from '@lucide/svelte/icons/users'
import Zap from '@lucide/svelte/icons/zap'
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
  /** Keeps its place in the bar of narrow screens and TVs, where most areas stand behind “More”. */
  bar?: true
}

const all: Area[] = [
  { route: 'home', href: '/', label: 'nav.home', short: 'nav.home', icon: House, right: 'guest', bar: true },
  { route: 'chat', href: '/chat', label: 'nav.chat', short: 'nav.chat', icon: MessageCircle, right: 'guest', bar: true },
  { route: 'calendar', href: '/calendar', label: 'nav.calendar', short: 'nav.calendar', icon: CalendarDays, right: 'member', bar: true },
  { route: 'todos', href: '/todos', label: 'nav.todos', short: 'nav.todos', icon: ListTodo, right: 'member', bar: true },
  { route: 'timers', href: '/timers', label: 'nav.timers', short: 'nav.timers', icon: Timer, right: 'member' },
  {
    route: 'notifications',
    href: '/notifications',
    label: 'nav.notifications',
    short: 'nav.notificationsShort',
    icon: Bell,
    right: 'guest',
  },
  { route: 'memory', href: '/memory', label: 'nav.memory', short: 'nav.memory', icon: Brain, right: 'member' },
  { route: 'household', href: '/household', label: 'nav.household', short: 'nav.household', icon: Users, right: 'member' },
  {
    route: 'paired-devices',
    href: '/paired-devices',
    label: 'nav.devices',
    short: 'nav.devicesShort',
    icon: TabletSmartphone,
    right: 'admin',
  },
  { route: 'actions', href: '/actions', label: 'nav.actions', short: 'nav.actions', icon: Zap, right: 'member', foot: true },
  { route: 'models', href: '/models', label: 'nav.models', short: 'nav.models', icon: Bot, right: 'owner', foot: true },
  { route: 'settings', href: '/settings', label: 'nav.settings', short: 'nav.settings', icon: Settings, right: 'guest', foot: true },
]

/** The areas this browser may open. */
export const areasFor = (session: Session): Area[] => all.filter((area) => session.may(area.right))

/** As many as a bar of narrow screens holds. */
const BAR = 5

/** Those that stand behind “More” where there is only a bar: none where all fit. */
export const behindMore = (areas: Area[]): Area[] => (areas.length <= BAR ? [] : areas.filter((area) => !area.bar))
