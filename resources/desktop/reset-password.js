const { hearth } = window

const element = (id) => document.getElementById(id)
const message = element('message')
const words = message.dataset

/** What came of it, in words. */
async function setPassword() {
  const password = element('password').value
  if (password !== element('again').value) return words.notTheSame
  const refused = await hearth.resetPassword(password).catch(() => words.noAnswer)
  if (refused) return refused
  element('form').reset()
  return words.set
}

element('form').onsubmit = async (event) => {
  event.preventDefault()
  message.textContent = await setPassword()
}
element('close').onclick = () => window.close()
element('password').focus()
