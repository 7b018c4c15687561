const NAME = 'hearth.theme'
export const themes = ['system', 'light', 'dark'] as const
export type ThemeChoice = (typeof themes)[number]

const read = (): ThemeChoice => {
  const kept = localStorage.getItem(NAME)
  return themes.find((theme) => theme === kept) ?? 'system'
}

/** Light or dark, chosen for this browser alone. */
export class Theme {
  choice = $state<ThemeChoice>(read())

  constructor() {
    this.#apply()
  }

  choose(choice: ThemeChoice): void {
    this.choice = choice
    localStorage.setItem(NAME, choice)
    this.#apply()
  }

  #apply(): void {
    if (this.choice === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = this.choice
  }
}
