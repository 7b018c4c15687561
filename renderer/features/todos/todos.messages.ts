export const todosMessages = {
  'todos.title': 'To-dos',
}
