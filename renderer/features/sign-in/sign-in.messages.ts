import { clock } from '../../messages/format.ts'

export const signInMessages = {
  'signIn.title': 'Welcome home',
  'signIn.lead': 'Sign in as the owner of this Hearth.',
  'signIn.password': 'Password',
  'signIn.wrong': 'That password is not right.',
  'signIn.wait': (seconds: number) => `Too many tries. You can try again in ${clock(seconds)}.`,
  'signIn.act': 'Sign in',
  'signIn.provider': 'Sign in with your identity provider',
  'signIn.or': 'or',
  'signIn.elsewhere': 'Your identity provider knows this Hearth by another address. To sign in with it, go to',
  'signIn.elsewhereUnknown': 'Your identity provider knows this Hearth by another address. Open that one to sign in with it.',
  'signIn.lost': 'Forgot it? Run “npm run reset-owner” on the computer Hearth runs on, or reset it from the menu of its window.',
  'signIn.pair': 'Is this a phone, tablet or TV of the house?',
  'signIn.pairAct': 'Pair it instead',
  'signIn.reason.not_allowed': 'That address may not sign in here. Use the one the owner gave, or the password.',
  'signIn.reason.sign_in_failed': 'The identity provider did not sign you in. Try again, or use the password.',
  'signIn.reason.timeout': 'The identity provider did not answer. Use the password, or try again later.',
  'signIn.reason.upstream_failed': 'The identity provider gave an answer that cannot be trusted. Use the password for now.',
  'signIn.reason.other': 'Signing in with the identity provider did not work. Try again, or use the password.',
}
