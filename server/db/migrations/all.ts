import { FirstHouse20261121000000 } from './20261121000000-first-house.ts'
import { AMind20261122000000 } from './20261122000000-a-mind.ts'
import { CleanErasure20261123000000 } from './20261123000000-clean-erasure.ts'
import { AFeedOfOnesOwn20261123100000 } from './20261123100000-a-feed-of-ones-own.ts'
import { TodosInTurn20261123200000 } from './20261123200000-todos-in-turn.ts'
import { OwnEventsInTurn20261124000000 } from './20261124000000-own-events-in-turn.ts'

/** Every migration in order. They only go forward and are never edited once released. */
export const migrations = [
  FirstHouse20261121000000,
  AMind20261122000000,
  CleanErasure20261123000000,
  AFeedOfOnesOwn20261123100000,
  TodosInTurn20261123200000,
  OwnEventsInTurn20261124000000,
]
