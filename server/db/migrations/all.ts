import { FirstHouse20261121000000 } from './20261121000000-first-house.ts'

/** Every migration in order. They only go forward and are never edited once released. */
export const migrations = [FirstHouse20261121000000]
