import type { Component } from 'svelte'
import type { Right } from '../../session.svelte.ts'
import EventsTile from './EventsTile.svelte'
import type { HomeState } from './home.state.svelte.ts'
import NotificationsTile from './NotificationsTile.svelte'
import StatusTile from './StatusTile.svelte'
import TimersTile from './TimersTile.svelte'
import TodosTile from './TodosTile.svelte'

export interface Tile {
  id: string
  component: Component<{ state: HomeState }>
  /** Who it is for. */
  right: Right
}

/** The tiles of the home page in their order. Each reads for itself and fails alone. */
export const tiles: Tile[] = [
  { id: 'events', component: EventsTile, right: 'member' },
  { id: 'todos', component: TodosTile, right: 'member' },
  { id: 'timers', component: TimersTile, right: 'member' },
  { id: 'notifications', component: NotificationsTile, right: 'guest' },
  { id: 'status', component: StatusTile, right: 'member' },
]
