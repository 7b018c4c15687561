/** Every word the shell itself says; the pages have their own catalogue. */
export const texts = {
  name: 'Hearth',
  status: {
    starting: 'Hearth is starting',
    ready: 'Hearth is running',
    restarting: 'Hearth stopped and is starting again',
    stopped: 'Hearth is paused',
    'gave-up': 'Hearth cannot start',
  },
  explain: {
    ready: 'The page comes up at once.',
    starting: 'This takes a second or two.',
    restarting: 'Nothing is lost. It will be back in a moment.',
    stopped: 'Phones, music boxes and schedules wait until you resume it.',
  },
  open: 'Open Hearth',
  pause: 'Pause',
  resume: 'Resume',
  retry: 'Try again',
  resetPassword: 'Set a new owner password…',
  quit: 'Quit Hearth',
  view: 'View',
  resetPage: {
    resetTitle: 'New owner password',
    passwordLabel: 'At least 10 characters',
    againLabel: 'Once more',
    setPassword: 'Set password',
    close: 'Close',
    notTheSame: 'The two are not the same.',
    noAnswer: 'Hearth did not answer. Is it running?',
    passwordSet: 'The new password is set.',
  },
  notRunning: 'Hearth is not running at the moment.',
  noAnswer: 'Hearth did not answer in time.',
  signInFailed: 'The window could not sign in by itself.',
  crashedTooOften: (times: number, code: number | null) =>
    `It stopped ${times} times in a row${code === null ? '' : ` (status ${code})`}. Its log says more.`,
  exit: {
    69: 'Another program is using its network port. Close that program or choose another port with SERVICE_PORT.',
    73: 'Another Hearth is already using this data folder. Close that one first.',
    78: 'One of its settings is not valid. Its log names the setting.',
  },
} as const
