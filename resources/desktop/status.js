/** What the preload script offers to this page. */
const { hearth } = window

const element = (id) => document.getElementById(id)

function offer(button, label, act) {
  button.textContent = label
  button.hidden = label === null
  button.onclick = act
}

const view = await hearth.status()
document.title = view.title
// textContent throughout: a reason is shown as it is, never read as markup.
element('title').textContent = view.title
element('text').textContent = view.text
offer(element('act'), view.act, hearth.resume)
offer(element('quit'), view.quit, hearth.quit)
